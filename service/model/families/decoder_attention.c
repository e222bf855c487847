/* Attention of a decoder: heads or a latent, its biases and norms. */
#include "service/model/families/decoder_parts.h"

#include "service/model/families/config.h"

bool
choice_made(struct reader *reader, const struct choice *choice)
{
    return choice->keys == NULL ? choice->always : reader_flag_or(reader, choice->keys, choice->absent);
}

/* Key heads: null means as many as query heads, a missing key the class default. */
static uint32_t
read_kv_heads(struct reader *reader, const struct decoder *decoder, uint32_t heads)
{
    const char *keys = decoder->kv_keys != NULL ? decoder->kv_keys : "num_key_value_heads|num_kv_heads|n_head_kv";
    const struct fact *fact = reader_find(reader, keys);

    if (choice_made(reader, &decoder->one_kv_head))
        return 1;
    if (fact == NULL && decoder->kv_heads > 0)
        return decoder->kv_heads;
    return reader_count_or(reader, keys, 1, LIMIT_HEADS, heads);
}

void
attention_read_heads(struct reader *reader, const struct decoder *decoder, struct decoder_sizes *sizes)
{
    static const char heads_keys[] = "num_attention_heads|n_head|n_heads|num_heads";
    static const char size_keys[] = "head_dim|kv_channels|attention_head_dim";
    uint32_t class_heads = decoder->sizes != NULL ? decoder->sizes->heads : 0;
    const struct fact *size = reader_find(reader, size_keys);

    sizes->heads = reader_count_class(reader, heads_keys, 1, LIMIT_HEADS, class_heads);
    sizes->kv_heads = read_kv_heads(reader, decoder, sizes->heads);
    config_divides_heads(reader, "num_key_value_heads", sizes->kv_heads, sizes->heads);
    if (size == NULL && decoder->head_size > 0) {
        sizes->head_size = decoder->head_size;
        return;
    }
    sizes->head_size = reader_count_or(reader, size_keys, 1, LIMIT_HEAD_SIZE, 0);
    if (sizes->head_size > 0 || decoder->latent)
        return;
    if (sizes->hidden % sizes->heads != 0)
        reader_contradiction(reader, "num_attention_heads", sizes->heads, "divides hidden_size", sizes->hidden);
    sizes->head_size = sizes->hidden / sizes->heads;
}

/* The index of sparse attention: queries from the query latent, one key a token, a weight a head
 * (DeepSeek-V3.2 technical report, section 2). Every tensor rank holds it whole. */
static uint64_t
read_indexer(struct reader *reader, const struct decoder_sizes *sizes, const struct layer_kind *kind)
{
    uint64_t heads = reader_count(reader, "index_n_heads", 1, LIMIT_HEADS);
    uint64_t head_size = reader_count(reader, "index_head_dim", 1, LIMIT_HEAD_SIZE);
    uint64_t key_norm = 2 * head_size;

    (void)reader_find(reader, "index_topk");
    return kind->query_rank * heads * head_size + sizes->hidden * head_size + key_norm + sizes->hidden * heads;
}

static void
read_latent(struct reader *reader, const struct decoder *decoder, const struct decoder_sizes *sizes,
            struct layer_kind *kind)
{
    kind->attention = ATTENTION_LATENT;
    bool stated = reader_find(reader, "q_lora_rank") != NULL;
    kind->query_rank = reader_count_or(reader, "q_lora_rank", 0, LIMIT_WIDTH, stated ? 0 : decoder->query_rank);
    kind->latent_size = reader_count(reader, "kv_lora_rank", 1, LIMIT_WIDTH);
    kind->nope_size = reader_count(reader, "qk_nope_head_dim", 1, LIMIT_HEAD_SIZE);
    kind->rope_size = reader_count(reader, "qk_rope_head_dim", 1, LIMIT_HEAD_SIZE);
    kind->value_size = reader_count(reader, "v_head_dim", 1, LIMIT_HEAD_SIZE);
    uint32_t query_size = reader_count_or(reader, "qk_head_dim", 1, 2 * LIMIT_HEAD_SIZE, 0);
    if (query_size > 0 && query_size != kind->nope_size + kind->rope_size)
        reader_contradiction(reader, "qk_head_dim", query_size,
                             "qk_nope_head_dim + qk_rope_head_dim =", (uint64_t)kind->nope_size + kind->rope_size);
    if (decoder->indexer)
        kind->other_elements += read_indexer(reader, sizes, kind);
}

void
attention_read(struct reader *reader, const struct decoder *decoder, const struct decoder_sizes *sizes,
               struct layer_kind *ret_kind)
{
    ret_kind->head_count = sizes->heads;
    ret_kind->kv_head_count = sizes->kv_heads;
    ret_kind->head_size = sizes->head_size;
    ret_kind->qkv_bias = choice_made(reader, &decoder->qkv_bias);
    ret_kind->out_bias = choice_made(reader, &decoder->out_bias);
    ret_kind->query_gate = decoder->query_gate;
    if (decoder->latent) {
        read_latent(reader, decoder, sizes, ret_kind);
        return;
    }
    ret_kind->attention = ATTENTION_HEADS;
    ret_kind->other_elements += decoder->sinks ? sizes->heads : 0;
    if (decoder->qk_norm != QK_NORM_NONE && choice_made(reader, &decoder->qk_norm_when)) {
        uint64_t vectors = decoder->qk_norm == QK_NORM_HEAD_SIZE ? 2 : (uint64_t)sizes->heads + sizes->kv_heads;

        ret_kind->qk_norm_elements = vectors * sizes->head_size;
    }
}
