/* Mixers that keep a state of fixed size instead of a cache that grows. */
#ifndef SERVICE_MODEL_FAMILIES_RECURRENT_H
#define SERVICE_MODEL_FAMILIES_RECURRENT_H

#include "service/model/reader.h"

/* Each sets attention, matrices, other elements and state of a layer (not its norms and MLP). */
void recurrent_delta_net(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_delta_net_apart(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_mamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_jamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_mamba2(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_bamba(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
void recurrent_rwkv(uint64_t hidden, uint64_t inner, struct layer_kind *ret_kind);
void recurrent_short_conv(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);

#endif
