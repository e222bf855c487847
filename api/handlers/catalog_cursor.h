/* Where a page of a list ended, as an opaque text for the next request. */
#ifndef API_HANDLERS_CATALOG_CURSOR_H
#define API_HANDLERS_CATALOG_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CURSOR_ID_SIZE = 256, CURSOR_TEXT_SIZE = 512 };

/* The catalog is immutable in a version, so the last row's id says the place, whatever was sorted by. */
struct catalog_cursor {
    uint64_t version; /* of the catalog */
    uint64_t shape;   /* of the query */
    char id[CURSOR_ID_SIZE];
};

/* base64url (RFC 4648, section 5), no padding. */
void catalog_cursor_write(const struct catalog_cursor *cursor, char ret_text[CURSOR_TEXT_SIZE]);

/* false: the text is not a cursor. */
bool catalog_cursor_read(const char *text, struct catalog_cursor *ret_cursor);

#endif
