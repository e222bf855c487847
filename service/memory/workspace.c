/* Shapes of the linear layers of a stage, each counted once. */
#include "service/memory/workspace.h"

#include "service/memory/logits.h"
#include "service/parallel/matrices.h"

enum { MAX_SHAPES = MAX_LAYER_KINDS * (MAX_LAYER_MATRICES + 2) + 1 };

struct shapes {
    double elements[MAX_SHAPES];
    uint32_t count;
};

static void
add_shape(struct shapes *shapes, double elements)
{
    for (uint32_t i = 0; i < shapes->count; i++)
        if (shapes->elements[i] == elements)
            return;
    if (elements > 0 && shapes->count < MAX_SHAPES)
        shapes->elements[shapes->count++] = elements;
}

static void
add_layer_shapes(const struct training_setup *setup, const struct stage *stage, const struct layer_kind *kind,
                 struct shapes *shapes)
{
    struct layer_matrix matrices[MAX_LAYER_MATRICES];
    double hidden = setup->arch->hidden_size;
    uint32_t count = layer_matrices(kind, hidden, stage->tensor, 1, matrices);

    for (uint32_t i = 0; i < count; i++)
        if (matrices[i].role != MATRIX_ROUTER)
            add_shape(shapes, matrices[i].inputs * matrices[i].outputs);
    if (kind->mlp == MLP_EXPERTS) {
        double width = kind->expert_size / (setup->plan.expert > 1 ? 1 : stage->tensor);

        add_shape(shapes, (kind->gated ? 2 : 1) * hidden * width);
        add_shape(shapes, hidden * width);
    }
}

static void
stage_shapes(const struct training_setup *setup, const struct stage *stage, struct shapes *ret_shapes)
{
    ret_shapes->count = 0;
    for (uint32_t i = 0; i < setup->arch->kind_count; i++)
        if (stage->kind_layers[i] > 0)
            add_layer_shapes(setup, stage, &setup->arch->kinds[i], ret_shapes);
}

double
dummy_gradient_elements(const struct training_setup *setup, const struct stage *stage)
{
    struct shapes shapes;
    double sum = 0;

    stage_shapes(setup, stage, &shapes);
    if (stage->last && network_has_scores(setup->arch, setup->job->method))
        add_shape(&shapes, (double)setup->params->embedding / stage->tensor);
    for (uint32_t i = 0; i < shapes.count; i++)
        sum += shapes.elements[i];
    return sum;
}

double
largest_matrix_elements(const struct training_setup *setup, const struct stage *stage)
{
    struct shapes shapes;
    double largest = 0;

    stage_shapes(setup, stage, &shapes);
    for (uint32_t i = 0; i < shapes.count; i++)
        largest = shapes.elements[i] > largest ? shapes.elements[i] : largest;
    return largest;
}
