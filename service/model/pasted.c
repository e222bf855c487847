/* One row a file. */
#include "service/model/pasted.h"

#include "service/base/quantity.h"

static const char beside[] = "{\"config\": { ... }, \"quantization_config\": { ... }}";
static const char plain[] = "{\"config\": { ... }}";

/* The first row all of whose keys are there holds. */
static const struct pasted_file {
    const char *name;
    const char *keys[2];
    const char *suggestion;
} files[] = {
    { "adapter_config.json", { "/peft_type", NULL }, plain },
    { "adapter_config.json", { "/base_model_name_or_path", "/target_modules" }, plain },
    { "model.safetensors.index.json", { "/weight_map", NULL }, plain },
    { "hf_quant_config.json", { "/quantization/quant_algo", NULL }, beside },
    { "hf_quant_config.json", { "/quantization/exclude_modules", NULL }, beside },
    { "quantize_config.json", { "/quant_method", NULL }, beside },
    { "quantize_config.json", { "/bits", "/group_size" }, beside },
    { "quant_config.json", { "/w_bit", "/q_group_size" }, beside },
    { "quant_cfg.json", { "/quant_algo", NULL }, beside },
    { "tokenizer_config.json", { "/tokenizer_class", NULL }, plain },
    { "tokenizer_config.json", { "/added_tokens_decoder", NULL }, plain },
    { "preprocessor_config.json", { "/image_processor_type", NULL }, plain },
    { "preprocessor_config.json", { "/feature_extractor_type", NULL }, plain },
    { "model_index.json", { "/_diffusers_version", NULL }, plain },
    { "generation_config.json", { "/do_sample", NULL }, plain },
    { "generation_config.json", { "/eos_token_id", "/_from_model_config" }, plain },
    { "ds_config.json", { "/zero_optimization", NULL }, plain },
};

bool
pasted_refuse(const struct facts *facts, const char *pointer, struct fault *fault)
{
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        const struct pasted_file *file = &files[i];

        if (facts_find(facts, file->keys[0]) == NULL ||
            (file->keys[1] != NULL && facts_find(facts, file->keys[1]) == NULL))
            continue;
        fault_add(fault, FAULT_MODEL_FILE, pointer, file->name, "config.json", file->suggestion);
        return true;
    }
    return false;
}
