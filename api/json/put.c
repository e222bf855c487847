/* Digits, escapes and checked UTF-8. */
#include "api/json/put.h"

#include <stdbool.h>
#include <string.h>

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
