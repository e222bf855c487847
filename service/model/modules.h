/* The matrices of a layer: what they are called in the files of its class, and how large they are. */
#ifndef SERVICE_MODEL_MODULES_H
#define SERVICE_MODEL_MODULES_H

#include "service/model/arch.h"

enum module_class {
    MODULE_ATTENTION = 0,
    MODULE_MLP,
    MODULE_SHARED,
    MODULE_SHARED_GATE,
    MODULE_EXPERTS,
    MODULE_ROUTER,
    MODULE_CLASS_COUNT
};

/* What it is for, where formats treat matrices apart. */
enum module_role {
    MODULE_PLAIN = 0,
    MODULE_KEY,
    MODULE_VALUE,
    MODULE_QUERY_KEY_VALUE,
    MODULE_OUT,
    MODULE_DOWN,
    MODULE_GATING, /* a router, or the gate of a shared expert */
};

struct module {
    enum module_class class;
    enum module_role role;
    const char *name; /* below its layer: "self_attn.q_proj" */
    uint64_t inputs, outputs;
    uint64_t count; /* experts; 1 */
};

enum { MAX_MODULES = 28, MAX_STACKS = 4 };

/* Names of a class that are not those of its layers. */
struct module_stack {
    const char *layers[MAX_STACKS]; /* what stands before a layer's number, one or more ways of writing it */
    const char *embedding, *head;
};

/* The matrices of one layer of a kind (without biases). Sums of inputs x outputs x count equal the matrices that
 * model_params_count() counts. Returns how many. */
uint32_t modules_of_layer(const struct model_arch *arch, const struct layer_kind *kind, struct module *ret_modules);

struct module_stack modules_stack(const struct model_arch *arch);

#endif
