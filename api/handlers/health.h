/* What probes and tools ask of the program itself. */
#ifndef API_HANDLERS_HEALTH_H
#define API_HANDLERS_HEALTH_H

#include "api/route.h"

handler handle_livez;   /* the process answers */
handler handle_readyz;  /* whether it should be sent requests: 503 while it drains or has no catalog */
handler handle_metrics; /* for Prometheus */
handler handle_openapi; /* the contract, as it was compiled in */

#endif
