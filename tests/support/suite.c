#include "tests/support/suite.h"

#include <stdlib.h>

int
suite_run_many(const char *name, TCase *const *tcases, size_t count)
{
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < count; i++)
        suite_add_tcase(suite, tcases[i]);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV); /* CK_VERBOSITY, normal when unset: failures and the closing line */
    int failed = srunner_ntests_failed(runner);
    int run = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE; /* a program that tests nothing did not pass */
}

int
suite_run(const char *name, TCase *tcase)
{
    return suite_run_many(name, &tcase, 1);
}
