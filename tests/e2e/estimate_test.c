/* POST /estimate over a real socket: questions people ask, and whether the fixes do what they say. Every reply is also
 * held against openapi.yaml (tests/support/contract.h). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract.h"
#include "tests/support/schema.h"
#include "tests/support/suite.h"

#define FULL_8B                                                                                 \
    "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"full\",\"precision\":\"bf16_mixed\"," \
    "\"sequence_length\":2048,\"micro_batch_size\":1},\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":1}}"
#define QLORA_8B                                                                             \
    "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"qlora\",\"sequence_length\":1024," \
    "\"micro_batch_size\":1},\"hardware\":{\"gpu\":\"rtx-4090-24gb\",\"gpus\":1}}"
#define SERVE_70B(precision)                                                                           \
    "{\"model\":\"llama-3-70b\",\"serving\":{\"precision\":\"" precision "\",\"context_length\":8192," \
    "\"concurrency\":8},\"hardware\":{\"gpu\":\"h200-sxm-141gb\",\"gpus\":1}}"

/* Whether a list of objects has one with this code. */
static bool
has_code(const json_t *list, const char *code)
{
    size_t index;
    const json_t *item;

    json_array_foreach(list, index, item)
    {
        if (strcmp(contract_text(item, "/code"), code) == 0)
            return true;
    }
    return false;
}

static json_t *
parsed(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);

    ck_assert_ptr_nonnull(value);
    return value;
}

/* --- verdicts and their fixes --- */

static const struct {
    const char *request, *section, *verdict;
    const char *fixes[3]; /* that must be among those offered */
} verdicts[] = {
    /* weights, gradients, master weights and two states: 18 B a parameter (arXiv:1910.02054, section 3.1) is 144 GB */
    { FULL_8B, "training", "does_not_fit", { "lora", "offload_optimizer", "more_gpus" } },
    { FULL_8B, "training", "does_not_fit", { "qlora", "pure_bf16", "optimizer_8bit" } },
    /* 4.13 bits a weight and adapters: meant for one card of 24 GB (arXiv:2305.14314, section 3) */
    { QLORA_8B, "training", "fits", { NULL } },
    /* 70.6e9 parameters of 2 B are 141 GB, as much as the whole card; of 1 B half of it */
    { SERVE_70B("bf16"), "serving", "does_not_fit", { "quantize_weights", "more_gpus", NULL } },
    { SERVE_70B("fp8"), "serving", "fits", { NULL } },
};

START_TEST(verdicts_are_as_expected)
{
    json_t *reply = contract_post("/estimate", 200, verdicts[_i].request);
    const json_t *section = json_object_get(reply, verdicts[_i].section);

    ck_assert_msg(strcmp(contract_text(section, "/verdict"), verdicts[_i].verdict) == 0, "%s: %s", verdicts[_i].request,
                  contract_text(section, "/verdict"));
    for (size_t i = 0; i < COUNT_OF(verdicts[_i].fixes) && verdicts[_i].fixes[i]; i++)
        ck_assert_msg(has_code(json_object_get(section, "fixes"), verdicts[_i].fixes[i]), "%s: no %s",
                      verdicts[_i].request, verdicts[_i].fixes[i]);
    json_decref(reply);
}
END_TEST

/* One fix, merged in and sent again, gives what it states. */
static void
check_fix(const char *request, const char *section, const json_t *fix)
{
    json_t *changed = parsed(request), *reply;
    char *body;

    contract_merge(changed, json_object_get(fix, "change"));
    body = json_dumps(changed, JSON_COMPACT);
    reply = contract_post("/estimate", 200, body);
    ck_assert_msg(strcmp(contract_text(json_object_get(reply, section), "/verdict"), contract_text(fix, "/verdict")) ==
                      0,
                  "%s: %s, not %s: %s", contract_text(fix, "/code"),
                  contract_text(json_object_get(reply, section), "/verdict"), contract_text(fix, "/verdict"), body);
    ck_assert_msg(contract_count(json_object_get(reply, section), "/memory_per_gpu/allocated_bytes") ==
                      contract_count(fix, "/allocated_bytes"),
                  "%s: %lld, not %lld: %s", contract_text(fix, "/code"),
                  (long long)contract_count(json_object_get(reply, section), "/memory_per_gpu/allocated_bytes"),
                  (long long)contract_count(fix, "/allocated_bytes"), body);
    json_decref(reply);
    json_decref(changed);
    free(body);
}

static int
usefulness(const json_t *fix)
{
    const char *verdict = contract_text(fix, "/verdict");

    return strcmp(verdict, "fits") == 0 ? 0 : strcmp(verdict, "tight") == 0 ? 1 : 2;
}

static const struct {
    const char *request, *section;
    bool may_be_empty;
} fixed[] = {
    { FULL_8B, "training", false },
    { SERVE_70B("bf16"), "serving", false },
    /* stated splits, an eager kernel, an instance, offers that are shared */
    { "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"full\",\"sequence_length\":4096,\"micro_batch_size\":4,"
      "\"attention\":\"eager\",\"recompute\":\"none\",\"parallelism\":{\"data\":4,\"sharding\":\"none\"}},"
      "\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":4}}",
      "training", false },
    { "{\"model\":\"qwen2.5-14b\",\"training\":{\"method\":\"lora\",\"sequence_length\":8192,\"micro_batch_size\":2},"
      "\"hardware\":{\"instance\":\"autodl:rtx-4090\"}}",
      "training", false },
    { "{\"model\":\"llama-2-70b\",\"training\":{\"method\":\"full\",\"framework\":\"megatron\",\"sequence_length\":"
      "4096},"
      "\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":8}}",
      "training", false },
    /* a framework that has no such stage is let go with it */
    { "{\"model\":\"llama-2-13b\",\"training\":{\"method\":\"full\",\"framework\":\"megatron\",\"parallelism\":"
      "{\"data\":8,\"sharding\":\"none\"}},\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":8}}",
      "training", false },
    { "{\"model\":\"llama-2-13b\",\"training\":{\"method\":\"full\",\"sequence_length\":2048},"
      "\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":16,\"internode_bits_per_second\":10000000000}}",
      "training", true },
    { "{\"model\":{\"parameter_count\":25557032,\"flop_per_sample\":8.2e9,\"activation_bytes_per_sample\":88915000},"
      "\"training\":{\"method\":\"pretrain\",\"micro_batch_size\":1024},\"hardware\":{\"gpu\":\"rtx-3090-24gb\"}}",
      "training", false },
    { "{\"model\":\"qwen2.5-32b\",\"serving\":{\"context_length\":32768,\"concurrency\":64},"
      "\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":2}}",
      "serving", false },
    { "{\"model\":\"llama-3-8b\",\"serving\":{\"engine\":\"llama_cpp\",\"precision\":\"fp16\",\"context_length\":8192},"
      "\"hardware\":{\"gpu\":\"rtx-3060-12gb\"}}",
      "serving", false },
    { "{\"model\":\"mixtral-8x7b\",\"serving\":{\"parallelism\":{\"tensor\":2}},\"hardware\":{\"gpu\":\"l40s-48gb\","
      "\"gpus\":2}}",
      "serving", false },
};

START_TEST(fixes_do_what_they_say)
{
    json_t *reply = contract_post("/estimate", 200, fixed[_i].request);
    const json_t *fixes = json_object_get(json_object_get(reply, fixed[_i].section), "fixes"), *fix;
    size_t index;
    int before = 0;

    ck_assert_msg(fixed[_i].may_be_empty || json_array_size(fixes) > 0, "%s: no fixes", fixed[_i].request);
    json_array_foreach(fixes, index, fix)
    {
        check_fix(fixed[_i].request, fixed[_i].section, fix);
        ck_assert_msg(usefulness(fix) >= before, "%s: %s does not come first", fixed[_i].request,
                      contract_text(fix, "/code"));
        before = usefulness(fix);
    }
    json_decref(reply);
}
END_TEST

/* --- the network between nodes --- */

#define LORA_8B(sharding, gpus, network)                                                                           \
    "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"lora\",\"micro_batch_size\":1,\"sequence_length\":1024," \
    "\"parallelism\":{\"data\":" gpus ",\"sharding\":\"" sharding "\"}},\"hardware\":{\"gpu\":\"a800-sxm-80gb\","  \
    "\"gpus\":" gpus ",\"gpus_per_node\":8" network "}}"
#define TEN_GIGABIT ",\"internode_bits_per_second\":10000000000"

static double
network_figure(const json_t *reply, const char *name)
{
    const json_t *figure = json_object_get(json_object_get(reply, "network"), name);

    ck_assert_msg(json_is_number(figure), "%s is missing", name);
    return json_number_value(figure);
}

/* hiyouga/LLaMA-Factory#5014 */
START_TEST(a_slow_network_is_told)
{
    json_t *sharded = contract_post("/estimate", 200, LORA_8B("zero3", "16", TEN_GIGABIT));
    json_t *plain = contract_post("/estimate", 200, LORA_8B("none", "16", TEN_GIGABIT));
    json_t *one_node = contract_post("/estimate", 200, LORA_8B("zero3", "8", ""));

    ck_assert_str_eq(contract_text(sharded, "/training/bottleneck"), "network");
    ck_assert_double_lt(network_figure(sharded, "scaling_efficiency_ratio"), 0.25);
    ck_assert_double_gt(network_figure(sharded, "required_bits_per_second_per_node"), 10e9);
    ck_assert_double_gt(network_figure(sharded, "exposed_seconds_per_step"), 1);
    ck_assert(has_code(json_object_get(json_object_get(sharded, "training"), "fixes"), "faster_network"));
    ck_assert_double_gt(network_figure(plain, "scaling_efficiency_ratio"), 0.5);
    ck_assert_double_lt(network_figure(plain, "required_bits_per_second_per_node"), 10e9);
    ck_assert_ptr_null(json_object_get(one_node, "network"));
    json_decref(sharded);
    json_decref(plain);
    json_decref(one_node);
}
END_TEST

/* --- totals --- */

/* Totals are sums of terms, and the verdict follows from them by the rule. */
static void
check_memory(const json_t *section)
{
    const json_t *memory = json_object_get(section, "memory_per_gpu"), *part;
    double allocated = 0, beside = 0, slack = 0, usable = (double)contract_count(memory, "/usable_bytes");
    size_t index;

    json_array_foreach(json_object_get(memory, "parts"), index, part)
    {
        const char *code = contract_text(part, "/code");
        double bytes = (double)contract_count(part, "/bytes");

        ck_assert_msg(contract_text(part, "/formula")[0] && contract_text(part, "/source")[0], "%s is not explained",
                      code);
        if (strcmp(code, "fragmentation") == 0)
            slack += bytes;
        else if (strcmp(code, "communication") == 0 || strcmp(code, "runtime") == 0)
            beside += bytes;
        else
            allocated += bytes;
    }
    ck_assert_double_eq_tol(allocated, (double)contract_count(memory, "/allocated_bytes"), 16);
    /* of what stands beside, workspaces of libraries give way */
    ck_assert_double_ge((double)contract_count(memory, "/required_bytes"), allocated - 16);
    ck_assert_double_le((double)contract_count(memory, "/required_bytes"), allocated + beside + 16);
    ck_assert_double_eq_tol(allocated + beside + slack, (double)contract_count(memory, "/reserved_bytes"), 16);
    ck_assert_int_le(contract_count(memory, "/low_bytes"), contract_count(memory, "/reserved_bytes"));
    ck_assert_int_ge(contract_count(memory, "/high_bytes"), contract_count(memory, "/reserved_bytes"));
    ck_assert((strcmp(contract_text(section, "/verdict"), "does_not_fit") == 0) ==
              ((double)contract_count(memory, "/required_bytes") > usable));
}

START_TEST(totals_are_sums)
{
    json_t *reply = contract_post("/estimate", 200, verdicts[_i].request);
    const json_t *section = json_object_get(reply, verdicts[_i].section);

    if (strcmp(verdicts[_i].section, "training") == 0)
        check_memory(section);
    ck_assert_int_gt(contract_count(section, "/minimum_gpus"), 0);
    json_decref(reply);
}
END_TEST

/* --- what every reply carries --- */

START_TEST(same_body_same_bytes)
{
    struct http_reply once, again;

    contract_send("POST", "/estimate", NULL, verdicts[_i].request, &once);
    contract_send("POST", "/estimate", NULL, verdicts[_i].request, &again);
    ck_assert_int_eq(once.status, 200);
    ck_assert_str_eq(once.body, again.body);
    http_reply_done(&once);
    http_reply_done(&again);
}
END_TEST

/* Takes the sentences out, wherever they stand. */
static void
drop_sentences(json_t *value)
{
    static const char *const sentences[] = { "text", "title", "detail" };
    const char *name;
    json_t *member;
    size_t index;

    for (size_t i = 0; i < COUNT_OF(sentences); i++)
        json_object_del(value, sentences[i]);
    json_object_foreach(value, name, member)
    {
        drop_sentences(member);
    }
    json_array_foreach(value, index, member)
    {
        drop_sentences(member);
    }
}

START_TEST(chinese_differs_in_sentences_alone)
{
    json_t *english = contract_post_in("en", "/estimate", 200, verdicts[_i].request);
    json_t *chinese = contract_post_in("zh-CN", "/estimate", 200, verdicts[_i].request);

    ck_assert(!json_equal(english, chinese));
    drop_sentences(english);
    drop_sentences(chinese);
    ck_assert(json_equal(english, chinese));
    json_decref(english);
    json_decref(chinese);
}
END_TEST

START_TEST(provenance_says_what_answered)
{
    json_t *reply = contract_post("/estimate", 200, "{ \"model\" : \"llama-3-8b\" }");
    json_t *same = contract_post("/estimate", 200, "{\"model\":\"llama-3-8b\"}"), *pinned;
    char body[128];

    ck_assert(json_equal(reply, same)); /* blanks do not count */
    /* printf '{"model":"llama-3-8b"}' | sha256sum */
    ck_assert_str_eq(contract_text(reply, "/provenance/request_sha256"),
                     "fd2171dd0fa9c6ea533afb65da90dd3e72f829e64aabcfa74ae37211ca7fc18d");
    (void)snprintf(body, sizeof body, "{\"model\":\"llama-3-8b\",\"catalog_version\":\"%s\"}",
                   contract_text(reply, "/provenance/catalog_version"));
    pinned = contract_post("/estimate", 200, body);
    ck_assert(json_equal(json_object_get(pinned, "model"), json_object_get(reply, "model")));
    json_decref(pinned);
    pinned = contract_post("/estimate", 422, "{\"model\":\"llama-3-8b\",\"catalog_version\":\"999\"}");
    ck_assert_str_eq(contract_text(pinned, "/code"), "catalog_version_unknown");
    json_decref(pinned);
    json_decref(reply);
    json_decref(same);
}
END_TEST

/* Figures of the model cards: Llama 3 8B has 8,030,261,248 parameters, 2 x 32 layers x 8 heads x 128 of 2 B a token. */
START_TEST(a_model_alone)
{
    json_t *reply = contract_post("/estimate", 200, "{\"model\":\"meta-llama/Meta-Llama-3-8B\"}");

    ck_assert_int_eq(contract_count(reply, "/model/parameter_count"), 8030261248);
    ck_assert_int_eq(contract_count(reply, "/model/active_parameter_count"), 8030261248);
    ck_assert_int_eq(contract_count(reply, "/model/kv_cache_bytes_per_token"), 2 * 32 * 8 * 128 * 2);
    ck_assert_ptr_null(json_object_get(reply, "training"));
    json_decref(reply);
}
END_TEST

START_TEST(hardware_alone_is_asked_what_it_can)
{
    json_t *reply = contract_post("/estimate", 200, "{\"hardware\":{\"gpu\":\"4090\"}}");
    const json_t *capabilities = json_object_get(reply, "capabilities"), *item;
    json_int_t full = 0, qlora = 0;
    size_t index;

    json_array_foreach(capabilities, index, item)
    {
        json_int_t count = json_integer_value(json_object_get(item, "largest_parameter_count"));

        if (strcmp(contract_text(item, "/method"), "full") == 0 &&
            strcmp(contract_text(item, "/precision"), "bf16_mixed") == 0)
            full = count;
        if (strcmp(contract_text(item, "/method"), "qlora") == 0)
            qlora = count;
    }
    ck_assert_int_gt(full, 100000000); /* 18 B a parameter: about one thousand million */
    ck_assert_int_lt(full, 2000000000);
    ck_assert_int_gt(qlora, 10 * full);
    json_decref(reply);
}
END_TEST

START_TEST(a_job_alone_is_told_where_it_runs)
{
    json_t *reply = contract_post(
        "/estimate", 200, "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"qlora\",\"sequence_length\":1024}}");
    const json_t *fitting = json_object_get(reply, "fitting_gpus"), *item;
    size_t index, found = 0;

    ck_assert_str_eq(contract_text(reply, "/training/verdict"), "unknown");
    json_array_foreach(fitting, index, item)
    {
        if (strcmp(contract_text(item, "/gpu"), "rtx-4090-24gb") == 0)
            found += contract_count(item, "/gpus") == 1;
    }
    ck_assert_uint_eq(found, 1);
    json_decref(reply);
}
END_TEST

/* A terabyte of pictures on a disk of 750 MB/s: the disk holds the GPUs back, and how much data there is says nothing
 * about GPU memory. */
START_TEST(data_hold_the_gpus_back)
{
    json_t *reply =
        contract_post("/estimate", 200,
                      "{\"model\":{\"parameter_count\":25557032,\"flop_per_sample\":8200000000,"
                      "\"activation_bytes_per_sample\":110000000,\"sample\":\"image\"},"
                      "\"training\":{\"method\":\"pretrain\",\"micro_batch_size\":256,\"epochs\":90},"
                      "\"dataset\":{\"bytes\":1000000000000,\"mean_file_bytes\":110000,\"format\":\"jpeg_files\"},"
                      "\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":8,\"storage\":\"essd-pl2\"}}");
    double busy = contract_number(reply, "/storage/gpu_utilization_ratio");

    ck_assert_str_eq(contract_text(reply, "/training/bottleneck"), "storage");
    ck_assert_double_lt(busy, 0.8);
    ck_assert_double_eq_tol(contract_number(reply, "/storage/read_bytes_per_second") * busy, 750e6, 1e4);
    ck_assert_double_eq_tol(contract_number(reply, "/training/throughput/samples_per_second/expected"), 750e6 / 110000,
                            10);
    ck_assert_str_eq(contract_text(reply, "/tiers/data"), "large");
    ck_assert_str_eq(contract_text(reply, "/tiers/compute"), "prototype");
    json_decref(reply);
}
END_TEST

/* 10 GB over 20 Mb/s: 4000 s. No model is needed for that. */
START_TEST(data_alone)
{
    json_t *reply = contract_post("/estimate", 200,
                                  "{\"dataset\":{\"bytes\":10000000000,\"uplink_bits_per_second\":20000000,"
                                  "\"growth_per_year\":5}}");

    ck_assert_double_eq(contract_number(reply, "/storage/upload_seconds"), 4000);
    ck_assert_double_eq(contract_number(reply, "/storage/capacity_bytes"), 50e9);
    json_decref(reply);
}
END_TEST

/* What is observed is spoken of without a model, in the language asked for. */
START_TEST(observed_figures_are_read)
{
    json_t *reply = contract_post_in(
        "zh-CN", "/estimate", 200,
        "{\"observed\":{\"gpu_utilization_ratio\":0.35,\"cpu_utilization_ratio\":0.95,\"step_seconds\":0.9,"
        "\"data_seconds\":0.6,\"loader_workers\":192},\"hardware\":{\"gpu\":\"a100-sxm-80gb\",\"gpus\":8,"
        "\"cpu_cores\":48}}");

    ck_assert_str_eq(contract_text(reply, "/diagnosis/0/code"), "data_loading_cpu_bound");
    ck_assert_double_gt(contract_number(reply, "/diagnosis/0/actions/0/expected_gpu_utilization_ratio"), 0.35);
    ck_assert_str_eq(contract_text(reply, "/diagnosis/1/code"), "too_many_workers");
    json_decref(reply);
}
END_TEST

/* A machine named by an offer of the catalog has a price: the total is hours x price, a million tokens what they take.
 */
START_TEST(a_named_machine_has_a_cost)
{
    json_t *reply =
        contract_post("/estimate", 200,
                      "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"lora\",\"tokens\":100000000},"
                      "\"hardware\":{\"instance\":\"lambda:gpu_8x_h100_sxm5\"},\"cost\":{\"currency\":\"USD\"}}");
    double hour = strtod(contract_text(reply, "/cost/per_hour/amount"), NULL);
    double total = strtod(contract_text(reply, "/cost/total/amount"), NULL);
    double hours = contract_number(reply, "/training/duration_hours/expected");
    double million = strtod(contract_text(reply, "/cost/per_million_tokens/amount"), NULL);

    ck_assert_double_eq_tol(total, hour * hours, 0.01 * total);
    ck_assert_double_eq_tol(million * 100, total, 0.02 * total);
    ck_assert_str_eq(contract_text(reply, "/cost/lines/0/code"), "rent");
    json_decref(reply);
}
END_TEST

static const struct {
    const char *length;
    bool known;
} lengths[] = {
    { ",\"tokens\":100000000}", true },
    { ",\"samples\":1000,\"epochs\":3}", true },
    { ",\"epochs\":3},\"dataset\":{\"samples\":1000}", true },
    { ",\"epochs\":3},\"dataset\":{\"tokens\":1000000}", true },
    { "}", false },
    { ",\"epochs\":3}", false },
};

/* That a job's length is not known is said where there is no duration, and only there. */
START_TEST(an_unknown_length_is_told)
{
    char body[512];
    json_t *reply;

    (void)snprintf(body, sizeof body,
                   "{\"model\":\"llama-3-8b\",\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":8},"
                   "\"training\":{\"method\":\"full\"%s}",
                   lengths[_i].length);
    reply = contract_post("/estimate", 200, body);
    ck_assert_int_eq(json_object_get(json_object_get(reply, "training"), "duration_hours") != NULL, lengths[_i].known);
    ck_assert_int_eq(has_code(json_object_get(reply, "notices"), "no_length_of_job"), !lengths[_i].known);
    json_decref(reply);
}
END_TEST

static const struct {
    const char *gpu, *training, *code;
    bool noted;
} instead[] = {
    { "v100-sxm-32gb", "\"precision\":\"bf16_mixed\"", "precision_not_native", true },
    { "a100-sxm-80gb", "\"precision\":\"fp8_mixed\"", "precision_not_native", true },
    { "a100-sxm-80gb", "\"precision\":\"bf16_mixed\"", "precision_not_native", false },
    { "h100-sxm-80gb", "\"precision\":\"fp8_mixed\"", "precision_not_native", false },
    { "v100-sxm-32gb", "\"micro_batch_size\":1", "precision_not_native", false },
    { "h100-sxm-80gb", "\"micro_batch_size\":2,\"global_batch_size\":20", "global_batch_rounded_up", true },
    { "h100-sxm-80gb", "\"micro_batch_size\":2,\"global_batch_size\":32", "global_batch_rounded_up", false },
};

/* Volta has no bf16 and Ampere no fp8; 20 sequences are not 8 ranks x 2 x any number. */
START_TEST(what_was_taken_instead_is_told)
{
    char body[512];
    json_t *reply;

    (void)snprintf(body, sizeof body,
                   "{\"model\":\"llama-3-8b\",\"hardware\":{\"gpu\":\"%s\",\"gpus\":8},"
                   "\"training\":{\"method\":\"lora\",\"parallelism\":{\"data\":8},%s}}",
                   instead[_i].gpu, instead[_i].training);
    reply = contract_post("/estimate", 200, body);
    ck_assert_int_eq(has_code(json_object_get(reply, "notices"), instead[_i].code), instead[_i].noted);
    json_decref(reply);
}
END_TEST

/* diffusers, examples/text_to_image: adapters of SDXL and of FLUX.1 train where their whole networks do not. */
START_TEST(pictures_are_adapted_with_less)
{
    static const char *const models[] = { "stable-diffusion-xl", "flux.1-dev" }, *const methods[] = { "full", "lora",
                                                                                                      "qlora" };
    static const char *const gpus[] = { "rtx-4090-24gb", "a100-sxm-80gb" };
    json_int_t before = INT64_MAX;

    for (size_t i = 0; i < COUNT_OF(methods); i++) {
        char body[256];
        json_t *reply;
        const json_t *training;

        (void)snprintf(body, sizeof body,
                       "{\"model\":\"%s\",\"training\":{\"method\":\"%s\",\"micro_batch_size\":1},"
                       "\"hardware\":{\"gpu\":\"%s\"}}",
                       models[_i], methods[i], gpus[_i]);
        reply = contract_post("/estimate", 200, body);
        training = json_object_get(reply, "training");
        ck_assert_int_eq(strcmp(contract_text(training, "/verdict"), "does_not_fit") == 0, i == 0);
        ck_assert_int_lt(contract_count(training, "/memory_per_gpu/allocated_bytes"), before);
        before = contract_count(training, "/memory_per_gpu/allocated_bytes");
        json_decref(reply);
    }
}
END_TEST

START_TEST(a_named_server_is_bought)
{
    json_t *reply = contract_post("/estimate", 200,
                                  "{\"model\":\"llama-3-8b\",\"serving\":{\"concurrency\":16},"
                                  "\"hardware\":{\"server\":\"dell-xe9680-8xh100\"},"
                                  "\"cost\":{\"currency\":\"CNY\",\"horizon_months\":36}}");

    ck_assert_double_gt(strtod(contract_text(reply, "/cost/purchase/amount"), NULL), 1e6);
    ck_assert_str_eq(contract_text(reply, "/cost/lines/0/code"), "depreciation");
    ck_assert_double_gt(strtod(contract_text(reply, "/cost/per_million_tokens/amount"), NULL), 0);
    json_decref(reply);
}
END_TEST

/* Hardware that no offer names has no price, and that is said. */
START_TEST(a_cost_without_a_price_is_named)
{
    json_t *reply = contract_post("/estimate", 200,
                                  "{\"model\":\"llama-3-8b\",\"cost\":{\"currency\":\"CNY\"},"
                                  "\"hardware\":{\"gpu\":\"h100-sxm-80gb\"}}");

    ck_assert_ptr_null(json_object_get(reply, "cost"));
    ck_assert(has_code(json_object_get(reply, "notices"), "section_not_answered"));
    json_decref(reply);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("estimate");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, contract_start, contract_stop);
    tcase_add_loop_test(tcase, verdicts_are_as_expected, 0, COUNT_OF(verdicts));
    tcase_add_loop_test(tcase, fixes_do_what_they_say, 0, COUNT_OF(fixed));
    tcase_add_test(tcase, a_slow_network_is_told);
    tcase_add_loop_test(tcase, totals_are_sums, 0, COUNT_OF(verdicts));
    tcase_add_loop_test(tcase, same_body_same_bytes, 0, COUNT_OF(verdicts));
    tcase_add_loop_test(tcase, chinese_differs_in_sentences_alone, 0, COUNT_OF(verdicts));
    tcase_add_test(tcase, provenance_says_what_answered);
    tcase_add_test(tcase, a_model_alone);
    tcase_add_test(tcase, data_hold_the_gpus_back);
    tcase_add_test(tcase, data_alone);
    tcase_add_test(tcase, observed_figures_are_read);
    tcase_add_test(tcase, a_named_machine_has_a_cost);
    tcase_add_loop_test(tcase, an_unknown_length_is_told, 0, COUNT_OF(lengths));
    tcase_add_loop_test(tcase, what_was_taken_instead_is_told, 0, COUNT_OF(instead));
    tcase_add_loop_test(tcase, pictures_are_adapted_with_less, 0, 2);
    tcase_add_test(tcase, a_named_server_is_bought);
    tcase_add_test(tcase, a_cost_without_a_price_is_named);
    tcase_add_test(tcase, hardware_alone_is_asked_what_it_can);
    tcase_add_test(tcase, a_job_alone_is_told_where_it_runs);
    return suite_run("estimate", tcase);
}
