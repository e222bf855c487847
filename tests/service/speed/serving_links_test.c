/* Communication of a pass: rings, latency, nodes. */
#include "service/speed/serving_links.h"

#include <math.h>

#include "tests/support/serving_fixture.h"
#include "tests/support/suite.h"

static struct serving_links
links_of(const char *model, const char *gpu, uint32_t gpus, struct parallelism plan)
{
    struct serving_fixture fixture;
    struct serving_job job = { .engine = ENGINE_VLLM, .has_parallelism = true, .parallelism = plan };

    serving_fixture_make(&fixture, model, gpu, gpus, &job);
    return serving_link_cost(&fixture.setup);
}

static struct serving_links
tensor_links(const char *gpu, uint32_t gpus)
{
    return links_of("llama-3-70b", gpu, gpus, (struct parallelism){ .tensor = gpus, .pipeline = 1, .data = 1 });
}

/* A ring all-reduce moves 2 (n - 1) / n of the message: 1, 1.5, 1.75 (NVIDIA nccl-tests doc/PERFORMANCE.md). */
START_TEST(rings_move_their_share)
{
    double two = tensor_links("h100-sxm-80gb", 2).seconds;

    ck_assert_double_eq_tol(tensor_links("h100-sxm-80gb", 4).seconds / two, 1.5, 1e-9);
    ck_assert_double_eq_tol(tensor_links("h100-sxm-80gb", 8).seconds / two, 1.75, 1e-9);
}
END_TEST

/* Two all-reduces a layer of 2 x 8192 bytes a token (arXiv:1909.08053 section 3), 80 layers, at the rate of the rows.
 */
START_TEST(a_token_sends_its_hidden_states)
{
    struct serving_fixture fixture;
    struct serving_job job = { .engine = ENGINE_VLLM };

    serving_fixture_make(&fixture, "llama-3-70b", "h100-sxm-80gb", 2, &job);
    double rate = fixture.gpu.nvlink_bytes_per_second * fixture.rates.serving_nvlink_share;
    ck_assert_double_eq_tol(serving_link_cost(&fixture.setup).seconds, 2 * 80 * 2 * 8192.0 / rate, 1e-15);
}
END_TEST

/* NVLink before PCIe with peer access before PCIe without it. */
START_TEST(slower_links_take_longer)
{
    double nvlink = tensor_links("a100-sxm-80gb", 4).seconds, peer = tensor_links("rtx-a6000-48gb", 4).seconds;
    double host = tensor_links("rtx-4090-24gb", 4).seconds;

    ck_assert(nvlink < peer && peer < host);
    ck_assert(tensor_links("a100-sxm-80gb", 4).wait < tensor_links("rtx-a6000-48gb", 4).wait);
}
END_TEST

START_TEST(only_what_leaves_a_node_crosses_the_network)
{
    struct serving_links inside = tensor_links("h100-sxm-80gb", 8), across = tensor_links("h100-sxm-80gb", 16);

    ck_assert_double_eq(inside.network_seconds + inside.network_wait, 0);
    ck_assert(across.network_seconds > 0 && across.network_wait > 0);
    ck_assert_double_eq_tol(across.seconds, inside.seconds, 1e-15); /* the ring of each node is as before */
}
END_TEST

/* A pipeline hands over one hidden state a border; stages of one node need no network. */
START_TEST(pipelines_hand_over_at_borders)
{
    struct serving_links four =
        links_of("llama-3-70b", "h100-sxm-80gb", 4, (struct parallelism){ .tensor = 1, .pipeline = 4, .data = 1 });
    struct serving_links nodes =
        links_of("llama-3-70b", "h100-sxm-80gb", 16, (struct parallelism){ .tensor = 8, .pipeline = 2, .data = 1 });
    struct serving_links wide = tensor_links("h100-sxm-80gb", 16);

    ck_assert(four.seconds > 0 && four.network_seconds <= 0);
    ck_assert(nodes.network_seconds > 0 && nodes.network_seconds < wide.network_seconds);
}
END_TEST

/* 8 experts a token, 3 bytes an element there and back, seven eighths of them elsewhere (arXiv:2412.19437 3.2.2). */
START_TEST(experts_exchange_tokens)
{
    struct serving_fixture fixture;
    struct serving_job job = { .engine = ENGINE_TENSORRT_LLM, .has_parallelism = true };

    job.parallelism = (struct parallelism){ .tensor = 1, .pipeline = 1, .data = 8, .expert = 8 };
    serving_fixture_make(&fixture, "deepseek-v3", "h200-sxm-141gb", 8, &job);
    double rate = fixture.gpu.nvlink_bytes_per_second * fixture.rates.serving_nvlink_share;
    ck_assert_double_eq_tol(serving_link_cost(&fixture.setup).seconds, 58 * 8 * 7168.0 * 3 * 7 / 8 / rate, 1e-12);
}
END_TEST

START_TEST(one_gpu_says_nothing)
{
    struct serving_links links = tensor_links("h100-sxm-80gb", 1);

    ck_assert_double_eq(links.wait + links.seconds + links.network_wait + links.network_seconds, 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("links");

    tcase_add_test(tcase, rings_move_their_share);
    tcase_add_test(tcase, a_token_sends_its_hidden_states);
    tcase_add_test(tcase, slower_links_take_longer);
    tcase_add_test(tcase, only_what_leaves_a_node_crosses_the_network);
    tcase_add_test(tcase, pipelines_hand_over_at_borders);
    tcase_add_test(tcase, experts_exchange_tokens);
    tcase_add_test(tcase, one_gpu_says_nothing);
    return suite_run("serving_links", tcase);
}
