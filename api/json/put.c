/* Digits, escapes and checked UTF-8. */
#include "api/json/put.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "service/base/quantity.h"

enum { SIGNIFICANT_DIGITS = 6 /* of a real */ };

static const double powers_of_ten[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11 };
static const uint64_t whole_powers_of_ten[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
};

char *
put_bytes(char *at, const char *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

/* Bytes of the UTF-8 character at `text` (RFC 3629 table 3-7: no overlong forms, no surrogates), 0 when it is none. */
static size_t
character_size(const unsigned char *text)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t size;

    if (text[0] >= 0xC2 && text[0] <= 0xDF)
        size = 2;
    else if (text[0] >= 0xE0 && text[0] <= 0xEF)
        size = 3;
    else if (text[0] >= 0xF0 && text[0] <= 0xF4)
        size = 4;
    else
        return 0;
    if (text[0] == 0xE0)
        low = 0xA0;
    else if (text[0] == 0xED)
        high = 0x9F;
    else if (text[0] == 0xF0)
        low = 0x90;
    else if (text[0] == 0xF4)
        high = 0x8F;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

static char *
put_escape(char *at, unsigned char byte)
{
    static const char hex[] = "0123456789abcdef";
    static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: the byte, its letter */

    *at++ = '\\';
    for (size_t i = 0; shorts[i]; i += 2) {
        if ((unsigned char)shorts[i] == byte) {
            *at++ = shorts[i + 1];
            return at;
        }
    }
    at = put_bytes(at, "u00", 3);
    *at++ = hex[byte >> 4];
    *at++ = hex[byte & 15];
    return at;
}

static bool
is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

char *
put_text(char *at, const char *text)
{
    const unsigned char *from = (const unsigned char *)text;

    while (*from) {
        if (is_plain(*from)) {
            *at++ = (char)*from++;
        } else if (*from < 0x80) {
            at = put_escape(at, *from++);
        } else {
            size_t size = character_size(from);

            at = size > 0 ? put_bytes(at, (const char *)from, size) : put_bytes(at, "\xEF\xBF\xBD", 3); /* U+FFFD */
            from += size > 0 ? size : 1;
        }
    }
    return at;
}

char *
put_u64(char *at, uint64_t value)
{
    char digits[PUT_U64_BYTES], *start = digits + sizeof digits;

    do {
        *--start = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return put_bytes(at, start, (size_t)(digits + sizeof digits - start));
}

/* A positive real that is not whole, 1e-6 or more and below 1e15, with SIGNIFICANT_DIGITS digits at least. */
static char *
put_decimal(char *at, double value)
{
    unsigned decimals = 0;
    uint64_t digits, fraction;

    while (value * powers_of_ten[decimals] < 1e5 && decimals + 1 < COUNT_OF(powers_of_ten))
        decimals++;
    digits = (uint64_t)(value * powers_of_ten[decimals] + 0.5);
    at = put_u64(at, digits / whole_powers_of_ten[decimals]);
    fraction = digits % whole_powers_of_ten[decimals];
    if (fraction == 0)
        return at;
    while (fraction % 10 == 0) {
        fraction /= 10;
        decimals--;
    }
    *at = '.';
    for (unsigned i = decimals; i > 0; i--) {
        at[i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    return at + 1 + decimals;
}

/* A positive real in exponent form, without trailing zeros: 1.5e-09. */
static char *
put_exponent(char *at, double value)
{
    char text[PUT_REAL_BYTES];
    size_t size = (size_t)snprintf(text, sizeof text, "%.*e", SIGNIFICANT_DIGITS - 1, value);
    const char *exponent = strchr(text, 'e');
    const char *end = exponent;

    while (end[-1] == '0')
        end--;
    if (end[-1] == '.')
        end--;
    at = put_bytes(at, text, (size_t)(end - text));
    return put_bytes(at, exponent, size - (size_t)(exponent - text));
}

char *
put_real(char *at, double value)
{
    double size = fabs(value);

    if (value < 0)
        *at++ = '-';
    if (size < 9223372036854775808.0 && size == (double)(uint64_t)size) /* 2^63 */
        return put_u64(at, (uint64_t)size);
    if (size >= 1e-6 && size < 1e15)
        return put_decimal(at, size);
    if (size >= 1e15 && size < 1e18)
        return put_u64(at, (uint64_t)(size + 0.5));
    return put_exponent(at, size);
}
