/* Which modules an entry of a list means; entries are those of published quantisation blocks. */
#include "service/model/name_pattern.h"

#include <string.h>

#include "tests/support/random.h"
#include "tests/support/suite.h"

static const struct {
    const char *pattern, *name;
    bool means;
} rows[] = {
    { "lm_head", "lm_head", true },
    { "lm_head", "model.lm_head", true },
    { "lm_head", "model.lm_head_2", false },
    { "gate", "model.layers.0.mlp.gate", true },
    { "gate", "model.layers.0.mlp.gate_proj", false },
    { "model.layers.0.mlp.gate", "model.layers.0.mlp.gate", true },
    { "model.layers.0.mlp.gate", "model.layers.0.mlp.gate_proj", false },
    { "model.layers.1", "model.layers.1.mlp.up_proj", true },
    { "model.layers.1", "model.layers.10.mlp.up_proj", false },
    { "self_attn", "model.layers.3.self_attn.q_proj", true },
    { ".self_attn.", "model.layers.3.self_attn.q_proj", true },
    /* openai/gpt-oss-20b */
    { "model.layers.*.self_attn", "model.layers.12.self_attn.o_proj", true },
    { "model.layers.*.mlp.router", "model.layers.12.mlp.experts.gate_up_proj", false },
    /* nvidia/Kimi-K2.5-NVFP4, nvidia/Gemma-4-26B-A4B-NVFP4 */
    { "language_model.model.layers.0.self_attn*", "language_model.model.layers.0.self_attn.q_a_proj", true },
    { "language_model.model.layers.0.self_attn*", "language_model.model.layers.10.self_attn.q_a_proj", false },
    { "model.language_model.layers.0.mlp*", "model.language_model.layers.0.mlp.gate_proj", true },
    { "model.embed_vision*", "model.layers.0.mlp.gate_proj", false },
    { "*.mlp.experts.*", "model.layers.2.mlp.experts.0.up_proj", true },
    { "model.layers.[0-2].*", "model.layers.2.mlp.up_proj", true },
    { "model.layers.[!0-2].*", "model.layers.2.mlp.up_proj", false },
    { "model.layers.?.mlp", "model.layers.7.mlp.up_proj", true },
    { "model.layers.?.mlp", "model.layers.17.mlp.up_proj", false },
    /* moonshotai/Kimi-K2.5 */
    { "re:.*self_attn.*", "model.layers.0.self_attn.kv_b_proj", true },
    { "re:.*shared_experts.*", "model.layers.1.mlp.experts.0.up_proj", false },
    { "re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.gate_proj", true },
    { "re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.1.mlp.experts.0.gate_proj", false },
    { "re:.*mlp.gate$", "model.layers.1.mlp.gate", true },
    { "re:.*mlp.gate$", "model.layers.1.mlp.gate_proj", false },
    { "re:.*layers\\.(0|1|2)\\..*", "model.layers.12.mlp.up_proj", false },
    { "re:.*layers\\.(0|1|2)\\..*", "model.layers.2.mlp.up_proj", true },
    { "re:.*layers\\.\\d+\\.mlp.*", "model.layers.47.mlp.up_proj", true },
    { "re:^lm_head$", "lm_head", true },
    { "re:^lm_head$", "model.lm_head", false },
    { "re:vision_tower.*", "model.layers.0.mlp.up_proj", false },
    { "re:.*[qkv]_proj", "model.layers.0.self_attn.k_proj", true },
    { "re:.*[^qkv]_proj", "model.layers.0.self_attn.k_proj", false },
    { "re:(model\\.)?layers\\..*", "model.layers.0.mlp", true },
    { "re:.*(experts|mlp)+\\.up_proj", "model.layers.0.mlp.up_proj", true },
    { "re:mlp\\.(?:up|down)_proj", "model.layers.0.mlp.down_proj", true },
    { "re:.*?down_proj", "model.layers.0.mlp.down_proj", true },
    { "re:a|", "anything", true },
    { "re:", "anything", false },
    { "", "anything", false },
};

START_TEST(entries_mean_their_modules)
{
    struct name_pattern pattern;
    uint32_t steps = 100000;

    name_pattern_read(rows[_i].pattern, false, &pattern);
    ck_assert_msg(name_pattern_matches(&pattern, rows[_i].name, &steps) == rows[_i].means, "%s: %s", rows[_i].pattern,
                  rows[_i].name);
}
END_TEST

START_TEST(layers_are_told)
{
    static const struct {
        const char *pattern;
        int32_t layer;
    } layers[] = { { "model.layers.12.mlp", 12 },
                   { "transformer.h.3.attn", 3 },
                   { "model.layers.*.mlp", PATTERN_EVERY_LAYER },
                   { "model.layers.1*", PATTERN_EVERY_LAYER },
                   { "block_sparse_moe.experts.3.w1", PATTERN_EVERY_LAYER },
                   { "re:model.layers.3.mlp", PATTERN_EVERY_LAYER },
                   { "lm_head", PATTERN_EVERY_LAYER } };
    struct name_pattern pattern;

    for (size_t i = 0; i < COUNT_OF(layers); i++) {
        name_pattern_read(layers[i].pattern, false, &pattern);
        ck_assert_msg(pattern.layer == layers[i].layer, "%s: %d", layers[i].pattern, pattern.layer);
    }
    name_pattern_read("re:.*self_attn.*", false, &pattern);
    ck_assert(!pattern.tells_layers_apart);
    name_pattern_read("re:.*layers\\.[0-3]\\..*", false, &pattern);
    ck_assert(pattern.tells_layers_apart);
    name_pattern_read("block_sparse_moe.experts.w1", false, &pattern);
    ck_assert(!pattern.tells_layers_apart);
    name_pattern_read("*layers.1*", false, &pattern);
    ck_assert(pattern.tells_layers_apart);
    name_pattern_read("model.layers.*1.mlp", false, &pattern);
    ck_assert(pattern.tells_layers_apart);
}
END_TEST

/* What stands behind the layer's number is held against the module alone. */
START_TEST(the_rest_of_a_name_means_modules_below_a_layer)
{
    static const struct {
        const char *pattern;
        uint32_t layer_end;
        const char *module;
        bool means;
    } rests[] = { { "model.layers.3.mlp.gate", 14, "mlp.gate", true },
                  { "model.layers.3.mlp.gate", 14, "mlp.gate_proj", false },
                  { "model.layers.3.mlp*", 14, "mlp.gate_proj", true },
                  { "model.layers.3.mlp", 14, "mlp.experts.0.up_proj", true },
                  { "model.layers.3", 14, "self_attn.q_proj", true },
                  { ".layers.12.self_attn.*", 9, "self_attn.q_proj", true },
                  { "*.layers.3.mlp", 0, "", true } };
    uint32_t steps = 1000;

    for (size_t i = 0; i < COUNT_OF(rests); i++) {
        struct name_pattern pattern;

        name_pattern_read(rests[i].pattern, false, &pattern);
        ck_assert_msg(pattern.layer_end == rests[i].layer_end, "%s: %u", rests[i].pattern, pattern.layer_end);
        if (pattern.layer_end > 0)
            ck_assert_msg(name_pattern_matches_below(&pattern, rests[i].module, &steps) == rests[i].means, "%s: %s",
                          rests[i].pattern, rests[i].module);
    }
}
END_TEST

START_TEST(what_is_not_understood_matches_nothing)
{
    static const char *const strange[] = { "re:(?!a).*", "re:a{2,3}", "re:(a",     "re:a)",
                                           "re:[a",      "re:*a",     "re:\\bmlp", "re:(a)\\1",
                                           "re:(?i)mlp", "re:\\",     "re:[a\\",   "re:((((((((((((((a" };
    char long_one[PATTERN_BYTES + 8];
    struct name_pattern pattern;
    uint32_t steps = 100000;

    for (size_t i = 0; i < COUNT_OF(strange); i++) {
        name_pattern_read(strange[i], false, &pattern);
        ck_assert_msg(!pattern.understood, "%s", strange[i]);
        ck_assert(!name_pattern_matches(&pattern, "aa.mlp", &steps));
    }
    memset(long_one, 'a', sizeof(long_one) - 1);
    long_one[sizeof(long_one) - 1] = '\0';
    name_pattern_read(long_one, false, &pattern);
    ck_assert(!pattern.understood);
}
END_TEST

/* Patterns that make others try every split of the name end soon. */
START_TEST(work_is_bounded)
{
    static const char *const slow[] = { "*a*a*a*a*a*a*a*a*a*a*b", "re:(a|a)*(a|a)*(a|a)*(a|a)*b", "re:(a*)*b",
                                        "re:(.*)(.*)(.*)(.*)(.*)b" };
    char name[120];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i < COUNT_OF(slow); i++) {
        struct name_pattern pattern;
        uint32_t steps = 1000000, none = 0;

        name_pattern_read(slow[i], false, &pattern);
        ck_assert(pattern.understood);
        ck_assert(!name_pattern_matches(&pattern, name, &steps));
        ck_assert_msg(steps > 900000, "%s: %u steps left", slow[i], steps);
        ck_assert(!name_pattern_matches(&pattern, name, &none));
    }
}
END_TEST

/* A name means itself, as a name and as an expression with its dots escaped; with one byte changed it does not. */
START_TEST(names_mean_themselves)
{
    static const char alphabet[] = "abcdefghij_0123456789";
    struct random random = random_seeded();

    for (int try = 0; try < 2000; try++) {
        char name[64], expression[160] = "re:";
        size_t length = 1 + random_below(&random, 40), at = 3;
        struct name_pattern plain, escaped;
        uint32_t steps = 1000000;

        for (size_t i = 0; i < length; i++) {
            bool dot = i > 0 && i + 1 < length && name[i - 1] != '.' && random_below(&random, 6) == 0;

            name[i] = dot ? '.' : alphabet[random_below(&random, sizeof(alphabet) - 1)];
            if (dot)
                expression[at++] = '\\';
            expression[at++] = name[i];
        }
        name[length] = expression[at++] = '\0';
        expression[at - 1] = '$';
        expression[at] = '\0';
        name_pattern_read(name, false, &plain);
        name_pattern_read(expression, false, &escaped);
        ck_assert_msg(name_pattern_matches(&plain, name, &steps), "%s", name);
        ck_assert_msg(name_pattern_matches(&escaped, name, &steps), "%s %s", expression, name);
        name[random_below(&random, (uint32_t)length)] = 'Z';
        ck_assert(!name_pattern_matches(&escaped, name, &steps));
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("patterns");

    tcase_add_loop_test(tcase, entries_mean_their_modules, 0, COUNT_OF(rows));
    tcase_add_test(tcase, layers_are_told);
    tcase_add_test(tcase, the_rest_of_a_name_means_modules_below_a_layer);
    tcase_add_test(tcase, what_is_not_understood_matches_nothing);
    tcase_add_test(tcase, work_is_bounded);
    tcase_add_test(tcase, names_mean_themselves);
    return suite_run("name patterns", tcase);
}
