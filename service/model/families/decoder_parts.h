/* The parts that decoder.c puts together: attention, the mixer of each layer, experts. */
#ifndef SERVICE_MODEL_FAMILIES_DECODER_PARTS_H
#define SERVICE_MODEL_FAMILIES_DECODER_PARTS_H

#include "service/model/families/decoder.h"

struct decoder_sizes {
    uint32_t hidden, layers, heads, kv_heads, head_size, vocabulary;
};

/* What a layer mixes tokens with. */
enum mixer { MIXER_FULL = 0, MIXER_WINDOW, MIXER_RECURRENT, MIXER_COUNT };

bool choice_made(struct reader *reader, const struct choice *choice);

/* Heads, key heads and head size, with the class defaults and the contradictions between them. */
void attention_read_heads(struct reader *reader, const struct decoder *decoder, struct decoder_sizes *sizes);

/* The attention of full and windowed layers. */
void attention_read(struct reader *reader, const struct decoder *decoder, const struct decoder_sizes *sizes,
                    struct layer_kind *ret_kind);

/* The mixer of each layer, and the window of those that have one. */
uint32_t mixers_read(struct reader *reader, const struct decoder *decoder, uint32_t layers, uint8_t *ret_mixers);

/* The experts of the layers that have them; says for each layer whether it does. false: none has. */
bool experts_read(struct reader *reader, const struct decoder *decoder, const struct decoder_sizes *sizes,
                  struct layer_kind *ret_kind, uint8_t *ret_sparse);

#endif
