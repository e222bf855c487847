/* Text of metrics; process figures from /proc. */
#include "api/observe/exposition.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 512, PROC_STAT_SIZE = 1024, FIELDS_TO_START_TIME = 20, MICROSECONDS = 1000000 };

static void append_v(struct buffer *out, const char *format, va_list values) __attribute__((format(printf, 2, 0)));

static void
append_v(struct buffer *out, const char *format, va_list values)
{
    char line[LINE_SIZE];
    int size = vsnprintf(line, sizeof line, format, values);

    if (size > 0 && (size_t)size < sizeof line)
        buffer_append(out, line, (size_t)size);
}

static void append(struct buffer *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void
append(struct buffer *out, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    append_v(out, format, values);
    va_end(values);
}

void
exposition_family(struct buffer *out, const char *name, const char *type, const char *help)
{
    append(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void
exposition_count(struct buffer *out, uint64_t value, const char *series, ...)
{
    va_list values;

    va_start(values, series);
    append_v(out, series, values);
    va_end(values);
    append(out, " %" PRIu64 "\n", value);
}

void
exposition_real(struct buffer *out, double value, const char *series, ...)
{
    va_list values;

    va_start(values, series);
    append_v(out, series, values);
    va_end(values);
    append(out, " %.12g\n", value);
}

/* Reads a small file of /proc as text; "" when that fails. */
static void
read_proc(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, size - 1, file) : 0;

    text[got] = '\0';
    if (file)
        (void)fclose(file);
}

static void
write_memory(struct buffer *out)
{
    char text[PROC_STAT_SIZE], *rest;
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), virtual_pages, resident_pages;

    read_proc("/proc/self/statm", text, sizeof text);
    if (!text[0])
        return;
    virtual_pages = strtoull(text, &rest, 10);
    resident_pages = strtoull(rest, NULL, 10);
    exposition_family(out, "process_virtual_memory_bytes", "gauge", "Virtual memory size.");
    exposition_count(out, virtual_pages * page_bytes, "process_virtual_memory_bytes");
    exposition_family(out, "process_resident_memory_bytes", "gauge", "Resident memory size.");
    exposition_count(out, resident_pages * page_bytes, "process_resident_memory_bytes");
}

static void
write_descriptors(struct buffer *out)
{
    struct rlimit limit;
    DIR *directory = opendir("/proc/self/fd");
    uint64_t count = 0;

    if (directory) {
        /* A stream of this call alone. NOLINTNEXTLINE(concurrency-mt-unsafe) */
        for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
            count += entry->d_name[0] != '.';
        (void)closedir(directory);
        exposition_family(out, "process_open_fds", "gauge", "Open file descriptors.");
        exposition_count(out, count - 1, "process_open_fds"); /* without the one just used to look */
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        exposition_family(out, "process_max_fds", "gauge", "File descriptors that may be open.");
        exposition_count(out, limit.rlim_cur, "process_max_fds");
    }
}

static void
write_processor_time(struct buffer *out)
{
    struct rusage usage;
    double seconds;

    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
              (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / MICROSECONDS;
    exposition_family(out, "process_cpu_seconds_total", "counter", "Processor time spent, user and system.");
    exposition_real(out, seconds, "process_cpu_seconds_total");
}

/* proc(5): field 22 of stat is the start in clock ticks since boot; field 2, the name, may hold blanks and brackets. */
static void
write_start_time(struct buffer *out)
{
    char text[PROC_STAT_SIZE];
    const char *at;
    struct timespec now, since_boot;
    double start;

    read_proc("/proc/self/stat", text, sizeof text);
    at = strrchr(text, ')');
    for (unsigned i = 0; at && i < FIELDS_TO_START_TIME; i++)
        at = strchr(at + 1, ' ');
    if (!at || clock_gettime(CLOCK_REALTIME, &now) != 0 || clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0)
        return;
    start = (double)strtoull(at, NULL, 10) / (double)sysconf(_SC_CLK_TCK);
    start += (double)now.tv_sec - (double)since_boot.tv_sec;
    exposition_family(out, "process_start_time_seconds", "gauge", "Start time since the Unix epoch.");
    exposition_real(out, start, "process_start_time_seconds");
}

void
exposition_process(struct buffer *out)
{
    write_processor_time(out);
    write_memory(out);
    write_descriptors(out);
    write_start_time(out);
}
