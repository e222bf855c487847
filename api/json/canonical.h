/* The canonical form of a request, so that the same question has the same digest however it was written. */
#ifndef API_JSON_CANONICAL_H
#define API_JSON_CANONICAL_H

#include <jansson.h>
#include <stdbool.h>

#include "api/json/buffer.h"

/* SHA-256 of the canonical form, in lower-case hexadecimal digits; "" when memory is out. */
enum { REQUEST_DIGEST_SIZE = 65 };
void request_digest(const json_t *body, char ret_hex[REQUEST_DIGEST_SIZE]);

/* Appends the canonical form (RFC 8785): no blanks, members by UTF-16 code units, numbers as ECMAScript writes doubles
 * (an integer above 2^53 as the double nearest to it). `out->failed` when memory is out. */
void canonical_write(const json_t *value, struct buffer *out);

#endif
