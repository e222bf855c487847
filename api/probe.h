/* Asks a running sizer whether it lives: what a container's health check runs. */
#ifndef API_PROBE_H
#define API_PROBE_H

#include <stdbool.h>

#include "api/config.h"

/* Whether GET /livez at the address that the settings listen on answers 200 within two seconds. An address that means
 * "every address" is asked at 127.0.0.1. */
bool probe_livez(const struct config_address *address);

#endif
