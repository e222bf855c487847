/* CSV cells: quoted as RFC 4180 says, and never taken for a formula by a spreadsheet (OWASP, CSV injection). */
#include "api/json/catalog_csv.h"

#include <string.h>

#include "api/json/catalog_json.h"
#include "tests/support/suite.h"

/* One provider's row with only id and name. */
static const char *
row_named(const char *name)
{
    static struct buffer *out;
    const struct provider provider = { .id = "p", .name = name };
    const struct catalog catalog = { .providers = &provider, .provider_count = 1, .as_of = "2026-11-30T00:00:00Z" };
    const struct catalog_view view = { .catalog = &catalog, .date = "2026-11-30", .is_current = true };
    const struct column_choice choice = { .count = 2,
                                          .columns = { catalog_column_find(&providers_list, "id"),
                                                       catalog_column_find(&providers_list, "name") } };

    buffer_give(out);
    out = buffer_take();
    catalog_csv_row(out, &view, &providers_list, &choice, &provider);
    buffer_append(out, "", 1);
    return out->bytes;
}

static const struct {
    const char *name, *row;
} cells[] = {
    { "plain", "p,plain\r\n" },
    { NULL, "p,\r\n" },
    { "a,b", "p,\"a,b\"\r\n" },
    { "say \"hi\"", "p,\"say \"\"hi\"\"\"\r\n" },
    { "two\nlines", "p,\"two\nlines\"\r\n" },
    { "阿里云", "p,阿里云\r\n" },
    { "=1+1", "p,'=1+1\r\n" },
    { "+1", "p,'+1\r\n" },
    { "-1", "p,'-1\r\n" },
    { "@SUM(A1)", "p,'@SUM(A1)\r\n" },
    { "\tx", "p,'\tx\r\n" },
    { "\rx", "p,\"'\rx\"\r\n" },
    { "=HYPERLINK(\"http://x\",\"y\")", "p,\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"\r\n" },
    { "a=b", "p,a=b\r\n" },
};

START_TEST(a_cell_is_quoted_and_guarded)
{
    ck_assert_str_eq(row_named(cells[_i].name), cells[_i].row);
}
END_TEST

START_TEST(prices_of_an_offer_are_one_cell)
{
    static const struct price prices[] = {
        { .id = "1",
          .type = PRICE_ON_DEMAND,
          .unit = PRICE_PER_HOUR,
          .region = "cn-\"x\"",
          .valid_from = "2026-01-01",
          .low = { 8500000, CURRENCY_CNY },
          .high = { 8500000, CURRENCY_CNY } },
        { .id = "2",
          .type = PRICE_PURCHASE,
          .unit = PRICE_PER_UNIT,
          .region = "any",
          .valid_from = "2026-01-01",
          .low = { 1000000, CURRENCY_USD },
          .high = { 2500000, CURRENCY_USD } },
    };
    static const struct provider provider = { .id = "p" };
    static const struct offer offer = { .id = "p:a", .provider = &provider, .prices = prices, .price_count = 2 };
    static const struct catalog catalog = { .as_of = "2026-11-30T00:00:00Z", .offers = &offer, .offer_count = 1 };
    const struct catalog_view view = { .catalog = &catalog, .date = "2026-11-30", .is_current = true };
    const struct column_choice choice = { .count = 1, .columns = { catalog_column_find(&instances_list, "prices") } };
    struct buffer *out = buffer_take();

    catalog_csv_header(out, &choice);
    catalog_csv_row(out, &view, &instances_list, &choice, &offer);
    buffer_append(out, "", 1);
    ck_assert_str_eq(out->bytes, "\xEF\xBB\xBFprices\r\n"
                                 "\"on_demand cn-\"\"x\"\" 8.50 CNY/hour; purchase any 1.00..2.50 USD/unit\"\r\n");
    buffer_give(out);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("catalog_csv");

    tcase_add_loop_test(tcase, a_cell_is_quoted_and_guarded, 0, COUNT_OF(cells));
    tcase_add_test(tcase, prices_of_an_offer_are_one_cell);
    return suite_run("catalog_csv", tcase);
}
