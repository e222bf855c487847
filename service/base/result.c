/* Names of fault codes and the list that faults are collected in. */
#include "service/base/result.h"

#include "service/base/text.h"

static const char *const names[FAULT_COUNT] = {
    [FAULT_NONE] = "",
#define FAULT(id, name, http_status) [FAULT_##id] = (name),
#include "service/base/faults.def"
#undef FAULT
};

const char *
fault_code_name(enum fault_code code)
{
    return (unsigned)code < FAULT_COUNT ? names[code] : "";
}

void
fault_clear(struct fault *fault)
{
    fault->code = FAULT_NONE;
    fault->item_count = 0;
    fault->more_count = 0;
}

struct fault_item *
fault_add(struct fault *fault, enum fault_code code, const char *pointer, const char *value, const char *expected,
          const char *suggestion)
{
    struct fault_item *item;

    if (fault->code == FAULT_NONE)
        fault->code = code;
    if (fault->item_count == MAX_FAULT_ITEMS) {
        fault->more_count++;
        return NULL;
    }
    item = &fault->items[fault->item_count++];
    item->code = code;
    item->is_parameter = false;
    text_copy(item->pointer, sizeof item->pointer, pointer);
    text_copy(item->value, sizeof item->value, value);
    text_copy(item->expected, sizeof item->expected, expected);
    text_copy(item->suggestion, sizeof item->suggestion, suggestion);
    return item;
}
