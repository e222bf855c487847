/* Names of matrices to what they are for; the smallest known set of targets that holds all of them. */
#include "service/model/adapter.h"

#include <string.h>
#include <strings.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

enum { MAX_RANK = 4096 };

enum role {
    ROLE_QUERY = 1,
    ROLE_KEY = 2,
    ROLE_VALUE = 4,
    ROLE_OUT = 8,
    ROLE_GATE = 16,
    ROLE_UP = 32,
    ROLE_DOWN = 64,
    ROLE_OTHER = 128,
};

static const unsigned query_value = ROLE_QUERY | ROLE_VALUE;
static const unsigned attention = ROLE_QUERY | ROLE_KEY | ROLE_VALUE | ROLE_OUT;
static const unsigned gated_mlp = ROLE_GATE | ROLE_UP | ROLE_DOWN;

static const struct {
    const char *name;
    unsigned roles;
} names[] = {
    { "q_proj", ROLE_QUERY },
    { "k_proj", ROLE_KEY },
    { "v_proj", ROLE_VALUE },
    { "o_proj", ROLE_OUT },
    { "out_proj", ROLE_OUT },
    { "dense", ROLE_OUT },
    { "wo", ROLE_OUT },
    { "query", ROLE_QUERY },
    { "key", ROLE_KEY },
    { "value", ROLE_VALUE },
    { "qkv_proj", ROLE_QUERY | ROLE_KEY | ROLE_VALUE },
    { "query_key_value", ROLE_QUERY | ROLE_KEY | ROLE_VALUE },
    { "c_attn", ROLE_QUERY | ROLE_KEY | ROLE_VALUE },
    { "W_pack", ROLE_QUERY | ROLE_KEY | ROLE_VALUE },
    { "wqkv", ROLE_QUERY | ROLE_KEY | ROLE_VALUE },
    { "Wqkv", ROLE_QUERY | ROLE_KEY | ROLE_VALUE },
    { "gate_proj", ROLE_GATE },
    { "up_proj", ROLE_UP },
    { "down_proj", ROLE_DOWN },
    { "gate_up_proj", ROLE_GATE | ROLE_UP },
    { "w1", ROLE_GATE },
    { "w3", ROLE_UP },
    { "w2", ROLE_DOWN },
    { "fc1", ROLE_GATE | ROLE_UP },
    { "fc2", ROLE_DOWN },
    { "c_fc", ROLE_GATE | ROLE_UP },
    { "dense_h_to_4h", ROLE_GATE | ROLE_UP },
    { "dense_4h_to_h", ROLE_DOWN },
};

/* "model.layers.0.self_attn.q_proj" means what its last component does. */
static unsigned
roles_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *last = dot != NULL ? dot + 1 : name;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(names[i].name, last) == 0)
            return names[i].roles;
    }
    return ROLE_OTHER;
}

static unsigned
roles_of_list(const struct facts *facts, const struct fact *list)
{
    unsigned roles = 0;

    for (int64_t i = 0; i < list->integer && i < MAX_FACTS; i++) {
        char path[FACT_PATH_SIZE];

        text_format(path, sizeof(path), "/target_modules/%lld", (long long)i);
        const struct fact *fact = facts_get(facts, path);
        if (fact == NULL)
            break;
        roles |= fact->kind == FACT_TEXT ? roles_of(fact->text) : ROLE_OTHER;
    }
    return roles;
}

static void
set_targets(const struct facts *facts, struct adapter *adapter)
{
    const struct fact *targets = facts_get(facts, "/target_modules");
    unsigned roles;

    adapter->targets = LORA_ALL_LINEAR;
    adapter->exact = targets != NULL && targets->kind == FACT_TEXT && strcasecmp(targets->text, "all-linear") == 0;
    if (targets == NULL) {
        adapter->targets = LORA_TARGETS_UNSAID; /* peft's own choice for the class */
        return;
    }
    if (targets->kind != FACT_LIST)
        return;
    roles = roles_of_list(facts, targets);
    if (roles != 0 && (roles & ~query_value) == 0)
        adapter->targets = LORA_QUERY_VALUE;
    else if (roles != 0 && (roles & ~attention) == 0)
        adapter->targets = LORA_ATTENTION;
    adapter->exact = roles == query_value || roles == attention || roles == (attention | gated_mlp);
}

/* What an adapter may have beyond matrices of one rank in every layer. */
static bool
has_more(const struct facts *facts)
{
    static const char *const keys[] = { "/modules_to_save",        "/rank_pattern",
                                        "/layers_to_transform",    "/use_dora",
                                        "/layer_replication",      "/target_parameters",
                                        "/trainable_token_indices" };

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const struct fact *fact = facts_get(facts, keys[i]);

        if (fact != NULL && (fact->kind == FACT_TEXT || fact->integer != 0))
            return true;
    }
    return false;
}

static void
fault_at(const struct fact *fact, const char *pointer, const char *expected, struct fault *fault)
{
    char at[FAULT_POINTER_SIZE];
    char value[FAULT_TEXT_SIZE] = "";

    if (fact->kind == FACT_TEXT)
        text_copy(value, sizeof(value), fact->text);
    else if (fact->kind == FACT_INTEGER)
        text_format(value, sizeof(value), "%lld", (long long)fact->integer);
    text_format(at, sizeof(at), "%s%s", pointer, fact->path);
    fault_add(fault, FAULT_MODEL_FIELD_UNSUPPORTED, at, value, expected, NULL);
}

bool
adapter_read(const struct facts *facts, const char *pointer, struct adapter *ret_adapter, struct fault *fault)
{
    const struct fact *type = facts_get(facts, "/peft_type");
    const struct fact *base = facts_get(facts, "/base_model_name_or_path");
    const struct fact *rank = facts_get(facts, "/r");

    if (type == NULL && (base == NULL || facts_get(facts, "/target_modules") == NULL))
        return false;
    if (type != NULL && (type->kind != FACT_TEXT || strcasecmp(type->text, "LORA") != 0))
        fault_at(type, pointer, "LORA", fault);
    ret_adapter->base = base != NULL && base->kind == FACT_TEXT ? base->text : "";
    ret_adapter->rank = 0;
    if (rank != NULL && rank->kind == FACT_INTEGER && rank->integer > 0 && rank->integer <= MAX_RANK)
        ret_adapter->rank = (uint32_t)rank->integer;
    else if (rank != NULL)
        fault_at(rank, pointer, "integer 1..4096", fault);
    set_targets(facts, ret_adapter);
    ret_adapter->exact = ret_adapter->exact && !has_more(facts);
    return true;
}
