/* The matrices in the order of params.c, each under the name that its class gives it. */
#include "service/model/modules.h"

#include <string.h>

#include "service/model/module_names.h"

struct module_list {
    struct module *items;
    uint32_t count;
    uint64_t attention_count, expert_count; /* how many there are of each matrix */
    struct module_names names;
};

/* A matrix without inputs or outputs is left out. */
static void
add(struct module_list *list, enum module_class class, enum module_role role, const char *name, uint64_t inputs,
    uint64_t outputs)
{
    uint64_t count = class == MODULE_EXPERTS ? list->expert_count : list->attention_count;

    if (inputs > 0 && outputs > 0 && list->count < MAX_MODULES)
        list->items[list->count++] =
            (struct module){ class,  role,    name,
                             inputs, outputs, class == MODULE_EXPERTS || class == MODULE_ATTENTION ? count : 1 };
}

static void
add_heads(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    const struct module_names *names = &list->names;
    uint64_t heads = (uint64_t)kind->head_count * kind->head_size;
    uint64_t key = (uint64_t)kind->kv_head_count * kind->head_size;
    uint64_t value = kind->value_is_key ? 0 : (uint64_t)kind->kv_head_count * layer_value_size(kind);
    uint64_t out = (uint64_t)kind->head_count * layer_value_size(kind);
    uint64_t query = kind->query_gate ? 2 * heads : heads;

    if (names->query_key_value != NULL) {
        add(list, MODULE_ATTENTION, MODULE_QUERY_KEY_VALUE, names->query_key_value, hidden, query + key + value);
    } else {
        add(list, MODULE_ATTENTION, MODULE_PLAIN, names->query, hidden, query);
        add(list, MODULE_ATTENTION, MODULE_KEY, names->key, hidden, key);
        add(list, MODULE_ATTENTION, MODULE_VALUE, names->value, hidden, value);
    }
    add(list, MODULE_ATTENTION, MODULE_OUT, names->out, out, hidden);
}

/* arXiv:2405.04434 section 2.1, names of modeling_deepseek_v3.py */
static void
add_latent(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    uint64_t heads = kind->head_count;
    uint64_t query = heads * ((uint64_t)kind->nope_size + kind->rope_size);

    if (kind->query_rank > 0) {
        add(list, MODULE_ATTENTION, MODULE_PLAIN, "self_attn.q_a_proj", hidden, kind->query_rank);
        add(list, MODULE_ATTENTION, MODULE_PLAIN, "self_attn.q_b_proj", kind->query_rank, query);
    } else {
        add(list, MODULE_ATTENTION, MODULE_PLAIN, "self_attn.q_proj", hidden, query);
    }
    add(list, MODULE_ATTENTION, MODULE_PLAIN, "self_attn.kv_a_proj_with_mqa", hidden,
        (uint64_t)kind->latent_size + kind->rope_size);
    add(list, MODULE_ATTENTION, MODULE_PLAIN, "self_attn.kv_b_proj", kind->latent_size,
        heads * ((uint64_t)kind->nope_size + kind->value_size));
    if (kind->query_gate)
        add(list, MODULE_ATTENTION, MODULE_PLAIN, "self_attn.g_proj", hidden, heads * kind->value_size);
    add(list, MODULE_ATTENTION, MODULE_OUT, "self_attn.o_proj", heads * kind->value_size, hidden);
}

/* Those that a kind lists; what no quantisation packs needs no rule. */
static void
add_listed(struct module_list *list, const struct layer_kind *kind)
{
    for (uint32_t i = 0; i < kind->mixer_matrix_count; i++) {
        const struct mixer_matrix *matrix = &kind->mixer_matrices[i];

        if (!matrix->plain)
            add(list, MODULE_ATTENTION, MODULE_PLAIN, matrix->name, matrix->inputs, matrix->outputs);
    }
}

static void
add_attention(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    switch (kind->attention) {
    case ATTENTION_NONE:
        break;
    case ATTENTION_HEADS:
        if (kind->mixer_elements > 0)
            add_listed(list, kind);
        else
            add_heads(list, kind, hidden);
        break;
    case ATTENTION_LATENT:
        add_latent(list, kind, hidden);
        break;
    case ATTENTION_RECURRENT:
        add_listed(list, kind);
        break;
    }
}

static void
add_dense(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    const struct module_names *names = &list->names;
    uint64_t width = kind->intermediate_size;

    if (kind->gated && names->gate_up != NULL) {
        add(list, MODULE_MLP, MODULE_PLAIN, names->gate_up, hidden, 2 * width);
    } else {
        if (kind->gated)
            add(list, MODULE_MLP, MODULE_PLAIN, names->gate, hidden, width);
        add(list, MODULE_MLP, MODULE_PLAIN, names->up, hidden, width);
    }
    add(list, MODULE_MLP, MODULE_DOWN, names->down, width, hidden);
}

static void
add_experts(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    const struct module_names *names = &list->names;
    uint64_t width = kind->expert_size, read = layer_expert_hidden_size(kind, (uint32_t)hidden);

    if (kind->gated && names->expert_gate_up != NULL) {
        add(list, MODULE_EXPERTS, MODULE_PLAIN, names->expert_gate_up, read, 2 * width);
    } else {
        if (kind->gated)
            add(list, MODULE_EXPERTS, MODULE_PLAIN, names->expert_gate, read, width);
        add(list, MODULE_EXPERTS, MODULE_PLAIN, names->expert_up, read, width);
    }
    add(list, MODULE_EXPERTS, MODULE_DOWN, names->expert_down, width, read);
    if (kind->gated && names->shared_gate_up != NULL) {
        add(list, MODULE_SHARED, MODULE_PLAIN, names->shared_gate_up, hidden, 2 * (uint64_t)kind->shared_size);
    } else {
        if (kind->gated)
            add(list, MODULE_SHARED, MODULE_PLAIN, names->shared_gate, hidden, kind->shared_size);
        add(list, MODULE_SHARED, MODULE_PLAIN, names->shared_up, hidden, kind->shared_size);
    }
    add(list, MODULE_SHARED, MODULE_DOWN, names->shared_down, kind->shared_size, hidden);
    add(list, MODULE_ROUTER, MODULE_GATING, names->router, hidden, kind->expert_count);
    if (kind->shared_gate)
        add(list, MODULE_SHARED_GATE, MODULE_GATING, names->shared_router, hidden, 1);
}

/* Matrices beside the others: one into the side, one out of it; a third is not the layer's alone and has no name. */
static void
add_side(struct module_list *list, const struct layer_kind *kind, uint64_t hidden)
{
    if (kind->side_count > 0 && list->names.side_in != NULL)
        add(list, MODULE_MLP, MODULE_PLAIN, list->names.side_in, hidden, kind->side_size);
    if (kind->side_count > 1 && list->names.side_out != NULL)
        add(list, MODULE_MLP, MODULE_PLAIN, list->names.side_out, kind->side_size, hidden);
}

uint32_t
modules_of_layer(const struct model_arch *arch, const struct layer_kind *kind, struct module *ret_modules)
{
    struct module_list list = { .items = ret_modules,
                                .attention_count = kind->cross_attention ? 2 : 1,
                                .expert_count = kind->expert_count,
                                .names = module_names_of(arch->architecture) };

    add_attention(&list, kind, arch->hidden_size);
    if (kind->mlp == MLP_DENSE)
        add_dense(&list, kind, arch->hidden_size);
    if (kind->mlp == MLP_EXPERTS)
        add_experts(&list, kind, arch->hidden_size);
    add_side(&list, kind, arch->hidden_size);
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
