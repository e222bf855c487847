/* Whether a JSON value is what a JSON Schema of openapi.yaml says: the part of the 2020-12 draft that the document
 * uses.
 */
#ifndef TESTS_SUPPORT_SCHEMA_H
#define TESTS_SUPPORT_SCHEMA_H

#include <jansson.h>
#include <stddef.h>

enum {
    /* Members that a schema with `properties` does not name are violations even where it would let them through: a
     * reply may grow, but not without a word in the document. */
    SCHEMA_CLOSED = 1,
};

/* The value at an RFC 6901 pointer ("" is the whole), lent; NULL when nothing stands there. */
const json_t *schema_at(const json_t *document, const char *pointer);

/* How often `value` breaks `schema`, whose "$ref" lead into `document`. The violations are written to `report`, a line
 * each, as far as there is room. A keyword that is not understood here is a violation too, so that none is overlooked.
 * Patterns are read as POSIX extended regular expressions (regcomp), lengths count characters. */
size_t schema_validate(const json_t *document, const json_t *schema, const json_t *value, unsigned flags, char *report,
                       size_t report_size);

#endif
