/* POST /estimate: what a job takes on given hardware. */
#ifndef API_HANDLERS_ESTIMATE_H
#define API_HANDLERS_ESTIMATE_H

#include "api/route.h"

handler handle_estimate;

#endif
