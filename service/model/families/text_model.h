/* Text models whose layers are read key by key, with no traits of decoder.h: what stands around those layers, and the
 * experts in them. */
#ifndef SERVICE_MODEL_FAMILIES_TEXT_MODEL_H
#define SERVICE_MODEL_FAMILIES_TEXT_MODEL_H

#include "service/model/families/family.h"
#include "service/model/families/vision.h"

/* Embedding, context, head and a final norm of one vector. `class_vocabulary` may stand for a missing vocab_size as in
 * reader_count_class(). */
void text_model_read_ends(struct reader *reader, uint32_t hidden, uint32_t class_vocabulary, const char *context_keys);

/* A class that has its text model in text_config, and a tower beside it. */
void text_model_read_with_tower(struct reader *reader, family_read *read_text, vision_tower *tower);

/* Under which keys a layer has what of its experts; no shared ones where both keys of those are NULL. */
struct expert_keys {
    const char *count, *per_token, *width;
    const char *shared_count; /* shared experts, each as wide as a routed one */
    const char *shared_width; /* or their common width */
    const char *router_bias;  /* not there when this says so; NULL: always there */
    const char *most;         /* how experts per token are told to be at most their count */
};

/* All of that but whether it fits. */
void text_model_read_experts(struct reader *reader, const struct expert_keys *keys, struct layer_kind *ret_kind);

/* A fault when a token goes to more experts than there are. */
void text_model_check_experts(struct reader *reader, const struct expert_keys *keys, const struct layer_kind *kind);

/* A gated MLP, dense or of experts that fit. */
void
text_model_read_mlp(struct reader *reader, const struct expert_keys *keys, bool experts, struct layer_kind *ret_kind);

#endif
