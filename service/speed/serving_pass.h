/* Seconds of one forward pass of a serving engine: some sequences decode a token each, some prompts are read. */
#ifndef SERVICE_SPEED_SERVING_PASS_H
#define SERVICE_SPEED_SERVING_PASS_H

#include "service/job/engine.h"
#include "service/memory/serving_memory.h"

/* Constants of a pass under one setup. Bytes and operations are of one GPU. */
struct serving_pass {
    /* matrix products: bytes read once a pass, operations a token */
    double linear_bytes_seconds, linear_flop_seconds;
    double head_bytes_seconds, head_flop_seconds; /* operations a sequence or prompt */
    double expert_bytes_seconds, expert_flop_seconds;
    double expert_missed;    /* chance that a token leaves a given expert alone: 1 - k / E */
    double tile_rows;        /* tokens that a product of weights is computed for at least */
    double expert_tile_rows; /* the same of each expert that is met */
    double roofline_power;   /* bytes and operations overlap as (x^p + y^p)^(1/p) */
    double minimum_seconds;
    /* attention */
    double cache_seconds;      /* a sequence: keys and values read, at the job's mean context */
    double lone_cache_seconds; /* a pass at least: kernels that do not split one sequence's cache */
    double latent_seconds;     /* a sequence: operations of latent attention, instead when longer */
    double prompt_seconds;     /* a prompt token: operations of attention over what it sees of the prompt */
    double moved_seconds;      /* a prompt token: what moves between kernels, of networks that answer in one pass */
    /* communication */
    double link_wait_seconds, network_wait_seconds; /* a pass */
    double link_seconds, network_seconds;           /* a token */
    /* host */
    double step_seconds, sequence_seconds, eager_seconds; /* a pass, a sequence, a pass with prompts */
    double handed_out_seconds; /* a sequence, beside all else: one process hands the tokens out as text */
    /* layers in host memory (serving_host.h), which the host computes: a step, with the experts hit, a token; or their
     * way to the GPU, for each batch of prompt tokens */
    double host_bytes_seconds, host_expert_seconds, host_flop_seconds, host_stream_seconds, host_batch_tokens;
    double groups; /* attention data-parallel groups that share the tokens of a pass */
};

/* One pass. Counts are real: a mean over many passes. */
struct serving_load {
    double sequences;     /* each decodes one token */
    double prompt_tokens; /* read in this pass */
    double prompts;       /* that they belong to */
};

/* Its seconds by what they are spent on; they add up. */
struct serving_time {
    double memory, compute, link, network, host;
};

/* The job's context is the mean over its output: input + output / 2. A network known by its work alone has samples of
 * one token. */
void serving_pass_make(const struct serving_setup *setup, const struct engine_traits *traits,
                       struct serving_pass *ret_model);

/* pass = GEMM + cache + attention + communication + host: kernels run one after the other (roofline: Williams et al.,
 * CACM 52(4) 2009). Never shorter with more sequences or tokens. What moves between the kernels of prompts is in the
 * achieved rates of decoders, whose layers are wide; the narrow layers of encoders and convolutions wait for it. */
struct serving_time serving_pass_time(const struct serving_pass *model, const struct serving_load *load);

double serving_pass_seconds(const struct serving_time *time);

/* a += b x times */
void serving_pass_add(struct serving_time *sum, const struct serving_time *more, double times);

#endif
