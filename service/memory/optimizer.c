/* The recipes of model states. */
#include "service/memory/optimizer.h"

#include <stdbool.h>

bool
precision_is_mixed(enum training_precision precision)
{
    return precision == PRECISION_BF16_MIXED || precision == PRECISION_FP16_MIXED || precision == PRECISION_FP8_MIXED;
}

static bool
is_fp32(enum training_precision precision)
{
    return precision == PRECISION_FP32 || precision == PRECISION_TF32;
}

double
precision_element_bytes(enum training_precision precision)
{
    return is_fp32(precision) ? 4 : 2;
}

/* FP32 moments of one parameter. */
static double
moment_bytes(const struct rates *rates, enum optimizer optimizer)
{
    switch (optimizer) {
    case OPTIMIZER_UNSAID:
    case OPTIMIZER_ADAMW:
        return 8; /* two moments: arXiv:1412.6980 */
    case OPTIMIZER_ADAMW_8BIT:
        return 2 + 2 * 4 / 256.0; /* arXiv:2110.02861: one FP32 scale a block */
    case OPTIMIZER_ADAMW_8BIT_PAGED:
        return 0; /* unified memory that the host can take back: arXiv:2305.14314 section 3 */
    case OPTIMIZER_ADAFACTOR:
        return rates->training_memory_adafactor_state_bytes;
    case OPTIMIZER_LION: /* one momentum: arXiv:2302.06675 */
    case OPTIMIZER_MUON:
    case OPTIMIZER_SGD_MOMENTUM:
        return 4;
    case OPTIMIZER_SGD:
        return 0;
    }
    return 8;
}

static bool
is_8bit(enum optimizer optimizer)
{
    return optimizer == OPTIMIZER_ADAMW_8BIT || optimizer == OPTIMIZER_ADAMW_8BIT_PAGED;
}

static void
set_states(const struct rates *rates, enum training_precision precision, enum optimizer optimizer,
           struct state_bytes *state)
{
    bool half = precision == PRECISION_BF16_PURE && !is_8bit(optimizer) && optimizer != OPTIMIZER_ADAFACTOR;

    state->states = moment_bytes(rates, optimizer) * (half ? 0.5 : 1);
    state->other_states =
        optimizer == OPTIMIZER_MUON ? moment_bytes(rates, OPTIMIZER_ADAMW) * (half ? 0.5 : 1) : state->states;
}

struct state_bytes
state_bytes_of(const struct rates *rates, enum training_precision precision, enum optimizer optimizer,
               enum framework framework)
{
    struct state_bytes state = { .weight = 4, .gradient = 4, .master = 0 };

    set_states(rates, precision, optimizer, &state);
    if (is_fp32(precision))
        return state;
    if (precision == PRECISION_BF16_PURE) {
        state.weight = state.gradient = 2;
        return state;
    }
    switch (framework) {
    case FRAMEWORK_MEGATRON:
        state.weight = 2;
        state.master = 4;
        break;
    case FRAMEWORK_DEEPSPEED:
        state.weight = state.gradient = 2;
        state.master = 4;
        break;
    case FRAMEWORK_UNSAID:
    case FRAMEWORK_HF_TRAINER:
        if (is_8bit(optimizer))
            state.weight = state.gradient = 2;
        break;
    case FRAMEWORK_FSDP:
        break;
    }
    return state;
}

struct state_bytes
adapter_state_bytes_of(const struct rates *rates, const struct training_job *job)
{
    struct state_bytes state = { .weight = 4, .gradient = 4, .master = 0 };

    set_states(rates, job->precision, job->optimizer, &state);
    if (job->precision == PRECISION_BF16_PURE)
        state.weight = state.gradient = 2;
    else if (precision_is_mixed(job->precision) && job->framework == FRAMEWORK_HF_TRAINER && job->method == METHOD_LORA)
        state.weight += 2;
    return state;
}
