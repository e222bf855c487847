/* Mixers that keep a state of fixed size instead of a cache that grows. */
#ifndef SERVICE_MODEL_FAMILIES_RECURRENT_H
#define SERVICE_MODEL_FAMILIES_RECURRENT_H

#include "service/model/reader.h"

/* Sizes of a Mamba mixer, whoever read them. */
struct mamba_sizes {
    uint64_t hidden, inner, state, kernel;
    uint64_t rank;          /* Mamba: of the step */
    uint64_t heads, groups; /* Mamba-2 */
    bool conv_bias, proj_bias;
};

/* Attention, matrices, other elements and state of a layer of these sizes. Mamba's step and state vectors are normed in
 * Jamba. Matrices are named below `stem`: "mixer", "mamba". */
void recurrent_mamba_of(const struct mamba_sizes *sizes, const char *stem, bool normed, struct layer_kind *ret_kind);
void recurrent_mamba2_of(const struct mamba_sizes *sizes, const char *stem, struct layer_kind *ret_kind);

/* Each sets attention, matrices, other elements and state of a layer (not its norms and MLP). */
void recurrent_delta_net(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_delta_net_apart(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_mamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_jamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_mamba2(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_bamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_kimi_delta(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_rwkv(uint64_t hidden, uint64_t inner, struct layer_kind *ret_kind);
void recurrent_lightning(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_short_conv(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);

#endif
