/* POST /recommend: what to rent or buy for a job. */
#ifndef API_HANDLERS_RECOMMEND_H
#define API_HANDLERS_RECOMMEND_H

#include "api/route.h"

handler handle_recommend;

#endif
