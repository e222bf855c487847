/* The first estimate of README.md: its request, sent as printed, is answered as printed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract.h"
#include "tests/support/suite.h"

enum { README_SIZE = 64 * 1024 };

static char readme[README_SIZE];

static void
load(void)
{
    FILE *file = fopen(PROJECT_ROOT "/README.md", "r");

    ck_assert_ptr_nonnull(file);
    readme[fread(readme, 1, sizeof readme - 1, file)] = '\0';
    (void)fclose(file);
}

/* Copies what stands between two marks, the first of them in the text from `from` on. */
static const char *
cut(const char *from, const char *begin, const char *end, char *to, size_t size)
{
    const char *start = strstr(from, begin), *stop;

    ck_assert_msg(start != NULL, "README.md has no %s", begin);
    start += strlen(begin);
    stop = strstr(start, end);
    ck_assert(stop != NULL && (size_t)(stop - start) < size);
    memcpy(to, start, (size_t)(stop - start));
    to[stop - start] = '\0';
    return stop;
}

/* Takes out what stands for members and items that are left out, with the comma before it. */
static void
drop_ellipses(char *text)
{
    static const char ellipsis[] = "\u2026";
    char *found;

    while ((found = strstr(text, ellipsis)) != NULL) {
        char *rest = found + strlen(ellipsis);

        while (found > text && strchr(" \n,", found[-1]) != NULL)
            found--;
        memmove(found, rest, strlen(rest) + 1);
    }
}

/* All that is printed stands in the reply, items in the same order. Texts and whole numbers are the same; other numbers
 * are speeds, which move a little with each measurement that constants are fitted to. */
static void
check_printed(const json_t *printed, const json_t *reply, const char *where)
{
    char place[256];
    const char *name;
    const json_t *value;
    size_t index;

    json_object_foreach((json_t *)(uintptr_t)printed, name, value)
    {
        (void)snprintf(place, sizeof place, "%s/%s", where, name);
        ck_assert_msg(json_object_get(reply, name) != NULL, "the reply has no %s", place);
        check_printed(value, json_object_get(reply, name), place);
    }
    json_array_foreach(printed, index, value)
    {
        (void)snprintf(place, sizeof place, "%s/%zu", where, index);
        ck_assert_msg(json_array_get(reply, index) != NULL, "the reply has no %s", place);
        check_printed(value, json_array_get(reply, index), place);
    }
    if (json_is_real(printed))
        ck_assert_msg(fabs(json_number_value(reply) / json_real_value(printed) - 1) < 0.1, "%s: README.md %g, reply %g",
                      where, json_real_value(printed), json_number_value(reply));
    else if (!json_is_object(printed) && !json_is_array(printed))
        ck_assert_msg(json_equal(printed, reply), "%s: README.md and the reply differ", where);
}

START_TEST(the_first_estimate_is_answered_as_printed)
{
    char request[4096], printed[16384];
    const char *after =
        cut(readme, "/estimate -H 'Content-Type: application/json' -d '", "'\n", request, sizeof request);
    json_error_t error;
    json_t *reply = contract_post("/estimate", 200, request), *wanted;

    (void)cut(after, "```\n\nThe reply, shortened:\n\n```\n", "```", printed, sizeof printed);
    drop_ellipses(printed);
    wanted = json_loads(printed, 0, &error);
    ck_assert_msg(wanted != NULL, "line %d of the reply: %s", error.line, error.text);
    check_printed(wanted, reply, "");
    json_decref(wanted);
    json_decref(reply);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("readme");

    tcase_add_unchecked_fixture(tcase, contract_start, contract_stop);
    tcase_add_checked_fixture(tcase, load, NULL);
    tcase_add_test(tcase, the_first_estimate_is_answered_as_printed);
    return suite_run("readme", tcase);
}
