/* An adapter's file (adapter_config.json of huggingface/peft): its base model, its rank, what it adapts. */
#ifndef SERVICE_MODEL_ADAPTER_H
#define SERVICE_MODEL_ADAPTER_H

#include "service/base/result.h"
#include "service/model/facts.h"
#include "service/model/params.h"

struct adapter {
    const char *base; /* as the file names it, lent by the facts; "" when it does not */
    uint32_t rank;    /* 0: the file does not say */
    enum lora_targets targets;
    bool exact; /* it adapts just what `targets` means; false: less, or more besides */
};

/* Whether the facts are those of a LoRA adapter's file; another kind of adapter, a rank that is none and the like are
 * faults at their place below `pointer`, and count as one, too. */
bool adapter_read(const struct facts *facts, const char *pointer, struct adapter *ret_adapter, struct fault *fault);

#endif
