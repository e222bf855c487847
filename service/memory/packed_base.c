/* Bits and copies of a packed base, by what packed it. */
#include "service/memory/packed_base.h"

#include <strings.h>

#include "service/base/quantity.h"
#include "service/memory/optimizer.h"

/* Packed when the checkpoint was written, in formats that adapters train on as they are. */
static const struct {
    const char *method;
    bool kept;
} trainable[] = { { "gptq", true }, { "hqq", true }, { "eetq", false } };

static bool
runs_peft(enum framework framework)
{
    return framework == FRAMEWORK_HF_TRAINER || framework == FRAMEWORK_DEEPSPEED;
}

struct packed_base
packed_base_of(const struct training_setup *setup)
{
    const struct stored_weights *stored = &setup->arch->stored;
    bool cast = precision_is_mixed(setup->job->precision) && runs_peft(setup->job->framework);
    struct packed_base base = { QLORA_BITS, cast ? 4 : 2, false, "arXiv:2305.14314 section 3" };

    for (size_t i = 0; stored->packed && i < COUNT_OF(trainable); i++)
        if (strcasecmp(stored->method, trainable[i].method) == 0 && stored->linear_bits > 0)
            return (struct packed_base){ stored->linear_bits, 2, trainable[i].kept,
                                         "bits of the checkpoint; PEFT: prepare_model_for_kbit_training" };
    return base;
}

double
packed_base_unpacked_bytes(const struct training_setup *setup, const struct stage *stage)
{
    double layers = setup->recompute == RECOMPUTE_FULL ? 1 : stage->layers;

    if (setup->job->method != METHOD_QLORA || !packed_base_of(setup).kept)
        return 0;
    return 2 * layers * stage_block_elements(setup, stage);
}
