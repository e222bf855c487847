/* What classes call the matrices of a layer in their checkpoints. */
#ifndef SERVICE_MODEL_MODULE_NAMES_H
#define SERVICE_MODEL_MODULE_NAMES_H

/* NULL: as a llama calls it (or, of two matrices in one, that the class keeps them apart). */
struct module_names {
    const char *class_start; /* of the classes it holds for: "Llama4" */
    const char *layers, *embedding, *head;
    const char *query, *key, *value, *out;
    const char *query_key_value;  /* in one matrix */
    const char *gate, *up, *down; /* of a dense MLP */
    const char *gate_up;          /* in one matrix */
    const char *expert_gate, *expert_up, *expert_down, *expert_gate_up;
    const char *shared_gate, *shared_up, *shared_down, *shared_gate_up;
    const char *router, *shared_router; /* the gate of a shared expert */
    const char *side_in, *side_out;     /* matrices beside those, NULL where a class has none */
};

/* The names of a class, every member set but those for matrices that it keeps apart. */
struct module_names module_names_of(const char *class_name);

#endif
