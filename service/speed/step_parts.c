/* Each cause again as operations, bytes or links over the rates that were taken for them. */
#include "service/speed/step_parts.h"

#include <string.h>

#include "service/memory/gathered.h"
#include "service/speed/generic_parts.h"
#include "service/speed/micro_batch.h"
#include "service/speed/offload_time.h"
#include "service/speed/optimizer_time.h"
#include "service/speed/pace.h"
#include "service/speed/step_exchanges.h"

static const char matrix_source[] = "arXiv:2204.02311 appendix B; rates training.matmul_share";
static const char traffic_source[] = "operands and results of each product once; rate training.bandwidth_share";

struct step_part *
step_parts_add(struct step_parts *parts, const char *code, double seconds)
{
    static struct step_part const none = { 0 };
    struct step_part *part = &parts->items[parts->count < MAX_STEP_PARTS ? parts->count : MAX_STEP_PARTS - 1];

    *part = none;
    part->code = code;
    part->seconds = seconds;
    part->formula = part->source = "";
    if (seconds > 0 && parts->count < MAX_STEP_PARTS)
        parts->count++;
    return part;
}

/* What the formulas of one setup share. */
struct frame {
    const struct training_setup *setup;
    struct training_time time;
    struct layer_work work;
    struct pace pace;
    struct micro_batch micro;
    double micro_batches, backward; /* share of the layers that the backward pass reaches */
    bool adapter;
};

static void
add_products(const struct frame *frame, struct step_parts *parts)
{
    const struct layer_work *work = &frame->work;
    double gradients = frame->adapter ? 1 : 2;
    struct step_part *part = step_parts_add(parts, "matrix_products", frame->time.linear);

    part->formula =
        work->adapter_flop > 0
            ? "{0} micro batches x ({1} FLOPs / {2} a second + 2 x {3} FLOPs of thin adapters / {4} a second)"
            : "{0} micro batches x {1} FLOPs / {2} a second";
    part->source = matrix_source;
    part->values[0] = frame->micro_batches;
    part->values[1] =
        work->linear_flop + frame->backward * (work->linear_flop_backward + (frame->adapter ? 0 : work->gradient_flop));
    part->values[2] = frame->pace.linear;
    part->values[3] = (1 + 2 * frame->backward) * work->adapter_flop;
    part->values[4] = frame->pace.scores;

    part = step_parts_add(parts, "experts", frame->time.experts);
    part->formula = "{0} micro batches x {1} FLOPs / {2} a second";
    part->source = "grouped products; rate training.grouped_share";
    part->values[0] = frame->micro_batches;
    part->values[1] = (1 + gradients * frame->backward) * work->expert_flop;
    part->values[2] = frame->pace.experts;
}

static void
add_attention(const struct frame *frame, struct step_parts *parts)
{
    bool eager = frame->setup->job->attention == ATTENTION_KERNEL_EAGER;
    struct step_part *part = step_parts_add(parts, "attention", frame->time.attention);

    part->formula = "{0} micro batches x (1 + {1} backward) x {2} FLOPs / {3} a second";
    part->source = "arXiv:2205.14135 section 3.1; rates training.attention_share";
    part->values[0] = frame->micro_batches;
    part->values[1] = (eager ? 2 : 2.5) * frame->backward;
    part->values[2] = frame->work.attention_flop;
    part->values[3] = frame->pace.attention;
}

static void
add_traffic(const struct frame *frame, struct step_parts *parts)
{
    const struct rates *rates = frame->setup->rates;
    const struct layer_work *work = &frame->work;
    bool fused = frame->setup->job->framework == FRAMEWORK_MEGATRON;
    double passes = 1 + 2 * frame->backward, usual = frame->pace.memory / frame->pace.elementwise;
    double cached = cached_traffic_share(frame->setup);
    struct step_part *part = step_parts_add(parts, "memory_traffic", frame->time.memory_traffic);

    part->formula = "{0} micro batches x {1} bytes / {2} a second";
    part->source = traffic_source;
    part->values[0] = frame->micro_batches;
    part->values[1] = frame->time.memory_traffic * frame->pace.memory / frame->micro_batches;
    part->values[2] = frame->pace.memory;

    part = step_parts_add(parts, "elementwise", frame->time.elementwise);
    part->formula =
        work->score_bytes > 0 || work->adapter_bytes > 0
            ? "{0} micro batches x {1} forward and backward x ({2} bytes x {3} passes + {4} bytes of scores "
              "x {5} passes + {6} bytes of adapters x {7} passes) / {8} a second"
            : "{0} micro batches x {1} forward and backward x {2} bytes x {3} passes / {8} a second";
    part->source = "least traffic of norms, rotary embedding, activation, residual; rates training.elementwise_passes";
    part->values[0] = frame->micro_batches;
    part->values[1] = passes;
    part->values[2] = work->elementwise_bytes;
    part->values[3] = (frame->setup->arch->causal ? usual : rates->training_elementwise_passes_encoder) * cached;
    part->values[4] = work->score_bytes;
    part->values[5] = fused ? rates->training_score_passes_fused : rates->training_score_passes_eager;
    part->values[6] = work->adapter_bytes;
    part->values[7] = usual * cached;
    part->values[8] = frame->pace.memory;
}

static void
add_head(const struct frame *frame, struct step_parts *parts)
{
    bool frozen = frame->adapter || frame->setup->job->method == METHOD_FREEZE;
    struct step_part *part = step_parts_add(parts, "head_and_loss", frame->time.head);

    part->formula = frame->setup->plan.pipeline > 1
                        ? "{0} micro batches x ({1} passes x {2} FLOPs / {3} a second + {4} "
                          "bytes / {5} a second) / {6} stages"
                        : "{0} micro batches x ({1} passes x {2} FLOPs / {3} a second + {4} "
                          "bytes / {5} a second)";
    part->source = matrix_source;
    part->values[0] = frame->micro_batches;
    part->values[1] = frozen ? 2 : 3;
    part->values[2] = frame->work.head_flop;
    part->values[3] = frame->pace.scores;
    part->values[4] = frame->work.head_bytes;
    part->values[5] = frame->pace.memory;
    part->values[6] = head_is_balanced(frame->setup) ? frame->setup->plan.pipeline : 1;
}

static void
add_recompute_and_gaps(const struct frame *frame, struct step_parts *parts)
{
    const struct micro_batch *micro = &frame->micro;
    double gaps = frame->setup->rates->training_layer_gap_seconds * frame->work.kernels;
    struct step_part *part = step_parts_add(parts, "recompute", frame->time.recompute);

    part->formula =
        frame->backward < 1 || micro->layers.recomputed > 0
            ? "{0} micro batches x {1} of the layers x ({2} of it again x {3} seconds forward + {4} seconds)"
            : "{0} micro batches x {2} of it again x {3} seconds forward";
    part->source = "arXiv:2205.05198 section 5";
    part->values[0] = frame->micro_batches;
    part->values[1] = frame->backward;
    part->values[2] = micro->layers.recomputed_share;
    part->values[3] = micro->forward;
    part->values[4] = micro->layers.recomputed;

    part = step_parts_add(parts, "launch_gaps", frame->time.launch_gaps);
    part->formula =
        micro->floor > gaps
            ? "{0} micro batches x max({1} layers x {2} seconds, {3} seconds of Python - {4} seconds of work)"
            : "{0} micro batches x {1} layers x {2} seconds";
    part->source = "rates training.layer_gap_seconds, training.host_layer_seconds, training.host_layer_gather_seconds, "
                   "training.host_expert_seconds";
    part->values[0] = frame->micro_batches;
    part->values[1] = frame->work.kernels;
    part->values[2] = frame->setup->rates->training_layer_gap_seconds;
    part->values[3] = micro->floor;
    part->values[4] = micro->forward + micro->backward + micro->recompute;
}

static void
add_bubble(const struct frame *frame, struct step_parts *parts)
{
    const struct parallelism *plan = &frame->setup->plan;
    double waits = (plan->pipeline - 1.0) / plan->virtual_stages;
    struct step_part *part = step_parts_add(parts, "pipeline_bubble", frame->time.bubble);

    part->formula = "({0} stages - 1) / {1} chunks x {2} seconds of a micro batch";
    part->source = "arXiv:2104.04473 section 2.2";
    part->values[0] = plan->pipeline;
    part->values[1] = plan->virtual_stages;
    part->values[2] = waits > 0 ? frame->time.bubble / waits : 0;
}

static void
add_optimizer(const struct frame *frame, struct step_parts *parts)
{
    const struct training_setup *setup = frame->setup;
    struct optimizer_work work = optimizer_work_of(setup);
    struct step_part *part = step_parts_add(parts, "optimizer", frame->time.optimizer);

    part->formula = work.flop > 0 ? "{0} parameters x {1} bytes / {2} a second + {3} FLOPs / {4} a second"
                                  : "{0} parameters x {1} bytes / {2} a second";
    part->source = "arXiv:1910.02054 section 3.1; arXiv:2502.16982 section 2.1";
    part->values[0] = work.parameters;
    part->values[1] = work.bytes_each;
    part->values[2] = frame->pace.memory;
    part->values[3] = work.flop;
    part->values[4] = frame->pace.scores;
}

static void
add_offload(const struct frame *frame, struct step_parts *parts)
{
    struct offload_work work = offload_work_of(frame->setup);
    struct step_part *part = step_parts_add(parts, "host_link", frame->time.host_link);

    part->formula = "{0} parameters x {1} bytes / {2} a second + {3} seconds of weights streamed in view";
    part->source = "arXiv:2101.06840 section 5; rate training.offload.link_share";
    part->values[0] = work.parameters;
    part->values[1] = work.sent_bytes_each;
    part->values[2] = work.link_rate;
    part->values[3] = frame->time.host_link - work.parameters * work.sent_bytes_each / work.link_rate;

    part = step_parts_add(parts, "host_step", frame->time.host_step);
    part->formula = "{0} parameters x {1} GPUs of a node x {2} bytes / {3} a second";
    part->source = "arXiv:2101.06840 table 4";
    part->values[0] = work.parameters;
    part->values[1] = frame->setup->machine->gpus_per_node;
    part->values[2] = work.stepped_bytes_each;
    part->values[3] = frame->setup->rates->training_offload_host_bytes_per_second;
}

void
step_parts_of(const struct training_setup *setup, struct step_parts *ret_parts)
{
    struct frame frame = { .setup = setup,
                           .pace = pace_of(setup->machine->gpu, setup->rates, setup->job),
                           .micro_batches = setup->accumulation_steps,
                           .adapter = method_is_adapter(setup->job->method) };
    struct layer_time layers;

    ret_parts->count = 0;
    (void)training_step_seconds(setup, &frame.time);
    if (setup->arch->generic) {
        generic_parts_add(setup, &frame.time, ret_parts);
        add_offload(&frame, ret_parts);
        return;
    }
    layer_work_of(setup, &frame.work);
    layer_time_of(setup, &frame.work, &frame.pace, &layers);
    micro_batch_of(setup, setup->machine, &frame.work, &layers, &frame.micro);
    frame.backward = layers.backward_share;
    add_products(&frame, ret_parts);
    add_attention(&frame, ret_parts);
    add_traffic(&frame, ret_parts);
    add_head(&frame, ret_parts);
    add_recompute_and_gaps(&frame, ret_parts);
    add_bubble(&frame, ret_parts);
    add_optimizer(&frame, ret_parts);
    step_exchanges_add(setup, &frame.work, &frame.micro, &frame.time, ret_parts);
    add_offload(&frame, ret_parts);
}
