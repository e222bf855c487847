/* The "model" section of a reply: totals, the parts they are the sum of, what a checkpoint and a sequence take. */
#include "api/json/formula.h"
#include "api/json/model_json.h"
#include "service/memory/kv_cache.h"
#include "service/model/parts.h"
#include "service/model/quantization.h"
#include "service/speed/flop.h"

/* Figures that depend on a context stand at the model's own maximum; operations at this, or at a smaller maximum. */
enum { FLOP_CONTEXT_TOKENS = 4096 };

static const double cache_element_bytes = 2; /* as kv_cache_bytes_per_token */

static void
parts_encode(struct json_writer *writer, const struct model_arch *arch, const struct model_params *params)
{
    struct model_parts parts;
    char formula[FORMULA_SIZE];

    model_parts(arch, params, &parts);
    writer_array(writer, "parts");
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct model_part *part = &parts.items[i];

        writer_object(writer, NULL);
        writer_text(writer, "code", model_part_name(part->code));
        writer_i64(writer, "parameter_count", part->parameter_count);
        formula_write(formula, sizeof formula, part->formula, part->values, MODEL_PART_VALUES);
        writer_text(writer, "formula", formula);
        writer_u64(writer, "stored_bytes", part->stored_bytes);
        if (part->parameter_count > 0)
            writer_real(writer, "stored_bits", 8 * (double)part->stored_bytes / (double)part->parameter_count);
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

/* The files as they are published. */
static void
checkpoint_encode(struct json_writer *writer, const struct model_arch *arch, const struct model_params *params)
{
    const struct stored_weights *stored = &arch->stored;
    uint64_t bytes = quantization_stored_bytes(arch);

    writer_object(writer, "checkpoint");
    writer_text(writer, "format", weight_format_name(arch->stored_format));
    if (stored->packed)
        writer_text(writer, "method", stored->method);
    writer_u64(writer, "bytes", bytes);
    if (params->total > 0)
        writer_real(writer, "bits_per_parameter", 8 * (double)bytes / (double)params->total);
    if (stored->packed && stored->cache != KV_UNSAID)
        writer_text(writer, "kv_cache_precision", kv_format_name(stored->cache));
    writer_end_object(writer);
}

/* Keys, values and states of one sequence as long as the model allows. */
static void
sequence_encode(struct json_writer *writer, const struct model_arch *arch)
{
    uint64_t context = arch->max_context_tokens ? arch->max_context_tokens : FLOP_CONTEXT_TOKENS;
    double bytes = kv_cache_bytes_per_sequence(arch, cache_element_bytes, context);
    double full = kv_cache_bytes_per_sequence_without_windows(arch, cache_element_bytes, context);
    double state = kv_cache_state_bytes_per_sequence(arch, cache_element_bytes);

    if (!(bytes > 0))
        return;
    writer_object(writer, "kv_cache");
    writer_u64(writer, "context_length", context);
    writer_bytes(writer, "bytes_per_sequence", bytes);
    if (full > bytes)
        writer_bytes(writer, "bytes_per_sequence_without_windows", full);
    if (state > 0)
        writer_bytes(writer, "state_bytes_per_sequence", state);
    writer_end_object(writer);
}

static void
flop_encode(struct json_writer *writer, const struct model_arch *arch, const struct model_params *params)
{
    uint64_t context =
        arch->max_context_tokens ? u64_min(arch->max_context_tokens, FLOP_CONTEXT_TOKENS) : FLOP_CONTEXT_TOKENS;
    double flop = flop_forward_linear_per_token(arch, params) + flop_forward_attention_per_token(arch, (double)context);

    writer_real(writer, "flop_per_token_forward", flop);
    writer_u64(writer, "flop_context_length", context);
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
    if (!arch->generic) {
        flop_encode(writer, arch, params);
        sequence_encode(writer, arch);
    }
    parts_encode(writer, arch, params);
    checkpoint_encode(writer, arch, params);
    writer_array(writer, "ignored_keys");
    for (uint32_t i = 0; i < arch->ignored_key_count; i++)
        writer_text(writer, NULL, arch->ignored_keys[i]);
    writer_end_array(writer);
    writer_end_object(writer);
}
