#include "api/json/model_json.h"

#include <string.h>
#include <strings.h>

#include "service/base/text.h"
#include "service/model/quantization.h"

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
    const json_t *config, *name, *quantization_config;
    uint64_t parameter_count;
};

static const struct field config_fields[] = {
    { .name = "config", .kind = FIELD_ANY, .offset = offsetof(struct config_members, config), .flags = FIELD_REQUIRED },
    { .name = "quantization_config",
      .kind = FIELD_ANY,
      .offset = offsetof(struct config_members, quantization_config) },
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
    holder->adapter.base = NULL;
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

/* A name in plain letters: full-width ones, as Chinese keyboards type them, as their ASCII kin (Unicode, U+FF01 to
 * U+FF5E), and a colon, as ollama puts it before the size, as a dash. */
static void
plain_name(const char *name, size_t size, char *ret_plain)
{
    size_t length = 0;

    while (*name != '\0' && length + 1 < size) {
        const unsigned char *bytes = (const unsigned char *)name;
        bool wide = bytes[0] == 0xef && (bytes[1] == 0xbc || bytes[1] == 0xbd) && bytes[2] >= 0x80;
        unsigned code = wide ? ((bytes[1] & 0x3fU) << 6 | (bytes[2] & 0x3fU)) + 0xf000U : bytes[0];

        wide = wide && code >= 0xff01 && code <= 0xff5e;
        if (wide)
            code -= 0xff01 - '!';
        ret_plain[length++] = (char)(code == ':' ? '-' : wide ? code : bytes[0]);
        name += wide ? 3 : 1;
    }
    ret_plain[length] = '\0';
}

/* What stands behind the owner, when it is one that gives others' models under their own names (modelscope.cn,
 * huggingface.co); else NULL. */
static const char *
name_at_mirror(const char *name)
{
    static const char *const owners[] = { "LLM-Research", "AI-ModelScope", "ZhipuAI", "01ai",
                                          "modelscope",   "NousResearch",  "unsloth" };
    const char *slash = strchr(name, '/');

    for (size_t i = 0; slash != NULL && i < COUNT_OF(owners); i++) {
        if (strlen(owners[i]) == (size_t)(slash - name) && strncasecmp(owners[i], name, (size_t)(slash - name)) == 0)
            return slash + 1;
    }
    return NULL;
}

static const struct model_preset *
preset_of(const struct catalog *catalog, const char *name)
{
    const struct model_preset *preset = catalog_model_by_name(catalog, name);
    char plain[128];

    if (preset == NULL && name_at_mirror(name) != NULL)
        preset = catalog_model_by_name(catalog, name_at_mirror(name));
    if (preset == NULL) {
        plain_name(name, sizeof plain, plain);
        preset = catalog_model_by_name(catalog, plain);
    }
    return preset;
}

/* The model that a packed copy was made of, by its name: "TheBloke/Llama-2-7B-GPTQ", "unsloth/llama-3-8b-bnb-4bit". */
static const struct model_preset *
preset_packed(const struct catalog *catalog, const char *name)
{
    static const char *const endings[] = {
        "-awq",   "-gptq",     "-gptq-int4",    "-gptq-int8",        "-int4", "-int8", "-4bit", "-8bit", "-fp8",
        "-nvfp4", "-bnb-4bit", "-bnb-nf4-4bit", "-unsloth-bnb-4bit", "-gguf"
    };
    const char *slash = strrchr(name, '/');
    const char *own = slash != NULL ? slash + 1 : name;
    size_t length = strlen(own);
    char base[128];

    for (size_t i = 0; i < COUNT_OF(endings); i++) {
        size_t ending = strlen(endings[i]);

        if (length <= ending || strcasecmp(own + length - ending, endings[i]) != 0)
            continue;
        text_format(base, sizeof base, "%.*s", (int)(length - ending), own);
        const struct model_preset *preset = catalog_model_by_name(catalog, base);
        if (preset != NULL)
            return preset;
    }
    return NULL;
}

static void
refuse_name(const char *name, const char *pointer, const struct catalog *catalog, struct fault *fault)
{
    const struct model_preset *packed = preset_packed(catalog, name);

    fault_add(fault, FAULT_MODEL_UNKNOWN, pointer, name, "/catalog/models",
              packed != NULL ? packed->id : catalog_nearest_model(catalog, name));
}

static void
decode_preset(const char *name, const char *pointer, const struct catalog *catalog, struct model_holder *holder,
              struct notices *notices, struct fault *fault)
{
    const struct model_preset *preset = preset_of(catalog, name);

    if (!preset) {
        refuse_name(name, pointer, catalog, fault);
        return;
    }
    holder->arch = &preset->arch;
    holder->params = &preset->params;
    model_arch_remarks(holder->arch, pointer, notices);
}

/* A quantisation block that came in a file of its own. */
static void
take_quantization(const json_t *block, const char *pointer, struct model_arch *arch, struct notices *notices,
                  struct fault *fault)
{
    struct facts_store store;
    struct facts facts;
    char place[FAULT_POINTER_SIZE];

    if (!block || json_is_null(block))
        return;
    pointer_join(place, sizeof place, pointer, "quantization_config");
    facts_store_init(&store);
    if (facts_flatten(block, place, &store, &facts, fault) == STATUS_OK)
        quantization_read_beside(&facts, place, arch, notices);
    facts_store_done(&store);
}

/* The preset that an adapter's file names: by the whole name, by what stands behind the last slash of a path, or as a
 * packed copy, whose shape is that of what it was made of. */
static const struct model_preset *
adapter_base(const struct catalog *catalog, const char *base)
{
    const struct model_preset *preset = catalog_model_by_name(catalog, base);
    const char *slash = strrchr(base, '/');

    if (preset == NULL && slash != NULL)
        preset = catalog_model_by_name(catalog, slash + 1);
    return preset != NULL ? preset : preset_packed(catalog, base);
}

/* An adapter's file in the place of a config: its base is the model. */
static void
decode_adapter(const char *pointer, const struct catalog *catalog, struct model_holder *holder, struct notices *notices,
               struct fault *fault)
{
    const char *base = holder->adapter.base;
    const struct model_preset *preset = adapter_base(catalog, base);
    char place[FAULT_POINTER_SIZE];

    if (!preset) {
        pointer_join(place, sizeof place, pointer, "base_model_name_or_path");
        refuse_name(base, place, catalog, fault);
        return;
    }
    struct notice *notice = notice_add(notices, NOTICE_ADAPTER_READ, pointer);
    text_copy(notice->text[0], NOTE_TEXT_SIZE, preset->id);
    if (!holder->adapter.exact && holder->adapter.targets)
        text_copy(notice_add(notices, NOTICE_ADAPTER_APPROXIMATE, pointer)->text[0], NOTE_TEXT_SIZE,
                  lora_targets_names[holder->adapter.targets]);
    holder->own = preset->arch;
    model_arch_remarks(&holder->own, pointer, notices);
    keep_own(holder);
}

static void
decode_config(const json_t *model, const char *pointer, const struct catalog *catalog, struct model_holder *holder,
              struct notices *notices, struct fault *fault)
{
    struct config_members members = { 0 };
    struct facts facts;
    char place[FAULT_POINTER_SIZE];
    size_t before = fault->item_count;

    fields_read(&model_config_table, model, pointer, &members, fault);
    if (fault->item_count > before)
        return;
    pointer_join(place, sizeof place, pointer, "config");
    if (facts_flatten(members.config, place, &holder->facts, &facts, fault) != STATUS_OK)
        return;
    if (adapter_read(&facts, place, &holder->adapter, fault))
        decode_adapter(place, catalog, holder, notices, fault);
    else if (model_arch_read(&facts, place, &holder->own, notices, fault) == STATUS_OK)
        keep_own(holder);
    if (!holder->arch)
        return;
    take_name(members.name, pointer, &holder->own, fault);
    take_quantization(members.quantization_config, pointer, &holder->own, notices, fault);
    if (members.parameter_count) {
        model_arch_state_total(&holder->own, members.parameter_count, notices);
        (void)model_arch_check(&holder->own, pointer, fault);
    }
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
    static const char *const keys[] = { "model_type", "architectures", "num_hidden_layers", "_class_name",
                                        "n_layers",   "ssm_cfg",       "peft_type",         "weight_map" };

    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (json_object_get(model, keys[i]))
            return true;
    }
    return false;
}

void
model_adapter_complete(const struct model_holder *holder, struct training_job *job, struct assumptions *assumptions)
{
    const struct adapter *adapter = &holder->adapter;

    if (!adapter->base || (job->method != METHOD_LORA && job->method != METHOD_QLORA))
        return;
    if (!job->lora_rank && adapter->rank) {
        job->lora_rank = adapter->rank;
        assume_number(assumptions, "adapter_rank", "/training/lora/rank", adapter->rank);
    }
    if (!job->lora_targets && adapter->targets) {
        job->lora_targets = adapter->targets;
        assume_text(assumptions, "adapter_targets", "/training/lora/targets", lora_targets_names[adapter->targets]);
    }
}

void
model_decode(const json_t *model, const char *pointer, const struct catalog *catalog, struct model_holder *holder,
             struct notices *notices, struct fault *fault)
{
    if (json_is_string(model))
        decode_preset(json_string_value(model), pointer, catalog, holder, notices, fault);
    else if (!json_is_object(model))
        fault_add(fault, FAULT_WRONG_TYPE, pointer, NULL, "string|object", NULL);
    else if (json_object_get(model, "config"))
        decode_config(model, pointer, catalog, holder, notices, fault);
    else if (is_bare_config(model))
        fault_add(fault, FAULT_MISSING_MEMBER, pointer, NULL, "config", "{\"config\": { ... }}");
    else
        decode_shape(model, pointer, holder, notices, fault);
}
