/* Forms of texts in cells, the same that the database's constraints ask for. */
#include "db/cell_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool
cell_is_slug(const char *text)
{
    bool in_word = false;

    for (; *text != '\0'; text++) {
        if (is_digit(*text) || (*text >= 'a' && *text <= 'z'))
            in_word = true;
        else if ((*text == '-' || *text == '.') && in_word)
            in_word = false;
        else
            return false;
    }
    return in_word;
}

/* The next `count` digits as a number, -1 when they are not there. */
static int
digits(const char *text, int count)
{
    int value = 0;

    for (int i = 0; i < count; i++) {
        if (!is_digit(text[i]))
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

static int
days_of_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

bool
cell_is_date(const char *text, bool partial)
{
    int year = digits(text, 4), month, day;

    if (year < 1)
        return false;
    if (text[4] == '\0')
        return partial;
    month = text[4] == '-' ? digits(text + 5, 2) : -1;
    if (month < 1 || month > 12)
        return false;
    if (text[7] == '\0')
        return partial;
    day = text[7] == '-' ? digits(text + 8, 2) : -1;
    return day >= 1 && day <= days_of_month(year, month) && text[10] == '\0';
}

bool
cell_is_country(const char *text)
{
    return strlen(text) == 2 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'A' && text[1] <= 'Z';
}

bool
cell_whole_number(const char *text, uint64_t *ret_value)
{
    unsigned long long value;

    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    value = strtoull(text, NULL, 10);
    if (errno != 0)
        return false;
    *ret_value = value;
    return true;
}

bool
cell_decimal_number(const char *text, double *ret_value)
{
    char *end;
    double value;

    if (text[0] == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0') /* no blanks, hexadecimals, "inf" */
        return false;
    value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

bool
cell_truth(const char *text, bool *ret_value)
{
    bool yes = strcmp(text, "true") == 0 || strcmp(text, "t") == 0;

    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "f") != 0)
        return false;
    *ret_value = yes;
    return true;
}
