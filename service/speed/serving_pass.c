/* A pass from its parts: what weights, cache, attention, links and host each take. */
#include "service/speed/serving_pass.h"

#include <math.h>
#include <string.h>

#include "service/memory/kv_cache.h"
#include "service/memory/serving_split.h"
#include "service/memory/serving_weights.h"
#include "service/speed/serving_links.h"
#include "service/speed/serving_rates.h"

/* The head of a GGUF file is kept in Q6_K at least (llama.cpp llama-quant.cpp). */
static const double gguf_head_bits = 6.5625;

/* A setup and what was looked up about it. */
struct pass_setting {
    const struct serving_setup *setup;
    const struct engine_traits *traits;
    struct serving_rates rates;
};

/* Layers that decode steps pass: the encoder of an encoder-decoder runs once a prompt. */
static bool
decodes(const struct model_arch *arch, const struct layer_kind *kind)
{
    if (!kind->encoder)
        return true;
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (!arch->kinds[i].encoder)
            return false;
    return true;
}

/* Elements on one GPU of all layers, whatever its stage: a token passes every stage. */
static struct weight_elements
elements_read(const struct serving_setup *setup)
{
    const struct model_arch *arch = setup->arch;
    struct weight_elements sum = { 0 };

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        struct weight_elements layer = serving_layer_elements(setup, i);
        double count = decodes(arch, &arch->kinds[i]) ? arch->kinds[i].count : 0;

        sum.linear += count * (layer.linear + (double)setup->params->layers[i].router);
        sum.latent += count * layer.latent;
        sum.experts += count * layer.experts;
    }
    if (arch->generic)
        sum.linear = (double)setup->params->total;
    return sum;
}

/* Experts that one token runs on one GPU, elements over all layers; and the chance that it misses one. */
static double
experts_run(const struct serving_setup *setup, double *ret_missed)
{
    const struct model_arch *arch = setup->arch;
    double run = 0, all = 0, ways = serving_expert_ways(&setup->plan, arch);

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        double expert = (double)setup->params->layers[i].expert * kind->count / ways;

        run += expert * kind->experts_per_token;
        all += expert * kind->expert_count;
    }
    *ret_missed = all > 0 && run < all ? 1 - run / all : 0;
    return run;
}

/* Operations of one sample: matrix products, and filters of one channel, which run beside the matrix units. */
static double
sample_seconds(const struct pass_setting *setting)
{
    const struct model_arch *arch = setting->setup->arch;
    const struct gpu *gpu = setting->setup->machine->gpu;
    double products = arch->flop_per_sample - arch->depthwise_flop_per_sample;
    double beside = gpu->fp32_flop_per_second * setting->setup->rates->training_depthwise_share;

    return products / setting->rates.flop_per_second +
           (arch->depthwise_flop_per_sample > 0 && beside > 0 ? arch->depthwise_flop_per_sample / beside : 0);
}

/* Tokens that a product of weights is computed for at least: 64 rows of a matrix instruction of Hopper (PTX ISA,
 * wgmma), 16 where weights are unpacked by older ones (Marlin, arXiv:2408.11743). It shows where operations are scarce
 * beside bandwidth (H20); other cards have few rows or plenty of operations. llama.cpp multiplies single rows without.
 */
static double
tile_rows(const struct serving_setup *setup)
{
    const struct rates *rates = setup->rates;
    const struct gpu *gpu = setup->machine->gpu;

    if (gpu->family != GPU_FAMILY_HOPPER || !model_arch_generates(setup->arch) ||
        setup->job->engine == ENGINE_LLAMA_CPP)
        return 0;
    return serving_unpacks(gpu, setup->job->precision) ? rates->serving_tile_rows : rates->serving_tile_rows_wide;
}

static void
set_products(const struct pass_setting *setting, struct serving_pass *model)
{
    const struct serving_setup *setup = setting->setup;
    const struct serving_rates *rates = &setting->rates;
    const struct rates *constants = setup->rates;
    const struct model_arch *arch = setup->arch;
    struct weight_elements elements = elements_read(setup);
    struct weight_bits bits = serving_weight_bits(arch, setup->job->precision);
    double head = model_arch_generates(arch)
                      ? (double)arch->vocabulary_size * arch->hidden_size / serving_ways(setup->plan.tensor)
                      : 0;
    double head_bits =
        weight_format_is_gguf(setup->job->precision) && bits.plain < gguf_head_bits ? gguf_head_bits : bits.plain;
    double uneven = serving_attention_is_data_parallel(&setup->plan, arch) ? constants->serving_expert_imbalance : 1;
    double flop = 2 * (elements.linear + elements.latent);

    model->linear_bytes_seconds =
        (elements.linear * bits.linear + elements.latent * bits.latent) / 8 / rates->packed_bytes_per_second;
    model->linear_flop_seconds = arch->generic ? sample_seconds(setting) : flop / rates->flop_per_second;
    model->head_bytes_seconds = head * head_bits / 8 / rates->bytes_per_second;
    model->head_flop_seconds = 2 * head / rates->plain_flop_per_second;
    model->expert_bytes_seconds = elements.experts * bits.experts / 8 / rates->packed_bytes_per_second * uneven;
    model->expert_flop_seconds = 2 * experts_run(setup, &model->expert_missed) * uneven /
                                 (rates->flop_per_second * constants->serving_flop_share_experts);
    model->roofline_power = constants->serving_roofline_power;
    model->tile_rows = tile_rows(setup);
    model->expert_tile_rows = fmin(model->tile_rows, constants->serving_tile_rows);
}

/* Products of one token with what attention looks at, half a prompt in the mean, a layer: heads 2 d_qk + 2 d_v
 * operations each; and of one decoded token with its whole context in latent space (arXiv:2405.04434 section 2.1.2,
 * absorbed form). */
static void
attention_flop(const struct layer_kind *kind, double half_prompt, double context, double *prompt, double *latent)
{
    double all = kind->encoder ? 2 * half_prompt : half_prompt; /* an encoder's tokens see those behind them too */
    double seen = kind->window_tokens > 0 && all > kind->window_tokens ? kind->window_tokens : all;
    double heads = (double)kind->head_count * kind->count;

    if (kind->index_read > 0 && seen > kind->index_read)
        seen = kind->index_read;
    if (kind->compressed_tokens > 0) {
        double entries = all / kind->compressed_tokens;

        seen += kind->compressed_read > 0 && entries > kind->compressed_read ? kind->compressed_read : entries;
    }
    if (kind->attention == ATTENTION_HEADS)
        *prompt += 2 * heads * ((double)kind->head_size + layer_value_size(kind)) * seen;
    if (kind->attention != ATTENTION_LATENT)
        return;
    *prompt += 2 * heads * ((double)kind->nope_size + kind->rope_size + kind->value_size) * seen;
    *latent += 2 * heads * (2.0 * kind->latent_size + kind->rope_size) * context;
}

/* Query heads that share the keys and values of one head. */
static double
heads_sharing(const struct layer_kind *kind)
{
    return kind->attention == ATTENTION_HEADS && kind->kv_head_count > 0
               ? (double)kind->head_count / kind->kv_head_count
               : 1;
}

/* transformers copies each head's keys and values for the query heads that share it, several times (repeat_kv and
 * torch.cat in its modeling files). */
static double
copied_cache(const struct serving_setup *setup)
{
    double copies = 1;

    for (uint32_t i = 0; i < setup->arch->kind_count; i++)
        copies = fmax(copies, heads_sharing(&setup->arch->kinds[i]));
    return copies * setup->rates->serving_transformers_cache_passes;
}

/* TensorRT-LLM of that time: layers with windows fell back to a kernel that serves each query head by itself
 * (decoderXQARunner.h, shouldUse: cyclic_attention_window_size), and converts a cache of 8 bit for each. */
static double
windows_reread(const struct pass_setting *setting)
{
    const struct model_arch *arch = setting->setup->arch;
    const struct serving_job *job = setting->setup->job;
    double reads = 1;

    if (job->engine != ENGINE_TENSORRT_LLM || !setting->traits->early || kv_format_bytes(job->kv_cache_precision) > 1)
        return reads;
    for (uint32_t i = 0; i < arch->kind_count; i++)
        if (arch->kinds[i].window_tokens > 0)
            reads = fmax(reads, heads_sharing(&arch->kinds[i]));
    return reads;
}

/* Heads of the cache on one GPU, of the layers that have most. */
static double
heads_on_gpu(const struct serving_setup *setup)
{
    double most = 1;

    for (uint32_t i = 0; i < setup->arch->kind_count; i++) {
        double heads = ceil(setup->arch->kinds[i].kv_head_count / serving_ways(setup->plan.tensor));

        most = heads > most ? heads : most;
    }
    return most;
}

static void
set_attention(const struct pass_setting *setting, struct serving_pass *model)
{
    const struct serving_setup *setup = setting->setup;
    const struct serving_job *job = setup->job;
    double context = (double)job->input_tokens + job->output_tokens / 2.0;
    double tensor = serving_ways(setup->plan.tensor), prompt = 0, latent = 0;
    double bytes = kv_cache_bytes_per_sequence_per_gpu(setup->arch, kv_format_bytes(job->kv_cache_precision),
                                                       (uint64_t)(context + 0.5), setup->plan.tensor, 1);

    for (uint32_t i = 0; i < setup->arch->kind_count; i++)
        attention_flop(&setup->arch->kinds[i], job->input_tokens / 2.0, context, &prompt, &latent);
    model->cache_seconds = bytes * windows_reread(setting) / setting->rates.cache_bytes_per_second;
    if (setting->traits->early && job->engine == ENGINE_VLLM)
        model->lone_cache_seconds = bytes / (setup->rates->serving_early_head_bytes_per_second * heads_on_gpu(setup));
    if (job->engine == ENGINE_TRANSFORMERS)
        model->cache_seconds = bytes * copied_cache(setup) / setting->rates.bytes_per_second;
    model->latent_seconds = latent / tensor / setting->rates.plain_flop_per_second;
    model->prompt_seconds =
        prompt / tensor / (setting->rates.plain_flop_per_second * setup->rates->serving_flop_share_attention);
}

/* Elements of 16 bit that one token moves between the kernels of a layer: norms read and write the hidden state, so do
 * residuals; projections read it and write queries, keys and values; the MLP's width is written and read around its
 * activation. Counted: 16 hidden, 4 intermediate. */
static void
set_moved(const struct pass_setting *setting, struct serving_pass *model)
{
    const struct model_arch *arch = setting->setup->arch;
    double bytes = 0;

    if (model_arch_generates(arch))
        return;
    for (uint32_t i = 0; i < arch->kind_count; i++)
        bytes += 2.0 * arch->kinds[i].count * (16.0 * arch->hidden_size + 4.0 * arch->kinds[i].intermediate_size);
    if (arch->generic) /* training keeps two outputs of 16 bit of each convolution */
        bytes = setting->setup->rates->serving_convolution_passes * arch->activation_bytes_per_sample / 2;
    model->moved_seconds = bytes / serving_ways(setting->setup->plan.tensor) / setting->rates.bytes_per_second;
}

/* Layers by what they cost the host: all, those with experts, those with latent attention. */
struct layer_counts {
    double all, experts, latent;
};

static struct layer_counts
count_layers(const struct model_arch *arch)
{
    struct layer_counts layers = { 0 };

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];
        double count = decodes(arch, kind) ? kind->count : 0;

        layers.all += count;
        layers.experts += kind->mlp == MLP_EXPERTS ? count : 0;
        layers.latent += kind->attention == ATTENTION_LATENT ? count : 0;
    }
    return layers;
}

/* Each stage of a pipeline is handed its step: its batch is scheduled and sampled as often as there are stages. */
static void
set_server_host(const struct pass_setting *setting, const struct layer_counts *layers, struct serving_pass *model)
{
    const struct rates *rates = setting->setup->rates;
    const struct engine_traits *traits = setting->traits;
    double stages = serving_ways(setting->setup->plan.pipeline);

    model->step_seconds =
        traits->old && !traits->native_scheduler ? rates->serving_step_seconds_old : rates->serving_step_seconds;
    if (serving_gpus_per_replica(&setting->setup->plan) > 1)
        model->step_seconds += rates->serving_step_seconds_many_gpus;
    model->step_seconds *= stages;
    model->step_seconds += (layers->all + layers->experts + layers->latent) * rates->serving_layer_seconds;
    model->sequence_seconds =
        traits->native_scheduler ? rates->serving_sequence_seconds_native : rates->serving_sequence_seconds;
    if (traits->old && !traits->native_scheduler)
        model->sequence_seconds *= rates->serving_sequence_old_factor;
    model->sequence_seconds *= stages;
    if (!traits->native_scheduler)
        model->handed_out_seconds = stages / rates->serving_handed_out_tokens_per_second;
    if (traits->eager_prefill || !model_arch_generates(setting->setup->arch))
        model->eager_seconds = (layers->all + rates->serving_eager_expert_factor * layers->experts +
                                rates->serving_eager_latent_factor * layers->latent) *
                               rates->serving_eager_layer_seconds;
}

static void
set_host(const struct pass_setting *setting, struct serving_pass *model)
{
    const struct rates *rates = setting->setup->rates;
    enum weight_format format = setting->setup->job->precision;
    struct layer_counts layers = count_layers(setting->setup->arch);

    if (setting->setup->arch->generic) {
        model->minimum_seconds = rates->serving_single_pass_seconds;
        return;
    }
    if (!model_arch_generates(setting->setup->arch) && setting->setup->job->engine != ENGINE_LLAMA_CPP) {
        set_server_host(setting, &layers, model); /* nothing waits for a token: launches run ahead of the GPU */
        model->minimum_seconds = model->step_seconds + model->eager_seconds;
        model->step_seconds = model->eager_seconds = 0;
        return;
    }
    switch (setting->setup->job->engine) {
    case ENGINE_LLAMA_CPP:
        model->step_seconds = layers.all * (serving_has_hbm(setting->setup->machine->gpu->family)
                                                ? rates->serving_llama_cpp_layer_seconds_hbm
                                                : rates->serving_llama_cpp_layer_seconds) +
                              serving_ways(setting->setup->plan.pipeline) * rates->serving_llama_cpp_stage_seconds;
        break;
    case ENGINE_TRANSFORMERS: /* Python launches each kernel; the GPU works meanwhile */
        model->minimum_seconds = layers.all * rates->serving_transformers_layer_seconds;
        if (format == WEIGHT_INT8 || format == WEIGHT_INT4_AWQ || format == WEIGHT_NF4)
            model->minimum_seconds *= rates->serving_transformers_unpack_factor;
        break;
    case ENGINE_UNSAID:
    case ENGINE_VLLM:
    case ENGINE_SGLANG:
    case ENGINE_TENSORRT_LLM:
    case ENGINE_LMDEPLOY:
        set_server_host(setting, &layers, model);
        break;
    }
}

void
serving_pass_make(const struct serving_setup *setup, const struct engine_traits *traits, struct serving_pass *ret_model)
{
    struct pass_setting setting = { .setup = setup, .traits = traits, .rates = serving_rates_of(setup, traits) };
    struct serving_links links = serving_link_cost(setup);

    memset(ret_model, 0, sizeof(*ret_model));
    set_products(&setting, ret_model);
    set_attention(&setting, ret_model);
    set_moved(&setting, ret_model);
    set_host(&setting, ret_model);
    ret_model->link_wait_seconds = links.wait;
    ret_model->link_seconds = links.seconds;
    ret_model->network_wait_seconds = links.network_wait;
    ret_model->network_seconds = links.network_seconds;
    ret_model->groups = serving_cache_groups(setup);
}
