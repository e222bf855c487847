/* Each term's formula, with its values put in and worked out by hand as a reader would, gives the term's bytes. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "tests/service/memory/training_case.h"
#include "tests/support/suite.h"

/* + - x / ( ) min max over numbers and {0}..{9}; words name quantities and are passed over. */
struct reading {
    const char *next;
    const double *values;
    bool wrong;
};

static double sum(struct reading *reading);

static bool
word_is(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* Skips blanks and words, stops at what counts. */
static char
peek(struct reading *reading)
{
    for (;;) {
        size_t length = 0;

        while (isspace((unsigned char)*reading->next))
            reading->next++;
        while (isalpha((unsigned char)reading->next[length]))
            length++;
        if (length == 0)
            return *reading->next;
        if (word_is(reading->next, length, "x"))
            return 'x';
        if (word_is(reading->next, length, "min") || word_is(reading->next, length, "max"))
            return reading->next[1] == 'i' ? '<' : '>';
        reading->next += length;
    }
}

static bool
take(struct reading *reading, char wanted)
{
    if (peek(reading) != wanted)
        return false;
    reading->next++;
    return true;
}

static double
pair(struct reading *reading, char kind)
{
    reading->next += 3;
    reading->wrong = reading->wrong || !take(reading, '(');
    double a = sum(reading);
    reading->wrong = reading->wrong || !take(reading, ',');
    double b = sum(reading);
    reading->wrong = reading->wrong || !take(reading, ')');
    return (kind == '<') == (a < b) ? a : b;
}

static double
factor(struct reading *reading)
{
    char kind = peek(reading);
    double value = 0;

    if (kind == '<' || kind == '>')
        return pair(reading, kind);
    if (take(reading, '(')) {
        value = sum(reading);
        reading->wrong = reading->wrong || !take(reading, ')');
        return value;
    }
    if (kind == '{' && isdigit((unsigned char)reading->next[1]) && reading->next[2] == '}') {
        value = reading->values[reading->next[1] - '0'];
        reading->next += 3;
        return value;
    }
    if (isdigit((unsigned char)kind)) {
        char *end;

        value = strtod(reading->next, &end);
        reading->next = end;
        return value;
    }
    reading->wrong = true;
    return value;
}

static double
product(struct reading *reading)
{
    double value = factor(reading);

    for (;;) {
        if (take(reading, 'x'))
            value *= factor(reading);
        else if (take(reading, '/'))
            value /= factor(reading);
        else
            return value;
    }
}

static double
sum(struct reading *reading)
{
    double value = product(reading);

    for (;;) {
        if (take(reading, '+'))
            value += product(reading);
        else if (take(reading, '-'))
            value -= product(reading);
        else
            return value;
    }
}

static void
check_parts(const struct training_case *it)
{
    struct footprint footprint;
    double total = 0;

    training_memory(&it->setup, &footprint);
    ck_assert_uint_le(footprint.part_count, MAX_PARTS);
    for (uint32_t i = 0; i < footprint.part_count; i++) {
        const struct part *part = &footprint.parts[i];
        struct reading reading = { part->formula, part->values, false };
        double value = sum(&reading);

        ck_assert_msg(!reading.wrong && peek(&reading) == '\0', "%s: cannot read %s", part_code_name(part->code),
                      part->formula);
        ck_assert_msg(fabs(value - part->bytes) <= 1e-9 * fabs(part->bytes) + 1e-6, "%s: %s gives %.17g, not %.17g",
                      part_code_name(part->code), part->formula, value, part->bytes);
        ck_assert_msg(part->bytes >= 0 && part->source[0] != '\0', "%s", part_code_name(part->code));
        for (uint32_t j = 0; j < i; j++)
            ck_assert_int_ne(part->code, footprint.parts[j].code);
        total += part->bytes;
    }
    ck_assert_double_eq_tol(total, footprint.reserved_bytes, 1);
    ck_assert_double_le(footprint.allocated_bytes, footprint.required_bytes);
    ck_assert_double_le(footprint.required_bytes, footprint.reserved_bytes + 1);
}

static void
check_recipes(struct training_case *it)
{
    for (int optimizer = OPTIMIZER_ADAMW; optimizer <= OPTIMIZER_SGD_MOMENTUM; optimizer++)
        for (int precision = PRECISION_BF16_MIXED; precision <= PRECISION_TF32; precision++)
            for (int offload = OFFLOAD_NONE; offload <= OFFLOAD_ALL; offload++) {
                it->job.optimizer = (enum optimizer)optimizer;
                it->job.precision = (enum training_precision)precision;
                it->job.offload = (enum offload)offload;
                check_parts(it);
            }
}

START_TEST(every_method_framework_and_sharding)
{
    struct training_case it;

    training_case_init(&it, _i % 2 ? DEEPSEEK_V2_4 : LLAMA_4096_32, "h100-sxm-80gb", 8);
    it.job.method = (enum training_method)(METHOD_PRETRAIN + _i / 2);
    it.job.trainable_layers = 2;
    it.job.lora_rank = 16;
    it.job.lora_targets = LORA_ALL_LINEAR;
    for (int framework = FRAMEWORK_MEGATRON; framework <= FRAMEWORK_HF_TRAINER; framework++)
        for (int sharding = SHARDING_NONE; sharding <= SHARDING_ZERO3; sharding++)
            for (int recompute = RECOMPUTE_NONE; recompute <= RECOMPUTE_FULL; recompute++) {
                it.job.framework = (enum framework)framework;
                it.setup.plan.sharding = (enum sharding)sharding;
                it.setup.recompute = (enum recompute)recompute;
                it.setup.recompute_share = sharding == SHARDING_ZERO1 ? 0.25 : 0;
                check_recipes(&it);
            }
}
END_TEST

START_TEST(every_split)
{
    static const struct parallelism splits[] = {
        { 8, 1, 1, 1, 1, 1, SHARDING_NONE, FLAG_YES }, { 2, 4, 1, 1, 1, 1, SHARDING_NONE, FLAG_NO },
        { 1, 4, 2, 2, 1, 1, SHARDING_ZERO1, FLAG_NO }, { 2, 1, 1, 1, 4, 1, SHARDING_ZERO1, FLAG_YES },
        { 1, 2, 1, 4, 1, 4, SHARDING_ZERO1, FLAG_NO }, { 2, 1, 1, 4, 1, 8, SHARDING_ZERO2, FLAG_YES },
    };
    struct training_case it;

    training_case_init(&it, DEEPSEEK_V2_4, "h100-sxm-80gb", 8);
    it.setup.plan = splits[_i];
    it.setup.accumulation_steps = 16;
    it.job.attention = _i % 2 ? ATTENTION_KERNEL_EAGER : ATTENTION_KERNEL_FLASH;
    for (int loss = LOSS_FUSED; loss <= LOSS_CHUNKED; loss++) {
        it.job.loss = (enum loss_kernel)loss;
        check_parts(&it);
    }
}
END_TEST

START_TEST(a_packed_base)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 1);
    it.arch.stored = (struct stored_weights){ .packed = true, .method = "gptq", .linear_bits = 4.156 };
    it.job.method = METHOD_QLORA;
    it.job.framework = FRAMEWORK_DEEPSPEED;
    it.job.lora_rank = 64;
    it.job.lora_targets = LORA_ALL_LINEAR;
    it.setup.plan.sharding = SHARDING_ZERO2;
    for (int recompute = RECOMPUTE_NONE; recompute <= RECOMPUTE_FULL; recompute++)
        for (uint32_t length = 128; length <= 8192; length *= 4) {
            it.setup.recompute = (enum recompute)recompute;
            it.job.sequence_length = length;
            check_recipes(&it);
        }
}
END_TEST

START_TEST(a_network_known_by_its_work)
{
    struct training_case it;

    training_case_init(&it, LLAMA_4096_32, "a100-sxm-80gb", 4);
    memset(&it.arch, 0, sizeof(it.arch));
    it.arch.generic = true;
    it.arch.generic_parameters = 25557032;
    it.arch.flop_per_sample = 8.2e9;
    it.arch.activation_bytes_per_sample = 8.9e7;
    it.params = model_params_count(&it.arch);
    it.setup.micro_batch_size = 256;
    check_recipes(&it);
    it.job.method = METHOD_LORA;
    check_recipes(&it);
    it.job.method = METHOD_QLORA;
    check_recipes(&it);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("formulas");

    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, every_method_framework_and_sharding, 0, 10);
    tcase_add_loop_test(tcase, every_split, 0, 6);
    tcase_add_test(tcase, a_packed_base);
    tcase_add_test(tcase, a_network_known_by_its_work);
    return suite_run("training_formula", tcase);
}
