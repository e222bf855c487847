/* Copies of parameters and gradients that live for a while beside the sharded ones. */
#ifndef SERVICE_MEMORY_GATHERED_H
#define SERVICE_MEMORY_GATHERED_H

#include "service/memory/packed_base.h"
#include "service/memory/stage.h"

/* Which rule of gathering a setup follows; each is one formula of `gathered`. */
enum gathering {
    GATHERING_NONE = 0,
    GATHERING_FSDP_FROZEN,  /* two blocks, embedding and head */
    GATHERING_FSDP_TRAINED, /* likewise with gradients that wait to be reduced */
    GATHERING_ZERO3,        /* all, up to the live limit */
    GATHERING_ZERO2,        /* two reduce buckets */
    GATHERING_AUTOCAST,     /* the 16-bit copy of every FP32 weight that autocast caches */
};

struct gathered {
    enum gathering rule;
    double bytes;
    double block, root, head; /* elements on this GPU */
    double weight_bytes;      /* of a gathered element: as below, or a 4-bit block's */
    double element_bytes;     /* of any other: 2, in fp32 and tf32 4 */
    double limit;             /* elements */
    double step_bytes;        /* temporaries of the optimizer step, when activations are gone */
};

/* FSDP wraps each block and prefetches the next; the root (embedding and head) stays gathered between forward and
 * backward (PyTorch FSDP notes). ZeRO: max_live_parameters, reduce_bucket_size and sub_group_size of DeepSpeed's
 * config. `trained` and `base`: elements on this GPU before sharding. */
void gathered_of(const struct training_setup *setup, const struct stage *stage, double trained,
                 struct gathered *ret_gathered);

bool method_is_adapter(enum training_method method);

#endif
