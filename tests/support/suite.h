/* Runs Check test cases as one program and turns the result into its exit code. */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stddef.h>

#include "service/base/quantity.h" /* COUNT_OF, for tables of cases */

/* Runs one test case, prints what failed and Check's closing line. Takes the case. Returns the exit code of main: 0
 * when all passed. Each test runs in a process of its own unless CK_FORK=no is in the environment. */
int suite_run(const char *name, TCase *tcase);

/* The same with several test cases. */
int suite_run_many(const char *name, TCase *const *tcases, size_t count);

#endif
