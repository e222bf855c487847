/* The whole answer to an estimate request: plans chosen, fixes tried, remarks made. */
#ifndef SERVICE_SEARCH_ANSWER_H
#define SERVICE_SEARCH_ANSWER_H

#include "service/feed/feed.h"
#include "service/search/fitting.h"
#include "service/search/fixes.h"
#include "service/search/serving_launch.h"
#include "service/search/serving_sizing.h"
#include "service/speed/serving_crossover.h"

/* Of one node, under load; 0: not known. */
struct power_need {
    double gpu_watts;  /* all its GPUs, data sheet */
    double node_watts; /* the whole machine */
    double psu_watts;  /* what its power supplies are to be rated at */
};

/* Pointers inside it lead into the request, the catalog and the answer itself: it is filled in place, not copied. */
struct answer {
    const struct model_arch *arch; /* NULL: no model was named */
    const struct model_params *params;
    double kv_bytes_per_token; /* 2 bytes an element */
    struct machine machine;
    bool has_training, has_serving;
    struct training_choice training;
    struct fixes training_fixes;
    uint32_t training_minimum_gpus; /* 0: not known */
    bool has_duration;
    struct range duration_hours;
    double offload_host_bytes, checkpoint_bytes; /* of training; 0: none */
    struct serving_choice serving;
    struct fixes serving_fixes;
    uint32_t serving_minimum_gpus;
    struct serving_sizing sizing;
    struct serving_crossover crossover;
    char launch[LAUNCH_SIZE]; /* "": no command is known */
    bool has_fitting;
    struct fitting_gpus fitting;
    bool has_capabilities;
    struct capabilities capabilities;
    struct feed feed;
    struct power_need power;
    const char *compute_tier, *data_tier; /* NULL: cannot be told */
    struct assumptions assumptions;
    struct notices notices;
};

/* Answers a request on one catalog. `ret_answer` is cleared first but for its notices and assumptions, to which
 * decoding may have added (the caller zeroes them before that). Faults: nothing asked, a split that is not legal,
 * a format without a kernel, a device that is not known. */
enum status answer_run(const struct estimate_request *request, const struct catalog *catalog, struct answer *ret_answer,
                       struct fault *ret_fault);

/* Remarks about a finished training (answer_notices.c) or serving estimate (serving_notices.c), and about the machine,
 * whatever runs on it; `pointer` is to the tensor split. */
void machine_notices(const struct estimate_request *request, const struct machine *machine, uint32_t tensor,
                     const char *pointer, struct notices *notices);
void training_notices(const struct estimate_request *request, const struct answer *answer, struct notices *notices);
void serving_notices(const struct estimate_request *request, const struct answer *answer, struct notices *notices);

#endif
