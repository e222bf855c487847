/* The command that starts an engine as a plan says: text to copy, the same in every language. */
#ifndef SERVICE_SEARCH_SERVING_LAUNCH_H
#define SERVICE_SEARCH_SERVING_LAUNCH_H

#include "service/search/serving_sizing.h"

enum { LAUNCH_SIZE = 1024 };

/* For one replica. $MODEL is the checkpoint ($MODEL_FILE of llama.cpp a GGUF file), on several nodes $NODE_RANK and
 * $HEAD are a node's number and the first node's address. Options by the documentation of vLLM 0.32 (vllm serve),
 * SGLang (launch_server), TensorRT-LLM 1.2 (trtllm-serve), LMDeploy (serve api_server) and llama.cpp
 * (tools/server/README.md). Context and sequences are those that fit. False, and an empty command, when the engine is
 * no server, has no such cache or weight format or GPU, or not even one token fits. */
bool
serving_launch(const struct serving_choice *choice, const struct serving_sizing *sizing, char ret_command[LAUNCH_SIZE]);

/* Whether an engine keeps its cache in a format; true for what starts by no command. */
bool serving_launch_has_cache(enum engine engine, enum kv_format format);

/* Whether an engine loads weights of a format, and runs on a GPU (NULL: any); true for what starts by no command. By
 * the lists of quantisation in the documentation of each: GGUF and bitsandbytes are neither TensorRT-LLM's nor
 * LMDeploy's, llama.cpp reads GGUF alone, TensorRT-LLM is for NVIDIA. */
bool serving_launch_has_weights(enum engine engine, enum weight_format format);
bool serving_launch_has_gpu(enum engine engine, const struct gpu *gpu);

/* The format that the checkpoint must be in: that of the plan, or the model's own where the engine converts it. */
enum weight_format serving_launch_checkpoint(const struct serving_choice *choice);

#endif
