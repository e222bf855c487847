#include "api/json/model_json.h"

#include "service/base/text.h"

/* The members of a model given by sizes; `sample` and `name` change nothing that is counted. */
struct shape_members {
    struct model_shape shape;
    const json_t *name;
    enum { SAMPLE_UNSAID, SAMPLE_IMAGE, SAMPLE_AUDIO, SAMPLE_RECORD } sample;
};

static const char *const sample_names[] = { NULL, "image", "audio", "record" };

#define SHAPE(member) offsetof(struct shape_members, shape.member)

static const struct field shape_fields[] = {
    { .name = "parameter_count",
      .kind = FIELD_U64,
      .offset = SHAPE(parameter_count),
      .min = 1,
      .max = 1e14,
      .flags = FIELD_REQUIRED },
    { .name = "active_parameter_count",
      .kind = FIELD_U64,
      .offset = SHAPE(active_parameter_count),
      .min = 1,
      .max = 1e14 },
    { .name = "layer_count", .kind = FIELD_U32, .offset = SHAPE(layer_count), .min = 1, .max = MAX_LAYERS },
    { .name = "hidden_size", .kind = FIELD_U32, .offset = SHAPE(hidden_size), .min = 1, .max = 1048576 },
    { .name = "intermediate_size", .kind = FIELD_U32, .offset = SHAPE(intermediate_size), .min = 1, .max = 4194304 },
    { .name = "attention_head_count", .kind = FIELD_U32, .offset = SHAPE(attention_head_count), .min = 1, .max = 4096 },
    { .name = "kv_head_count", .kind = FIELD_U32, .offset = SHAPE(kv_head_count), .min = 1, .max = 4096 },
    { .name = "head_size", .kind = FIELD_U32, .offset = SHAPE(head_size), .min = 1, .max = 65536 },
    { .name = "vocabulary_size", .kind = FIELD_U32, .offset = SHAPE(vocabulary_size), .min = 1, .max = 16777216 },
    { .name = "expert_count", .kind = FIELD_U32, .offset = SHAPE(expert_count), .min = 1, .max = 4096 },
    { .name = "experts_per_token", .kind = FIELD_U32, .offset = SHAPE(experts_per_token), .min = 1, .max = 4096 },
    { .name = "expert_intermediate_size",
      .kind = FIELD_U32,
      .offset = SHAPE(expert_intermediate_size),
      .min = 1,
      .max = 4194304 },
    { .name = "max_context_length",
      .kind = FIELD_U32,
      .offset = SHAPE(max_context_tokens),
      .min = 1,
      .max = 1073741824 },
    { .name = "flop_per_sample", .kind = FIELD_REAL, .offset = SHAPE(flop_per_sample), .min = 1, .max = 1e21 },
    { .name = "activation_bytes_per_sample",
      .kind = FIELD_REAL,
      .offset = SHAPE(activation_bytes_per_sample),
      .min = 1,
      .max = 1e15 },
    { .name = "sample",
      .kind = FIELD_ENUM,
      .offset = offsetof(struct shape_members, sample),
      .names = sample_names,
      .name_count = COUNT_OF(sample_names) },
    { .name = "name", .kind = FIELD_ANY, .offset = offsetof(struct shape_members, name) },
};
const struct field_table model_shape_table = { "ModelShape", shape_fields, COUNT_OF(shape_fields) };

/* The members of {"config": ...}; the config itself is read by service/model. */
struct config_members {
    const json_t *config, *name;
    uint64_t parameter_count;
};

static const struct field config_fields[] = {
    { .name = "config", .kind = FIELD_ANY, .offset = offsetof(struct config_members, config), .flags = FIELD_REQUIRED },
    { .name = "parameter_count",
      .kind = FIELD_U64,
      .offset = offsetof(struct config_members, parameter_count),
      .min = 1,
      .max = 1e14 },
    { .name = "name", .kind = FIELD_ANY, .offset = offsetof(struct config_members, name) },
};
const struct field_table model_config_table = { "ModelConfig", config_fields, COUNT_OF(config_fields) };

void
model_holder_init(struct model_holder *holder)
{
    holder->arch = NULL;
    holder->params = NULL;
    facts_store_init(&holder->facts);
}

void
model_holder_done(struct model_holder *holder)
{
    facts_store_done(&holder->facts);
}

/* A name people gave their model: any text, only echoed. */
static void
take_name(const json_t *name, const char *pointer, struct model_arch *arch, struct fault *fault)
{
    char place[FAULT_POINTER_SIZE];

    if (!name || json_is_null(name))
        return;
    if (json_is_string(name)) {
        text_copy(arch->name, sizeof arch->name, json_string_value(name));
        return;
    }
    pointer_join(place, sizeof place, pointer, "name");
    fault_add(fault, FAULT_WRONG_TYPE, place, NULL, "string", NULL);
}

static void
keep_own(struct model_holder *holder)
{
    holder->own_params = model_params_count(&holder->own);
    holder->arch = &holder->own;
    holder->params = &holder->own_params;
}

static void
decode_preset(const char *name, const char *pointer, const struct catalog *catalog, struct model_holder *holder,
              struct fault *fault)
{
    const struct model_preset *preset = catalog_model_by_name(catalog, name);

    if (!preset) {
        fault_add(fault, FAULT_MODEL_UNKNOWN, pointer, name, "/catalog/models", catalog_nearest_model(catalog, name));
        return;
    }
    holder->arch = &preset->arch;
    holder->params = &preset->params;
}

static void
decode_config(const json_t *model, const char *pointer, struct model_holder *holder, struct notices *notices,
              struct fault *fault)
{
    struct config_members members = { 0 };
    struct facts facts;
    char place[FAULT_POINTER_SIZE];
    size_t before = fault->item_count;

    fields_read(&model_config_table, model, pointer, &members, fault);
    if (fault->item_count > before)
        return;
    pointer_join(place, sizeof place, pointer, "config");
    if (facts_flatten(members.config, place, &holder->facts, &facts, fault) != STATUS_OK ||
        model_arch_read(&facts, place, &holder->own, notices, fault) != STATUS_OK)
        return;
    take_name(members.name, pointer, &holder->own, fault);
    if (members.parameter_count)
        model_arch_state_total(&holder->own, members.parameter_count, notices);
    keep_own(holder);
}

static void
decode_shape(const json_t *model, const char *pointer, struct model_holder *holder, struct notices *notices,
             struct fault *fault)
{
    struct shape_members members = { 0 };
    size_t before = fault->item_count;

    fields_read(&model_shape_table, model, pointer, &members, fault);
    if (fault->item_count > before ||
        model_arch_from_shape(&members.shape, pointer, &holder->own, notices, fault) != STATUS_OK)
        return;
    take_name(members.name, pointer, &holder->own, fault);
    keep_own(holder);
}

/* A config.json pasted without its wrapper is the commonest slip: say so instead of listing every key. */
static bool
is_bare_config(const json_t *model)
{
    return json_object_get(model, "model_type") || json_object_get(model, "architectures") ||
           json_object_get(model, "num_hidden_layers");
}

void
model_decode(const json_t *model, const char *pointer, const struct catalog *catalog, struct model_holder *holder,
             struct notices *notices, struct fault *fault)
{
    if (json_is_string(model))
        decode_preset(json_string_value(model), pointer, catalog, holder, fault);
    else if (!json_is_object(model))
        fault_add(fault, FAULT_WRONG_TYPE, pointer, NULL, "string|object", NULL);
    else if (json_object_get(model, "config"))
        decode_config(model, pointer, holder, notices, fault);
    else if (is_bare_config(model))
        fault_add(fault, FAULT_MISSING_MEMBER, pointer, NULL, "config", "{\"config\": { ... }}");
    else
        decode_shape(model, pointer, holder, notices, fault);
}

void
model_encode(struct json_writer *writer, const char *name, const struct model_arch *arch,
             const struct model_params *params, double kv_bytes_per_token)
{
    writer_object(writer, name);
    writer_text(writer, "name", arch->name[0] ? arch->name : arch->model_type);
    writer_text(writer, "architecture", arch->architecture[0] ? arch->architecture : NULL);
    writer_u64(writer, "parameter_count", params->total);
    writer_u64(writer, "active_parameter_count", params->active);
    writer_bytes(writer, "kv_cache_bytes_per_token", kv_bytes_per_token);
    writer_bytes(writer, "weight_bytes", 2.0 * (double)params->total);
    if (!arch->generic) {
        writer_u64(writer, "layer_count", arch->layer_count);
        writer_u64(writer, "hidden_size", arch->hidden_size);
        writer_u64(writer, "vocabulary_size", arch->vocabulary_size);
    }
    if (arch->max_context_tokens)
        writer_u64(writer, "max_context_length", arch->max_context_tokens);
    if (arch->mtp_layer_count)
        writer_u64(writer, "mtp_layer_count", arch->mtp_layer_count);
    writer_array(writer, "ignored_keys");
    for (uint32_t i = 0; i < arch->ignored_key_count; i++)
        writer_text(writer, NULL, arch->ignored_keys[i]);
    writer_end_array(writer);
    writer_end_object(writer);
}
