/* The same walk as params.c, told term by term. */
#include "service/model/parts.h"

#include <string.h>

#include "service/base/quantity.h"

static const char *const names[MODEL_PART_CODES] = {
    [MODEL_PART_EMBEDDING] = "embedding", [MODEL_PART_POSITION] = "position",
    [MODEL_PART_ATTENTION] = "attention", [MODEL_PART_MLP] = "mlp",
    [MODEL_PART_EXPERTS] = "experts",     [MODEL_PART_SHARED_EXPERTS] = "shared_experts",
    [MODEL_PART_ROUTER] = "router",       [MODEL_PART_NORMS] = "norms",
    [MODEL_PART_HEAD] = "head",           [MODEL_PART_VISION] = "vision",
    [MODEL_PART_OTHER] = "other",
};

const char *
model_part_name(enum model_part_code code)
{
    return (unsigned)code < MODEL_PART_CODES ? names[code] : "";
}

/* What the walk goes over. */
struct walk {
    const struct model_arch *arch;
    const struct model_params *params;
    struct model_parts *parts;
    uint64_t native_bytes; /* of an element that is not quantised */
};

static int64_t
signed_count(uint64_t count)
{
    return (int64_t)u64_min(count, INT64_MAX);
}

/* The same formula with the same numbers, but for how many layers it is of. */
static bool
is_alike(const struct model_part *a, const struct model_part *b)
{
    if (a->code != b->code || a->formula != b->formula)
        return false;
    for (size_t i = 1; i < MODEL_PART_VALUES; i++) {
        if (a->values[i] != b->values[i])
            return false;
    }
    return true;
}

/* Adds a term of `layers` layers (values[0]), each of `elements`; to one that is alike, when there is one. */
static void
add_layers(struct walk *walk, const struct model_part *part, uint64_t layers, uint64_t elements)
{
    struct model_parts *parts = walk->parts;
    struct model_part *found = NULL;

    if (layers == 0 || elements == 0)
        return;
    for (uint32_t i = 0; i < parts->count && found == NULL; i++) {
        if (is_alike(&parts->items[i], part))
            found = &parts->items[i];
    }
    if (found == NULL) {
        if (parts->count == MAX_MODEL_PARTS)
            return;
        found = &parts->items[parts->count++];
        *found = *part;
        found->values[0] = 0;
        found->parameter_count = 0;
        found->stored_bytes = 0;
    }
    found->values[0] += (double)layers;
    found->parameter_count = signed_count(u64_add_sat((uint64_t)found->parameter_count, u64_mul_sat(layers, elements)));
    found->stored_bytes = u64_add_sat(found->stored_bytes, part->stored_bytes);
}

/* A term outside the layers. */
static void
add_single(struct walk *walk, enum model_part_code code, const char *formula, uint64_t elements, double first,
           double second)
{
    struct model_part *part;

    if (elements == 0 || walk->parts->count == MAX_MODEL_PARTS)
        return;
    part = &walk->parts->items[walk->parts->count++];
    memset(part, 0, sizeof(*part));
    part->code = code;
    part->parameter_count = signed_count(elements);
    part->stored_bytes = u64_mul_sat(elements, walk->native_bytes);
    part->formula = formula;
    part->values[0] = first;
    part->values[1] = second;
}

static void
describe_mixer(const struct layer_kind *kind, struct model_part *part)
{
    static const char *const formulas[] = {
        "{0} layers x {1} in the matrices of the mixer",
        "{0} layers x {1} x {2}",
        "{0} layers x ({1} x {2} + {3} x {4})",
        "{0} layers x ({1} x {2} + {3} x {4} + {5} x {6})",
        "{0} layers x ({1} x {2} + {3} x {4} + {5} x {6} + {7} x {8})",
    };
    uint32_t count = kind->mixer_matrix_count;

    if (count >= COUNT_OF(formulas))
        count = 0;
    part->formula = formulas[count];
    part->values[1] = (double)kind->mixer_elements;
    for (uint32_t i = 0; i < count; i++) {
        part->values[1 + 2 * i] = (double)kind->mixer_matrices[i].inputs;
        part->values[2 + 2 * i] = (double)kind->mixer_matrices[i].outputs;
    }
}

/* Heads whose values are of another size than their keys, or are the keys. */
static void
describe_uneven_heads(const struct layer_kind *kind, uint64_t hidden, struct model_part *part)
{
    uint32_t value_heads = kind->value_is_key ? 0 : kind->kv_head_count;
    uint64_t key = ((uint64_t)kind->head_count + kind->kv_head_count) * kind->head_size;
    uint64_t value = (uint64_t)value_heads * layer_value_size(kind);

    part->formula = "{0} layers x ({1} hidden x ({2} head size x ({3} query + {4} key heads) + {5} value size x "
                    "({6} value + {3} output heads)) + {7} biases)";
    part->values[1] = (double)hidden;
    part->values[2] = kind->head_size;
    part->values[3] = kind->head_count;
    part->values[4] = kind->kv_head_count;
    part->values[5] = layer_value_size(kind);
    part->values[6] = value_heads;
    part->values[7] = (kind->qkv_bias ? (double)(key + value) : 0) + (kind->out_bias ? (double)hidden : 0);
}

static void
describe_heads(const struct layer_kind *kind, uint64_t hidden, struct model_part *part)
{
    uint64_t query = (uint64_t)kind->head_count * (kind->query_gate ? 2 : 1);

    if (kind->mixer_elements > 0) {
        describe_mixer(kind, part);
        return;
    }
    if (kind->value_is_key || layer_value_size(kind) != kind->head_size) {
        describe_uneven_heads(kind, hidden, part);
        return;
    }
    part->formula = kind->cross_attention
                        ? "{0} layers x 2 x ({1} hidden x {2} head size x ({3} query + 2 x {4} key-value + {5} output "
                          "heads) + {6} biases)"
                        : "{0} layers x ({1} hidden x {2} head size x ({3} query + 2 x {4} key-value + {5} output "
                          "heads) + {6} biases)";
    part->values[1] = (double)hidden;
    part->values[2] = kind->head_size;
    part->values[3] = (double)query;
    part->values[4] = kind->kv_head_count;
    part->values[5] = kind->head_count;
    part->values[6] = (kind->qkv_bias ? (double)(query + 2 * (uint64_t)kind->kv_head_count) * kind->head_size : 0) +
                      (kind->out_bias ? (double)hidden : 0);
}

static void
describe_latent(const struct layer_kind *kind, uint64_t hidden, struct model_part *part)
{
    double cached = (double)kind->latent_size + kind->rope_size;

    static const char gated[] = "{0} layers x ({1} hidden x {2} query rank + {2} x {3} heads x {4} + {1} x {5} latent "
                                "and rotary + {6} latent x {3} x {7} + {3} x {8} value and gate size x {1} + {9})";

    part->formula = kind->query_gate ? gated
                    : kind->query_rank > 0
                        ? "{0} layers x ({1} hidden x {2} query rank + {2} x {3} heads x {4} + {1} x {5} latent and "
                          "rotary + {6} latent x {3} x {7} + {3} x {8} value size x {1} + {9} biases)"
                        : "{0} layers x ({1} hidden x {3} heads x {4} + {1} x {5} latent and rotary + {6} latent x "
                          "{3} x {7} + {3} x {8} value size x {1} + {9} biases)";
    part->values[1] = (double)hidden;
    part->values[2] = kind->query_rank;
    part->values[3] = kind->head_count;
    part->values[4] = (double)kind->nope_size + kind->rope_size;
    part->values[5] = cached;
    part->values[6] = kind->latent_size;
    part->values[7] = (double)kind->nope_size + kind->value_size;
    part->values[8] = (kind->query_gate ? 2.0 : 1.0) * kind->value_size;
    part->values[9] = (kind->qkv_bias ? kind->query_rank + cached : 0) + (kind->out_bias ? (double)hidden : 0);
}

/* Bytes of a part of a kind's layers: as the checkpoint has them, or `elements` in the native type. */
static uint64_t
stored(const struct walk *walk, uint64_t packed, uint64_t layers, uint64_t elements)
{
    return walk->arch->stored.packed ? packed : u64_mul_sat(u64_mul_sat(layers, elements), walk->native_bytes);
}

static void
add_attention(struct walk *walk, uint32_t index)
{
    const struct layer_kind *kind = &walk->arch->kinds[index];
    uint64_t elements = walk->params->layers[index].attention;
    struct model_part part = { .code = MODEL_PART_ATTENTION };

    switch (kind->attention) {
    case ATTENTION_NONE:
        return;
    case ATTENTION_HEADS:
        describe_heads(kind, walk->arch->hidden_size, &part);
        break;
    case ATTENTION_LATENT:
        describe_latent(kind, walk->arch->hidden_size, &part);
        break;
    case ATTENTION_RECURRENT:
        describe_mixer(kind, &part);
        break;
    }
    part.stored_bytes = stored(walk, walk->arch->stored.kinds[index].attention, kind->count, elements);
    add_layers(walk, &part, kind->count, elements);
}

/* Bytes of the matrices beside an MLP: a packed checkpoint keeps them together, each weighs its share. */
static uint64_t
side_stored(const struct walk *walk, uint32_t index)
{
    const struct layer_params *params = &walk->params->layers[index];
    uint64_t packed = walk->arch->stored.kinds[index].mlp;

    if (!walk->arch->stored.packed || params->mlp == 0)
        return 0;
    return u64_from_double((double)packed * (double)params->mlp_replicated / (double)params->mlp);
}

/* Matrices beside the MLP. */
static void
add_side(struct walk *walk, uint32_t index)
{
    const struct layer_kind *kind = &walk->arch->kinds[index];
    struct model_part part = { .code = MODEL_PART_OTHER, .formula = "{0} layers x {1} x {2} hidden x {3} wide" };
    uint64_t elements = walk->params->layers[index].mlp_replicated;

    part.values[1] = kind->side_count;
    part.values[2] = walk->arch->hidden_size;
    part.values[3] = kind->side_size;
    part.stored_bytes = stored(walk, side_stored(walk, index), kind->count, elements);
    add_layers(walk, &part, kind->count, elements);
}

/* A dense MLP, or the shared experts of a mixture. */
static void
add_mlp(struct walk *walk, uint32_t index)
{
    const struct layer_kind *kind = &walk->arch->kinds[index];
    bool shared = kind->mlp == MLP_EXPERTS;
    uint64_t width = shared ? kind->shared_size : kind->intermediate_size;
    uint64_t side = walk->params->layers[index].mlp_replicated;
    uint64_t elements = walk->params->layers[index].mlp - side;
    uint64_t hidden = walk->arch->hidden_size;
    double matrices = (kind->gated ? 3.0 : 2.0) * (double)hidden * (double)width;
    struct model_part part = { .code = shared ? MODEL_PART_SHARED_EXPERTS : MODEL_PART_MLP };

    if (kind->mlp == MLP_NONE || elements == 0)
        return;
    part.formula = kind->gated ? "{0} layers x (3 x {1} hidden x {2} wide + {3} biases)"
                               : "{0} layers x (2 x {1} hidden x {2} wide + {3} biases)";
    if (shared)
        part.formula = kind->gated ? "{0} layers x (3 x {1} hidden x {2} wide + {3} gate and biases)"
                                   : "{0} layers x (2 x {1} hidden x {2} wide + {3} gate and biases)";
    part.values[1] = (double)hidden;
    part.values[2] = (double)width;
    part.values[3] = (double)elements - matrices;
    part.stored_bytes = stored(walk, walk->arch->stored.kinds[index].mlp, kind->count, elements);
    part.stored_bytes -= u64_min(part.stored_bytes, side_stored(walk, index));
    add_layers(walk, &part, kind->count, elements);
}

static void
add_experts(struct walk *walk, uint32_t index)
{
    const struct layer_kind *kind = &walk->arch->kinds[index];
    const struct layer_params *params = &walk->params->layers[index];
    uint64_t hidden = walk->arch->hidden_size;
    uint64_t read = layer_expert_hidden_size(kind, walk->arch->hidden_size);
    uint64_t elements = u64_mul_sat(kind->expert_count, params->expert);
    struct model_part experts = { .code = MODEL_PART_EXPERTS };
    struct model_part router = { .code = MODEL_PART_ROUTER };

    if (kind->mlp != MLP_EXPERTS)
        return;
    experts.formula = kind->gated ? "{0} layers x {1} experts x (3 x {2} hidden x {3} wide + {4} biases)"
                                  : "{0} layers x {1} experts x (2 x {2} hidden x {3} wide + {4} biases)";
    experts.values[1] = kind->expert_count;
    experts.values[2] = (double)read;
    experts.values[3] = kind->expert_size;
    experts.values[4] = (double)params->expert - (kind->gated ? 3.0 : 2.0) * (double)read * (double)kind->expert_size;
    experts.stored_bytes = stored(walk, walk->arch->stored.kinds[index].experts, kind->count, elements);
    add_layers(walk, &experts, kind->count, elements);
    router.formula = "{0} layers x {1} experts x ({2} hidden + {3} bias)";
    router.values[1] = kind->expert_count;
    router.values[2] = (double)hidden;
    router.values[3] = kind->router_bias ? 1 : 0;
    router.stored_bytes = stored(walk, walk->arch->stored.kinds[index].router, kind->count, params->router);
    add_layers(walk, &router, kind->count, params->router);
}

/* Vectors of a layer: norms, and what else it holds that is no matrix. */
static void
add_vectors(struct walk *walk, uint32_t index)
{
    const struct layer_kind *kind = &walk->arch->kinds[index];
    uint64_t other = kind->other_elements;
    uint64_t norms = walk->params->layers[index].norms - u64_min(other, walk->params->layers[index].norms);
    struct model_part part = { .code = MODEL_PART_NORMS, .formula = "{0} layers x {1}" };

    part.values[1] = (double)norms;
    part.stored_bytes = u64_mul_sat(u64_mul_sat(kind->count, norms), walk->native_bytes);
    add_layers(walk, &part, kind->count, norms);
    part.code = MODEL_PART_OTHER;
    part.values[1] = (double)other;
    part.stored_bytes = u64_mul_sat(u64_mul_sat(kind->count, other), walk->native_bytes);
    add_layers(walk, &part, kind->count, other);
}

/* An embedding or a head: the checkpoint may keep it packed. */
static void
add_table(struct walk *walk, enum model_part_code code, uint64_t elements, uint64_t packed)
{
    const struct model_arch *arch = walk->arch;

    add_single(walk, code, "{0} tokens x {1} wide", elements, arch->vocabulary_size,
               arch->embedding_size > 0 ? arch->embedding_size : arch->hidden_size);
    if (elements > 0 && arch->stored.packed)
        walk->parts->items[walk->parts->count - 1].stored_bytes = packed;
}

/* What stands behind the layers: a norm, which is one or two vectors; more than those is a head of another kind. */
static void
add_end(struct walk *walk)
{
    const struct model_arch *arch = walk->arch;
    uint64_t elements = walk->params->final_norm;
    bool norm = elements <= 2 * (uint64_t)arch->hidden_size;

    if (norm)
        add_single(walk, MODEL_PART_NORMS, "{0} outside the layers", elements, (double)elements, 0);
    else
        add_single(walk, MODEL_PART_OTHER, "{0} in norms and other tensors outside the layers", elements,
                   (double)elements, 0);
    add_table(walk, MODEL_PART_HEAD, walk->params->head, arch->stored.head);
}

/* A tower, and the difference to a total that was stated. */
static void
add_extra(struct walk *walk)
{
    int64_t tower = signed_count(walk->arch->tower_elements);
    int64_t stated = walk->arch->extra_parameters - tower;

    add_single(walk, MODEL_PART_VISION, "{0} in the tower and its projection", (uint64_t)tower, (double)tower, 0);
    if (stated > 0)
        add_single(walk, MODEL_PART_OTHER, "{0} stated and not counted", (uint64_t)stated, (double)stated, 0);
    if (stated < 0) {
        uint64_t taken = (uint64_t)(-(stated + 1)) + 1;

        add_single(walk, MODEL_PART_OTHER, "0 - {0} counted and not stated", taken, (double)taken, 0);
        walk->parts->items[walk->parts->count - 1].parameter_count = stated;
        walk->parts->items[walk->parts->count - 1].stored_bytes = 0;
    }
}

void
model_parts(const struct model_arch *arch, const struct model_params *params, struct model_parts *ret_parts)
{
    struct walk walk = { arch, params, ret_parts, arch->native_format == WEIGHT_FP32 ? 4 : 2 };

    ret_parts->count = 0;
    if (arch->generic) {
        add_single(&walk, MODEL_PART_OTHER, "{0} stated", params->total, (double)params->total, 0);
        return;
    }
    add_table(&walk, MODEL_PART_EMBEDDING, params->embedding, arch->stored.embedding);
    add_single(&walk, MODEL_PART_EMBEDDING, "{0} tokens x {1} wide, looked up by the layers",
               model_layer_embedding_elements(arch), model_layer_embedding_rows(arch),
               (double)arch->layer_embedding_size);
    add_single(&walk, MODEL_PART_POSITION, "{0} x {1} hidden", arch->position_elements,
               (double)arch->position_elements / arch->hidden_size, arch->hidden_size);
    for (uint32_t i = 0; i < arch->kind_count; i++)
        add_attention(&walk, i);
    for (uint32_t i = 0; i < arch->kind_count; i++) {
        add_mlp(&walk, i);
        add_experts(&walk, i);
        add_side(&walk, i);
    }
    for (uint32_t i = 0; i < arch->kind_count; i++)
        add_vectors(&walk, i);
    add_end(&walk);
    add_extra(&walk);
}
