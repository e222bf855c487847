/* What is filled in when a job does not say it, each as an assumption. */
#ifndef SERVICE_JOB_DEFAULTS_H
#define SERVICE_JOB_DEFAULTS_H

#include "service/hardware/machine.h"
#include "service/job/job.h"

enum { MAX_ASSUMPTIONS = 40, ASSUMPTION_TEXT_SIZE = 64 };

/* One value that the caller did not give. `code` is a constant text; the sentence is api/i18n's "assumption.<code>". */
struct assumption {
    const char *code, *pointer;
    enum { ASSUMED_NUMBER, ASSUMED_TEXT } kind;
    double number;
    char text[ASSUMPTION_TEXT_SIZE];
};

struct assumptions {
    size_t count;
    struct assumption items[MAX_ASSUMPTIONS];
};

/* Adds one; `assumptions` may be NULL (a search that tells nobody). The same pointer again replaces its value. */
void assume_number(struct assumptions *assumptions, const char *code, const char *pointer, double value);
void assume_text(struct assumptions *assumptions, const char *code, const char *pointer, const char *value);

/* Sequence length of fine-tuning and of pre-training when unsaid: what trl and LLaMA-Factory cut at by default
 * (max_length, cutoff_len: 1024), and the usual length of pre-training. At most the model's maximum. */
enum { FINE_TUNING_TOKENS = 1024, PRE_TRAINING_TOKENS = 4096, SERVING_CONTEXT_TOKENS = 8192 };

/* LoRA rank when unsaid (peft LoraConfig r=8). */
enum { LORA_RANK = 8 };

/* Everything of a training job that does not depend on how it is split: precision, optimizer, sequence, LoRA,
 * attention, offload, trainable layers. Leaves open what a search chooses: framework, loss, recompute, micro-batch,
 * split. */
void training_job_complete(struct training_job *job, const struct model_arch *arch, const struct machine *machine,
                           struct assumptions *assumptions);

/* The framework people use for such a job: Megatron when tensor, pipeline or expert is above 1 or a pre-training has 64
 * GPUs and more, FSDP for other pre-training and for pure bf16, the Hugging Face trainer else (with ZeRO: DeepSpeed).
 */
enum framework framework_usual(const struct training_job *job, const struct parallelism *plan, uint32_t gpu_count);

/* fused in Megatron, unfused elsewhere. */
enum loss_kernel loss_usual(enum framework framework);

/* Everything of a serving job; memory_utilization is the engine's default. A closed loop that states only its rate
 * keeps its clients open: how many make it follows from the speed. */
void serving_job_complete(struct serving_job *job, const struct model_arch *arch, const struct machine *machine,
                          struct assumptions *assumptions);

/* major.minor of an engine version as one number (0.22 -> 22, 1.1 -> 1001); `newest` when it is empty or none. */
unsigned engine_version_number(const char *version, unsigned newest);

#endif
