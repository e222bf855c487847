/* Bounded text: copies and formats into caller's arrays and never past their end. */
#ifndef SERVICE_BASE_TEXT_H
#define SERVICE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Copies `from` into `to` of `size` bytes, cut at a UTF-8 character border, always terminated. */
void text_copy(char *to, size_t size, const char *from);

/* How many of the first `length` bytes are whole UTF-8 characters: all but a last one that was cut. */
size_t text_whole(const char *text, size_t length);

/* snprintf into a fixed array; a longer result is cut, always terminated. */
void text_format(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Edits (insert, delete, replace, swap neighbours) between two ASCII words, ignoring case; stops above `limit`
 * and returns limit + 1. (Damerau 1964, restricted form.) */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/* The name of `names[count]` nearest to `word` when it is near enough to be what was meant, else NULL. */
const char *text_nearest(const char *word, const char *const *names, size_t count);

/* Lower-cases ASCII and turns '-', '_', '/' and runs of blanks into one blank, as alias tables are written. */
void text_normalise(char *to, size_t size, const char *from);

bool text_equal(const char *a, const char *b); /* either may be NULL: equal only if both are */

#endif
