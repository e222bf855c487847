/* The words of requests: each choice has one, none twice, the unsaid none. */
#include "service/job/job.h"

#include <string.h>

#include "tests/support/suite.h"

static const struct {
    const char *const *names;
    size_t count;
    const char *last;
} tables[] = {
    { training_method_names, COUNT_OF(training_method_names), "qlora" },
    { training_precision_names, COUNT_OF(training_precision_names), "tf32" },
    { optimizer_names, COUNT_OF(optimizer_names), "sgd_momentum" },
    { recompute_names, COUNT_OF(recompute_names), "full" },
    { attention_kernel_names, COUNT_OF(attention_kernel_names), "eager" },
    { loss_kernel_names, COUNT_OF(loss_kernel_names), "chunked" },
    { framework_names, COUNT_OF(framework_names), "hf_trainer" },
    { sharding_names, COUNT_OF(sharding_names), "zero3" },
    { offload_names, COUNT_OF(offload_names), "all" },
    { engine_names, COUNT_OF(engine_names), "transformers" },
    { arrival_names, COUNT_OF(arrival_names), "poisson" },
    { lora_targets_names, COUNT_OF(lora_targets_names), "query_value" },
};

START_TEST(names_are_whole)
{
    const char *const *names = tables[_i].names;

    ck_assert_ptr_null(names[0]);
    ck_assert_str_eq(names[tables[_i].count - 1], tables[_i].last);
    for (size_t a = 1; a < tables[_i].count; a++) {
        ck_assert_ptr_nonnull(names[a]);
        for (size_t b = 1; b < a; b++)
            ck_assert_str_ne(names[a], names[b]);
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("names");

    tcase_add_loop_test(tcase, names_are_whole, 0, COUNT_OF(tables));
    return suite_run("names", tcase);
}
