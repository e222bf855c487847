/* What stands around the layers of text models that are read key by key, and the experts in those layers. */
#include "service/model/families/text_model.h"

#include <stddef.h>

#include "service/model/families/config.h"

void
text_model_read_ends(struct reader *reader, uint32_t hidden, uint32_t class_vocabulary, const char *context_keys)
{
    struct model_arch *arch = reader->arch;

    arch->causal = true;
    arch->hidden_size = hidden;
    arch->vocabulary_size = reader_count_class(reader, "vocab_size", 1, LIMIT_VOCABULARY, class_vocabulary);
    arch->max_context_tokens = reader_count_or(reader, context_keys, 1, LIMIT_CONTEXT, 0);
    arch->tied_head = reader_flag_or(reader, "tie_word_embeddings", false);
    arch->final_norm_elements = hidden;
}

void
text_model_read_with_tower(struct reader *reader, family_read *read_text, vision_tower *tower)
{
    if (!config_enter(reader, "text_config"))
        return;
    read_text(reader, NULL);
    reader_leave(reader);
    (void)reader_find(reader, "tie_word_embeddings");
    vision_add(reader, tower, reader->arch->hidden_size);
}

void
text_model_read_experts(struct reader *reader, const struct expert_keys *keys, struct layer_kind *ret_kind)
{
    ret_kind->mlp = MLP_EXPERTS;
    ret_kind->expert_count = reader_count(reader, keys->count, 1, LIMIT_EXPERTS);
    ret_kind->experts_per_token = reader_count(reader, keys->per_token, 1, LIMIT_EXPERTS);
    ret_kind->expert_size = reader_count(reader, keys->width, 1, LIMIT_WIDTH);
    if (keys->shared_count != NULL)
        ret_kind->shared_size = ret_kind->expert_size * reader_count(reader, keys->shared_count, 0, 64);
    else if (keys->shared_width != NULL)
        ret_kind->shared_size = reader_count(reader, keys->shared_width, 1, LIMIT_WIDTH);
    ret_kind->router_bias = keys->router_bias == NULL || reader_flag_or(reader, keys->router_bias, true);
}

void
text_model_check_experts(struct reader *reader, const struct expert_keys *keys, const struct layer_kind *kind)
{
    if (kind->experts_per_token > kind->expert_count)
        reader_contradiction(reader, keys->per_token, kind->experts_per_token, keys->most, kind->expert_count);
}

void
text_model_read_mlp(struct reader *reader, const struct expert_keys *keys, bool experts, struct layer_kind *ret_kind)
{
    ret_kind->gated = true;
    if (experts) {
        text_model_read_experts(reader, keys, ret_kind);
        text_model_check_experts(reader, keys, ret_kind);
        return;
    }
    ret_kind->mlp = MLP_DENSE;
    ret_kind->intermediate_size = reader_count(reader, "intermediate_size", 1, LIMIT_WIDTH);
}
