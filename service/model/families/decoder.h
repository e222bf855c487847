/* Decoders told by their traits: what a class fixes, what its keys decide, what stands in for a missing key. */
#ifndef SERVICE_MODEL_FAMILIES_DECODER_H
#define SERVICE_MODEL_FAMILIES_DECODER_H

#include "service/model/families/family.h"
#include "service/model/families/vision.h"

/* A part that a class never has (all zero), always has, or has when a key says so. */
struct choice {
    bool always;
    const char *keys;
    bool absent; /* what a missing key means */
};

enum norm_kind {
    NORM_RMS = 0,   /* one vector */
    NORM_LAYER,     /* weight and bias */
    NORM_WEIGHTLESS /* no parameters */
};

enum qk_norm_kind {
    QK_NORM_NONE = 0,
    QK_NORM_HEAD_SIZE, /* one vector of head_size for queries, one for keys */
    QK_NORM_ALL_HEADS, /* vectors as wide as all query heads and all key heads */
};

enum window_rule {
    WINDOW_NONE = 0,    /* layer_types may still name windowed layers */
    WINDOW_ALL,         /* every layer, when sliding_window is set */
    WINDOW_LATE,        /* use_sliding_window: layers from max_window_layers on */
    WINDOW_ALTERNATING, /* layers 0, 2, 4, ... */
    WINDOW_PATTERN,     /* all but every window_period-th */
    WINDOW_CHUNKED,     /* all but those without rotary positions: attention_chunk_size */
};

enum expert_layers {
    EXPERTS_EVERY_LAYER = 0,
    EXPERTS_AFTER_DENSE, /* from first_k_dense_replace on, every moe_layer_freq-th */
    EXPERTS_SPARSE_STEP, /* every decoder_sparse_step-th, except mlp_only_layers */
    EXPERTS_INTERLEAVED, /* every interleave_moe_layer_step-th, or the list moe_layers */
    EXPERTS_BETWEEN,     /* from moe_layer_start_index to moe_layer_end_index, every moe_layer_interval-th */
    EXPERTS_PERIOD,      /* expert_layer_period and expert_layer_offset */
};

/* Mixture of experts: under which keys a class keeps what. */
struct experts {
    const char *count_keys, *per_token_keys;
    const char *width_keys;        /* of one expert */
    const char *shared_count_keys; /* shared experts, each as wide as a routed one */
    const char *shared_width_keys; /* or their common width */
    uint32_t shared_absent;        /* class default of the first of these two that it has */
    const char *dense_width_keys;  /* of layers without experts, when not the usual key */
    enum expert_layers layers;
    uint32_t first_dense, step; /* class defaults of the layer rule */
    bool optional;              /* without a count the model is dense */
    bool shared_as_wide;        /* one shared expert, as wide as a routed one, without a key */
    bool shared_gate;
    struct choice router_bias;
    bool bias_by_method; /* a bias where topk_method is noaux_tc or unsaid */
};

/* A key that can only hold one value here, as text ("true", "4", "default"); another is not known. NULL: any, the key
 * changes no size of this class. Ends with an empty row. */
struct fixed {
    const char *key, *value;
};

/* Sizes of a class, for nested configs that leave out what does not differ. */
struct class_sizes {
    uint32_t hidden, layers, heads, intermediate, vocabulary, context;
};

struct decoder {
    /* class defaults: 0 stands for as many key heads as query heads, and for hidden / heads */
    uint32_t kv_heads, head_size;
    bool tied;
    const struct class_sizes *sizes;
    const struct fixed *fixed;
    const char *text_object; /* where the text model's keys are, NULL: at the root */

    bool projected_embedding;  /* word_embed_proj_dim: rows narrower than the layers, a projection on either side */
    const char *position_keys; /* learned positions: rows */
    uint32_t position_extra;   /* rows beside those */
    bool embedding_norm;
    struct choice head_bias;

    bool latent, indexer; /* MLA; sparse attention's index on top of it */
    uint32_t query_rank;  /* class default of q_lora_rank, where null says that queries have no latent */
    struct choice qkv_bias, out_bias;
    enum qk_norm_kind qk_norm;
    struct choice qk_norm_when;
    bool sinks;                /* one element a head */
    bool query_gate;           /* the query is twice as wide */
    const char *kv_keys;       /* key heads, when not under the usual keys */
    struct choice one_kv_head; /* multi-query attention */
    /* What the layers between those of full attention keep a state with, NULL: there are none. Sets the mixer's
     * matrices, vectors and state in `ret_kind`. */
    void (*recurrent)(struct reader *reader, uint32_t hidden, struct layer_kind *ret_kind);
    const char *attention_flags_key;       /* a list of one for a layer of full attention, none for another */
    const char *attention_list_key;        /* names the layers of full attention, or layer i is one where */
    const char *period_keys, *offset_keys; /* i % period is the offset; layer_types counts before both */
    uint32_t period;                       /* class default; the offset's is the period's last layer */

    enum window_rule window;
    uint32_t window_tokens, window_period; /* class defaults */

    bool plain_mlp;         /* two matrices */
    uint32_t mlp_divisor;   /* the stated width is this many times the real one; 0: once */
    uint32_t mlp_width;     /* settled beforehand; 0: read it */
    uint32_t mlp_multiples; /* width in hidden sizes when it is not stated; 0: it must be */
    struct choice mlp_bias;
    const struct experts *experts;

    uint32_t mtp_layers;     /* multi-token prediction layers of its checkpoints when no key says so */
    uint32_t layer_elements; /* single parameters a layer, as of an activation */

    enum norm_kind norm;
    uint32_t block_norms;   /* norms a layer; 0: two */
    struct choice one_norm; /* attention and MLP side by side behind one norm */
    struct choice no_final_norm;

    vision_tower *tower; /* parameters beside the text model, NULL: none */
};

/* Reads a config by the traits of its class. */
family_read decoder_read;

#endif
