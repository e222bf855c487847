#include "api/json/formula.h"

#include <math.h>
#include <string.h>

#include "api/json/put.h"
#include "service/base/text.h"

enum { NUMBER_SIZE = 40 };

static size_t
number_write(char *text, double value)
{
    if (value >= 0 && value < 1e18 && value == floor(value)) {
        return (size_t)(put_u64(text, (uint64_t)value) - text);
    }
    text_format(text, NUMBER_SIZE, "%.6g", value);
    return strlen(text);
}

void
formula_write(char *text, size_t size, const char *formula, const double *values, size_t value_count)
{
    size_t at = 0;

    for (const char *from = formula; *from && at + NUMBER_SIZE < size; from++) {
        size_t index = from[0] == '{' && from[1] >= '0' && from[1] <= '9' && from[2] == '}' ? (size_t)(from[1] - '0')
                                                                                            : value_count;

        if (index >= value_count) {
            text[at++] = *from;
            continue;
        }
        at += number_write(text + at, values[index]);
        from += 2;
    }
    text[at] = '\0';
}
