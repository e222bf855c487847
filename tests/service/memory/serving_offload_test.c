/* Layers that llama.cpp leaves in host memory, and what that costs. */
#include "service/memory/serving_offload.h"

#include <math.h>

#include "tests/support/random.h"
#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

static void
offload_fixture(struct serving_fixture *fixture, const char *model, const char *gpu, enum weight_format format,
                uint32_t context)
{
    struct serving_job job = {
        .engine = ENGINE_LLAMA_CPP, .precision = format, .context_length = context, .concurrency = 1
    };

    serving_fixture_make(fixture, model, gpu, 1, &job);
    fixture->setup.utilization_assumed = true;
}

/* Users of 24 GB cards set 40 layers for the 80 of a 70B file in Q4_K_M (ggml-org/llama.cpp#2496). */
START_TEST(as_many_layers_as_users_found)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed speed;

    offload_fixture(&fixture, "llama-3-70b", "rtx-3090-24gb", WEIGHT_Q4_K_M, 2048);
    serving_fixture_run(&fixture, &memory, &speed);
    ck_assert_int_eq(memory.footprint.verdict, VERDICT_DOES_NOT_FIT);
    ck_assert(memory.offload.used);
    ck_assert_uint_ge(memory.offload.gpu_layers, 36);
    ck_assert_uint_le(memory.offload.gpu_layers, 46);
    ck_assert_uint_eq(memory.offload.gpu_layers + memory.offload.host_layers, 81); /* the output is one */
}
END_TEST

/* evshiron/rocm_lab#13: a 70B file in Q5_K_M wholly in the memory of a desktop makes 1.41 tokens a second. With a fifth
 * of it on a 12 GB card it is a little faster. */
START_TEST(host_memory_sets_the_pace)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    struct serving_speed speed;

    offload_fixture(&fixture, "llama-3-70b", "rtx-3060-12gb", WEIGHT_Q5_K_M, 2048);
    serving_fixture_run(&fixture, &memory, &speed);
    ck_assert_double_lt(speed.tpot_ms.expected, 1000 / 1.41);
    ck_assert_double_gt(speed.tpot_ms.expected, 0.7 * 1000 / 1.41);
    ck_assert_int_eq(speed.bottleneck, BOTTLENECK_CPU);
    ck_assert_double_ge(speed.tpot_ms.high / speed.tpot_ms.low, 3); /* nobody says how fast its memory is */
}
END_TEST

/* Nothing is lost and nothing is twice: what is in host memory and what is on the card are the file and the cache. */
START_TEST(all_bytes_are_somewhere)
{
    struct serving_fixture fixture;
    struct serving_memory memory;
    double file, card;

    offload_fixture(&fixture, "llama-3-70b", "rtx-3090-24gb", WEIGHT_Q4_K_M, 2048);
    serving_memory(&fixture.setup, &memory);
    file = footprint_bytes(&memory.footprint, PART_WEIGHTS) + footprint_bytes(&memory.footprint, PART_KV_CACHE);
    card = (double)fixture.gpu.usable_bytes - footprint_bytes(&memory.footprint, PART_ACTIVATIONS) -
           footprint_bytes(&memory.footprint, PART_RUNTIME);
    ck_assert_double_le(file - memory.offload.host_bytes, card * 1.05); /* the embedding is in host memory as well */
    ck_assert_double_ge(file - memory.offload.host_bytes, card * 0.9);
}
END_TEST

/* Of networks with experts all layers are on the card, and the experts of most in host memory. */
START_TEST(experts_stay_behind_first)
{
    struct serving_fixture fixture;
    struct serving_memory memory;

    offload_fixture(&fixture, "deepseek-v3", "rtx-4090-24gb", WEIGHT_Q4_K_M, 4096);
    serving_memory(&fixture.setup, &memory);
    ck_assert_uint_eq(memory.offload.gpu_layers, 62);
    ck_assert_uint_eq(memory.offload.host_layers, 0);
    ck_assert_uint_ge(memory.offload.host_expert_layers, 55);
    ck_assert_uint_le(memory.offload.host_expert_layers, 61);
}
END_TEST

START_TEST(other_engines_and_what_fits_offload_nothing)
{
    struct serving_fixture fixture;
    struct serving_memory memory;

    offload_fixture(&fixture, "llama-3-8b", "rtx-4090-24gb", WEIGHT_Q4_K_M, 2048);
    serving_memory(&fixture.setup, &memory);
    ck_assert(!memory.offload.used);
    offload_fixture(&fixture, "llama-3-70b", "rtx-4090-24gb", WEIGHT_INT4_AWQ, 2048);
    fixture.job.engine = ENGINE_VLLM;
    serving_memory(&fixture.setup, &memory);
    ck_assert(!memory.offload.used);
}
END_TEST

/* Less memory, slower memory of card or host, a longer context: never faster. */
START_TEST(less_is_never_faster)
{
    struct random random = random_seeded();

    for (int try = 0; try < 200; try++) {
        struct serving_fixture fixture;
        struct serving_memory memory;
        struct serving_speed before, after;
        bool experts = random_below(&random, 2);

        offload_fixture(&fixture, experts ? "mixtral-8x7b" : "llama-3-70b", "rtx-3090-24gb",
                        random_below(&random, 2) ? WEIGHT_Q4_K_M : WEIGHT_Q8_0,
                        1024 + (uint32_t)random_below(&random, 8000));
        serving_fixture_run(&fixture, &memory, &before);
        double factor = 0.4 + 0.6 * random_unit(&random);

        switch (random_below(&random, 4)) {
        case 0:
            fixture.gpu.usable_bytes = (uint64_t)((double)fixture.gpu.usable_bytes * factor);
            break;
        case 1:
            fixture.gpu.memory_bytes_per_second *= factor;
            break;
        case 2:
            fixture.rates.serving_host_bytes_per_second *= factor;
            break;
        default:
            fixture.job.context_length *= 2;
        }
        serving_fixture_run(&fixture, &memory, &after);
        ck_assert_msg(after.tpot_ms.expected >= before.tpot_ms.expected * (1 - 1e-9), "seed %ju", random.seed);
        ck_assert_msg(after.ttft_ms.expected >= before.ttft_ms.expected * (1 - 1e-9), "seed %ju", random.seed);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("offload");

    tcase_add_test(tcase, as_many_layers_as_users_found);
    tcase_add_test(tcase, host_memory_sets_the_pace);
    tcase_add_test(tcase, all_bytes_are_somewhere);
    tcase_add_test(tcase, experts_stay_behind_first);
    tcase_add_test(tcase, other_engines_and_what_fits_offload_nothing);
    tcase_add_test(tcase, less_is_never_faster);
    return suite_run("serving_offload", tcase);
}
