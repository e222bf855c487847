#include "api/json/job_json.h"

#include "service/base/quantity.h"
#include "service/catalog/catalog.h"

const char *const currency_names[CURRENCY_COUNT] = { NULL,  "CNY", "USD", "EUR", "GBP", "JPY", "HKD",
                                                     "SGD", "INR", "AUD", "CAD", "CHF", "KRW", "TWD" };

static const char *const weight_names[] = { NULL,       "fp32",      "bf16",   "fp16",  "fp8",    "int8",
                                            "int4_awq", "int4_gptq", "nf4",    "mxfp4", "nvfp4",  "q8_0",
                                            "q6_k",     "q5_k_m",    "q4_k_m", "q4_0",  "q3_k_m", "q2_k" };
static const char *const kv_names[] = { NULL, "fp16", "bf16", "fp8", "int8", "int4", "fp32" };
static const char *const formats[] = { NULL,       "raw_files", "jpeg_files", "webdataset",
                                       "tfrecord", "lmdb",      "parquet",    "pretokenized" };

_Static_assert(COUNT_OF(weight_names) == WEIGHT_FORMAT_COUNT, "one name a format");
_Static_assert(COUNT_OF(kv_names) == KV_FORMAT_COUNT, "one name a format");

#define NUMBER(member_name, struct_name, member, low, high)                                                   \
    {                                                                                                         \
        .name = member_name, .kind = FIELD_U32, .offset = offsetof(struct struct_name, member), .min = (low), \
        .max = (high)                                                                                         \
    }
#define REAL(member_name, struct_name, member, low, high)                                                      \
    {                                                                                                          \
        .name = member_name, .kind = FIELD_REAL, .offset = offsetof(struct struct_name, member), .min = (low), \
        .max = (high)                                                                                          \
    }
#define CHOICE(member_name, struct_name, member, name_list)                                                            \
    {                                                                                                                  \
        .name = member_name, .kind = FIELD_ENUM, .offset = offsetof(struct struct_name, member), .names = (name_list), \
        .name_count = COUNT_OF(name_list)                                                                              \
    }
#define NESTED(member_name, struct_name, member, nested_table, present)                            \
    {                                                                                              \
        .name = member_name, .kind = FIELD_OBJECT, .offset = offsetof(struct struct_name, member), \
        .table = &(nested_table), .present_offset = (present)                                      \
    }

static const struct field lora_fields[] = {
    NUMBER("rank", training_job, lora_rank, 1, 4096),
    CHOICE("targets", training_job, lora_targets, lora_targets_names),
};
const struct field_table lora_table = { "Lora", lora_fields, COUNT_OF(lora_fields) };

static const struct field training_parallelism_fields[] = {
    NUMBER("tensor", parallelism, tensor, 1, 1024),
    NUMBER("pipeline", parallelism, pipeline, 1, 1024),
    NUMBER("virtual_stages", parallelism, virtual_stages, 1, 128),
    NUMBER("data", parallelism, data, 1, 100000),
    NUMBER("context", parallelism, context, 1, 1024),
    NUMBER("expert", parallelism, expert, 1, 4096),
    CHOICE("sharding", parallelism, sharding, sharding_names),
    { .name = "sequence_parallel", .kind = FIELD_BOOL, .offset = offsetof(struct parallelism, sequence_parallel) },
};
const struct field_table training_parallelism_table = { "TrainingParallelism", training_parallelism_fields,
                                                        COUNT_OF(training_parallelism_fields) };

static const struct field serving_parallelism_fields[] = {
    NUMBER("tensor", parallelism, tensor, 1, 1024),
    NUMBER("pipeline", parallelism, pipeline, 1, 1024),
    NUMBER("data", parallelism, data, 1, 100000),
    NUMBER("expert", parallelism, expert, 1, 4096),
};
const struct field_table serving_parallelism_table = { "ServingParallelism", serving_parallelism_fields,
                                                       COUNT_OF(serving_parallelism_fields) };

static const struct field training_fields[] = {
    { .name = "method",
      .kind = FIELD_ENUM,
      .offset = offsetof(struct training_job, method),
      .names = training_method_names,
      .name_count = COUNT_OF(training_method_names),
      .flags = FIELD_REQUIRED },
    NUMBER("trainable_layers", training_job, trainable_layers, 1, MAX_LAYERS),
    CHOICE("precision", training_job, precision, training_precision_names),
    CHOICE("optimizer", training_job, optimizer, optimizer_names),
    { .name = "lora", .kind = FIELD_OBJECT, .offset = 0, .table = &lora_table, .present_offset = SIZE_MAX },
    NUMBER("sequence_length", training_job, sequence_length, 1, 16777216),
    NUMBER("micro_batch_size", training_job, micro_batch_size, 1, 1048576),
    NUMBER("global_batch_size", training_job, global_batch_size, 1, MAX_GLOBAL_BATCH),
    CHOICE("recompute", training_job, recompute, recompute_names),
    CHOICE("attention", training_job, attention, attention_kernel_names),
    CHOICE("loss", training_job, loss, loss_kernel_names),
    CHOICE("framework", training_job, framework, framework_names),
    NESTED("parallelism", training_job, parallelism, training_parallelism_table,
           offsetof(struct training_job, has_parallelism)),
    CHOICE("offload", training_job, offload, offload_names),
    REAL("tokens", training_job, tokens, 1, 1e18),
    REAL("samples", training_job, samples, 1, 1e15),
    REAL("epochs", training_job, epochs, 0.001, 1e6),
};
const struct field_table training_table = { "Training", training_fields, COUNT_OF(training_fields) };

static const struct field slo_fields[] = {
    REAL("ttft_p95_ms", serving_job, slo_ttft_p95_ms, 0.001, 1e9),
    REAL("tpot_p95_ms", serving_job, slo_tpot_p95_ms, 0.001, 1e9),
};
const struct field_table slo_table = { "Slo", slo_fields, COUNT_OF(slo_fields) };

static const struct field serving_fields[] = {
    CHOICE("engine", serving_job, engine, engine_names),
    { .name = "engine_version", .kind = FIELD_TEXT, .offset = offsetof(struct serving_job, engine_version), .max = 32 },
    CHOICE("precision", serving_job, precision, weight_names),
    CHOICE("kv_cache_precision", serving_job, kv_cache_precision, kv_names),
    NUMBER("context_length", serving_job, context_length, 1, 1073741824),
    NUMBER("input_tokens", serving_job, input_tokens, 1, 536870912),
    NUMBER("output_tokens", serving_job, output_tokens, 1, 536870912),
    NUMBER("concurrency", serving_job, concurrency, 1, 10000000),
    REAL("requests_per_second", serving_job, requests_per_second, 1e-6, 1e7),
    CHOICE("arrival", serving_job, arrival, arrival_names),
    REAL("peak_factor", serving_job, peak_factor, 1, 100),
    REAL("memory_utilization", serving_job, memory_utilization, 0.05, 1),
    { .name = "slo", .kind = FIELD_OBJECT, .offset = 0, .table = &slo_table, .present_offset = SIZE_MAX },
    NESTED("parallelism", serving_job, parallelism, serving_parallelism_table,
           offsetof(struct serving_job, has_parallelism)),
};
const struct field_table serving_table = { "Serving", serving_fields, COUNT_OF(serving_fields) };

static const struct field dataset_fields[] = {
    REAL("bytes", dataset_ask, bytes, 1, 1e18),
    REAL("samples", dataset_ask, samples, 1, 1e15),
    REAL("tokens", dataset_ask, tokens, 1, 1e18),
    REAL("tokens_per_sample", dataset_ask, tokens_per_sample, 1, 1e9),
    REAL("files", dataset_ask, files, 1, 1e15),
    REAL("mean_file_bytes", dataset_ask, mean_file_bytes, 1, 1e15),
    CHOICE("format", dataset_ask, format, formats),
    REAL("growth_per_year", dataset_ask, growth_per_year, 0, 1000),
    REAL("uplink_bits_per_second", dataset_ask, uplink_bits_per_second, 1, 1e15),
    REAL("daily_bytes", dataset_ask, daily_bytes, 1, 1e18),
};
const struct field_table dataset_table = { "Dataset", dataset_fields, COUNT_OF(dataset_fields) };

static const struct field checkpoint_fields[] = {
    REAL("interval_minutes", checkpoint_ask, interval_minutes, 0.01, 1e6),
    REAL("keep", checkpoint_ask, keep, 1, 1e6),
    REAL("max_overhead_ratio", checkpoint_ask, max_overhead_ratio, 0.0001, 1),
};
const struct field_table checkpoint_table = { "Checkpoint", checkpoint_fields, COUNT_OF(checkpoint_fields) };

static const struct field observed_fields[] = {
    REAL("gpu_utilization_ratio", observed_ask, gpu_utilization_ratio, 0, 1),
    REAL("cpu_utilization_ratio", observed_ask, cpu_utilization_ratio, 0, 1),
    REAL("gpu_memory_ratio", observed_ask, gpu_memory_ratio, 0, 1),
    REAL("peak_memory_bytes", observed_ask, peak_memory_bytes, 0, 1e15),
    REAL("step_seconds", observed_ask, step_seconds, 0, 1e7),
    REAL("data_seconds", observed_ask, data_seconds, 0, 1e7),
    REAL("loader_workers", observed_ask, loader_workers, 0, 1e6),
};
const struct field_table observed_table = { "Observed", observed_fields, COUNT_OF(observed_fields) };

static const struct field cost_fields[] = {
    CHOICE("currency", cost_members, currency, currency_names),
    CHOICE("price_type", cost_members, price_type, price_type_names),
    { .name = "region", .kind = FIELD_TEXT, .offset = offsetof(struct cost_members, region), .max = 64 },
    REAL("horizon_months", cost_members, horizon_months, 0.1, 600),
    REAL("hours_per_day", cost_members, hours_per_day, 0, 24),
    REAL("electricity_per_kwh", cost_members, electricity_per_kwh, 0, 1000),
    REAL("pue", cost_members, pue, 1, 5),
    REAL("depreciation_years", cost_members, depreciation_years, 0.1, 50),
    REAL("residual_ratio", cost_members, residual_ratio, 0, 1),
    REAL("failure_ratio_per_year", cost_members, failure_ratio_per_year, 0, 10),
    REAL("interruptions_per_hour", cost_members, interruptions_per_hour, 0, 1000),
};
const struct field_table cost_table = { "Cost", cost_fields, COUNT_OF(cost_fields) };

struct cost_terms
cost_terms_said(const struct cost_members *members)
{
    struct cost_terms terms = { .currency = members->currency,
                                .horizon_months = members->horizon_months,
                                .utilization_ratio = members->hours_per_day / 24,
                                .electricity_per_kwh = members->electricity_per_kwh,
                                .pue = members->pue,
                                .residual_ratio = members->residual_ratio };

    if (!(terms.horizon_months > 0))
        terms.horizon_months = members->depreciation_years * 12;
    return terms;
}
