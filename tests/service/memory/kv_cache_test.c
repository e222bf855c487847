#include "service/memory/kv_cache.h"

#include "tests/support/random.h"
#include "tests/support/suite.h"

#define HEADS(layers, heads, size)                                           \
    {                                                                        \
        .layer_count = (layers), .causal = true, .kind_count = 1, .kinds = { \
            { .count = (layers),                                             \
              .attention = ATTENTION_HEADS,                                  \
              .head_count = (heads),                                         \
              .kv_head_count = (heads),                                      \
              .head_size = (size) }                                          \
        }                                                                    \
    }
#define LATENT(layers, latent, rope)                                         \
    {                                                                        \
        .layer_count = (layers), .causal = true, .kind_count = 1, .kinds = { \
            { .count = (layers),                                             \
              .attention = ATTENTION_LATENT,                                 \
              .head_count = 128,                                             \
              .kv_head_count = 128,                                          \
              .latent_size = (latent),                                       \
              .rope_size = (rope) }                                          \
        }                                                                    \
    }

/* Each row is a figure that someone else published. */
static const struct {
    const char *source;
    struct model_arch arch;
    double bytes_per_token;
} published[] = {
    { "OPT-13B, 800 KB: arXiv:2309.06180 section 3", HEADS(40, 40, 128), 819200 },
    { "LLaMA-3.1 405B, 516.096 KB: arXiv:2505.09343 table 1", HEADS(126, 8, 128), 516096 },
    { "Qwen-2.5 72B, 327.680 KB: arXiv:2505.09343 table 1", HEADS(80, 8, 128), 327680 },
    { "DeepSeek-V3, 70.272 KB: arXiv:2505.09343 table 1", LATENT(61, 512, 64), 70272 },
};

START_TEST(bytes_per_token_match_published)
{
    double bytes = kv_cache_bytes_per_token(&published[_i].arch, 2);

    ck_assert_msg(bytes == published[_i].bytes_per_token, "%s: %f", published[_i].source, bytes);
}
END_TEST

/* Gemma-3's pattern (arXiv:2503.19786 section 2): five layers of window 1024 to one of the whole context. */
static struct model_arch
windowed(void)
{
    struct model_arch arch = { .layer_count = 48, .causal = true, .kind_count = 2 };

    arch.kinds[0] = (struct layer_kind){ .count = 40,
                                         .attention = ATTENTION_HEADS,
                                         .head_count = 16,
                                         .kv_head_count = 8,
                                         .head_size = 256,
                                         .window_tokens = 1024 };
    arch.kinds[1] = arch.kinds[0];
    arch.kinds[1].count = 8;
    arch.kinds[1].window_tokens = 0;
    for (uint32_t i = 0; i < 48; i++)
        arch.kind_of_layer[i] = i % 6 == 5;
    return arch;
}

START_TEST(windowed_layers_stop_at_their_window)
{
    struct model_arch arch = windowed();
    double at_window = kv_cache_bytes_per_sequence_per_gpu(&arch, 1, 1024, 1, 1);
    double past_window = kv_cache_bytes_per_sequence_per_gpu(&arch, 1, 1025, 1, 1);

    ck_assert(at_window == 1024 * kv_cache_bytes_per_token(&arch, 1));
    ck_assert(past_window - at_window == 8 * (2 * 8 * 256)); /* the full layers */
    ck_assert(kv_cache_layer_tokens(&arch, 131072) == 40 * 1024.0 + 8 * 131072.0);
}
END_TEST

START_TEST(heads_divide_up_to_their_number)
{
    struct model_arch arch = HEADS(80, 8, 128);
    double whole = kv_cache_bytes_per_token(&arch, 2);

    ck_assert(kv_cache_bytes_per_token_per_gpu(&arch, 2, 8, 1) == whole / 8);
    ck_assert(kv_cache_bytes_per_token_per_gpu(&arch, 2, 16, 1) == whole / 8); /* one head stays on each rank */
    ck_assert(kv_cache_bytes_per_token_per_gpu(&arch, 2, 1, 4) == whole / 4);
}
END_TEST

/* vllm-project/vllm #51454: every tensor rank keeps the whole latent. */
START_TEST(a_latent_is_on_every_rank)
{
    struct model_arch arch = LATENT(61, 512, 64);

    ck_assert(kv_cache_bytes_per_token_per_gpu(&arch, 2, 8, 1) == 70272);
    ck_assert(kv_cache_bytes_per_token_per_gpu(&arch, 2, 8, 2) == 31 * 576 * 2.0); /* the fuller of 31 and 30 layers */
}
END_TEST

/* Stages of unlike layers: the one that keeps most counts. */
START_TEST(the_fullest_stage_counts)
{
    struct model_arch arch = windowed();
    double one_layer = 2 * 8 * 256 * 2.0;

    ck_assert(kv_cache_bytes_per_token_per_gpu(&arch, 2, 1, 2) == 24 * one_layer);
    /* 8 stages of 6 layers: each has one full layer */
    ck_assert(kv_cache_bytes_per_sequence_per_gpu(&arch, 2, 4096, 1, 8) == one_layer * (5 * 1024 + 4096));
}
END_TEST

START_TEST(recurrent_layers_keep_their_state_whatever_the_context)
{
    struct model_arch arch = HEADS(4, 8, 128);

    arch.kinds[0].count = 1;
    arch.kind_count = 2;
    arch.kinds[1] =
        (struct layer_kind){ .count = 3, .attention = ATTENTION_RECURRENT, .recurrent_state_elements = 1000 };
    arch.kind_of_layer[1] = arch.kind_of_layer[2] = arch.kind_of_layer[3] = 1;
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == 2 * 8 * 128 * 2.0);
    double state = kv_cache_bytes_per_sequence_per_gpu(&arch, 2, 0, 1, 1);
    ck_assert(state == 3 * 1000 * 2.0);
    ck_assert(kv_cache_bytes_per_sequence_per_gpu(&arch, 2, 100, 1, 1) == state + 100 * 2 * 8 * 128 * 2.0);
    ck_assert(kv_cache_bytes_per_sequence_per_gpu(&arch, 1, 0, 1, 1) == state); /* a state stays in 16 bits */
    /* or in what the config says, but for the inputs of its convolution */
    arch.kinds[1].recurrent_conv_elements = 100;
    arch.kinds[1].state_element_bytes = 4;
    ck_assert(kv_cache_bytes_per_sequence_per_gpu(&arch, 1, 0, 1, 1) == 3 * (100 * 2.0 + 900 * 4.0));
    ck_assert(kv_cache_state_bytes_per_sequence(&arch, 2) == 3 * (100 * 2.0 + 900 * 4.0));
    ck_assert(kv_cache_bytes_per_sequence(&arch, 2, 50) == 3 * 3800.0 + 50 * 2 * 8 * 128 * 2.0);
}
END_TEST

/* google/gemma-3-27b-it at its maximum: 62 layers of 16 heads of 128, 10 of them without a window of 1024. An engine
 * that gives all of them as many pages keeps six times as much: 66.6 GB against 11.2 GB. */
START_TEST(windows_are_what_an_engine_may_not_save)
{
    struct model_arch arch = HEADS(62, 16, 128);
    double layer_token = 2 * 16 * 128 * 2.0;

    arch.kinds[0].count = 10;
    arch.kinds[1] = arch.kinds[0];
    arch.kinds[1].count = 52;
    arch.kinds[1].window_tokens = 1024;
    arch.kind_count = 2;
    ck_assert(kv_cache_bytes_per_sequence(&arch, 2, 131072) == layer_token * (10 * 131072.0 + 52 * 1024.0));
    ck_assert(kv_cache_bytes_per_sequence_without_windows(&arch, 2, 131072) == layer_token * 62 * 131072.0);
    ck_assert_double_eq_tol(kv_cache_bytes_per_sequence(&arch, 2, 131072) / 1e9, 11.2, 0.05);
    ck_assert_double_eq_tol(kv_cache_bytes_per_sequence_without_windows(&arch, 2, 131072) / 1e9, 66.6, 0.05);
}
END_TEST

/* DeepSeek-V4-Flash (its config.json, its technical report section 2.3): 43 layers keep a vector of 512 of the last 128
 * tokens; 21 of them one of 512 and a key of 128 for every 4 tokens, 20 one of 512 for every 128. No rank divides it.
 */
START_TEST(entries_stand_for_several_tokens)
{
    struct model_arch arch = HEADS(43, 1, 512);
    double window = 43 * 128 * 512.0, far = 21 * (512 + 128) / 4.0 + 20 * 512 / 128.0;

    arch.kinds[0] = (struct layer_kind){ .count = 2,
                                         .attention = ATTENTION_HEADS,
                                         .kept_once = true,
                                         .head_count = 64,
                                         .kv_head_count = 1,
                                         .head_size = 512,
                                         .window_tokens = 128 };
    arch.kinds[1] = arch.kinds[2] = arch.kinds[0];
    arch.kinds[1].count = 21;
    arch.kinds[1].compressed_size = 512 + 128;
    arch.kinds[1].compressed_tokens = 4;
    arch.kinds[2].count = 20;
    arch.kinds[2].compressed_size = 512;
    arch.kinds[2].compressed_tokens = 128;
    arch.kind_count = 3;
    ck_assert(kv_cache_bytes_per_sequence(&arch, 2, 1 << 20) == 2 * (window + far * (1 << 20)));
    ck_assert(kv_cache_bytes_per_sequence(&arch, 1, 64) == 43 * 64 * 512.0 + far * 64);
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == 2 * (43 * 512.0 + far));
    ck_assert(kv_cache_bytes_per_sequence_per_gpu(&arch, 2, 4096, 8, 1) ==
              kv_cache_bytes_per_sequence_per_gpu(&arch, 2, 4096, 1, 1));
}
END_TEST

/* google/gemma-4-E2B: 20 of 35 layers read what an earlier one keeps. */
START_TEST(a_shared_cache_is_kept_once)
{
    struct model_arch arch = HEADS(35, 1, 256);

    arch.kinds[0].count = 15;
    arch.kinds[1] = arch.kinds[0];
    arch.kinds[1].count = 20;
    arch.kinds[1].shares_cache = true;
    arch.kind_count = 2;
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == 15 * 2 * 256 * 2.0);
    ck_assert(kv_cache_bytes_per_sequence(&arch, 2, 1000) == 1000 * 15 * 2 * 256 * 2.0);
}
END_TEST

/* XiaomiMiMo/MiMo-V2-Flash: keys of 192, values of 128. */
START_TEST(values_may_be_narrower_than_keys)
{
    struct model_arch arch = HEADS(9, 4, 192);

    arch.kinds[0].value_size = 128;
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == 9 * 4 * (192 + 128) * 2.0);
}
END_TEST

START_TEST(encoders_keep_nothing)
{
    struct model_arch arch = HEADS(12, 12, 64);

    arch.kinds[0].encoder = true;
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == 0);
    arch.kinds[0].encoder = false;
    arch.causal = false;
    ck_assert(kv_cache_bytes_per_token(&arch, 2) == 0);
}
END_TEST

START_TEST(never_falls_as_the_context_grows)
{
    struct random random = random_seeded();
    struct model_arch arch = windowed();

    for (int round = 0; round < 1000; round++) {
        uint64_t context = random_below(&random, 1 << 20);
        uint32_t tensor = 1 + (uint32_t)random_below(&random, 16);
        uint32_t pipeline = 1 + (uint32_t)random_below(&random, 48);
        double shorter = kv_cache_bytes_per_sequence_per_gpu(&arch, 2, context, tensor, pipeline);
        double longer = kv_cache_bytes_per_sequence_per_gpu(&arch, 2, context + 1, tensor, pipeline);

        ck_assert_msg(longer >= shorter, "SEED=%ju", random.seed);
        ck_assert_msg(shorter * pipeline * tensor >=
                          kv_cache_bytes_per_sequence_per_gpu(&arch, 2, context, 1, 1) * (1 - 1e-12),
                      "SEED=%ju", random.seed);
    }
}
END_TEST

START_TEST(absurd_contexts_stay_finite)
{
    struct model_arch arch = HEADS(1024, 4096, 65536);
    double bytes = kv_cache_bytes_per_sequence_per_gpu(&arch, 4, UINT64_MAX, 1, 1);

    ck_assert(bytes > 0 && bytes < 1e40);
    ck_assert(kv_cache_bytes_per_token_per_gpu(&arch, 4, 0, 0) == kv_cache_bytes_per_token(&arch, 4));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("formulas");

    tcase_add_loop_test(tcase, bytes_per_token_match_published, 0, COUNT_OF(published));
    tcase_add_test(tcase, windowed_layers_stop_at_their_window);
    tcase_add_test(tcase, heads_divide_up_to_their_number);
    tcase_add_test(tcase, a_latent_is_on_every_rank);
    tcase_add_test(tcase, the_fullest_stage_counts);
    tcase_add_test(tcase, recurrent_layers_keep_their_state_whatever_the_context);
    tcase_add_test(tcase, windows_are_what_an_engine_may_not_save);
    tcase_add_test(tcase, entries_stand_for_several_tokens);
    tcase_add_test(tcase, a_shared_cache_is_kept_once);
    tcase_add_test(tcase, values_may_be_narrower_than_keys);
    tcase_add_test(tcase, encoders_keep_nothing);
    tcase_add_test(tcase, never_falls_as_the_context_grows);
    tcase_add_test(tcase, absurd_contexts_stay_finite);
    return suite_run("kv cache", tcase);
}
