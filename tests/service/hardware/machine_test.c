/* Machines: nodes, links and domains from a GPU and what was said. */
#include "service/hardware/machine.h"

#include "tests/support/suite.h"

/* Figures of NVIDIA's data sheets: H100 SXM 900 GB/s NVLink both ways, PCIe Gen5 x16; A6000 112.5 GB/s bridge. */
static const struct gpu h100 = { .id = "h100-sxm-80gb",
                                 .nvlink_kind = NVLINK_SWITCH,
                                 .nvlink_bytes_per_second = 450e9,
                                 .nvlink_domain_gpus = 8,
                                 .pcie_bytes_per_second = 63e9,
                                 .internode_bytes_per_second = 50e9,
                                 .gpus_per_node = 8 };
static const struct gpu a6000 = { .id = "rtx-a6000-48gb",
                                  .nvlink_kind = NVLINK_BRIDGE,
                                  .nvlink_bytes_per_second = 56.25e9,
                                  .nvlink_domain_gpus = 2,
                                  .pcie_bytes_per_second = 31e9,
                                  .internode_bytes_per_second = 12.5e9,
                                  .gpus_per_node = 8 };
static const struct gpu rtx4090 = { .id = "rtx-4090-24gb",
                                    .nvlink_kind = NVLINK_NONE,
                                    .nvlink_domain_gpus = 1,
                                    .pcie_bytes_per_second = 31e9,
                                    .internode_bytes_per_second = 12.5e9,
                                    .gpus_per_node = 8 };
static const struct gpu gb200 = { .id = "gb200-186gb",
                                  .nvlink_kind = NVLINK_SWITCH,
                                  .nvlink_bytes_per_second = 900e9,
                                  .nvlink_domain_gpus = 72,
                                  .pcie_bytes_per_second = 63e9,
                                  .internode_bytes_per_second = 50e9,
                                  .gpus_per_node = 4 };

static const struct {
    const char *what;
    const struct gpu *gpu;
    uint32_t gpu_count, gpus_per_node;
    double internode_bits_per_second;
    enum intranode intranode;
    uint32_t nodes, per_node, domain;
    bool has_nvlink;
    double link, network;
} cases[] = {
    { "one node as usual", &h100, 8, 0, 0, INTRANODE_UNSAID, 1, 8, 8, true, 450e9, 50e9 },
    { "one GPU", &h100, 1, 0, 0, INTRANODE_UNSAID, 1, 1, 1, true, 450e9, 50e9 },
    { "no count is one", &h100, 0, 0, 0, INTRANODE_UNSAID, 1, 1, 1, true, 450e9, 50e9 },
    { "two nodes, 3.2 Tb/s each", &h100, 16, 0, 3.2e12, INTRANODE_UNSAID, 2, 8, 8, true, 450e9, 50e9 },
    { "two nodes, 100 Gb/s each", &h100, 16, 8, 1e11, INTRANODE_UNSAID, 2, 8, 8, true, 450e9, 1.5625e9 },
    { "a last node that is not full", &h100, 10, 8, 0, INTRANODE_UNSAID, 2, 8, 8, true, 450e9, 50e9 },
    { "more a node than there are", &h100, 4, 8, 0, INTRANODE_UNSAID, 1, 4, 4, true, 450e9, 50e9 },
    { "four a node", &h100, 8, 4, 0, INTRANODE_UNSAID, 2, 4, 4, true, 450e9, 50e9 },
    { "PCIe asked for", &h100, 8, 0, 0, INTRANODE_PCIE, 1, 8, 8, false, 63e9, 50e9 },
    { "a bridge is not assumed", &a6000, 4, 0, 0, INTRANODE_UNSAID, 1, 4, 4, false, 31e9, 12.5e9 },
    { "a bridge joins two", &a6000, 4, 0, 0, INTRANODE_NVLINK, 1, 4, 2, true, 56.25e9, 12.5e9 },
    { "NVLink that the GPU lacks", &rtx4090, 2, 0, 0, INTRANODE_NVLINK, 1, 2, 2, false, 31e9, 12.5e9 },
    { "a rack is one domain", &gb200, 72, 0, 0, INTRANODE_UNSAID, 18, 4, 72, true, 900e9, 50e9 },
};

START_TEST(machine_has_the_links_that_were_said)
{
    struct machine machine = machine_of(cases[_i].gpu, cases[_i].gpu_count, cases[_i].gpus_per_node,
                                        cases[_i].internode_bits_per_second, cases[_i].intranode);

    ck_assert_msg(machine.nodes == cases[_i].nodes, "%s: %u nodes", cases[_i].what, machine.nodes);
    ck_assert_msg(machine.gpus_per_node == cases[_i].per_node, "%s: %u a node", cases[_i].what, machine.gpus_per_node);
    ck_assert_msg(machine.link_domain_gpus == cases[_i].domain, "%s: domain %u", cases[_i].what,
                  machine.link_domain_gpus);
    ck_assert_msg(machine.has_nvlink == cases[_i].has_nvlink, "%s", cases[_i].what);
    ck_assert_double_eq(machine.link_bytes_per_second, cases[_i].link);
    ck_assert_double_eq(machine.network_bytes_per_second, cases[_i].network);
}
END_TEST

START_TEST(no_gpu_is_a_machine_without_links)
{
    struct machine machine = machine_of(NULL, 0, 0, 0, INTRANODE_UNSAID);

    ck_assert_ptr_null(machine.gpu);
    ck_assert_uint_eq(machine.gpu_count, 1);
    ck_assert_uint_eq(machine.nodes, 1);
    ck_assert(!machine.has_nvlink);
}
END_TEST

START_TEST(nodes_hold_all_gpus_and_none_is_empty)
{
    for (uint32_t count = 1; count < 200; count++) {
        for (uint32_t per_node = 0; per_node < 20; per_node++) {
            struct machine machine = machine_of(&h100, count, per_node, 0, INTRANODE_UNSAID);

            ck_assert_uint_ge((uint64_t)machine.nodes * machine.gpus_per_node, count);
            ck_assert_uint_lt((uint64_t)(machine.nodes - 1) * machine.gpus_per_node, count);
            ck_assert_uint_ge(machine.link_domain_gpus, 1);
        }
    }
}
END_TEST

START_TEST(absurd_counts_stay_in_range)
{
    struct machine machine = machine_of(&h100, UINT32_MAX, 1, 1, INTRANODE_UNSAID);

    ck_assert_uint_eq(machine.nodes, UINT32_MAX);
    ck_assert_uint_eq(machine_of(&h100, 1, UINT32_MAX, 0, INTRANODE_UNSAID).gpus_per_node, 1);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("machine");

    tcase_add_loop_test(tcase, machine_has_the_links_that_were_said, 0, COUNT_OF(cases));
    tcase_add_test(tcase, no_gpu_is_a_machine_without_links);
    tcase_add_test(tcase, nodes_hold_all_gpus_and_none_is_empty);
    tcase_add_test(tcase, absurd_counts_stay_in_range);
    return suite_run("machine", tcase);
}
