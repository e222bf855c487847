/* Units and digits of figures in sentences. */
#include "api/i18n/figure.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

#define LARGEST_EXACT 1e15 /* above it a double's last digits mean nothing to a reader */

/* A whole number exactly, else 4 significant digits, never with an exponent between 1e-4 and 1e15. */
static void
plain(char *text, double number)
{
    double size = fabs(number);

    if (size >= LARGEST_EXACT || (size > 0 && size < 1e-4))
        text_format(text, FIGURE_SIZE, "%.4g", number);
    else if (size >= 1000 || number == floor(number))
        text_format(text, FIGURE_SIZE, "%.0f", number);
    else
        text_format(text, FIGURE_SIZE, "%.4g", number);
}

static void
grouped(char *text, double number)
{
    char digits[FIGURE_SIZE];
    size_t length, written = 0;

    if (fabs(number) >= LARGEST_EXACT) {
        text_format(text, FIGURE_SIZE, "%.4g", number);
        return;
    }
    text_format(digits, sizeof digits, "%.0f", fabs(number));
    length = strlen(digits);
    if (number <= -0.5)
        text[written++] = '-';
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[written++] = ',';
        text[written++] = digits[i];
    }
    text[written] = '\0';
}

/* 3 significant digits, more only for what is 1000 and above. */
static void
brief(char *text, double number, const char *unit)
{
    text_format(text, FIGURE_SIZE, fabs(number) >= 100 ? "%.0f%s" : "%.3g%s", number, unit);
}

struct unit {
    double from; /* the smallest absolute number written in it */
    double size;
    const char *name[LANGUAGE_COUNT];
};

static void
in_units(char *text, const struct unit *units, size_t count, double number, enum language language)
{
    size_t i = 0;

    while (i + 1 < count && fabs(number) < units[i].from)
        i++;
    brief(text, number / units[i].size, units[i].name[language]);
}

static void
seconds(char *text, double number, enum language language)
{
    static const struct unit units[] = {
        { 48 * 3600.0, 86400, { " days", " 天" } },
        { 2 * 3600.0, 3600, { " h", " 小时" } },
        { 120, 60, { " min", " 分钟" } },
        { 1, 1, { " s", " 秒" } },
        { 0, 1e-3, { " ms", " 毫秒" } },
    };

    in_units(text, units, COUNT_OF(units), number, language);
}

static void
bits(char *text, double number, enum language language)
{
    static const struct unit units[] = {
        { 1e12, 1e12, { " Tb/s", " Tb/s" } },
        { 1e9, 1e9, { " Gb/s", " Gb/s" } },
        { 0, 1e6, { " Mb/s", " Mb/s" } },
    };

    in_units(text, units, COUNT_OF(units), number, language);
}

static void
in_gib(char *text, double bytes)
{
    if (bytes > 0 && bytes < GIB)
        text_format(text, FIGURE_SIZE, "%.0f MiB", bytes / (GIB / 1024));
    else
        text_format(text, FIGURE_SIZE, "%.1f GiB", bytes / GIB);
}

void
figure_write(char *text, const char *format, size_t format_size, double number, enum language language)
{
    char name[16] = "";

    if (format_size < sizeof name)
        memcpy(name, format, format_size);
    if (!isfinite(number) || fabs(number) > 1e40) /* the latter: nothing that a sentence speaks of */
        text_copy(text, FIGURE_SIZE, "?");
    else if (strcmp(name, "int") == 0)
        grouped(text, number);
    else if (strcmp(name, "bytes") == 0)
        in_gib(text, number);
    else if (strcmp(name, "bits") == 0)
        bits(text, number, language);
    else if (strcmp(name, "percent") == 0)
        brief(text, 100 * number, "%");
    else if (strcmp(name, "seconds") == 0)
        seconds(text, number, language);
    else
        plain(text, number);
}
