/* The matrices in the order of params.c, each under the name that its class gives it. */
#include "service/model/modules.h"

#include <string.h>

#include "service/model/module_names.h"

struct module_list {
    struct module *items;
    uint32_t count;
    struct module_names names;
};

/* A matrix without inputs or outputs is left out. */
static void
add(struct module_list *list, enum module_class class, const char *name, uint64_t inputs, uint64_t outputs,
    uint64_t count)
{
    if (inputs > 0 && outputs > 0 && count > 0 && list->count < MAX_MODULES)
        list->items[list->count++] = (struct module){ class, name, inputs, outputs, count };
}

static void
add_heads(struct module_list *list, const struct layer_kind *kind, uint64_t hidden, uint64_t count)
{
    const struct module_names *names = &list->names;
    uint64_t heads = (uint64_t)kind->head_count * kind->head_size;
    uint64_t key = (uint64_t)kind->kv_head_count * kind->head_size;
    uint64_t query = kind->query_gate ? 2 * heads : heads;

    if (names->query_key_value != NULL) {
        add(list, MODULE_ATTENTION, names->query_key_value, hidden, query + 2 * key, count);
    } else {
        add(list, MODULE_ATTENTION, names->query, hidden, query, count);
        add(list, MODULE_ATTENTION, names->key, hidden, key, count);
        add(list, MODULE_ATTENTION, names->value, hidden, key, count);
    }
    add(list, MODULE_ATTENTION, names->out, heads, hidden, count);
}

/* arXiv:2405.04434 section 2.1, names of modeling_deepseek_v3.py */
static void
add_latent(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    uint64_t heads = kind->head_count;
    uint64_t query = heads * ((uint64_t)kind->nope_size + kind->rope_size);

    if (kind->query_rank > 0) {
        add(list, MODULE_ATTENTION, "self_attn.q_a_proj", hidden, kind->query_rank, 1);
        add(list, MODULE_ATTENTION, "self_attn.q_b_proj", kind->query_rank, query, 1);
    } else {
        add(list, MODULE_ATTENTION, "self_attn.q_proj", hidden, query, 1);
    }
    add(list, MODULE_ATTENTION, "self_attn.kv_a_proj_with_mqa", hidden, (uint64_t)kind->latent_size + kind->rope_size,
        1);
    add(list, MODULE_ATTENTION, "self_attn.kv_b_proj", kind->latent_size,
        heads * ((uint64_t)kind->nope_size + kind->value_size), 1);
    add(list, MODULE_ATTENTION, "self_attn.o_proj", heads * kind->value_size, hidden, 1);
}

static void
add_attention(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    switch (kind->attention) {
    case ATTENTION_NONE:
        break;
    case ATTENTION_HEADS:
        add_heads(list, kind, hidden, kind->cross_attention ? 2 : 1);
        break;
    case ATTENTION_LATENT:
        add_latent(list, kind, hidden);
        break;
    case ATTENTION_RECURRENT:
        for (uint32_t i = 0; i < kind->mixer_matrix_count; i++)
            add(list, MODULE_ATTENTION, kind->mixer_matrices[i].name, kind->mixer_matrices[i].inputs,
                kind->mixer_matrices[i].outputs, 1);
        break;
    }
}

static void
add_dense(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    const struct module_names *names = &list->names;
    uint64_t width = kind->intermediate_size;

    if (kind->gated && names->gate_up != NULL) {
        add(list, MODULE_MLP, names->gate_up, hidden, 2 * width, 1);
    } else {
        if (kind->gated)
            add(list, MODULE_MLP, names->gate, hidden, width, 1);
        add(list, MODULE_MLP, names->up, hidden, width, 1);
    }
    add(list, MODULE_MLP, names->down, width, hidden, 1);
}

static void
add_experts(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    const struct module_names *names = &list->names;
    uint64_t width = kind->expert_size, count = kind->expert_count;

    if (kind->gated && names->expert_gate_up != NULL) {
        add(list, MODULE_EXPERTS, names->expert_gate_up, hidden, 2 * width, count);
    } else {
        if (kind->gated)
            add(list, MODULE_EXPERTS, names->expert_gate, hidden, width, count);
        add(list, MODULE_EXPERTS, names->expert_up, hidden, width, count);
    }
    add(list, MODULE_EXPERTS, names->expert_down, width, hidden, count);
    if (kind->gated)
        add(list, MODULE_SHARED, names->shared_gate, hidden, kind->shared_size, 1);
    add(list, MODULE_SHARED, names->shared_up, hidden, kind->shared_size, 1);
    add(list, MODULE_SHARED, names->shared_down, kind->shared_size, hidden, 1);
    add(list, MODULE_ROUTER, names->router, hidden, kind->expert_count, 1);
    if (kind->shared_gate)
        add(list, MODULE_SHARED_GATE, names->shared_router, hidden, 1, 1);
}

uint32_t
modules_of_layer(const struct model_arch *arch, const struct layer_kind *kind, struct module *ret_modules)
{
    struct module_list list = { .items = ret_modules, .names = module_names_of(arch->architecture) };

    add_attention(&list, kind, arch->hidden_size);
    if (kind->mlp == MLP_DENSE)
        add_dense(&list, kind, arch->hidden_size);
    if (kind->mlp == MLP_EXPERTS)
        add_experts(&list, kind, arch->hidden_size);
    return list.count;
}

/* Text models inside others: transformers 4 and 5 and vLLM put different names in front. */
struct module_stack
modules_stack(const struct model_arch *arch)
{
    struct module_names names = module_names_of(arch->architecture);
    struct module_stack stack = { .layers = { names.layers }, .embedding = names.embedding, .head = names.head };

    if (strstr(arch->architecture, "ForConditionalGeneration") != NULL) {
        stack.layers[1] = "model.language_model.layers";
        stack.layers[2] = "language_model.model.layers";
        stack.layers[3] = "language_model.layers";
    }
    return stack;
}
