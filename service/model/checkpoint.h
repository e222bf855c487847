/* A quantised checkpoint, matrix by matrix: which storage each has, and what all of them weigh. */
#ifndef SERVICE_MODEL_CHECKPOINT_H
#define SERVICE_MODEL_CHECKPOINT_H

#include "service/model/arch.h"
#include "service/model/modules.h"
#include "service/model/weight_storage.h"

enum { MAX_STORAGES = 16, STORAGE_NATIVE = 0 };

struct checkpoint {
    const struct model_arch *arch;
    struct module_stack stack;
    struct module modules[MAX_LAYER_KINDS][MAX_MODULES]; /* of one layer of each kind */
    uint32_t module_count[MAX_LAYER_KINDS];
    struct weight_storage storages[MAX_STORAGES]; /* the first: the model's own type, nothing beside it */
    enum weight_format formats[MAX_STORAGES];     /* what each comes nearest to */
    uint32_t storage_count;
    uint8_t storage_of[MAX_LAYERS][MAX_MODULES]; /* by layer, parallel to the modules of its kind */
    uint8_t embedding, head;
    uint32_t steps_left;  /* of matching names */
    uint32_t not_matched; /* rules that were not understood, or came when no steps were left */
};

/* Every matrix in its own type. `arch` is lent until checkpoint_weigh(). */
void checkpoint_begin(const struct model_arch *arch, struct checkpoint *ret_checkpoint);

/* Keeps a storage, and the format that it comes nearest to, and returns its number; the native one when MAX_STORAGES
 * are taken. */
uint8_t checkpoint_storage(struct checkpoint *checkpoint, struct weight_storage storage, enum weight_format nearest);

/* Every matrix of a class. */
void checkpoint_class(struct checkpoint *checkpoint, enum module_class class, uint8_t storage);

/* Every matrix of attention, MLPs and experts. */
void checkpoint_linears(struct checkpoint *checkpoint, uint8_t storage);

/* Every matrix whose name a pattern means, embedding and head included (name_pattern.h). A later rule beats an earlier
 * one. */
void checkpoint_rule(struct checkpoint *checkpoint, const char *pattern, bool is_expression, uint8_t storage);

/* Bytes of every part, and what they make in the mean. Biases, norms, routers, towers stay in the model's own type.
 * Returns the format of most of what is quantised, the native one when nothing is. */
enum weight_format checkpoint_weigh(const struct checkpoint *checkpoint, struct stored_weights *ret_stored);

#endif
