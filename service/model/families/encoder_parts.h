/* What encoders of text and of images are put together from: sizes under their usual keys, layers that are alike. */
#ifndef SERVICE_MODEL_FAMILIES_ENCODER_PARTS_H
#define SERVICE_MODEL_FAMILIES_ENCODER_PARTS_H

#include "service/model/reader.h"

struct encoder {
    uint64_t hidden, layers, heads, intermediate;
};

/* Sizes that all encoders name alike; `class_sizes` stand in inside a nested config, 0: a missing one is a fault. */
struct encoder encoder_read(struct reader *reader, const struct encoder *class_sizes);

/* A layer with two layer norms, a plain MLP, and biases everywhere but, maybe, on query, key and value. */
struct layer_kind encoder_layer(const struct encoder *encoder, bool qkv_bias);

/* Appends all layers of one kind, and says that no head stands beside the embedding. */
void encoder_append(struct reader *reader, const struct encoder *encoder, const struct layer_kind *kind);

#endif
