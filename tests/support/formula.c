#include "tests/support/formula.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const char *at;
    const double *values;
    size_t count;
    bool failed;
};

static double sum_of(struct reading *reading);

/* "x" multiplies, "min(" and "max(" choose; every other word only names what stands before or after it. */
static bool
is_operator_word(const char *word, size_t length)
{
    return (length == 1 && *word == 'x') ||
           (length == 3 && word[3] == '(' && (strncmp(word, "min", 3) == 0 || strncmp(word, "max", 3) == 0));
}

static void
skip_names(struct reading *reading)
{
    for (;;) {
        size_t length = 0;

        while (isspace((unsigned char)*reading->at))
            reading->at++;
        while (isalpha((unsigned char)reading->at[length]) || (length > 0 && reading->at[length] == '_'))
            length++;
        if (length == 0 || is_operator_word(reading->at, length))
            return;
        reading->at += length;
    }
}

static bool
take(struct reading *reading, char mark)
{
    skip_names(reading);
    if (*reading->at != mark)
        return false;
    reading->at++;
    return true;
}

static double
choice_of(struct reading *reading)
{
    bool least = reading->at[1] == 'i';
    double best;

    reading->at += strlen("min(");
    best = sum_of(reading);
    while (take(reading, ',')) {
        double next = sum_of(reading);

        if (least ? next < best : next > best)
            best = next;
    }
    reading->failed |= !take(reading, ')');
    return best;
}

static double
placeholder_of(struct reading *reading)
{
    size_t index = (size_t)(reading->at[0] - '0');

    reading->failed |= index >= reading->count || reading->at[1] != '}';
    if (reading->failed)
        return 0;
    reading->at += 2;
    return reading->values[index];
}

static double
factor_of(struct reading *reading)
{
    if (take(reading, '{'))
        return placeholder_of(reading);
    if (take(reading, '(')) {
        double value = sum_of(reading);

        reading->failed |= !take(reading, ')');
        return value;
    }
    if (strncmp(reading->at, "min(", 4) == 0 || strncmp(reading->at, "max(", 4) == 0)
        return choice_of(reading);

    char *end;
    double value = strtod(reading->at, &end);

    reading->failed |= end == reading->at;
    reading->at = end;
    return value;
}

static double
product_of(struct reading *reading)
{
    double value = factor_of(reading);

    while (!reading->failed) {
        if (take(reading, 'x'))
            value *= factor_of(reading);
        else if (take(reading, '/'))
            value /= factor_of(reading);
        else
            break;
    }
    return value;
}

static double
sum_of(struct reading *reading)
{
    double value = product_of(reading);

    while (!reading->failed) {
        if (take(reading, '+'))
            value += product_of(reading);
        else if (take(reading, '-'))
            value -= product_of(reading);
        else
            break;
    }
    return value;
}

bool
formula_value(const char *formula, const double *values, size_t count, double *ret_value)
{
    struct reading reading = { formula, values, count, false };
    double value = sum_of(&reading);

    skip_names(&reading);
    if (reading.failed || *reading.at != '\0')
        return false;
    *ret_value = value;
    return true;
}
