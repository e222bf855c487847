/* What a network is made of, enough to count everything: layers by kind, embeddings, heads. */
#ifndef SERVICE_MODEL_ARCH_H
#define SERVICE_MODEL_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "service/base/note.h"
#include "service/base/result.h"
#include "service/model/dtype.h"
#include "service/model/facts.h"

enum {
    MAX_LAYERS = 1024,
    MAX_LAYER_KINDS = 32,
    MAX_IGNORED_KEYS = 32,
    MAX_MIXER_MATRICES = 12,
    ARCH_NAME_SIZE = 96,
    METHOD_NAME_SIZE = 24,
};

enum attention_kind {
    ATTENTION_NONE = 0,
    ATTENTION_HEADS,     /* K and V for kv_head_count heads of head_size */
    ATTENTION_LATENT,    /* MLA: one latent of latent_size + rope_size, shared by all heads (arXiv:2405.04434 2.1) */
    ATTENTION_RECURRENT, /* a state of fixed size a sequence, no cache that grows */
};

enum mlp_kind { MLP_NONE = 0, MLP_DENSE, MLP_EXPERTS };

/* Layers that are alike. Sizes are elements. */
struct layer_kind {
    uint32_t count; /* how many layers are of this kind */
    /* attention */
    enum attention_kind attention;
    bool encoder;         /* sees its whole input at once: keeps no cache */
    bool cross_attention; /* a second attention of the same shape, over what an encoder left */
    /* the query projection is twice as wide: half of it gates the output; of a latent, a matrix of its own does */
    bool query_gate;
    bool value_is_key; /* one projection gives keys and values; both are cached */
    bool kept_once;    /* keys are the values: one vector of head_size a token, whole on every tensor rank */
    bool shares_cache; /* reads keys and values that an earlier layer keeps; its own projections stay unused */
    uint32_t head_count, kv_head_count, head_size;
    uint32_t window_tokens; /* 0: the whole context */
    /* beside the window, one entry of so many elements for every so many tokens; of them, if not 0, a token reads no
     * more than this */
    uint32_t compressed_size, compressed_tokens, compressed_read;
    /* where an index chooses what a token reads: the key it keeps of every token, and how many tokens are read */
    uint32_t index_size, index_read;
    uint32_t query_rank; /* MLA: 0 when the query is not compressed */
    uint32_t latent_size, nope_size, rope_size;
    uint32_t value_size; /* of a head's values; 0: head_size */
    bool qkv_bias, out_bias;
    uint64_t qk_norm_elements; /* both together, a layer */
    /* mlp */
    enum mlp_kind mlp;
    bool gated; /* three matrices instead of two */
    bool mlp_bias;
    uint32_t intermediate_size; /* of a dense MLP */
    uint32_t expert_count, experts_per_token, expert_size;
    uint32_t shared_size;           /* width of all shared experts together */
    bool shared_gate;               /* one more row of hidden_size */
    bool router_bias;               /* one element an expert (e_score_correction_bias) */
    uint32_t expert_hidden_size;    /* what routed experts read and write, projected from and to hidden; 0: hidden */
    uint32_t side_size, side_count; /* matrices of hidden x side_size beside these, whole on every tensor rank */
    /* matrices that take the place of query, key, value and output, a layer: of a recurrent mixer, or of heads whose
     * projections are others (then mixer_elements > 0) */
    uint64_t mixer_elements; /* of all of them */
    struct mixer_matrix {
        const char *name; /* below its layer, a constant: "linear_attn.out_proj" */
        uint64_t inputs, outputs;
        bool whole; /* on every tensor rank */
        bool plain; /* never packed */
    } mixer_matrices[MAX_MIXER_MATRICES];
    uint32_t mixer_matrix_count;
    /* norms between the blocks, a layer, elements */
    uint64_t norm_elements;
    /* anything else a layer holds that is no matrix of the above (kept whole on every tensor rank) */
    uint64_t other_elements;
    uint64_t recurrent_state_elements; /* ATTENTION_RECURRENT, a sequence */
    uint64_t recurrent_conv_elements;  /* of them: inputs that a short convolution looks back at */
    uint32_t state_element_bytes;      /* of the others, when the config says it; 0: as keys and values, 2 at least */
};

/* Bytes of a quantised checkpoint, scales and zero points included. */
struct stored_weights {
    bool packed;                   /* false: every weight is in native_format, and nothing below is set */
    char method[METHOD_NAME_SIZE]; /* "awq" */
    enum kv_format cache;          /* what it asks keys and values to be kept in; KV_UNSAID: nothing */
    struct stored_layers {
        uint64_t attention, mlp, experts, router, norms; /* as in struct layer_params, all layers of a kind */
    } kinds[MAX_LAYER_KINDS];
    uint64_t embedding, head;
    /* bits an element in the mean: of attention and dense or shared MLPs, of latent attention, of routed experts, of
     * everything else */
    double linear_bits, latent_bits, expert_bits, plain_bits;
};

struct model_arch {
    char name[ARCH_NAME_SIZE];         /* what the caller or the catalog calls it */
    char architecture[ARCH_NAME_SIZE]; /* class of `architectures`, "" when given by shape */
    char model_type[48];
    uint32_t layer_count, hidden_size, vocabulary_size;
    uint32_t embedding_size;     /* width of an embedding row; 0: hidden_size */
    uint32_t max_context_tokens; /* 0: not said */
    bool tied_head;              /* the head is the embedding */
    uint32_t source_tokens; /* that an encoder leaves whatever it reads, as frames of sound; 0: as many as it reads */
    bool causal;
    bool headless;                            /* a decoder without its head, or with a classifier in its place */
    struct layer_kind kinds[MAX_LAYER_KINDS]; /* in the order of their first layer */
    uint32_t kind_count;
    uint8_t kind_of_layer[MAX_LAYERS];
    uint64_t position_elements;       /* learned position table */
    uint64_t layer_embedding_size;    /* width, over all layers, of a second embedding that layers look up; 0: none */
    uint32_t layer_embedding_rows;    /* its tokens; 0: vocabulary_size */
    uint64_t final_norm_elements;     /* and any other single tensor outside the layers */
    uint64_t tower_elements;          /* of extra_parameters: a tower of images or sound, with its projection */
    int64_t extra_parameters;         /* a vision tower, or what a stated total adds to or takes from the counted one */
    uint32_t mtp_layer_count;         /* multi-token prediction layers, not counted */
    enum weight_format native_format; /* its own 16-bit (or 32-bit) type */
    enum weight_format stored_format; /* of the checkpoint: the same, or what its quantisation comes nearest to */
    struct stored_weights stored;
    /* any other network, known by its work only: layer_count is 0 */
    bool generic;
    uint64_t generic_parameters;
    double flop_per_sample;           /* forward */
    double depthwise_flop_per_sample; /* of them, in convolutions of one channel each */
    double activation_bytes_per_sample;
    const char *ignored_keys[MAX_IGNORED_KEYS]; /* pointers into the config that changed nothing; lent by the facts */
    uint32_t ignored_key_count;
};

/* Reads a config.json. `pointer` is where it stands in the request ("/model/config") and leads every fault. A class it
 * cannot count exactly, a key that changes sizes in a way it does not know, a missing size or a contradiction is a
 * fault that names the class or key. Adds notices for what was settled. */
enum status model_arch_read(const struct facts *facts, const char *pointer, struct model_arch *ret_arch,
                            struct notices *notices, struct fault *ret_fault);

/* What should be said of any model of this kind, preset or not: layers left out of the count, a published active count
 * by another convention. */
void model_arch_remarks(const struct model_arch *arch, const char *pointer, struct notices *notices);

/* A model given by sizes. 0: not said. What is missing is derived (notice) where a shape of that size is usual, so that
 * the total is exactly parameter_count. */
struct model_shape {
    uint64_t parameter_count, active_parameter_count;
    uint32_t layer_count, hidden_size, intermediate_size, attention_head_count, kv_head_count, head_size;
    uint32_t vocabulary_size, expert_count, experts_per_token, expert_intermediate_size, max_context_tokens;
    bool tied_head;
    double flop_per_sample, activation_bytes_per_sample; /* flop_per_sample > 0: a network that is no transformer */
};
enum status model_arch_from_shape(const struct model_shape *shape, const char *pointer, struct model_arch *ret_arch,
                                  struct notices *notices, struct fault *ret_fault);

/* A total stated beside the parts: the difference goes to extra_parameters, with a notice above 0.1 %. */
void model_arch_state_total(struct model_arch *arch, uint64_t stated, struct notices *notices);

/* What a layer's attention of heads keeps of a value, and what its experts read: the sizes above where 0 stands for
 * another. */
uint32_t layer_value_size(const struct layer_kind *kind);
uint32_t layer_expert_hidden_size(const struct layer_kind *kind, uint32_t hidden_size);

/* Tokens of the second embedding, and its elements. */
uint32_t model_layer_embedding_rows(const struct model_arch *arch);
uint64_t model_layer_embedding_elements(const struct model_arch *arch);

/* Whether it writes tokens one after another; else one pass answers: encoders, classifiers, networks known by their
 * work. */
bool model_arch_generates(const struct model_arch *arch);

/* Bounds every size, so that formulas need no checks after it. */
enum status model_arch_check(const struct model_arch *arch, const char *pointer, struct fault *ret_fault);

#endif
