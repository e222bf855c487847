#include "tests/accuracy/reply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const json_t *
value_at(const json_t *document, const char *pointer, size_t length)
{
    while (document && length > 1) {
        char token[96];
        size_t size = 0;

        for (pointer++, length--; length && *pointer != '/' && size + 1 < sizeof token; pointer++, length--)
            token[size++] = *pointer;
        token[size] = '\0';
        document = json_is_array(document) ? json_array_get(document, (size_t)strtoul(token, NULL, 10))
                                           : json_object_get(document, token);
    }
    return document;
}

const json_t *
reply_value(const json_t *reply, const char *pointer)
{
    return value_at(reply, pointer, strlen(pointer));
}

struct reading
reading_of(double truth, double low, double expected, double high)
{
    bool banded = !isnan(low) && !isnan(high) && expected != 0;
    double error = truth != 0 ? (expected - truth) / truth : expected != 0;

    return (struct reading){ error, banded, banded && low <= truth && truth <= high,
                             banded ? (high - low) / fabs(expected) : 0 };
}

/* Low and high end of the band around a figure: its own range, or the members beside a memory figure. */
static void
band_of(const json_t *reply, const char *at, const json_t *seen, double *ret_low, double *ret_high)
{
    const json_t *low = json_object_get(seen, "low"), *high = json_object_get(seen, "high");
    const char *name = strrchr(at, '/');
    const json_t *holder = value_at(reply, at, (size_t)(name - at));

    if (strcmp(name, "/allocated_bytes") == 0) {
        low = json_object_get(holder, "allocated_low_bytes");
        high = json_object_get(holder, "allocated_high_bytes");
    } else if (strcmp(name, "/reserved_bytes") == 0) {
        low = json_object_get(holder, "low_bytes");
        high = json_object_get(holder, "high_bytes");
    }
    *ret_low = json_is_number(low) ? json_number_value(low) : NAN;
    *ret_high = json_is_number(high) ? json_number_value(high) : NAN;
}

static bool
has_code(const json_t *list, const char *code)
{
    size_t i;
    const json_t *item;

    json_array_foreach(list, i, item)
    {
        const char *found = json_string_value(json_object_get(item, "code"));

        if (found && strcmp(found, code) == 0)
            return true;
    }
    return false;
}

static bool
is_one_of(const json_t *seen, const json_t *list)
{
    size_t i;
    const json_t *item;

    json_array_foreach(list, i, item)
    {
        if (json_equal(seen, item))
            return true;
    }
    return false;
}

bool
reply_holds(const json_t *reply, const json_t *expectation, bool *ret_measured, struct reading *ret_reading)
{
    const char *at = json_string_value(json_object_get(expectation, "at"));
    const json_t *raw = reply_value(reply, at), *seen = raw, *near = json_object_get(expectation, "near");
    const json_t *least = json_object_get(expectation, "min"), *most = json_object_get(expectation, "max");
    double value, low, high;

    *ret_measured = false;
    if (json_object_get(seen, "expected"))
        seen = json_object_get(seen, "expected");
    if (json_object_get(expectation, "is"))
        return seen && is_one_of(seen, json_object_get(expectation, "is"));
    if (json_object_get(expectation, "equals"))
        return seen && json_equal(seen, json_object_get(expectation, "equals"));
    if (json_object_get(expectation, "has"))
        return has_code(seen, json_string_value(json_object_get(expectation, "has")));
    if (!json_is_number(seen))
        return false;
    value = json_number_value(seen);
    if (near) {
        band_of(reply, at, raw, &low, &high);
        *ret_reading = reading_of(json_number_value(near), low, value, high);
        *ret_measured = true;
        return fabs(ret_reading->error) <= json_number_value(json_object_get(expectation, "within"));
    }
    return (!least || value >= json_number_value(least)) && (!most || value <= json_number_value(most));
}
