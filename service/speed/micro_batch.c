/* Passes of the layers one after the other, what gaps and Python add to them, what the data ranks exchange behind. */
#include "service/speed/micro_batch.h"

void
micro_batch_of(const struct training_setup *setup, const struct machine *machine, const struct layer_work *work,
               const struct layer_time *layers, struct micro_batch *ret_micro)
{
    struct micro_batch *micro = ret_micro;
    const struct layer_exchange *exchange = &micro->exchange;
    double busy, both;

    micro->layers = *layers;
    layer_exchange_of(setup, machine, work, &micro->exchange);
    both = exchange->tensor.seconds + exchange->expert.seconds;
    micro->forward = pass_seconds(&layers->forward) + both + exchange->context.seconds;
    micro->backward = layers->backward_share * (pass_seconds(&layers->backward) + both + 2 * exchange->context.seconds);
    micro->recompute = layers->backward_share * (layers->recomputed_share * micro->forward + layers->recomputed);
    micro->gaps = setup->rates->training_layer_gap_seconds * work->kernels;
    busy = micro->forward + micro->backward + micro->recompute + micro->gaps;
    micro->floor = host_floor_seconds(setup, work->layers);
    if (micro->floor > busy)
        micro->gaps += micro->floor - busy;
    data_exchange_of(setup, machine, micro->forward + micro->backward + micro->recompute + micro->gaps + layers->head,
                     &micro->data);
    micro->pipeline = pipeline_exchange(setup, machine);
    micro->sums = 1 + layers->backward_share;
}

bool
head_is_balanced(const struct training_setup *setup)
{
    const struct parallelism *plan = &setup->plan;

    return plan->pipeline <= 1 || setup->arch->layer_count % (plan->pipeline * plan->virtual_stages) != 0;
}
