/* Three parts in one line, coded so that nobody takes them apart by eye and builds on it. */
#include "api/handlers/catalog_cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/text.h"

enum { PLAIN_SIZE = CURSOR_ID_SIZE + 40 };

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void
catalog_cursor_write(const struct catalog_cursor *cursor, char ret_text[CURSOR_TEXT_SIZE])
{
    char plain[PLAIN_SIZE];
    size_t size, used = 0;

    text_format(plain, sizeof plain, "%" PRIx64 ".%" PRIx64 ".%s", cursor->version, cursor->shape, cursor->id);
    size = strlen(plain);
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned group = (unsigned)(unsigned char)plain[i] << 16;

        group |= left > 1 ? (unsigned)(unsigned char)plain[i + 1] << 8 : 0;
        group |= left > 2 ? (unsigned)(unsigned char)plain[i + 2] : 0;
        for (unsigned j = 0; j < 4 && j <= left; j++)
            ret_text[used++] = digits[group >> (18 - 6 * j) & 63];
    }
    ret_text[used] = '\0';
}

/* Bytes of the decoded text, 0 when it is none or too long. */
static size_t
decode(const char *text, char plain[PLAIN_SIZE])
{
    size_t used = 0;
    unsigned group = 0, bits = 0;

    for (; *text; text++) {
        const char *digit = strchr(digits, *text);

        if (!digit || used + 1 >= PLAIN_SIZE)
            return 0;
        group = (group << 6 | (unsigned)(digit - digits)) & 0xFFFFFFU;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            plain[used++] = (char)(group >> bits & 0xFF);
        }
    }
    plain[used] = '\0';
    return used;
}

bool
catalog_cursor_read(const char *text, struct catalog_cursor *ret_cursor)
{
    char plain[PLAIN_SIZE], *end;
    size_t size = decode(text, plain);

    if (size == 0 || strlen(plain) != size)
        return false;
    ret_cursor->version = strtoull(plain, &end, 16);
    if (*end != '.')
        return false;
    ret_cursor->shape = strtoull(end + 1, &end, 16);
    if (*end != '.' || strlen(end + 1) >= CURSOR_ID_SIZE)
        return false;
    text_copy(ret_cursor->id, sizeof ret_cursor->id, end + 1);
    return ret_cursor->version != 0 && ret_cursor->id[0];
}
