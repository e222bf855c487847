/* Work of convolution networks against torchvision's tables. */
#include <math.h>

#include "service/model/arch.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

/* torchvision.models, column GIPS/GFLOPS: multiply-adds of one 224 x 224 image, billions. */
static const struct {
    const char *row;
    double multiply_adds;
} torchvision[] = {
    { "resnet-18", 1.81e9 },     { "resnet-50", 4.09e9 },       { "resnet-101", 7.80e9 },
    { "convnext-tiny", 4.46e9 }, { "convnext-large", 34.36e9 },
};

START_TEST(work_matches_torchvision)
{
    const struct model_row *row = model_row_of(torchvision[_i].row);
    bool used[MODEL_ROW_FACTS];
    static struct notices notices;
    static struct fault fault;
    static struct model_arch arch;
    struct facts facts = model_row_facts(row->facts, row->fact_count, used);

    fault_clear(&fault);
    ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
    ck_assert(arch.generic);
    ck_assert_msg(fabs(arch.flop_per_sample / (2 * torchvision[_i].multiply_adds) - 1) < 0.01, "%s: %g", row->name,
                  arch.flop_per_sample / 2);
    ck_assert(arch.activation_bytes_per_sample > 0);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("work");

    tcase_add_loop_test(tcase, work_matches_torchvision, 0, COUNT_OF(torchvision));
    return suite_run("convolution networks", tcase);
}
