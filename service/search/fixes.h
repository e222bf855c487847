/* What would make a job fit or run better: changes of the request, each tried by the same estimator. */
#ifndef SERVICE_SEARCH_FIXES_H
#define SERVICE_SEARCH_FIXES_H

#include "service/memory/footprint.h"
#include "service/search/request.h"
#include "service/search/serving_plans.h"
#include "service/search/serving_sizing.h"
#include "service/search/training_plans.h"

/* Codes of the contract, cheapest first: this is also the order in which they are tried. */
enum fix_code {
    FIX_SMALLER_MICRO_BATCH = 0,
    FIX_RECOMPUTE,
    FIX_FLASH_ATTENTION,
    FIX_FUSED_LOSS,
    FIX_ZERO1,
    FIX_ZERO2,
    FIX_ZERO3,
    FIX_OPTIMIZER_8BIT,
    FIX_PURE_BF16,
    FIX_TENSOR_PARALLEL,
    FIX_PIPELINE_PARALLEL,
    FIX_CONTEXT_PARALLEL,
    FIX_OFFLOAD_OPTIMIZER,
    FIX_OFFLOAD_ALL,
    FIX_LORA,
    FIX_QLORA,
    FIX_QUANTIZE_WEIGHTS,
    FIX_QUANTIZE_KV_CACHE,
    FIX_SHORTER_CONTEXT,
    FIX_LOWER_CONCURRENCY,
    FIX_ATTENTION_DATA_PARALLEL,
    FIX_MORE_GPUS,
    FIX_LARGER_GPU,
    FIX_FASTER_NETWORK,
    FIX_COUNT
};

const char *fix_code_name(enum fix_code code);

/* One member of the request that a fix sets. The ids index the table in settings.c. */
enum setting_id {
    SET_METHOD = 0,
    SET_PRECISION,
    SET_OPTIMIZER,
    SET_MICRO_BATCH,
    SET_GLOBAL_BATCH,
    SET_RECOMPUTE,
    SET_ATTENTION,
    SET_LOSS,
    SET_OFFLOAD,
    SET_SHARDING,
    SET_TRAINING_SPLIT_OPEN, /* parallelism: null */
    SET_FRAMEWORK_OPEN,      /* framework: null */
    SET_SERVING_PRECISION,
    SET_KV_PRECISION,
    SET_CONTEXT_LENGTH,
    SET_INPUT_TOKENS,
    SET_OUTPUT_TOKENS,
    SET_CONCURRENCY,
    SET_SERVING_SPLIT_OPEN,
    SET_SERVING_TENSOR,
    SET_SERVING_PIPELINE,
    SET_SERVING_DATA,
    SET_SERVING_EXPERT,
    SET_REQUESTS_PER_SECOND,
    SET_GPU,
    SET_GPUS,
    SET_OFFER_COUNT,
    SET_INSTANCE_NONE, /* instance: null */
    SET_SERVER_NONE,
    SET_COUNT_NONE,
    SET_INTRANODE_OPEN,
    SET_GPUS_PER_NODE_OPEN,
    SET_INTERNODE,
    SETTING_COUNT
};

struct setting {
    enum setting_id id;
    double value;          /* number, or the enum's value */
    const struct gpu *gpu; /* SET_GPU */
};

enum { MAX_SETTINGS = 6, MAX_FIXES = 24 };

/* What of the training itself a fix changes: its loss may run another way then. */
enum {
    FIX_CHANGES_BATCH = 1, /* sequences a step */
    FIX_CHANGES_PRECISION = 2,
    FIX_CHANGES_OPTIMIZER = 4,
    FIX_CHANGES_METHOD = 8
};

/* A change (a merge patch in replies) and what the same estimate says after it. */
struct fix {
    enum fix_code code;
    struct setting settings[MAX_SETTINGS];
    uint32_t setting_count;
    enum verdict verdict;
    double allocated_bytes;
    double time_factor;              /* 0: not known */
    unsigned changes;                /* of training: FIX_CHANGES_ bits */
    bool has_targets, meets_targets; /* of serving: whether the latency targets are then kept */
    double number;                   /* {n0} of its sentence */
    const char *text;                /* {t0}, lent by the catalog or constant */
};

struct fixes {
    uint32_t count;
    struct fix items[MAX_FIXES];
};

/* RFC 6901 path of a setting ("/training/precision") and the text it is written as when it is an enum or null:
 * *ret_text NULL and *ret_is_null tells null; a number has text NULL and is_null false. */
const char *setting_path(const struct setting *setting, const char **ret_text, bool *ret_is_null);

/* Changes a request as the merge patch would. */
void setting_apply(const struct setting *setting, struct estimate_request *request);

/* Every fix that applies, most useful first: those after which the job fits, then those after which it is tight, then
 * those that only need less; cheapest first among equals. `before` is the estimate to improve on: of training none
 * when it fits and neither links nor storage nor the host hold it back. */
void training_fixes(const struct estimate_request *request, const struct catalog *catalog,
                    const struct training_choice *before, struct fixes *ret_fixes);
void serving_fixes(const struct estimate_request *request, const struct catalog *catalog,
                   const struct serving_choice *before, const struct serving_sizing *sizing, uint32_t minimum_gpus,
                   struct fixes *ret_fixes);

/* Puts a tried fix in its place. */
void fixes_add(struct fixes *fixes, const struct fix *fix);

#endif
