/* Bounded copies, formats and likeness of words. */
#include "service/base/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_WORD = 95,        /* longer words are like nothing */
    PREFIX_MIN_BYTES = 2, /* a shorter beginning says too little */
};

static size_t
bounded_length(const char *text, size_t limit)
{
    const char *end = memchr(text, '\0', limit);

    return end ? (size_t)(end - text) : limit;
}

size_t
text_whole(const char *text, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char byte = (unsigned char)text[length - back];
        size_t need = byte >= 0xF0U ? 4 : byte >= 0xE0U ? 3 : 2;

        if (byte < 0x80U)
            return length;
        if (byte >= 0xC0U)
            return need > back ? length - back : length;
    }
    return length;
}

void
text_copy(char *to, size_t size, const char *from)
{
    size_t length;

    if (size == 0)
        return;
    length = from ? bounded_length(from, size) : 0;
    if (length == size)
        length = text_whole(from, size - 1);
    if (length > 0)
        memcpy(to, from, length);
    to[length] = '\0';
}

void
text_format(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    int length;

    if (size == 0)
        return;
    va_start(arguments, format);
    length = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    if (length < 0) {
        to[0] = '\0';
        return;
    }
    if ((size_t)length >= size)
        to[text_whole(to, size - 1)] = '\0';
}

static unsigned char
lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned
least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned
text_distance(const char *a, const char *b, unsigned limit)
{
    /* rows[i % 3][j]: edits between the first i bytes of a and the first j of b; a swap looks two rows back. */
    unsigned rows[3][MAX_WORD + 1];
    size_t a_size = bounded_length(a, MAX_WORD + 1), b_size = bounded_length(b, MAX_WORD + 1);

    if (a_size > MAX_WORD || b_size > MAX_WORD)
        return limit + 1;
    if ((a_size > b_size ? a_size - b_size : b_size - a_size) > limit)
        return limit + 1;
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_size; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        unsigned best = row[0] = (unsigned)i;

        for (size_t j = 1; j <= b_size; j++) {
            unsigned char in_a = lower(a[i - 1]), in_b = lower(b[j - 1]);
            unsigned edits = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (in_a != in_b));

            if (i > 1 && j > 1 && in_a == lower(b[j - 2]) && lower(a[i - 2]) == in_b)
                edits = least(edits, two_above[j - 2] + 1);
            row[j] = edits;
            best = least(best, edits);
        }
        if (best > limit + 1) /* one more than needed: a swap may still come back from the row above */
            return limit + 1;
    }
    return least(rows[a_size % 3][b_size], limit + 1);
}

/* Whether `word` begins with `beginning`, ignoring case. */
static bool
begins_with(const char *word, const char *beginning)
{
    while (*beginning && lower(*word) == lower(*beginning)) {
        word++;
        beginning++;
    }
    return *beginning == '\0';
}

const char *
text_nearest(const char *word, const char *const *names, size_t count)
{
    size_t length = bounded_length(word, MAX_WORD + 1), best_length = MAX_WORD + 1;
    unsigned limit = (unsigned)(length / 3 > 1 ? length / 3 : 1), best_edits = UINT_MAX;
    const char *nearest = NULL, *longer = NULL;

    if (length > MAX_WORD || length == 0)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        unsigned edits;

        if (!names[i])
            continue;
        edits = text_distance(word, names[i], limit);
        if (edits <= limit && edits < best_edits) {
            best_edits = edits;
            nearest = names[i];
        }
        if (length >= PREFIX_MIN_BYTES && strlen(names[i]) < best_length && begins_with(names[i], word)) {
            best_length = strlen(names[i]);
            longer = names[i];
        }
    }
    /* A beginning says more than likeness by chance: "int4" means "int4_awq", not "int8". */
    return longer ? longer : nearest;
}

void
text_normalise(char *to, size_t size, const char *from)
{
    size_t length = 0;
    bool blank = false;

    if (size == 0)
        return;
    for (; *from; from++) {
        if (strchr("-_/ \t\r\n\v\f", *from)) {
            blank = length > 0;
            continue;
        }
        if (length + blank + 1 >= size)
            break;
        if (blank)
            to[length++] = ' ';
        blank = false;
        to[length++] = (char)lower(*from);
    }
    to[text_whole(to, length)] = '\0';
}

bool
text_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}
