/* Generations by version. */
#include "service/job/engine.h"

#include "tests/support/suite.h"

static const struct {
    enum engine engine;
    const char *version;
    bool old, early, prefill_first;
} versions[] = {
    { ENGINE_VLLM, "0.4.2", true, true, true },
    { ENGINE_VLLM, "0.7.3", true, false, true },
    { ENGINE_VLLM, "0.8.0", false, false, false },
    { ENGINE_VLLM, "v0.19.1", false, false, false },
    { ENGINE_VLLM, "1.0", false, false, false },
    { ENGINE_VLLM, "", false, false, false },
    { ENGINE_VLLM, "nightly", false, false, false },
    { ENGINE_TENSORRT_LLM, "0.9.0", true, true, true },
    { ENGINE_TENSORRT_LLM, "0.14.0", false, false, false },
    { ENGINE_TENSORRT_LLM, "1.0.0rc3", false, false, false },
    { ENGINE_SGLANG, "0.5.6", false, false, true },
    { ENGINE_TRANSFORMERS, "4.38.2", true, true, true },
    { ENGINE_TRANSFORMERS, "4.46.0", true, false, true },
    { ENGINE_UNSAID, "", false, false, false },
};

START_TEST(versions_belong_to_their_generation)
{
    struct engine_traits traits = engine_traits_of(versions[_i].engine, versions[_i].version);

    ck_assert_int_eq(traits.old, versions[_i].old);
    ck_assert_int_eq(traits.early, versions[_i].early);
    ck_assert_int_eq(traits.prefill_first, versions[_i].prefill_first);
}
END_TEST

/* TensorRT-LLM launches from Python since 1.0 (its release notes). */
START_TEST(runtimes_differ_within_an_engine)
{
    ck_assert(!engine_traits_of(ENGINE_TENSORRT_LLM, "0.17.0").eager_prefill);
    ck_assert(engine_traits_of(ENGINE_TENSORRT_LLM, "1.1").eager_prefill);
    ck_assert(engine_traits_of(ENGINE_TENSORRT_LLM, "").eager_prefill);
    ck_assert(!engine_traits_of(ENGINE_LMDEPLOY, "").measured);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("generations");

    tcase_add_loop_test(tcase, versions_belong_to_their_generation, 0, COUNT_OF(versions));
    tcase_add_test(tcase, runtimes_differ_within_an_engine);
    return suite_run("engine", tcase);
}
