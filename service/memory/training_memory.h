/* Memory of training on the fullest pipeline stage of one GPU, term by term. */
#ifndef SERVICE_MEMORY_TRAINING_MEMORY_H
#define SERVICE_MEMORY_TRAINING_MEMORY_H

#include "service/hardware/machine.h"
#include "service/job/job.h"
#include "service/memory/footprint.h"

/* One job on one machine under one given plan. All lent; `job` is complete (nothing unsaid), `plan` is filled. */
struct training_setup {
    const struct model_arch *arch;
    const struct model_params *params;
    const struct machine *machine;
    const struct rates *rates;
    const struct training_job *job;
    struct parallelism plan;
    uint32_t micro_batch_size;
    uint32_t accumulation_steps; /* micro-batches a step and data rank */
    enum recompute recompute;
    double recompute_share;             /* of a stage's layers that RECOMPUTE_FULL runs again; 0: all of them */
    bool sequence_or_recompute_assumed; /* the caller said neither: the band is wider */
    bool plan_assumed;                  /* micro-batch, recompute or split were chosen here, not stated */
};

/* States by recipe and sharding (arXiv:1910.02054 3.1), gathered buffers, activations (arXiv:2205.05198 section 4 in
 * its form for RMSNorm, grouped heads and SwiGLU), logits by loss kernel, communicators, allocator slack; the verdict
 * against machine->gpu->usable_bytes, and against machine->host_bytes where the job is offloaded. */
void training_memory(const struct training_setup *setup, struct footprint *ret_footprint);

/* The smallest share of a stage's layers, in whole layers, that RECOMPUTE_FULL must run again for the job to fit: what
 * lies between none and all. 0: it fits without; 1: all are needed, or do not suffice. The footprint is of that share,
 * of all layers where it is 0 or 1. */
double training_recompute_share(const struct training_setup *setup, struct footprint *ret_footprint);

/* Host memory of one node that CPU offload needs, bytes; 0 without offload. */
double training_offload_host_bytes(const struct training_setup *setup);

/* Whether offload needs more host memory than a node has; false where that is not known. */
bool training_exceeds_host(const struct training_setup *setup);

/* A full resumable checkpoint: 16-bit weights + fp32 master + both AdamW moments, 14 B a trained parameter (12 when the
 * 16-bit copy is not kept, as Megatron writes it); adapters alone for LoRA. */
double training_checkpoint_bytes(const struct training_setup *setup);

#endif
