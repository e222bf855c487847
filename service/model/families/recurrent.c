/* Mixers that keep a state of fixed size instead of a cache that grows. */
#include "service/model/families/recurrent.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/model/families/config.h"

/* One more matrix of the mixer; beyond MAX_MIXER_MATRICES it only counts. */
static void
add_matrix(struct layer_kind *kind, const char *name, uint64_t inputs, uint64_t outputs)
{
    kind->mixer_elements = u64_add_sat(kind->mixer_elements, u64_mul_sat(inputs, outputs));
    if (kind->mixer_matrix_count < MAX_MIXER_MATRICES)
        kind->mixer_matrices[kind->mixer_matrix_count++] =
            (struct mixer_matrix){ .name = name, .inputs = inputs, .outputs = outputs };
}

/* Bytes of a state's element when the config says them (vllm-project/vllm model_executor/models/config.py takes them
 * for its cache); 0: it does not. */
static uint32_t
read_state_bytes(struct reader *reader)
{
    const struct fact *type = reader_get(reader, "mamba_ssm_cache_dtype|mamba_ssm_dtype");

    if (type == NULL || type->kind != FACT_TEXT)
        return 0;
    return strcmp(type->text, "float32") == 0 ? 4 : strstr(type->text, "16") != NULL ? 2 : 0;
}

/* Gated delta net (arXiv:2412.06464 section 3): one projection in for query, key, value and gate, one for the decay and
 * the write strength of each value head, a short convolution, one projection out. The state is a matrix a value head.
 * `apart`: each projection in is two matrices. */
static void
read_delta_net(struct reader *reader, uint32_t hidden, bool apart, struct layer_kind *ret_kind)
{
    uint64_t key_heads = reader_count(reader, "linear_num_key_heads", 1, LIMIT_HEADS);
    uint64_t value_heads = reader_count(reader, "linear_num_value_heads", 1, LIMIT_HEADS);
    uint64_t key_size = reader_count(reader, "linear_key_head_dim", 1, LIMIT_HEAD_SIZE);
    uint64_t value_size = reader_count(reader, "linear_value_head_dim", 1, LIMIT_HEAD_SIZE);
    uint64_t kernel = reader_count_or(reader, "linear_conv_kernel_dim", 1, LIMIT_SMALL, 4);
    uint64_t keys = key_heads * key_size;
    uint64_t values = value_heads * value_size;
    uint64_t mixed = 2 * keys + values;

    ret_kind->attention = ATTENTION_RECURRENT;
    if (apart) {
        add_matrix(ret_kind, "linear_attn.in_proj_qkv", hidden, mixed);
        add_matrix(ret_kind, "linear_attn.in_proj_z", hidden, values);
        add_matrix(ret_kind, "linear_attn.in_proj_b", hidden, value_heads);
        add_matrix(ret_kind, "linear_attn.in_proj_a", hidden, value_heads);
    } else {
        add_matrix(ret_kind, "linear_attn.in_proj_qkvz", hidden, mixed + values);
        add_matrix(ret_kind, "linear_attn.in_proj_ba", hidden, 2 * value_heads);
    }
    add_matrix(ret_kind, "linear_attn.out_proj", values, hidden);
    ret_kind->other_elements += mixed * kernel + 2 * value_heads + value_size;
    ret_kind->recurrent_conv_elements = mixed * (kernel - 1);
    ret_kind->recurrent_state_elements = value_heads * key_size * value_size + ret_kind->recurrent_conv_elements;
    ret_kind->state_element_bytes = read_state_bytes(reader);
}

void
recurrent_delta_net(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    read_delta_net(reader, hidden, false, ret_kind);
}

void
recurrent_delta_net_apart(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    read_delta_net(reader, hidden, true, ret_kind);
}

/* Names of the matrices of a mixer, by what stands in front of them. */
enum mamba_matrix { MAMBA_IN = 0, MAMBA_X, MAMBA_DT, MAMBA_OUT, MAMBA_MATRICES };

static const char *
mamba_name(const char *stem, enum mamba_matrix matrix)
{
    static const char *const mixer[MAMBA_MATRICES] = { "mixer.in_proj", "mixer.x_proj", "mixer.dt_proj",
                                                       "mixer.out_proj" };
    static const char *const mamba[MAMBA_MATRICES] = { "mamba.in_proj", "mamba.x_proj", "mamba.dt_proj",
                                                       "mamba.out_proj" };

    return strcmp(stem, "mamba") == 0 ? mamba[matrix] : mixer[matrix];
}

/* Mamba (arXiv:2312.00752 section 3.4): projection in for the branch and its gate, a short convolution, what makes the
 * step and the two state vectors from it, projection out; a state a channel. */
void
recurrent_mamba_of(const struct mamba_sizes *sizes, const char *stem, bool normed, struct layer_kind *ret_kind)
{
    uint64_t inner = sizes->inner, state = sizes->state, rank = sizes->rank;

    ret_kind->attention = ATTENTION_RECURRENT;
    add_matrix(ret_kind, mamba_name(stem, MAMBA_IN), sizes->hidden, 2 * inner);
    add_matrix(ret_kind, mamba_name(stem, MAMBA_X), inner, rank + 2 * state);
    add_matrix(ret_kind, mamba_name(stem, MAMBA_DT), rank, inner);
    add_matrix(ret_kind, mamba_name(stem, MAMBA_OUT), inner, sizes->hidden);
    ret_kind->other_elements += inner * sizes->kernel + (sizes->conv_bias ? inner : 0) + inner /* of the step */ +
                                inner * state + inner + (sizes->proj_bias ? 2 * inner + sizes->hidden : 0) +
                                (normed ? rank + 2 * state : 0);
    ret_kind->recurrent_conv_elements = inner * (sizes->kernel - 1);
    ret_kind->recurrent_state_elements = inner * state + ret_kind->recurrent_conv_elements;
}

struct mamba_keys {
    const char *expand, *state, *kernel, *rank, *conv_bias, *proj_bias, *inner;
};

static struct mamba_sizes
read_mamba(struct reader *reader, const struct mamba_keys *keys, uint64_t hidden)
{
    struct mamba_sizes sizes = { .hidden = hidden, .rank = u64_ceil_div(hidden, 16) };
    const struct fact *rank_fact = reader_get(reader, keys->rank);

    sizes.inner = reader_count_or(reader, keys->expand, 1, 64, 2) * hidden;
    sizes.state = reader_count_or(reader, keys->state, 1, LIMIT_SMALL, 16);
    sizes.kernel = reader_count_or(reader, keys->kernel, 1, LIMIT_SMALL, 4);
    sizes.conv_bias = reader_flag_or(reader, keys->conv_bias, true);
    sizes.proj_bias = reader_flag_or(reader, keys->proj_bias, false);
    if (keys->inner != NULL)
        sizes.inner = reader_count_or(reader, keys->inner, 1, LIMIT_WIDTH, (uint32_t)sizes.inner);
    if (rank_fact != NULL && rank_fact->kind != FACT_TEXT) /* "auto" is a sixteenth */
        sizes.rank = reader_count(reader, keys->rank, 1, LIMIT_WIDTH);
    return sizes;
}

void
recurrent_mamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    static const struct mamba_keys keys = { .expand = "expand",
                                            .state = "state_size",
                                            .kernel = "conv_kernel",
                                            .rank = "time_step_rank",
                                            .conv_bias = "use_conv_bias",
                                            .proj_bias = "use_bias",
                                            .inner = "intermediate_size" };
    struct mamba_sizes sizes = read_mamba(reader, &keys, hidden);

    recurrent_mamba_of(&sizes, "mixer", false, ret_kind);
}

/* Jamba's: step and state vectors are normed */
void
recurrent_jamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    static const struct mamba_keys keys = { .expand = "mamba_expand",
                                            .state = "mamba_d_state",
                                            .kernel = "mamba_d_conv",
                                            .rank = "mamba_dt_rank",
                                            .conv_bias = "mamba_conv_bias",
                                            .proj_bias = "mamba_proj_bias" };
    struct mamba_sizes sizes = read_mamba(reader, &keys, hidden);

    recurrent_mamba_of(&sizes, "mamba", true, ret_kind);
}

/* Mamba-2 (arXiv:2405.21060 section 7): heads share state vectors in groups; one projection in for gate, branch, state
 * vectors and steps; a gated norm before the projection out. */
void
recurrent_mamba2_of(const struct mamba_sizes *sizes, const char *stem, struct layer_kind *ret_kind)
{
    uint64_t inner = sizes->inner;
    uint64_t mixed = inner + 2 * sizes->groups * sizes->state;
    uint64_t projected = inner + mixed + sizes->heads;

    ret_kind->attention = ATTENTION_RECURRENT;
    add_matrix(ret_kind, mamba_name(stem, MAMBA_IN), sizes->hidden, projected);
    add_matrix(ret_kind, mamba_name(stem, MAMBA_OUT), inner, sizes->hidden);
    ret_kind->other_elements += mixed * sizes->kernel + (sizes->conv_bias ? mixed : 0) + 3 * sizes->heads + inner +
                                (sizes->proj_bias ? projected + sizes->hidden : 0);
    ret_kind->recurrent_conv_elements = mixed * (sizes->kernel - 1);
    ret_kind->recurrent_state_elements = inner * sizes->state + ret_kind->recurrent_conv_elements;
}

static struct mamba_sizes
read_mamba2(struct reader *reader, uint32_t hidden)
{
    struct mamba_sizes sizes = { .hidden = hidden };
    uint64_t head_size;

    sizes.heads = reader_count(reader, "mamba_num_heads|mamba_n_heads|num_heads", 1, LIMIT_HEADS);
    head_size = reader_count(reader, "mamba_head_dim|mamba_d_head|head_dim", 1, LIMIT_HEAD_SIZE);
    sizes.groups = reader_count(reader, "n_groups|mamba_n_groups", 1, LIMIT_HEADS);
    sizes.state = reader_count(reader, "ssm_state_size|mamba_d_state|state_size", 1, LIMIT_SMALL);
    sizes.kernel = reader_count_or(reader, "conv_kernel|mamba_d_conv", 1, LIMIT_SMALL, 4);
    sizes.conv_bias = reader_flag_or(reader, "use_conv_bias|mamba_conv_bias", true);
    sizes.proj_bias = reader_flag_or(reader, "mamba_proj_bias|use_bias", false);
    sizes.inner = sizes.heads * head_size;
    (void)reader_find(reader, "expand|mamba_expand");
    (void)reader_find(reader, "time_step_rank"); /* of the first Mamba; steps are one a head here */
    return sizes;
}

void
recurrent_mamba2(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    struct mamba_sizes sizes = read_mamba2(reader, hidden);

    recurrent_mamba2_of(&sizes, "mixer", ret_kind);
    ret_kind->state_element_bytes = read_state_bytes(reader);
}

void
recurrent_bamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    struct mamba_sizes sizes = read_mamba2(reader, hidden);

    recurrent_mamba2_of(&sizes, "mamba", ret_kind);
}

/* RWKV-4 (arXiv:2305.13048 section 3): time mixing of four matrices, and the one that gates the channels. */
void
recurrent_rwkv(uint64_t hidden, uint64_t inner, struct layer_kind *ret_kind)
{
    ret_kind->attention = ATTENTION_RECURRENT;
    add_matrix(ret_kind, "attention.key", hidden, inner);
    add_matrix(ret_kind, "attention.value", hidden, inner);
    add_matrix(ret_kind, "attention.receptance", hidden, inner);
    add_matrix(ret_kind, "attention.output", inner, hidden);
    add_matrix(ret_kind, "feed_forward.receptance", hidden, hidden);
    ret_kind->recurrent_state_elements = 5 * hidden;
}

/* LFM2's gated short convolution: three branches in, one out (LiquidAI/LFM2-1.2B) */
void
recurrent_short_conv(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    static const char *const no_size[] = { "conv_dim", "conv_dim_out", "conv_use_xavier_init" };
    uint64_t kernel = reader_count_or(reader, "conv_L_cache", 1, LIMIT_SMALL, 3);
    bool bias = reader_flag_or(reader, "conv_bias", false);

    config_pass_over(reader, no_size, COUNT_OF(no_size));
    ret_kind->attention = ATTENTION_RECURRENT;
    add_matrix(ret_kind, "conv.in_proj", hidden, 3 * (uint64_t)hidden);
    add_matrix(ret_kind, "conv.out_proj", hidden, hidden);
    ret_kind->other_elements += hidden * kernel + (bias ? 5 * (uint64_t)hidden : 0);
    ret_kind->recurrent_conv_elements = ret_kind->recurrent_state_elements = hidden * (kernel - 1);
}

/* Kimi delta attention (arXiv:2510.26692 section 3): query, key and value behind short convolutions, a decay of low
 * rank a channel, a write strength a head, a gate. */
void
recurrent_kimi_delta(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    uint64_t heads = reader_count(reader, "linear_attn_config/num_heads|linear_num_heads", 1, LIMIT_HEADS);
    uint64_t size = reader_count(reader, "linear_attn_config/head_dim|linear_head_dim", 1, LIMIT_HEAD_SIZE);
    uint64_t kernel =
        reader_count(reader, "linear_attn_config/short_conv_kernel_size|linear_conv_kernel_dim", 1, LIMIT_SMALL);
    uint64_t width = heads * size;

    ret_kind->attention = ATTENTION_RECURRENT;
    add_matrix(ret_kind, "self_attn.q_proj", hidden, width);
    add_matrix(ret_kind, "self_attn.k_proj", hidden, width);
    add_matrix(ret_kind, "self_attn.v_proj", hidden, width);
    add_matrix(ret_kind, "self_attn.f_a_proj", hidden, size);
    add_matrix(ret_kind, "self_attn.f_b_proj", size, width);
    add_matrix(ret_kind, "self_attn.b_proj", hidden, heads);
    if (reader_flag_or(reader, "linear_attn_config/use_full_rank_gate", false)) {
        add_matrix(ret_kind, "self_attn.g_proj", hidden, width);
    } else {
        add_matrix(ret_kind, "self_attn.g_a_proj", hidden, size);
        add_matrix(ret_kind, "self_attn.g_b_proj", size, width);
    }
    add_matrix(ret_kind, "self_attn.o_proj", width, hidden);
    /* convolutions, the decay's bias and scale, a norm */
    ret_kind->other_elements += 3 * width * kernel + width + heads + size;
    ret_kind->recurrent_conv_elements = 3 * width * (kernel - 1);
    ret_kind->recurrent_state_elements = width * size + ret_kind->recurrent_conv_elements;
    ret_kind->state_element_bytes = 4;
}

/* Lightning attention (arXiv:2401.04658 section 3, arXiv:2501.08313 section 2.2): query, key and value in one matrix, a
 * gate, a norm and one matrix out; the state is a matrix a head. */
void
recurrent_lightning(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind)
{
    uint64_t heads = reader_count(reader, "num_attention_heads", 1, LIMIT_HEADS);
    uint64_t size = reader_count_or(reader, "head_dim", 1, LIMIT_HEAD_SIZE, hidden / (uint32_t)heads);
    uint64_t inner = heads * size;

    ret_kind->attention = ATTENTION_RECURRENT;
    add_matrix(ret_kind, "self_attn.qkv_proj", hidden, 3 * inner);
    add_matrix(ret_kind, "self_attn.output_gate", hidden, inner);
    add_matrix(ret_kind, "self_attn.out_proj", inner, hidden);
    ret_kind->other_elements += inner;
    ret_kind->recurrent_state_elements = inner * size;
}
