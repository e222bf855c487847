/* POST /recommend over a real socket: every offer accounted for, costs within limits, reasons told. Every reply is also
 * held against openapi.yaml (tests/support/contract.h). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract.h"
#include "tests/support/schema.h"
#include "tests/support/suite.h"

#define JOB                                                                                      \
    "\"model\":\"qwen2.5-7b\",\"training\":{\"method\":\"lora\",\"samples\":10000,\"epochs\":3," \
    "\"sequence_length\":1024}"
#define WITHIN_500_CNY \
    "\"constraints\":{\"budget\":{\"amount\":\"500\",\"currency\":\"CNY\"},\"budget_scope\":\"total\"}"

static double
amount_at(const json_t *value, const char *pointer)
{
    return strtod(contract_text(schema_at(value, pointer), "/amount"), NULL);
}

static const json_t *
candidates_of(const json_t *reply)
{
    return json_object_get(reply, "candidates");
}

/* What must hold whatever was asked: every searched offer is a candidate or rejected for a reason. */
static void
check_accounts(const json_t *reply)
{
    json_int_t rejected = contract_count(reply, "/rejected/count"), by_reason = 0;
    size_t listed = json_array_size(candidates_of(reply)), index;
    const char *code;
    json_t *count;
    const json_t *candidate;

    json_object_foreach(json_object_get(json_object_get(reply, "rejected"), "by_reason"), code, count)
    {
        by_reason += json_integer_value(count);
    }
    ck_assert_int_eq(by_reason, rejected);
    ck_assert_int_eq(rejected + contract_count(reply, "/searched/feasible_offers"),
                     contract_count(reply, "/searched/offers"));
    ck_assert_int_le((json_int_t)listed, contract_count(reply, "/searched/feasible_offers"));
    json_array_foreach(candidates_of(reply), index, candidate)
    {
        ck_assert_int_eq(contract_count(candidate, "/rank"), (json_int_t)index + 1);
    }
}

static json_t *
ask(const char *body)
{
    json_t *reply = contract_post("/recommend", 200, body);

    check_accounts(reply);
    return reply;
}

/* --- the whole search --- */

START_TEST(offers_within_the_budget)
{
    json_t *reply = ask("{" JOB "," WITHIN_500_CNY ",\"limit\":200}");
    const json_t *candidate;
    double before = 0;
    size_t index, tight = 0;

    ck_assert_uint_ge(json_array_size(candidates_of(reply)), 3);
    if (contract_count(reply, "/searched/feasible_offers") <= 200)
        ck_assert_int_eq(contract_count(reply, "/searched/feasible_offers"),
                         (json_int_t)json_array_size(candidates_of(reply)));
    json_array_foreach(candidates_of(reply), index, candidate)
    {
        bool fits = strcmp(contract_text(candidate, "/training/verdict"), "fits") == 0;

        ck_assert(fits || strcmp(contract_text(candidate, "/training/verdict"), "tight") == 0);
        ck_assert_str_eq(contract_text(candidate, "/cost/total/currency"), "CNY");
        ck_assert_str_eq(contract_text(candidate, "/cost/per_hour/currency"), "CNY");
        ck_assert_double_le(amount_at(candidate, "/cost/total"), 500.00005);
        if (schema_at(candidate, "/cost/purchase")) /* who has 500 does not buy for more */
            ck_assert_double_le(amount_at(candidate, "/cost/purchase"), 500.00005);
        if (!fits && !tight++)
            before = 0; /* what is tight comes after all that fits, cheapest first again */
        ck_assert(fits ? tight == 0 : true);
        ck_assert_msg(amount_at(candidate, "/cost/total") >= before - 0.0001, "rank %zu is cheaper than the one before",
                      index + 1);
        before = amount_at(candidate, "/cost/total");
    }
    json_decref(reply);
}
END_TEST

/* The lines of a cost add up to it, and hours times the price of an hour are the lines. */
START_TEST(costs_are_sums)
{
    json_t *reply = ask("{" JOB "," WITHIN_500_CNY ",\"limit\":50}");
    const json_t *candidate, *line;
    size_t index, number;

    json_array_foreach(candidates_of(reply), index, candidate)
    {
        double sum = 0;

        json_array_foreach(schema_at(candidate, "/cost/lines"), number, line)
        {
            double quantity = json_number_value(json_object_get(line, "quantity"));
            double product = quantity * amount_at(line, "/unit_price");

            /* a unit price has four decimals, a quantity six digits */
            ck_assert_double_eq_tol(product, amount_at(line, "/amount"), 0.0001 + quantity * 0.00005 + product * 1e-5);
            sum += amount_at(line, "/amount");
        }
        ck_assert_double_eq_tol(sum, amount_at(candidate, "/cost/total"), 0.001);
        ck_assert_double_eq_tol(amount_at(candidate, "/cost/per_hour") * 730, amount_at(candidate, "/cost/per_month"),
                                strcmp(contract_text(candidate, "/acquisition"), "rent") == 0 ? 0.05 : 1e9);
    }
    json_decref(reply);
}
END_TEST

/* A candidate's estimate is the one that /estimate gives for that offer: there is one estimator. */
START_TEST(a_candidate_is_what_an_estimate_says)
{
    json_t *reply = ask("{" JOB "," WITHIN_500_CNY ",\"limit\":5}");
    const json_t *candidate;
    size_t index;

    json_array_foreach(candidates_of(reply), index, candidate)
    {
        bool bought = strcmp(contract_text(candidate, "/acquisition"), "buy") == 0;
        char body[512];
        json_t *estimate;

        (void)snprintf(body, sizeof body, "{" JOB ",\"hardware\":{\"%s\":\"%s\",\"count\":%d}}",
                       bought ? "server" : "instance", contract_text(candidate, "/offer"),
                       (int)contract_count(candidate, "/count"));
        estimate = contract_post("/estimate", 200, body);
        ck_assert(json_equal(schema_at(estimate, "/training/verdict"), schema_at(candidate, "/training/verdict")));
        ck_assert(json_equal(schema_at(estimate, "/training/plan"), schema_at(candidate, "/training/plan")));
        ck_assert(json_equal(schema_at(estimate, "/training/memory_per_gpu"),
                             schema_at(candidate, "/training/memory_per_gpu")));
        ck_assert(
            json_equal(schema_at(estimate, "/training/throughput"), schema_at(candidate, "/training/throughput")));
        ck_assert(json_equal(schema_at(estimate, "/training/duration_hours"),
                             schema_at(candidate, "/training/duration_hours")));
        json_decref(estimate);
    }
    json_decref(reply);
}
END_TEST

/* A shorter list is the head of a longer one. */
START_TEST(a_limit_only_cuts)
{
    json_t *few = ask("{" JOB "," WITHIN_500_CNY ",\"limit\":2}"), *many = ask("{" JOB "," WITHIN_500_CNY "}");

    ck_assert_uint_eq(json_array_size(candidates_of(few)), 2);
    ck_assert_uint_le(json_array_size(candidates_of(many)), 10);
    for (size_t i = 0; i < 2; i++)
        ck_assert_str_eq(contract_text(json_array_get(candidates_of(few), i), "/price/id"),
                         contract_text(json_array_get(candidates_of(many), i), "/price/id"));
    ck_assert(json_equal(json_object_get(few, "searched"), json_object_get(many, "searched")));
    json_decref(few);
    json_decref(many);
}
END_TEST

/* --- constraints --- */

static const struct {
    const char *constraints, *pointer, *value; /* of each candidate; value NULL: only that it is answered */
    const char *reason;                        /* that must be among the rejections; NULL: none in particular */
} constrained[] = {
    { "{\"acquisition\":[\"rent\"]}", "/acquisition", "rent", NULL },
    { "{\"acquisition\":[\"buy\"]}", "/acquisition", "buy", NULL },
    { "{\"price_types\":[\"on_demand\"]}", "/price_type", "on_demand", "no_price" },
    { "{\"providers\":[\"autodl\"]}", "/provider", "autodl", "provider_excluded" },
    { "{\"gpus\":[\"RTX 4090\"]}", "/gpu", "rtx-4090-24gb", NULL },
    { "{\"countries\":[\"CN\"],\"acquisition\":[\"rent\"]}", "/acquisition", "rent", "region_excluded" },
    { "{\"spot\":false,\"price_types\":[\"spot\"]}", "/price_type", "none is left", "spot_excluded" },
    { "{\"compliance\":[\"mlps_3\"]}", "/gpu", "none is left", "compliance_unknown" },
    { "{\"max_gpus\":1}", "/count", NULL, "over_gpu_limit" },
    { "{\"max_power_watts\":1500}", "/count", NULL, "over_power" },
    { "{\"deadline_hours\":2}", "/count", NULL, "over_deadline" },
    { "{\"price_max_age_days\":30}", "/count", NULL, "price_too_old" },
};

START_TEST(constraints_are_met)
{
    char body[512];
    json_t *reply;
    const json_t *candidate;
    size_t index;

    (void)snprintf(body, sizeof body, "{" JOB ",\"limit\":200,\"constraints\":%s}", constrained[_i].constraints);
    reply = ask(body);
    json_array_foreach(candidates_of(reply), index, candidate)
    {
        if (constrained[_i].value)
            ck_assert_str_eq(contract_text(candidate, constrained[_i].pointer), constrained[_i].value);
    }
    if (constrained[_i].reason)
        ck_assert_msg(json_object_get(schema_at(reply, "/rejected/by_reason"), constrained[_i].reason) != NULL, "%s",
                      body);
    json_decref(reply);
}
END_TEST

static const char *
price_type_of(const json_t *reply, const char *offer)
{
    const json_t *candidate;
    size_t index;

    json_array_foreach(candidates_of(reply), index, candidate)
    {
        if (strcmp(contract_text(candidate, "/offer"), offer) == 0)
            return contract_text(candidate, "/price_type");
    }
    return "no candidate";
}

/* An offer with an hourly and a monthly price: hours do for a short job, a month for a service. */
START_TEST(the_price_goes_with_the_length_of_the_job)
{
    static const char one_gpu[] = "\"constraints\":{\"providers\":[\"aliyun\"],\"gpus\":[\"a10-24gb\"],\"spot\":false}";
    static const char offer[] = "aliyun:ecs.gn7i-c16g1.4xlarge";
    char body[512];
    json_t *job, *service;

    (void)snprintf(body, sizeof body, "{" JOB ",%s}", one_gpu);
    job = ask(body);
    ck_assert_str_eq(price_type_of(job, offer), "on_demand");
    (void)snprintf(body, sizeof body,
                   "{\"model\":\"qwen2.5-3b\",\"serving\":{},\"horizon_months\":1,\"utilization_ratio\":1,%s}",
                   one_gpu);
    service = ask(body);
    ck_assert_str_eq(price_type_of(service, offer), "subscription");
    json_decref(job);
    json_decref(service);
}
END_TEST

static bool
assumes(const json_t *reply, const char *code)
{
    const json_t *assumption;
    size_t index;

    json_array_foreach(json_object_get(reply, "assumptions"), index, assumption)
    {
        if (strcmp(contract_text(assumption, "/code"), code) == 0)
            return true;
    }
    return false;
}

/* What owning costs rests on values that nobody gave: they are told where buying is looked at. */
START_TEST(what_owning_costs_is_told)
{
    static const char *const codes[] = { "residual_ratio", "electricity_per_kwh", "pue" };
    json_t *rent = ask("{" JOB ",\"limit\":1,\"constraints\":{\"acquisition\":[\"rent\"]}}"),
           *any = ask("{" JOB ",\"limit\":1}");

    for (size_t i = 0; i < COUNT_OF(codes); i++) {
        ck_assert(assumes(any, codes[i]));
        ck_assert(!assumes(rent, codes[i]));
    }
    json_decref(rent);
    json_decref(any);
}
END_TEST

/* A tighter budget lets fewer in, and each of them at no other price. */
START_TEST(a_smaller_budget_lets_fewer_in)
{
    json_int_t before = -1;

    for (int budget = 2; budget <= 2000; budget *= 10) {
        char body[512];
        json_t *reply;

        (void)snprintf(body, sizeof body,
                       "{" JOB ",\"constraints\":{\"budget\":{\"amount\":\"%d\",\"currency\":\"CNY\"}}}", budget);
        reply = ask(body);
        ck_assert_int_ge(contract_count(reply, "/searched/feasible_offers"), before);
        before = contract_count(reply, "/searched/feasible_offers");
        json_decref(reply);
    }
    ck_assert_int_gt(before, 0);
}
END_TEST

START_TEST(nothing_feasible_is_an_answer)
{
    json_t *reply =
        ask("{\"model\":\"llama-3-70b\",\"training\":{\"method\":\"full\",\"tokens\":1e9,"
            "\"sequence_length\":4096},\"constraints\":{\"budget\":{\"amount\":\"1\",\"currency\":\"USD\"}}}");
    const json_t *relaxations = json_object_get(reply, "relaxations");

    ck_assert_uint_eq(json_array_size(candidates_of(reply)), 0);
    ck_assert_uint_gt(json_array_size(schema_at(reply, "/rejected/examples")), 0);
    ck_assert_uint_gt(json_array_size(relaxations), 0);
    ck_assert_str_eq(contract_text(relaxations, "/0/pointer"), "/constraints/budget");
    ck_assert_double_eq(amount_at(relaxations, "/0/from"), 1);
    ck_assert_double_gt(amount_at(relaxations, "/0/to"), 1);
    ck_assert_ptr_nonnull(schema_at(reply, "/first_step/text"));
    json_decref(reply);
}
END_TEST

/* --- relaxations --- */

static const char *const broken[] = {
    "{\"budget\":{\"amount\":\"0.01\",\"currency\":\"CNY\"}}",
    "{\"budget\":{\"amount\":\"4\",\"currency\":\"CNY\"},\"deadline_hours\":0.5}",
    "{\"budget\":{\"amount\":\"3\",\"currency\":\"USD\"},\"deadline_hours\":0.1}",
    "{\"deadline_hours\":0.01,\"max_power_watts\":2000}",
    "{\"max_power_watts\":50}",
    "{\"budget\":{\"amount\":\"1\",\"currency\":\"USD\"},\"budget_scope\":\"per_month\",\"max_power_watts\":200}",
};

/* Widened as one relaxation says, the others as they are, the constraints let its offer in. */
static void
check_relaxation(const char *constraints, const json_t *relaxation)
{
    json_t *widened = json_loads(constraints, 0, NULL), *reply;
    const char *name = strrchr(contract_text(relaxation, "/pointer"), '/') + 1;
    const json_t *candidate;
    char body[512], *text;
    size_t index, found = 0;

    json_object_set(widened, name, json_object_get(relaxation, "to"));
    text = json_dumps(widened, JSON_COMPACT);
    (void)snprintf(body, sizeof body, "{" JOB ",\"limit\":200,\"constraints\":%s}", text);
    reply = ask(body);
    json_array_foreach(candidates_of(reply), index, candidate)
    {
        found += strcmp(contract_text(candidate, "/offer"), contract_text(relaxation, "/offer")) == 0;
    }
    ck_assert_msg(found == 1, "%s is not let in by %s", contract_text(relaxation, "/offer"), text);
    free(text);
    json_decref(widened);
    json_decref(reply);
}

START_TEST(relaxations_are_enough)
{
    char body[512];
    json_t *reply;
    const json_t *relaxation;
    size_t index;

    (void)snprintf(body, sizeof body, "{" JOB ",\"limit\":1,\"constraints\":%s}", broken[_i]);
    reply = ask(body);
    ck_assert_uint_gt(json_array_size(json_object_get(reply, "relaxations")), 0);
    json_array_foreach(json_object_get(reply, "relaxations"), index, relaxation)
    {
        check_relaxation(broken[_i], relaxation);
    }
    json_decref(reply);
}
END_TEST

/* --- serving --- */

START_TEST(a_service_within_its_targets)
{
    json_t *reply = ask("{\"model\":\"qwen2.5-7b\",\"serving\":{\"input_tokens\":512,\"output_tokens\":256,"
                        "\"requests_per_second\":1,\"slo\":{\"ttft_p95_ms\":2000,\"tpot_p95_ms\":60}},"
                        "\"cost\":{\"currency\":\"USD\"},\"limit\":20}");
    const json_t *candidate;
    size_t index;

    ck_assert_uint_gt(json_array_size(candidates_of(reply)), 0);
    json_array_foreach(candidates_of(reply), index, candidate)
    {
        ck_assert_str_eq(contract_text(candidate, "/cost/total/currency"), "USD");
        ck_assert_double_le(json_number_value(schema_at(candidate, "/serving/latency/ttft_p95_ms/expected")), 2000.5);
        ck_assert_double_le(json_number_value(schema_at(candidate, "/serving/latency/tpot_ms/expected")), 60.1);
    }
    json_decref(reply);
}
END_TEST

/* --- what every reply carries --- */

START_TEST(same_body_same_bytes)
{
    struct http_reply once, again;

    contract_send("POST", "/recommend", NULL, "{" JOB "," WITHIN_500_CNY "}", &once);
    contract_send("POST", "/recommend", NULL, "{" JOB "," WITHIN_500_CNY "}", &again);
    ck_assert_int_eq(once.status, 200);
    ck_assert_str_eq(once.body, again.body);
    http_reply_done(&once);
    http_reply_done(&again);
}
END_TEST

START_TEST(the_currency_follows_the_language_when_unsaid)
{
    json_t *english = contract_post_in("en", "/recommend", 200, "{" JOB ",\"limit\":1}");
    json_t *chinese = contract_post_in("zh-CN", "/recommend", 200, "{" JOB ",\"limit\":1}");

    ck_assert_str_eq(contract_text(english, "/candidates/0/cost/per_hour/currency"), "USD");
    ck_assert_str_eq(contract_text(chinese, "/candidates/0/cost/per_hour/currency"), "CNY");
    json_decref(english);
    json_decref(chinese);
}
END_TEST

static const struct {
    const char *request, *pointer, *code;
} refused[] = {
    { "{" JOB ",\"constraints\":{\"budget\":{\"amount\":500,\"currency\":\"CNY\"}}}", "/constraints/budget/amount",
      "wrong_type" },
    { "{" JOB ",\"constraints\":{\"budget\":{\"amount\":\"500\",\"currency\":\"RMB\"}}}",
      "/constraints/budget/currency", "unknown_value" },
    { "{" JOB ",\"constraints\":{\"budgets\":1}}", "/constraints/budgets", "unknown_member" },
    { "{" JOB ",\"constraints\":{\"providers\":[\"no-such\"]}}", "/constraints/providers/0", "unknown_value" },
    { "{" JOB ",\"constraints\":{\"gpus\":[\"no such\"]}}", "/constraints/gpus/0", "gpu_unknown" },
    { "{" JOB ",\"limit\":201}", "/limit", "out_of_range" },
    { "{\"training\":{\"method\":\"full\"}}", "/model", "missing_member" },
    { "{\"model\":\"llama-3-8b\"}", "", "nothing_asked" },
};

START_TEST(refusals_name_the_place)
{
    json_t *problem = contract_post("/recommend", 422, refused[_i].request);

    ck_assert_msg(strcmp(contract_text(problem, "/errors/0/pointer"), refused[_i].pointer) == 0, "%s",
                  refused[_i].request);
    ck_assert_str_eq(contract_text(problem, "/errors/0/code"), refused[_i].code);
    json_decref(problem);
}
END_TEST

/* 8 H100 for 300 to 350 thousand dollars against on-demand prices, nearly always in use: 10 to 32 months (GPU TCO
 * pages); at a fifth of the time renting is cheaper under any price seen. */
START_TEST(buying_is_held_against_renting)
{
#define BUY_OR_RENT(use)                                                                                             \
    "{\"model\":\"llama-3-8b\",\"training\":{\"method\":\"pretrain\",\"tokens\":1000000000000},"                     \
    "\"constraints\":{\"gpus\":[\"h100-sxm-80gb\"],\"max_gpus\":8},\"horizon_months\":36,\"utilization_ratio\":" use \
    ",\"cost\":{\"currency\":\"USD\",\"electricity_per_kwh\":0.1}}"
    json_t *often = contract_post("/recommend", 200, BUY_OR_RENT("0.9"));
    json_t *seldom = contract_post("/recommend", 200, BUY_OR_RENT("0.2"));

    ck_assert_double_ge(contract_number(often, "/buy_or_rent/break_even_months"), 10);
    ck_assert_double_le(contract_number(often, "/buy_or_rent/break_even_months"), 32);
    ck_assert_str_eq(contract_text(seldom, "/buy_or_rent/verdict"), "rent");
    ck_assert_double_eq_tol(contract_number(seldom, "/buy_or_rent/break_even_utilization_ratio"),
                            contract_number(often, "/buy_or_rent/break_even_utilization_ratio"), 1e-6);
    json_decref(often);
    json_decref(seldom);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("recommend");

    tcase_set_timeout(tcase, 60);
    tcase_add_unchecked_fixture(tcase, contract_start, contract_stop);
    tcase_add_test(tcase, offers_within_the_budget);
    tcase_add_test(tcase, costs_are_sums);
    tcase_add_test(tcase, a_candidate_is_what_an_estimate_says);
    tcase_add_test(tcase, a_limit_only_cuts);
    tcase_add_loop_test(tcase, constraints_are_met, 0, COUNT_OF(constrained));
    tcase_add_test(tcase, the_price_goes_with_the_length_of_the_job);
    tcase_add_test(tcase, what_owning_costs_is_told);
    tcase_add_test(tcase, a_smaller_budget_lets_fewer_in);
    tcase_add_test(tcase, nothing_feasible_is_an_answer);
    tcase_add_loop_test(tcase, relaxations_are_enough, 0, COUNT_OF(broken));
    tcase_add_test(tcase, a_service_within_its_targets);
    tcase_add_test(tcase, same_body_same_bytes);
    tcase_add_test(tcase, the_currency_follows_the_language_when_unsaid);
    tcase_add_loop_test(tcase, refusals_name_the_place, 0, COUNT_OF(refused));
    tcase_add_test(tcase, buying_is_held_against_renting);
    return suite_run("recommend", tcase);
}
