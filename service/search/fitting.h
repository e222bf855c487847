/* Which GPUs of the catalog a job runs on, and what a given machine can do at most. */
#ifndef SERVICE_SEARCH_FITTING_H
#define SERVICE_SEARCH_FITTING_H

#include "service/memory/footprint.h"
#include "service/search/request.h"

enum { MAX_FITTING_GPUS = 160, MAX_CAPABILITIES = 24 };

/* The smallest count of 1, 2, 4 and 8 of one GPU on which the job is not does_not_fit. */
struct fitting_gpu {
    const struct gpu *gpu;
    uint32_t gpus;
    enum verdict verdict;
};

struct fitting_gpus {
    size_t count;
    struct fitting_gpu items[MAX_FITTING_GPUS];
};

/* For the jobs of a request (training, serving, or both on the same GPUs), in the catalog's order of ids. */
void
fitting_gpus(const struct estimate_request *request, const struct catalog *catalog, struct fitting_gpus *ret_fitting);

/* The largest preset of the catalog that a machine trains by a method at a precision, or serves in a format. */
struct capability {
    bool is_training;
    enum training_method method;
    enum training_precision precision;
    enum weight_format format;
    const struct model_preset *largest; /* NULL: none of the catalog */
    enum verdict verdict;
};

struct capabilities {
    size_t count;
    struct capability items[MAX_CAPABILITIES];
};

void
capabilities_of(const struct machine *machine, const struct catalog *catalog, struct capabilities *ret_capabilities);

#endif
