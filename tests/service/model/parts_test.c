/* The terms of a count: each is what its formula says, and together they are the published total. */
#include "service/model/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/model/quantization.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;
static struct model_parts parts;
static bool used[MAX_FACTS];

static void
read_row(const struct model_row *row)
{
    struct facts facts = model_row_facts(row->facts, row->fact_count, used);
    struct model_params params;

    fault_clear(&fault);
    notices.count = 0;
    ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
    params = model_params_count(&arch);
    model_parts(&arch, &params, &parts);
}

/* A reader of the formulas' own small language: sums of products of numbers and brackets; words are passed over. */
struct expression {
    const char *at;
    const double *values;
};

static double sum(struct expression *expression);

/* Words and blanks; `x` between factors is a word of its own. */
static void
pass_words(struct expression *expression)
{
    while (*expression->at != '\0' && strchr("{()+", *expression->at) == NULL &&
           !(*expression->at >= '0' && *expression->at <= '9') && strncmp(expression->at, "x ", 2) != 0 &&
           strncmp(expression->at, "- {", 3) != 0)
        expression->at++;
}

static double
factor(struct expression *expression)
{
    char *end;
    double value;

    pass_words(expression);
    if (*expression->at == '{') {
        value = expression->values[expression->at[1] - '0'];
        expression->at += 3;
    } else if (*expression->at == '(') {
        expression->at++;
        value = sum(expression);
        expression->at++;
    } else {
        value = strtod(expression->at, &end);
        ck_assert_ptr_ne(end, expression->at);
        expression->at = end;
    }
    pass_words(expression);
    return value;
}

static double
product(struct expression *expression)
{
    double value = factor(expression);

    while (strncmp(expression->at, "x ", 2) == 0) {
        expression->at += 2;
        value *= factor(expression);
    }
    return value;
}

static double
sum(struct expression *expression)
{
    double value = product(expression);

    while (*expression->at == '+' || *expression->at == '-') {
        double sign = *expression->at++ == '+' ? 1 : -1;

        value += sign * product(expression);
    }
    return value;
}

START_TEST(parts_are_the_published_total)
{
    size_t count;
    const struct model_row *row = &model_rows(&count)[_i];
    uint64_t bytes = 0;
    int64_t total = 0;

    read_row(row);
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct model_part *part = &parts.items[i];
        struct expression expression = { part->formula, part->values };

        total += part->parameter_count;
        bytes += part->stored_bytes;
        ck_assert_msg(sum(&expression) == (double)part->parameter_count, "%s, %s: %s is not %jd", row->name,
                      model_part_name(part->code), part->formula, (intmax_t)part->parameter_count);
        ck_assert_msg(*expression.at == '\0', "%s", expression.at);
    }
    ck_assert_msg((uint64_t)total == row->parameters, "%s: %jd", row->name, (intmax_t)total);
    ck_assert_msg(bytes == quantization_stored_bytes(&arch), "%s: %ju bytes", row->name, (uintmax_t)bytes);
}
END_TEST

/* Terms worked by hand from the sizes in the reports. */
static const struct {
    const char *source, *model;
    enum model_part_code code;
    int64_t count;
    const char *formula_start;
} worked[] = {
    { "arXiv:2407.21783 table 3: 32 layers of 4096, 8 of 32 heads for keys", "llama-3-8b", MODEL_PART_ATTENTION,
      INT64_C(32) * (2 * 4096 * 4096 + 2 * 4096 * 1024), "{0} layers x ({1} hidden x {2} head size" },
    { "arXiv:2407.21783 table 3", "llama-3-8b", MODEL_PART_MLP, INT64_C(32) * 3 * 4096 * 14336, "{0} layers x (3 x" },
    { "arXiv:2407.21783 table 3", "llama-3-8b", MODEL_PART_HEAD, INT64_C(128256) * 4096, "{0} tokens" },
    { "arXiv:2412.19437 section 4.2: 61 layers of 7168, 128 heads of 128, ranks 512 and 1536, rotary 64", "deepseek-v3",
      MODEL_PART_ATTENTION,
      INT64_C(61) * (7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168),
      "{0} layers x ({1} hidden x {2} query rank" },
    { "arXiv:2412.19437 section 4.2: all but the first three layers have 256 experts of 2048", "deepseek-v3",
      MODEL_PART_EXPERTS, INT64_C(58) * 256 * 3 * 7168 * 2048, "{0} layers x {1} experts" },
    { "arXiv:2412.19437 section 4.2: and one shared", "deepseek-v3", MODEL_PART_SHARED_EXPERTS,
      INT64_C(58) * 3 * 7168 * 2048, "{0} layers x (3 x" },
    { "arXiv:2412.19437 section 4.2", "deepseek-v3", MODEL_PART_MLP, INT64_C(3) * 3 * 7168 * 18432,
      "{0} layers x (3 x" },
    { "arXiv:2412.19437 section 2.1.2: a bias an expert", "deepseek-v3", MODEL_PART_ROUTER, INT64_C(58) * 256 * 7169,
      "{0} layers x {1} experts" },
    { "arXiv:2508.10925 table 1: experts of 36 layers, biases included", "gpt-oss-120b", MODEL_PART_EXPERTS,
      INT64_C(36) * 128 * (3 * 2880 * 2880 + 2 * 2880 + 2880), "{0} layers x {1} experts" },
    { "one shared expert of 5632 with a gate of 2048: Qwen/Qwen1.5-MoE-A2.7B", "qwen1.5-moe-a2.7b",
      MODEL_PART_SHARED_EXPERTS, INT64_C(24) * (3 * 2048 * 5632 + 2048), "{0} layers x (3 x" },
    { "openai-community/gpt2-large: 1024 positions of 1280", "gpt2-large", MODEL_PART_POSITION, INT64_C(1024) * 1280,
      "{0} x {1} hidden" },
    /* 27 blocks of 15,239,504, patches, 4096 positions, a norm: 416,866,032 */
    { "SigLIP So400m/14 with its projection: google/gemma-3-4b-it", "gemma-3-4b", MODEL_PART_VISION,
      INT64_C(416866032) + 1152 * 2560 + 1152, "{0} in the tower" },
};

START_TEST(terms_are_those_worked_by_hand)
{
    int64_t count = 0;
    bool named = false;

    read_row(model_row_of(worked[_i].model));
    for (uint32_t i = 0; i < parts.count; i++) {
        const struct model_part *part = &parts.items[i];

        if (part->code != worked[_i].code)
            continue;
        count += part->parameter_count;
        named = named || strncmp(part->formula, worked[_i].formula_start, strlen(worked[_i].formula_start)) == 0;
    }
    ck_assert_msg(count == worked[_i].count, "%s: %jd", worked[_i].source, (intmax_t)count);
    ck_assert_msg(named, "%s", worked[_i].source);
}
END_TEST

/* Kinds that differ in their windows alone are one term, those that differ in their matrices are not. */
START_TEST(kinds_that_are_alike_are_one_term)
{
    uint32_t attentions = 0;

    read_row(model_row_of("gemma-3-4b"));
    ck_assert_uint_eq(arch.kind_count, 2);
    for (uint32_t i = 0; i < parts.count; i++)
        attentions += parts.items[i].code == MODEL_PART_ATTENTION;
    ck_assert_uint_eq(attentions, 1);
    read_row(model_row_of("jamba-1.5-mini-52b"));
    attentions = 0;
    for (uint32_t i = 0; i < parts.count; i++)
        attentions += parts.items[i].code == MODEL_PART_ATTENTION;
    ck_assert_uint_eq(attentions, 2);
}
END_TEST

/* A total that is stated beside the parts is reached by one more term, above or below. */
START_TEST(a_stated_total_is_a_term)
{
    const struct model_row *row = model_row_of("llama-3-8b");

    for (int sign = -1; sign <= 1; sign += 2) {
        struct model_params params;
        int64_t total = 0;

        read_row(row);
        model_arch_state_total(&arch, row->parameters + (uint64_t)(sign * 1000000), &notices);
        params = model_params_count(&arch);
        model_parts(&arch, &params, &parts);
        for (uint32_t i = 0; i < parts.count; i++)
            total += parts.items[i].parameter_count;
        ck_assert_int_eq(total, (int64_t)row->parameters + sign * 1000000);
        ck_assert_int_eq(parts.items[parts.count - 1].code, MODEL_PART_OTHER);
        ck_assert_int_eq(parts.items[parts.count - 1].parameter_count, sign * 1000000);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("parts");
    size_t count;

    (void)model_rows(&count);
    tcase_add_loop_test(tcase, parts_are_the_published_total, 0, (int)count);
    tcase_add_loop_test(tcase, terms_are_those_worked_by_hand, 0, COUNT_OF(worked));
    tcase_add_test(tcase, kinds_that_are_alike_are_one_term);
    tcase_add_test(tcase, a_stated_total_is_a_term);
    return suite_run("model parts", tcase);
}
