#include "api/json/formula.h"

#include "api/json/put.h"
#include <float.h>
#include <math.h>

void
formula_write(char *text, size_t size, const char *formula, const double *values, size_t value_count)
{
    size_t at = 0;

    for (const char *from = formula; *from && at + PUT_REAL_BYTES < size; from++) {
        size_t index = from[0] == '{' && from[1] >= '0' && from[1] <= '9' && from[2] == '}' ? (size_t)(from[1] - '0')
                                                                                            : value_count;

        if (index >= value_count) {
            text[at++] = *from;
            continue;
        }
        /* what is without bound is told as the largest number, which saturates likewise */
        at = (size_t)(put_real(text + at, isfinite(values[index]) ? values[index] : DBL_MAX) - text);
        from += 2;
    }
    text[at] = '\0';
}
