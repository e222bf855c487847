/* Finds the member that a byte of JSON text belongs to, for faults found while the text is still being read. */
#ifndef API_JSON_LOCATE_H
#define API_JSON_LOCATE_H

#include <stddef.h>

/* The RFC 6901 pointer of the member (its name or its value) that the first `end` bytes stop in; "" at the root.
 * Names are taken as written, JSON escapes included. Levels beyond the 64th are left out. */
void locate_member(const char *text, size_t end, char *pointer, size_t pointer_size);

/* The byte after the string that begins at text[at] == '"', or `size` when it does not end. */
size_t locate_string_end(const char *text, size_t size, size_t at);

#endif
