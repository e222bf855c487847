/* Number formats: bits a weight takes, block scales included. */
#ifndef SERVICE_MODEL_DTYPE_H
#define SERVICE_MODEL_DTYPE_H

#include <stdbool.h>

/* Weight formats of serving, names as in requests. */
enum weight_format {
    WEIGHT_UNSAID = 0,
    WEIGHT_FP32,
    WEIGHT_BF16,
    WEIGHT_FP16,
    WEIGHT_FP8,
    WEIGHT_INT8,
    WEIGHT_INT4_AWQ,
    WEIGHT_INT4_GPTQ,
    WEIGHT_NF4,
    WEIGHT_MXFP4,
    WEIGHT_NVFP4,
    WEIGHT_Q8_0,
    WEIGHT_Q6_K,
    WEIGHT_Q5_K_M,
    WEIGHT_Q4_K_M,
    WEIGHT_Q4_0,
    WEIGHT_Q3_K_M,
    WEIGHT_Q2_K,
    WEIGHT_FORMAT_COUNT
};

enum kv_format { KV_UNSAID = 0, KV_FP16, KV_BF16, KV_FP8, KV_INT8, KV_INT4, KV_FP32, KV_FORMAT_COUNT };

const char *weight_format_name(enum weight_format format);
const char *kv_format_name(enum kv_format format);

/* A GGUF file type: its mean bits hold over the whole file, embedding and head included. */
bool weight_format_is_gguf(enum weight_format format);

/* 4-bit storage of any make (integer, NF4, FP4, GGUF q4 and below). */
bool weight_format_is_4bit(enum weight_format format);

/* Mean bits a weight of the quantised linears takes with its scales and zero points (of all weights for GGUF):
 * AWQ/GPTQ group 128: 4 + 16/128 + 4/128; FP8 block 128x128: 8 + 32/16384; NF4 block 64: 4 + 32/64; MXFP4 4 + 8/32;
 * NVFP4 4 + 8/16; GGUF: see the table in dtype.c. */
double weight_format_bits(enum weight_format format);

/* Bytes of one cached element. */
double kv_format_bytes(enum kv_format format);

#endif
