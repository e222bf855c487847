/* Collectives against measured times, the algebra of rings, and which links they use. */
#include "service/parallel/collective.h"

#include <math.h>

#include "tests/support/seed_rates.h"
#include "tests/support/suite.h"

static struct machine
machine_with(const struct gpu *gpu, uint32_t gpus, enum intranode intranode)
{
    return machine_of(gpu, gpus, 0, 0, intranode);
}

/* ai-dynamo/aiconfigurator, systems/data/.../nccl_perf: 512 MiB inside one node. `times`: 2 for an all-reduce. */
static const struct {
    const char *gpu;
    uint32_t ranks;
    double times, seconds;
} measured[] = {
    { "a100-sxm-80gb", 8, 1, 2.2880e-3 },
    { "a100-sxm-80gb", 8, 2, 4.2259e-3 },
    { "a100-sxm-80gb", 4, 1, 2.1020e-3 },
    { "h100-sxm-80gb", 8, 1, 1.4015e-3 },
    { "h100-sxm-80gb", 4, 2, 2.2997e-3 },
    { "b200-sxm-180gb", 8, 1, 0.7614e-3 },
    { "b200-sxm-180gb", 4, 1, 0.7106e-3 },
    { "gb200-186gb", 4, 2, 1.2822e-3 },
    { "rtx-pro-6000-server-96gb", 8, 1, 20.4053e-3 },
    { "rtx-pro-6000-server-96gb", 4, 2, 30.4890e-3 },
};

START_TEST(measured_times)
{
    struct gpu gpu = seed_gpu(measured[_i].gpu);
    struct rates rates = seed_rates();
    struct machine machine = machine_with(&gpu, measured[_i].ranks, INTRANODE_UNSAID);
    double seconds = measured[_i].times * collective_seconds(&machine, &rates, 536870912, measured[_i].ranks, 1);

    seconds += collective_latency_seconds(&machine, &rates, measured[_i].ranks, 1);
    ck_assert_msg(fabs(seconds / measured[_i].seconds - 1) < 0.22, "%s x %u: %g instead of %g", measured[_i].gpu,
                  measured[_i].ranks, seconds, measured[_i].seconds);
}
END_TEST

/* Patarasuk and Yuan 2009: a ring passes (n - 1) / n of the whole through each link, twice for an all-reduce. */
START_TEST(ring_passes_its_share)
{
    struct gpu gpu = seed_gpu("h100-sxm-80gb");
    struct rates rates = seed_rates();
    struct machine machine = machine_with(&gpu, 8, INTRANODE_UNSAID);
    double rate = link_rate(&machine, &rates);

    ck_assert_double_eq(collective_seconds(&machine, &rates, 1e9, 1, 1), 0);
    ck_assert_double_eq(collective_seconds(&machine, &rates, 0, 8, 1), 0);
    for (uint32_t n = 2; n <= 8; n *= 2)
        ck_assert_double_eq_tol(collective_seconds(&machine, &rates, 1e9, n, 1) * rate, 1e9 * (n - 1) / n, 1);
}
END_TEST

/* The network carries (N - 1) / N of each group's data; a node's cards serve as many groups as its stride. */
START_TEST(nodes_share_their_cards)
{
    struct gpu gpu = seed_gpu("h100-sxm-80gb");
    struct rates rates = seed_rates();
    struct machine machine = machine_with(&gpu, 64, INTRANODE_UNSAID);
    double card = network_rate(&machine, &rates);
    struct link_seconds whole = collective_link_seconds(&machine, &rates, 1e9, 64, 1);
    struct link_seconds strided = collective_link_seconds(&machine, &rates, 1e9, 8, 8);

    ck_assert_double_eq_tol(whole.across, 1e9 * 7 / 8 / (8 * card), 1e-9);
    ck_assert_double_eq_tol(strided.across, 1e9 * 7 / 8 / card, 1e-9);
    ck_assert_double_eq(strided.inside, 0);
    ck_assert(collective_crosses_nodes(&machine, 64, 1));
    ck_assert(!collective_crosses_nodes(&machine, 8, 1));
    ck_assert(collective_crosses_nodes(&machine, 2, 8));
    ck_assert_double_gt(collective_latency_seconds(&machine, &rates, 64, 1),
                        collective_latency_seconds(&machine, &rates, 8, 1));
    ck_assert_double_gt(collective_latency_seconds(&machine, &rates, 1024, 1),
                        collective_latency_seconds(&machine, &rates, 64, 1));
    ck_assert_double_eq(collective_latency_seconds(&machine, &rates, 65536, 1),
                        collective_latency_seconds(&machine, &rates, 1024, 1));
}
END_TEST

/* GB200: one NVLink domain of 72 GPUs, whatever a node holds. */
START_TEST(a_rack_is_one_island)
{
    struct gpu gpu = seed_gpu("gb200-186gb");
    struct rates rates = seed_rates();
    struct machine machine = machine_with(&gpu, 144, INTRANODE_UNSAID);

    ck_assert(!collective_crosses_nodes(&machine, 72, 1));
    ck_assert(collective_crosses_nodes(&machine, 144, 1));
    ck_assert_double_eq(collective_link_seconds(&machine, &rates, 1e9, 64, 1).across, 0);
}
END_TEST

/* A bridge joins two cards; four talk to each other over their slots. */
START_TEST(bridges_end_at_two)
{
    struct gpu gpu = seed_gpu("rtx-a6000-48gb");
    struct rates rates = seed_rates();
    struct machine machine = machine_with(&gpu, 4, INTRANODE_NVLINK);
    double pair = collective_seconds(&machine, &rates, 1e9, 2, 1),
           four = collective_seconds(&machine, &rates, 1e9, 4, 1);

    ck_assert_double_eq_tol(pair, 0.5e9 / (gpu.nvlink_bytes_per_second * rates.link_nvlink_share), 1e-9);
    ck_assert_double_eq_tol(four, 0.75e9 / (gpu.pcie_bytes_per_second * rates.link_pcie_share), 1e-9);
}
END_TEST

/* GeForce cards reach each other through host memory (driver without peer-to-peer). */
START_TEST(cards_without_peer_access_are_slower)
{
    struct rates rates = seed_rates();
    struct gpu peer = seed_gpu("rtx-a6000-48gb"), none = seed_gpu("rtx-4090-24gb");
    struct machine with = machine_of(&peer, 4, 0, 0, INTRANODE_PCIE),
                   without = machine_of(&none, 4, 0, 0, INTRANODE_PCIE);

    ck_assert_double_eq(peer.pcie_bytes_per_second, none.pcie_bytes_per_second);
    ck_assert_double_lt(link_rate(&without, &rates), 0.6 * link_rate(&with, &rates));
}
END_TEST

/* arXiv:2412.19437 section 3.2.2: of two nodes a token with 8 experts meets nearly each, once. */
START_TEST(a_token_crosses_once_to_each_node)
{
    struct gpu gpu = seed_gpu("h100-sxm-80gb");
    struct rates rates = seed_rates();
    struct machine machine = machine_with(&gpu, 16, INTRANODE_UNSAID);
    struct link_seconds eight = all_to_all_link_seconds(&machine, &rates, 8e9, 16, 8);
    struct link_seconds one = all_to_all_link_seconds(&machine, &rates, 1e9, 16, 1);
    double card = network_rate(&machine, &rates);

    ck_assert_double_eq_tol(eight.across * card, 1e9 * (1 - pow(0.5, 8)), 1);
    ck_assert_double_eq_tol(one.across * card, 0.5e9, 1);
    ck_assert_double_eq(all_to_all_link_seconds(&machine, &rates, 1e9, 8, 8).across, 0);
    ck_assert_double_eq(all_to_all_link_seconds(&machine, &rates, 1e9, 1, 8).inside, 0);
}
END_TEST

START_TEST(neighbours_cross_only_beyond_a_node)
{
    struct gpu gpu = seed_gpu("h100-sxm-80gb");
    struct rates rates = seed_rates();
    struct machine machine = machine_with(&gpu, 16, INTRANODE_UNSAID);
    struct link_seconds near = neighbour_link_seconds(&machine, &rates, 1e9, 8);
    struct link_seconds far = neighbour_link_seconds(&machine, &rates, 1e9, 16);

    ck_assert_double_eq(near.across, 0);
    ck_assert_double_eq(far.inside, 0);
    ck_assert_double_gt(link_seconds_longer(far), link_seconds_longer(near));
}
END_TEST

START_TEST(absurd_groups_stay_numbers)
{
    struct gpu gpu = seed_gpu("h100-sxm-80gb");
    struct rates rates = seed_rates();
    struct machine machine = machine_with(&gpu, 16, INTRANODE_UNSAID);

    ck_assert(isfinite(collective_seconds(&machine, &rates, 1e30, UINT32_MAX, UINT32_MAX)));
    ck_assert(isfinite(collective_seconds(&machine, &rates, 1e30, UINT32_MAX, 0)));
    ck_assert(isfinite(link_seconds_longer(all_to_all_link_seconds(&machine, &rates, 1e30, UINT32_MAX, UINT32_MAX))));
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("collectives");

    tcase_add_loop_test(tcase, measured_times, 0, COUNT_OF(measured));
    tcase_add_test(tcase, ring_passes_its_share);
    tcase_add_test(tcase, nodes_share_their_cards);
    tcase_add_test(tcase, a_rack_is_one_island);
    tcase_add_test(tcase, bridges_end_at_two);
    tcase_add_test(tcase, cards_without_peer_access_are_slower);
    tcase_add_test(tcase, a_token_crosses_once_to_each_node);
    tcase_add_test(tcase, neighbours_cross_only_beyond_a_node);
    tcase_add_test(tcase, absurd_groups_stay_numbers);
    return suite_run("collective", tcase);
}
