/* What observed figures say about a running job, and what to do about it. Reads results only. */
#ifndef SERVICE_ADVICE_DIAGNOSIS_H
#define SERVICE_ADVICE_DIAGNOSIS_H

#include "service/base/note.h"
#include "service/search/answer.h"

enum { MAX_FINDINGS = 8, MAX_ACTIONS = 4 };

struct action {
    const char *code;                      /* the sentence is api/i18n's "action.<code>" */
    double number;                         /* {n0} of it */
    double expected_gpu_utilization_ratio; /* once it is done alone; 0: cannot be told */
};

struct finding {
    const char *code; /* "diagnosis.<code>" */
    enum severity severity;
    struct action actions[MAX_ACTIONS];
    uint32_t action_count;
};

/* Most useful first. */
struct diagnosis {
    struct finding items[MAX_FINDINGS];
    uint32_t count;
};

/* Of a request that observed something; else empty. Thresholds are rates (advice.*). */
void diagnose(const struct estimate_request *request, const struct answer *answer, const struct rates *rates,
              struct diagnosis *ret_diagnosis);

#endif
