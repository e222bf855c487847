/* Terms of memory, their sums and the verdict. */
#include "service/memory/footprint.h"

/* The contract's border between fits and tight: what is left for drivers, other processes and growth. */
static const double fitting_share = 0.9;

struct part *
footprint_add(struct footprint *footprint, enum part_code code, double bytes)
{
    uint32_t at = footprint->part_count < MAX_PARTS ? footprint->part_count++ : MAX_PARTS - 1;
    struct part *part = &footprint->parts[at];

    *part = (struct part){ .code = code, .bytes = bytes, .formula = "", .source = "" };
    return part;
}

double
footprint_bytes(const struct footprint *footprint, enum part_code code)
{
    double bytes = 0;

    for (uint32_t i = 0; i < footprint->part_count; i++)
        if (footprint->parts[i].code == code)
            bytes += footprint->parts[i].bytes;
    return bytes;
}

void
footprint_sum(struct footprint *footprint)
{
    double allocated = 0, beside = 0, slack = 0;

    for (uint32_t i = 0; i < footprint->part_count; i++) {
        const struct part *part = &footprint->parts[i];

        if (part->code == PART_FRAGMENTATION)
            slack += part->bytes;
        else if (part->code == PART_COMMUNICATION || part->code == PART_RUNTIME)
            beside += part->bytes;
        else
            allocated += part->bytes;
    }
    footprint->allocated_bytes = allocated;
    footprint->required_bytes = allocated + beside;
    footprint->reserved_bytes = allocated + beside + slack;
}

double
footprint_fitting_bytes(const struct footprint *footprint)
{
    double share = 1 / footprint->band_high;

    return footprint->usable_bytes * (share < fitting_share ? share : fitting_share);
}

enum verdict
footprint_verdict(const struct footprint *footprint)
{
    double usable = footprint->usable_bytes;

    if (usable <= 0)
        return VERDICT_UNKNOWN;
    if (!(footprint->required_bytes <= usable)) /* what is no number does not fit */
        return VERDICT_DOES_NOT_FIT;
    return footprint->reserved_bytes <= footprint_fitting_bytes(footprint) ? VERDICT_FITS : VERDICT_TIGHT;
}

const char *
part_code_name(enum part_code code)
{
    static const char *const names[PART_CODE_COUNT] = {
        [PART_WEIGHTS] = "weights",
        [PART_GRADIENTS] = "gradients",
        [PART_MASTER_WEIGHTS] = "master_weights",
        [PART_OPTIMIZER_STATES] = "optimizer_states",
        [PART_ADAPTER] = "adapter",
        [PART_ACTIVATIONS] = "activations",
        [PART_LOGITS] = "logits",
        [PART_GATHERED_PARAMETERS] = "gathered_parameters",
        [PART_KV_CACHE] = "kv_cache",
        [PART_COMMUNICATION] = "communication",
        [PART_WORKSPACE] = "workspace",
        [PART_RUNTIME] = "runtime",
        [PART_FRAGMENTATION] = "fragmentation",
    };

    return code < PART_CODE_COUNT ? names[code] : "";
}

const char *
verdict_name(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_UNKNOWN:
        return "unknown";
    case VERDICT_FITS:
        return "fits";
    case VERDICT_TIGHT:
        return "tight";
    case VERDICT_DOES_NOT_FIT:
        return "does_not_fit";
    }
    return "unknown";
}
