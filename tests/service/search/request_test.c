#include "service/search/request.h"

#include "tests/support/suite.h"

static const struct gpu gpu = { .id = "rtx-4090-24gb",
                                .gpus_per_node = 8,
                                .nvlink_domain_gpus = 1,
                                .pcie_bytes_per_second = 31e9,
                                .internode_bytes_per_second = 12.5e9 };
static const struct provider market = { .id = "autodl", .kind = "marketplace" },
                             cloud = { .id = "aws", .kind = "cloud" };

static struct machine
machine_for(const struct provider *provider, double gpu_count, uint32_t units)
{
    struct offer offer = { .id = "x", .provider = provider, .gpu = &gpu, .gpu_count = gpu_count };
    struct hardware_ask hardware = { .present = true, .offer = &offer, .offer_count = units };

    return hardware_machine(&hardware);
}

START_TEST(cards_of_a_market_are_of_one_host)
{
    struct machine machine = machine_for(&market, 1, 4);

    ck_assert_uint_eq(machine.gpu_count, 4);
    ck_assert_uint_eq(machine.nodes, 1);
    ck_assert_uint_eq(machine_for(&market, 1, 16).nodes, 2);
}
END_TEST

START_TEST(instances_of_a_cloud_are_nodes)
{
    ck_assert_uint_eq(machine_for(&cloud, 1, 4).nodes, 4);
    ck_assert_uint_eq(machine_for(&cloud, 8, 2).nodes, 2);
    ck_assert_uint_eq(machine_for(&cloud, 8, 2).gpu_count, 16);
    ck_assert_uint_eq(machine_for(&market, 8, 2).nodes, 2);
}
END_TEST

START_TEST(without_hardware_there_is_no_limit)
{
    struct hardware_ask nothing = { 0 };

    ck_assert_ptr_null(hardware_machine(&nothing).gpu);
    ck_assert_uint_eq(hardware_machine(&nothing).gpu_count, 1);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("hardware");

    tcase_add_test(tcase, cards_of_a_market_are_of_one_host);
    tcase_add_test(tcase, instances_of_a_cloud_are_nodes);
    tcase_add_test(tcase, without_hardware_there_is_no_limit);
    return suite_run("request", tcase);
}
