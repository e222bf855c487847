#include "api/i18n/message.h"

#include <math.h>
#include <string.h>

#include "service/base/note.h"
#include "service/base/result.h"
#include "service/base/text.h"
#include "service/job/job.h"
#include "service/memory/footprint.h"
#include "service/recommend/recommend.h"
#include "service/search/fixes.h"
#include "service/speed/bottleneck.h"
#include "tests/support/suite.h"

static const struct message_values none = { { NULL }, { NAN, NAN, NAN, NAN } };

START_TEST(ids_are_sorted_and_each_stands_once)
{
    for (size_t i = 1; message_id(i); i++)
        ck_assert_msg(strcmp(message_id(i - 1), message_id(i)) < 0, "%s before %s", message_id(i - 1), message_id(i));
}
END_TEST

/* Which of {t0}..{t3} and {n0}..{n3} a sentence has, and how each is written. */
static void
blanks_of(const char *sentence, char blanks[8][24])
{
    memset(blanks, 0, 8 * 24);
    for (const char *at = strchr(sentence, '{'); at; at = strchr(at + 1, '{')) {
        const char *end = strchr(at, '}');
        size_t size;

        ck_assert_msg(end != NULL && (at[1] == 't' || at[1] == 'n') && at[2] >= '0' && at[2] <= '3', "%s", sentence);
        size = (size_t)(end - at) - 1;
        ck_assert_uint_lt(size, 24);
        memcpy(blanks[(at[1] == 'n' ? 4 : 0) + at[2] - '0'], at + 1, size);
    }
}

START_TEST(languages_say_the_same)
{
    static const char *const formats[] = { "", ":int", ":bytes", ":bits", ":percent", ":seconds", ":expected" };

    for (size_t i = 0; message_id(i); i++) {
        char english[8][24], chinese[8][24];
        const char *texts[] = { message_template(message_id(i), LANGUAGE_EN),
                                message_template(message_id(i), LANGUAGE_ZH_CN) };

        for (int language = 0; language < LANGUAGE_COUNT; language++) {
            int open = 0;

            ck_assert_msg(texts[language] != NULL && texts[language][0] != '\0', "%s", message_id(i));
            for (const char *at = texts[language]; *at; at++) {
                open += *at == '[' ? 1 : *at == ']' ? -1 : 0;
                ck_assert_msg(open == 0 || open == 1, "brackets of %s", message_id(i));
            }
            ck_assert_msg(open == 0, "brackets of %s", message_id(i));
        }
        blanks_of(texts[0], english);
        blanks_of(texts[1], chinese);
        for (size_t k = 0; k < 8; k++) {
            bool known = english[k][0] == '\0';

            ck_assert_msg(strcmp(english[k], chinese[k]) == 0, "%s: %s, %s", message_id(i), english[k], chinese[k]);
            for (size_t f = 0; f < COUNT_OF(formats); f++)
                known |= english[k][0] != '\0' && strcmp(english[k] + 2, formats[f]) == 0;
            ck_assert_msg(known, "%s: {%s}", message_id(i), english[k]);
        }
    }
}
END_TEST

START_TEST(chinese_is_chinese)
{
    static const char *const names[] = { "label.cpu", "label.logits", "label.lora", "label.qlora" };

    for (size_t i = 0; message_id(i); i++) {
        const char *text = message_template(message_id(i), LANGUAGE_ZH_CN);
        bool chinese = false;

        for (; *text; text++)
            chinese |= (unsigned char)*text >= 0xE4 && (unsigned char)*text <= 0xE9; /* U+4000..U+9FFF */
        for (size_t k = 0; k < COUNT_OF(names); k++)
            chinese |= strcmp(names[k], message_id(i)) == 0;
        ck_assert_msg(chinese, "%s", message_id(i));
    }
}
END_TEST

static void
check_id(const char *kind, const char *name)
{
    char id[96];

    text_format(id, sizeof id, "%s.%s", kind, name);
    ck_assert_msg(message_template(id, LANGUAGE_EN) != NULL, "no sentence for %s", id);
}

START_TEST(every_code_has_its_sentence)
{
    for (int i = FAULT_NONE + 1; i < FAULT_COUNT; i++) {
        check_id("title", fault_code_name((enum fault_code)i));
        check_id("fault", fault_code_name((enum fault_code)i));
    }
    for (int i = NOTICE_NONE + 1; i < NOTICE_COUNT; i++)
        check_id("notice", notice_code_name((enum notice_code)i));
    for (int i = 0; i < FIX_COUNT; i++)
        check_id("fix", fix_code_name((enum fix_code)i));
    for (int i = REASON_NONE + 1; i < REASON_COUNT; i++)
        check_id("reason", reason_code_name((enum reason_code)i));
    for (int i = 0; i < PART_CODE_COUNT; i++)
        check_id("label", part_code_name((enum part_code)i));
    for (int i = 0; i <= VERDICT_DOES_NOT_FIT; i++)
        check_id("label", verdict_name((enum verdict)i));
    for (int i = 0; i < BOTTLENECK_COUNT; i++)
        check_id("label", bottleneck_name((enum bottleneck)i));
    for (size_t i = 1; i < COUNT_OF(training_method_names); i++)
        check_id("label", training_method_names[i]);
}
END_TEST

/* Codes that are no enum: those of CONTRACT for rejections and diagnosis, and those the service gives by name. */
static const struct {
    const char *kind;
    const char *names[48];
} named[] = {
    { "reason",
      { "does_not_fit", "over_budget", "over_deadline", "slo_missed", "no_price", "price_too_old", "region_excluded",
        "provider_excluded", "spot_excluded", "compliance_unknown", "compliance_missing", "export_restricted",
        "over_power", "over_gpu_limit", "no_kernel_for_precision", "interconnect_missing", "storage_too_slow" } },
    { "diagnosis",
      { "data_loading_cpu_bound", "data_loading_storage_bound", "small_kernels_or_launch_bound", "communication_bound",
        "memory_full_is_not_load", "too_many_workers", "healthy" } },
    { "assumption",
      { "sequence_length",
        "micro_batch_size",
        "global_batch_size",
        "precision",
        "optimizer",
        "framework",
        "loss",
        "attention",
        "recompute",
        "parallelism",
        "sharding",
        "lora_rank",
        "lora_targets",
        "offload",
        "trainable_layers",
        "method",
        "engine",
        "engine_version",
        "serving_precision",
        "kv_cache_precision",
        "context_length",
        "concurrency",
        "input_tokens",
        "output_tokens",
        "memory_utilization",
        "arrival",
        "peak_factor",
        "serving_parallelism",
        "gpus",
        "gpus_per_node",
        "internode_bandwidth",
        "intranode",
        "horizon_months",
        "utilization_ratio",
        "objective",
        "limit",
        "currency",
        "price_type",
        "storage",
        "epochs",
        "headroom_ratio" } },
    { "why",
      { "cheapest", "fastest", "least_headroom_risk", "most_headroom", "balanced", "price_is_old", "price_is_range",
        "spot_interruptions", "tight_memory", "single_node", "owned_hardware", "cheaper_than_next" } },
    { "first_step", { "rent_and_benchmark", "buy_after_benchmark", "estimate_only", "no_offer" } },
    { "rule",
      { "gpu_idle_if", "gpu_idle_then", "memory_full_if", "memory_full_then", "slower_than_estimate_if",
        "slower_than_estimate_then" } },
    { "relaxation",
      { "budget", "deadline_hours", "max_gpus", "max_power_watts", "price_types", "regions", "providers", "gpus",
        "acquisition" } },
    { "plan", { "stated", "fastest_that_fits", "nearest_to_fitting", "least_memory" } },
    { "buy_or_rent", { "buy", "rent", "hybrid" } },
};

START_TEST(every_name_has_its_sentence)
{
    for (size_t i = 0; i < COUNT_OF(named[_i].names) && named[_i].names[i]; i++)
        check_id(named[_i].kind, named[_i].names[i]);
}
END_TEST

static void
expect(const char *id, enum language language, const struct message_values *values, const char *text)
{
    char written[512];

    message_write(written, sizeof written, id, language, values);
    ck_assert_str_eq(written, text);
}

START_TEST(blanks_are_filled_and_gaps_left_out)
{
    const struct message_values all = { { "sequence_lenght", "one of a|b", "sequence_length", "/training" }, { 0 } };
    const struct message_values some = { { "x", "", NULL, "" }, { 0 } };

    expect("fault.unknown_member", LANGUAGE_EN, &all,
           "/training: there is no member \"sequence_lenght\" here. Did you mean \"sequence_length\"? Known members: "
           "one of a|b.");
    expect("fault.unknown_member", LANGUAGE_ZH_CN, &all,
           "/training：此处没有名为“sequence_lenght”的成员。您是否想写“sequence_length”？可用的成员：以下之一：a|b。");
    expect("fault.unknown_member", LANGUAGE_EN, &some, "There is no member \"x\" here.");
    expect("fault.wrong_type", LANGUAGE_ZH_CN,
           &(struct message_values){ { "\"8\"", "integer 1..64", "8", "/hardware/gpus" }, { 0 } },
           "/hardware/gpus：值 \"8\" 的类型不正确。应为：整数 1..64。您是否想写 8？");
    expect("fault.wrong_type", LANGUAGE_ZH_CN,
           &(struct message_values){ { "5", "array of a class name", NULL, "/model/config/architectures" }, { 0 } },
           "/model/config/architectures：值 5 的类型不正确。应为：含一个类名的数组。");
    expect("buy_or_rent.rent", LANGUAGE_EN, &none, "Renting is cheaper over the whole horizon at this use.");
}
END_TEST

START_TEST(unknown_ids_show_themselves)
{
    ck_assert_ptr_null(message_template("fault.unheard_of", LANGUAGE_EN));
    expect("fault.unheard_of", LANGUAGE_EN, &none, "fault.unheard_of");
}
END_TEST

START_TEST(sentences_are_cut_between_characters)
{
    const struct message_values values = { { "\u663e\u5b58\u5927\u5c0f", NULL, NULL, "/a" }, { 0 } };
    char text[512];

    for (size_t i = 0; message_id(i); i++) {
        for (size_t size = 1; size < 64; size++) {
            memset(text, '#', sizeof text);
            message_write(text, size, message_id(i), LANGUAGE_ZH_CN, &values);
            ck_assert_uint_lt(strlen(text), size);
            ck_assert_uint_eq(text_whole(text, strlen(text)), strlen(text));
            ck_assert_int_eq(text[size], '#');
        }
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("message");

    tcase_add_test(tcase, ids_are_sorted_and_each_stands_once);
    tcase_add_test(tcase, languages_say_the_same);
    tcase_add_test(tcase, chinese_is_chinese);
    tcase_add_test(tcase, every_code_has_its_sentence);
    tcase_add_loop_test(tcase, every_name_has_its_sentence, 0, COUNT_OF(named));
    tcase_add_test(tcase, blanks_are_filled_and_gaps_left_out);
    tcase_add_test(tcase, unknown_ids_show_themselves);
    tcase_add_test(tcase, sentences_are_cut_between_characters);
    return suite_run("message", tcase);
}
