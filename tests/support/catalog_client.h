/* One GET at a time to the catalog's handlers, on the compiled-in catalog, without a server. */
#ifndef TESTS_SUPPORT_CATALOG_CLIENT_H
#define TESTS_SUPPORT_CATALOG_CLIENT_H

#include <jansson.h>
#include <stddef.h>

#include "api/http/request.h"
#include "api/http/response.h"
#include "service/base/result.h"

/* The request in the making, and what came of it: the reply, or the fault. */
extern struct request catalog_request;
extern struct response catalog_response;
extern struct fault catalog_fault;

/* Makes a request: "/catalog/gpus", "limit=3&q=a" (not percent-encoded). */
void catalog_start(const char *path, const char *query);

/* Runs the handler of its path. */
enum status catalog_send(void);

/* Both, of a request that must succeed; the reply's JSON (the caller decrefs), or its text. */
json_t *catalog_get(const char *path, const char *query);
const char *catalog_get_text(const char *path, const char *query);

/* A header of the reply, NULL when absent. */
const char *catalog_header(const char *name);

/* Gives the reply back and empties the cache of replies; for checked fixtures. */
void catalog_give_back(void);

/* Members of JSON objects; the id of the i-th of a reply's items; its total_count. */
const char *text_at(const json_t *object, const char *name);
double number_at(const json_t *object, const char *name);
const char *item_id_at(const json_t *reply, size_t i);
size_t catalog_total(const char *path, const char *query);

#endif
