/* A server in this process, with routes made for tests and a catalog of nothing but its version. */
#ifndef TESTS_SUPPORT_SERVED_H
#define TESTS_SUPPORT_SERVED_H

#include "api/server.h"

/* Settings with every limit of config.c, no log, the routes of tests/support/served.c:
 *   GET  /livez /readyz /metrics     sizer's own
 *   POST /echo                       the body comes back
 *   POST /slow                       {} after the milliseconds that the body says
 *   GET  /things/{id}                the tail, each query parameter and the language, a line each
 *   GET  /table                      JSON, CSV or NDJSON, by its name
 *   POST /wrong                      three faults
 *   GET  /broken                     a handler that fails without saying why
 * A test changes what it likes before served_start. */
extern struct server_settings served_settings;

/* Publishes the catalog, unless told not to, and starts. served_server is then set. */
void served_start(bool with_catalog);
void served_stop(void);

extern struct server *served_server;
extern uint16_t served_port;

#endif
