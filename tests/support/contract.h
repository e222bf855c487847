/* The program under test beside its contract: whatever it answers is held against openapi.yaml. */
#ifndef TESTS_SUPPORT_CONTRACT_H
#define TESTS_SUPPORT_CONTRACT_H

#include <jansson.h>

#include "tests/support/http_client.h"

/* Reads openapi.yaml and starts the program with the catalog that is compiled in; for unchecked fixtures. */
void contract_start(void);
void contract_stop(void);

/* openapi.yaml, lent; read at the first call. */
const json_t *contract_document(void);

/* A component schema by name, lent; fails the test when there is none. */
const json_t *contract_schema(const char *name);

/* Calls `visit` for every operation of the document: "/estimate", "post" and what stands there. */
typedef void contract_visitor(const char *path, const char *member, const json_t *operation, void *context);
void contract_each_operation(contract_visitor *visit, void *context);

/* Follows "$ref" as long as there is one. */
const json_t *contract_resolve(const json_t *node);

/* Fails the test unless an enum of the document (`schema` has it or refers to it) holds exactly these names; NULLs,
 * what stands for "unsaid", are none. */
void contract_check_names(const json_t *schema, const char *const *names, size_t count, const char *where);

/* Sends a request ("/estimate", with its query) and checks the reply: the operation of the path (with a GET's HEAD
 * and OPTIONS apart) lists its status, and the media type there; a JSON body fits the schema, with no member that the
 * schema does not name; headers that the document promises stand there. Fails the test otherwise. `headers` as in
 * http_request; the caller ends the reply. */
void contract_send(const char *method, const char *path, const char *const *headers, const char *body,
                   struct http_reply *ret_reply);

/* POSTs JSON text and returns the reply's JSON, whose status must be `status`. The caller decrefs. */
json_t *contract_post(const char *path, long status, const char *body);

/* The same with Accept-Language. */
json_t *contract_post_in(const char *language, const char *path, long status, const char *body);

/* The text, the whole number or the number at an RFC 6901 pointer; fails the test when there is none. */
const char *contract_text(const json_t *value, const char *pointer);
json_int_t contract_count(const json_t *value, const char *pointer);
double contract_number(const json_t *value, const char *pointer);

/* Applies a merge patch (RFC 7396) to `target`, in place. Takes neither. */
void contract_merge(json_t *target, const json_t *patch);

#endif
