/* CSV as rows: quotes, empty cells, what is refused, and a version that follows the bytes. */
#include "db/seed.h"

#include <string.h>

#include "tests/support/suite.h"

static bool
read_csv(const char *text, size_t size, struct rows *ret_rows, char *why, size_t why_size)
{
    struct seed_file file = { "t", (const unsigned char *)text, size };
    struct seed_set set = { &file, 1 };
    struct row_source source = seed_source(&set);

    return source.read_table(source.context, "t", ret_rows, why, why_size);
}

START_TEST(cells_are_found_by_row_and_column)
{
    static const char text[] = "id,name,note\r\na,\"x, \"\"y\"\"\nz\",\n"
                               "b,显卡,last";
    struct rows rows;
    char why[64];

    ck_assert(read_csv(text, sizeof(text) - 1, &rows, why, sizeof(why)));
    ck_assert_uint_eq(rows.row_count, 2);
    ck_assert_uint_eq(rows.column_count, 3);
    ck_assert_int_eq(rows_column(&rows, "note"), 2);
    ck_assert_int_eq(rows_column(&rows, "none"), NO_COLUMN);
    ck_assert_str_eq(rows_text(&rows, 0, 1), "x, \"y\"\nz");
    ck_assert_ptr_null(rows_text(&rows, 0, 2));
    ck_assert_ptr_null(rows_text(&rows, 0, NO_COLUMN));
    ck_assert_str_eq(rows_text(&rows, 1, 1), "显卡");
    ck_assert_str_eq(rows_text(&rows, 1, 2), "last");
    rows_done(&rows);
}
END_TEST

START_TEST(a_header_alone_is_a_table_without_rows)
{
    struct rows rows;
    char why[64];

    ck_assert(read_csv("id,name\n", 8, &rows, why, sizeof(why)));
    ck_assert_uint_eq(rows.row_count, 0);
    rows_done(&rows);
}
END_TEST

static const struct {
    const char *text;
    size_t size;
    const char *why;
} refused[] = {
    { "", 0, "the file is empty" },
    { "id,name\na\n", 10, "more or fewer cells" },
    { "id,name\na,b,c\n", 14, "more or fewer cells" },
    { "id,\na,b\n", 8, "a column has no name" },
    { "id\n\"open", 8, "" },
    { "id\na\"b\n", 7, "" },
    { "id\n\xFF\n", 5, "not UTF-8" },
    { "id\n\xC0\x80\n", 6, "not UTF-8" },         /* an overlong NUL */
    { "id\n\xED\xA0\x80\n", 7, "not UTF-8" },     /* a surrogate */
    { "id\n\xF4\x90\x80\x80\n", 8, "not UTF-8" }, /* beyond U+10FFFF */
    { "id\n\xE6\x98", 5, "not UTF-8" },           /* cut off */
    { "id\na\0b\n", 7, "NUL" },
};

START_TEST(broken_text_is_refused)
{
    struct rows rows;
    char why[64] = "";

    ck_assert_msg(!read_csv(refused[_i].text, refused[_i].size, &rows, why, sizeof(why)), "row %d", _i);
    ck_assert_msg(strstr(why, refused[_i].why) != NULL, "row %d: %s", _i, why);
    ck_assert_str_ne(why, "");
}
END_TEST

START_TEST(a_table_without_a_file_is_said)
{
    struct seed_set set = { NULL, 0 };
    struct row_source source = seed_source(&set);
    struct rows rows;
    char why[64];

    ck_assert(!source.read_table(source.context, "gpus", &rows, why, sizeof(why)));
    ck_assert_str_ne(why, "");
}
END_TEST

START_TEST(version_follows_every_byte)
{
    unsigned char bytes[] = "id\na\n";
    struct seed_file file = { "t", bytes, sizeof(bytes) - 1 };
    struct seed_set set = { &file, 1 };
    uint64_t before = seed_version(&set);

    ck_assert_uint_eq(seed_version(&set), before);
    ck_assert_uint_gt(before, 0);
    ck_assert_uint_lt(before, UINT64_C(1) << 48);
    for (size_t i = 0; i < file.size; i++) {
        bytes[i] ^= 1;
        ck_assert_uint_ne(seed_version(&set), before);
        bytes[i] ^= 1;
    }
    file.table = "u";
    ck_assert_uint_ne(seed_version(&set), before);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("seed");

    tcase_add_test(tcase, cells_are_found_by_row_and_column);
    tcase_add_test(tcase, a_header_alone_is_a_table_without_rows);
    tcase_add_loop_test(tcase, broken_text_is_refused, 0, COUNT_OF(refused));
    tcase_add_test(tcase, a_table_without_a_file_is_said);
    tcase_add_test(tcase, version_follows_every_byte);
    return suite_run("seed", tcase);
}
