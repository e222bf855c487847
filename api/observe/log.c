/* Log lines, built in a pooled buffer. */
#include "api/observe/log.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/json/buffer.h"
#include "api/json/writer.h"

enum { DATE_SIZE = 20, MILLISECOND = 1000000 /* nanoseconds */ };

static const char *const level_names[LEVEL_COUNT] = {
    [LEVEL_INFO] = "info",
    [LEVEL_WARN] = "warn",
    [LEVEL_ERROR] = "error",
};

const char *
log_level_name(enum log_level level)
{
    return level_names[level];
}

void
log_time(char ret_text[LOG_TIME_SIZE], int64_t seconds, long nanoseconds)
{
    static _Thread_local int64_t date_of = INT64_MIN;
    static _Thread_local char date[DATE_SIZE];
    unsigned milliseconds = (unsigned)(nanoseconds / MILLISECOND);

    if (date_of != seconds) {
        time_t time = (time_t)seconds;
        struct tm parts;

        gmtime_r(&time, &parts);
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
        date_of = seconds;
    }
    memcpy(ret_text, date, DATE_SIZE - 1);
    ret_text[19] = '.';
    ret_text[20] = (char)('0' + milliseconds / 100 % 10);
    ret_text[21] = (char)('0' + milliseconds / 10 % 10);
    ret_text[22] = (char)('0' + milliseconds % 10);
    ret_text[23] = 'Z';
    ret_text[24] = '\0';
}

static void
begin_line(struct json_writer *writer, struct buffer *out, enum log_level level, const char *message)
{
    char text[LOG_TIME_SIZE];
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    log_time(text, now.tv_sec, now.tv_nsec);
    writer_init(writer, out);
    writer_object(writer, NULL);
    writer_text(writer, "time", text);
    writer_text(writer, "level", level_names[level]);
    writer_text(writer, "msg", message);
}

/* Ends the line and writes it at once, so that lines of several threads do not mix. */
static bool
end_line(const struct log *log, struct json_writer *writer)
{
    struct buffer *out = writer->out;
    bool written;

    writer_end_object(writer);
    buffer_append(out, "\n", 1);
    written = !out->failed && write(log->fd, out->bytes, out->size) == (ssize_t)out->size;
    buffer_give(out);
    return written;
}

bool
log_event(const struct log *log, enum event event, const struct event_field *fields, size_t count)
{
    struct json_writer writer;
    struct buffer *out;

    if (event_level(event) < log->level)
        return true;
    out = buffer_take();
    if (!out)
        return false;
    begin_line(&writer, out, event_level(event), event_name(event));
    for (size_t i = 0; i < count; i++) {
        if (fields[i].text)
            writer_text(&writer, fields[i].name, fields[i].text);
        else
            writer_real(&writer, fields[i].name, fields[i].number);
    }
    return end_line(log, &writer);
}

static enum log_level
request_level(const struct request_record *record)
{
    if (record->status == 500)
        return LEVEL_ERROR;
    return record->status > 500 ? LEVEL_WARN : LEVEL_INFO;
}

bool
log_request(const struct log *log, const struct request_record *record)
{
    enum log_level level = request_level(record);
    uint64_t microseconds = record->nanoseconds / 1000;
    struct json_writer writer;
    struct buffer *out;

    if (level < log->level)
        return true;
    out = buffer_take();
    if (!out)
        return false;
    begin_line(&writer, out, level, record->aborted ? "request_aborted" : "request");
    writer_text(&writer, "request_id", record->request_id);
    if (record->trace_id[0])
        writer_text(&writer, "trace_id", record->trace_id);
    writer_text(&writer, "method", method_name(record->method));
    writer_text(&writer, "route", record->route);
    writer_i64(&writer, "status", record->status);
    writer_real(&writer, "duration_ms", (double)microseconds / 1000);
    writer_u64(&writer, "bytes_in", record->bytes_in);
    writer_u64(&writer, "bytes_out", record->bytes_out);
    writer_text(&writer, "client", record->client);
    if (record->catalog_version > 0)
        writer_u64(&writer, "catalog_version", record->catalog_version);
    return end_line(log, &writer);
}
