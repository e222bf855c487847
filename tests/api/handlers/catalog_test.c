/* GET /catalog on the compiled-in catalog: filters, search, order, pages, columns, tables, and what is refused. */
#include "api/handlers/catalog.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers/catalog_cache.h"
#include "api/handlers/catalog_cursor.h"
#include "api/json/catalog_columns.h"
#include "service/base/text.h"
#include "tests/support/seed_catalog.h"
#include "tests/support/suite.h"

/* One request to a handler. */
static struct request request;
static struct response response;
static struct fault fault;
static char query_text[1024];

static void
start_request(const char *path, const char *query)
{
    char *next = query_text;

    memset(&request, 0, sizeof request);
    request.method = HTTP_GET;
    request.path = path;
    text_copy(query_text, sizeof query_text, query);
    while (*next) {
        struct query_parameter *parameter = &request.query[request.query_count++];
        char *end = next + strcspn(next, "&"), *value;

        parameter->name = next;
        next = *end ? end + 1 : end;
        *end = '\0';
        value = strchr(parameter->name, '=');
        parameter->value = value ? value + 1 : end;
        if (value)
            *value = '\0';
    }
}

static enum status
send_request(void)
{
    struct service_state state = { .version = "test", .catalog = seed_catalog(), .slot = seed_catalog_slot() };
    const char *tail = strchr(request.path + 1, '/');
    enum status status;

    buffer_give(response.body);
    memset(&response, 0, sizeof response);
    response.status = 200;
    response.body = buffer_take();
    fault_clear(&fault);
    if (!tail)
        return handle_catalog(&request, &state, &response, &fault);
    tail = strchr(tail + 1, '/');
    request.path_tail = tail ? tail + 1 : NULL;
    status = tail ? handle_catalog_item(&request, &state, &response, &fault)
                  : handle_catalog_list(&request, &state, &response, &fault);
    return status;
}

/* The reply's JSON; the caller decrefs. */
static json_t *
get(const char *path, const char *query)
{
    json_error_t error;
    json_t *json;

    start_request(path, query);
    ck_assert_msg(send_request() == STATUS_OK, "%s?%s: %s %s", path, query, fault_code_name(fault.code),
                  fault.items[0].pointer);
    ck_assert_int_eq(response.status, 200);
    json = json_loadb(response.body->bytes, response.body->size, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json != NULL, "%s?%s: %s", path, query, error.text);
    return json;
}

static const char *
get_text(const char *path, const char *query)
{
    start_request(path, query);
    ck_assert_int_eq(send_request(), STATUS_OK);
    buffer_append(response.body, "", 1);
    return response.body->bytes;
}

static const char *
header(const char *name)
{
    for (size_t i = 0; i < response.header_count; i++) {
        if (strcmp(response.headers[i].name, name) == 0)
            return response.headers[i].value;
    }
    return NULL;
}

static const char *
text_at(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static double
number_at(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static json_t *
items_of(const json_t *reply)
{
    return json_object_get(reply, "items");
}

static const char *
id_at(const json_t *reply, size_t i)
{
    return text_at(json_array_get(items_of(reply), i), "id");
}

/* --- the whole --- */

START_TEST(the_root_counts_and_links)
{
    json_t *reply = get("/catalog", ""), *counts = json_object_get(reply, "counts");
    const struct catalog *catalog = seed_catalog();

    ck_assert_uint_eq(strtoull(json_string_value(json_object_get(reply, "catalog_version")), NULL, 10),
                      catalog->version);
    ck_assert_str_eq(text_at(reply, "as_of"), catalog->as_of);
    ck_assert_str_eq(text_at(reply, "source"), "embedded");
    ck_assert_uint_eq((size_t)number_at(counts, "gpus"), catalog->gpu_count);
    ck_assert_uint_eq((size_t)number_at(counts, "instances") + (size_t)number_at(counts, "servers"),
                      catalog->offer_count);
    for (size_t i = 0; i < catalog_list_count; i++) {
        json_t *list = get(text_at(json_object_get(reply, "links"), catalog_lists[i]->name), "limit=1");

        ck_assert_uint_eq(json_array_size(items_of(list)), 1);
        json_decref(list);
    }
    json_decref(reply);
}
END_TEST

/* Every row of every list, page by page: each once, in order, and found again by its id. */
START_TEST(pages_hold_every_row_once)
{
    const struct catalog_list *list = catalog_lists[_i];
    char path[64], query[1024] = "limit=7", last[256] = "";
    size_t seen = 0, total = 0;

    text_format(path, sizeof path, "/catalog/%s", list->name);
    for (const char *cursor = ""; cursor;) {
        json_t *reply = get(path, query);
        size_t count = json_array_size(items_of(reply));
        bool has_link = header("Link") != NULL;

        total = (size_t)number_at(reply, "total_count");
        for (size_t i = 0; i < count; i++) {
            char item_path[384];

            ck_assert_str_gt(id_at(reply, i), last);
            text_copy(last, sizeof last, id_at(reply, i));
            if (i == 0) {
                text_format(item_path, sizeof item_path, "%s/%s", path, last);
                json_decref(get(item_path, ""));
            }
        }
        seen += count;
        cursor = text_at(reply, "next_cursor");
        ck_assert_int_eq(cursor != NULL, has_link);
        if (cursor)
            text_format(query, sizeof query, "limit=7&cursor=%s", cursor);
        json_decref(reply);
    }
    ck_assert_uint_eq(seen, total);
}
END_TEST

START_TEST(a_row_has_every_column)
{
    const struct catalog_list *list = catalog_lists[_i];
    char path[64];

    text_format(path, sizeof path, "/catalog/%s", list->name);
    json_t *reply = get(path, "limit=1"), *item = json_array_get(items_of(reply), 0);
    for (size_t i = 0; i < list->column_count; i++)
        ck_assert_msg(json_object_get(item, list->columns[i].name) != NULL, "%s: no %s", path, list->columns[i].name);
    ck_assert_uint_eq(json_object_size(item), list->column_count);
    json_decref(reply);
}
END_TEST

/* NVIDIA's data sheets: T4 70 W, 16 GB, no NVLink; H100 SXM NVLink 900 GB/s both ways, 700 W. */
START_TEST(figures_are_those_of_the_data_sheets)
{
    json_t *t4 = get("/catalog/gpus/t4-16gb", ""), *h100 = get("/catalog/gpus/h100-sxm-80gb", "");

    ck_assert_double_eq(number_at(t4, "tdp_watts"), 70);
    ck_assert_double_eq(number_at(t4, "memory_bytes"), 17179869184.0);
    ck_assert(json_is_null(json_object_get(t4, "nvlink_bytes_per_second")));
    ck_assert_str_eq(text_at(t4, "nvlink_kind"), "none");
    ck_assert(json_is_null(json_object_get(t4, "bf16_flop_per_second")));
    ck_assert_double_eq(number_at(h100, "nvlink_bytes_per_second"), 450e9);
    ck_assert_double_eq(number_at(h100, "tdp_watts"), 700);
    ck_assert_uint_eq(strtoull(json_string_value(json_object_get(h100, "catalog_version")), NULL, 10),
                      seed_catalog()->version);
    json_decref(t4);
    json_decref(h100);
}
END_TEST

START_TEST(money_is_a_decimal_text_and_no_price_is_an_empty_list)
{
    json_t *priced = get("/catalog/instances", "price_count_min=1&limit=1");
    json_t *price = json_array_get(json_object_get(json_array_get(items_of(priced), 0), "prices"), 0);
    json_t *unpriced = get("/catalog/instances", "price_count=0&limit=1");

    ck_assert(json_is_string(json_object_get(json_object_get(price, "low"), "amount")));
    ck_assert_uint_eq(strlen(text_at(json_object_get(price, "low"), "currency")), 3);
    ck_assert_ptr_nonnull(text_at(price, "price_type"));
    ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(items_of(unpriced), 0), "prices")), 0);
    ck_assert(json_is_array(json_object_get(json_array_get(items_of(unpriced), 0), "prices")));
    json_decref(priced);
    json_decref(unpriced);
}
END_TEST

/* --- filters, search, order, fields --- */

/* Whether an item of the reply to `query` must have a member of this text, or a number in this range. */
static const struct {
    const char *path, *query, *member, *text;
    double min, max;
} filters[] = {
    { "/catalog/gpus", "vendor=nvidia", "vendor", "NVIDIA", 0, 0 },
    { "/catalog/gpus", "family=hopper&limit=200", "family", "hopper", 0, 0 },
    { "/catalog/gpus", "memory_bytes_min=85899345920", "memory_bytes", NULL, 85899345920.0, 1e15 },
    { "/catalog/gpus", "tdp_watts_max=75", "tdp_watts", NULL, 1, 75 },
    { "/catalog/gpus", "memory_bytes=25769803776", "memory_bytes", NULL, 25769803776.0, 25769803776.0 },
    { "/catalog/instances", "provider=aliyun", "provider", "aliyun", 0, 0 },
    { "/catalog/instances", "gpu=a100-sxm-80gb", "gpu", "a100-sxm-80gb", 0, 0 },
    { "/catalog/instances", "gpu_count_min=8&gpu_count_max=8", "gpu_count", NULL, 8, 8 },
    { "/catalog/prices", "currency=CNY&price_type=spot", "price_type", "spot", 0, 0 },
    { "/catalog/prices", "provider=aws", "provider", "aws", 0, 0 },
    { "/catalog/models", "parameter_count_min=1e11", "parameter_count", NULL, 1e11, 1e14 },
    { "/catalog/storage", "media=nvme", "media", "nvme", 0, 0 },
};

START_TEST(filters_leave_what_fits)
{
    json_t *reply = get(filters[_i].path, filters[_i].query), *item;
    size_t i;

    ck_assert_msg(json_array_size(items_of(reply)) > 0, "%s?%s has nothing", filters[_i].path, filters[_i].query);
    json_array_foreach(items_of(reply), i, item)
    {
        if (filters[_i].text) {
            ck_assert_str_eq(text_at(item, filters[_i].member), filters[_i].text);
        } else {
            ck_assert_double_ge(number_at(item, filters[_i].member), filters[_i].min);
            ck_assert_double_le(number_at(item, filters[_i].member), filters[_i].max);
        }
    }
    json_decref(reply);
}
END_TEST

static size_t
total(const char *path, const char *query)
{
    json_t *reply = get(path, query);
    size_t count = (size_t)number_at(reply, "total_count");

    json_decref(reply);
    return count;
}

START_TEST(several_values_of_one_filter_are_any_of_them)
{
    size_t hopper = total("/catalog/gpus", "family=hopper"), ampere = total("/catalog/gpus", "family=ampere");

    ck_assert_uint_gt(hopper, 0);
    ck_assert_uint_eq(total("/catalog/gpus", "family=hopper&family=ampere"), hopper + ampere);
    ck_assert_uint_eq(total("/catalog/gpus", "family=hopper,ampere"), hopper + ampere);
    ck_assert_uint_eq(total("/catalog/gpus", "family="), seed_catalog()->gpu_count);
    ck_assert_uint_eq(total("/catalog/gpus", "family=hopper&memory_bytes_max=1"), 0);
}
END_TEST

/* Known, false and not known are three things. */
START_TEST(what_is_not_known_fits_neither_truth)
{
    size_t yes = total("/catalog/gpus", "export_restricted=true"),
           no = total("/catalog/gpus", "export_restricted=false");

    ck_assert_uint_gt(yes, 0);
    ck_assert_uint_gt(no, 0);
    ck_assert_uint_lt(yes + no, seed_catalog()->gpu_count);
}
END_TEST

static const struct {
    const char *path, *query, *id;
} searches[] = {
    { "/catalog/gpus", "q=4090", "rtx-4090-24gb" },    { "/catalog/gpus", "q=H100 80gb HBM3", "h100-sxm-80gb" },
    { "/catalog/gpus", "q=昇腾", "ascend-910b-64gb" }, { "/catalog/providers", "q=阿里云", "aliyun" },
    { "/catalog/providers", "q=ALIBABA", "aliyun" },   { "/catalog/models", "q=通义千问", "qwen-1.8b" },
    { "/catalog/storage", "q=阿里云", "essd-pl1" },
};

START_TEST(words_are_found_in_names_and_aliases)
{
    char query[128];
    bool found = false;
    json_t *item;
    size_t i;

    text_format(query, sizeof query, "%s&limit=200", searches[_i].query);
    json_t *reply = get(searches[_i].path, query);
    json_array_foreach(items_of(reply), i, item)
    {
        found = found || strcmp(text_at(item, "id"), searches[_i].id) == 0;
    }
    ck_assert_msg(found, "%s?%s has no %s", searches[_i].path, searches[_i].query, searches[_i].id);
    json_decref(reply);
}
END_TEST

START_TEST(a_word_that_stands_nowhere_finds_nothing)
{
    ck_assert_uint_eq(total("/catalog/gpus", "q=abacus"), 0);
    ck_assert_uint_eq(total("/catalog/gpus", "q=h100 abacus"), 0);
    ck_assert_uint_eq(total("/catalog/gpus", "q="), seed_catalog()->gpu_count);
}
END_TEST

START_TEST(order_is_as_asked_and_the_unknown_comes_last)
{
    static const char *const queries[] = { "sort=tdp_watts&limit=200", "sort=-tdp_watts&limit=200" };
    json_t *item;
    size_t i;

    for (int descending = 0; descending < 2; descending++) {
        json_t *reply = get("/catalog/gpus", queries[descending]);
        double last = descending ? 1e9 : 0;
        bool unknown = false;

        json_array_foreach(items_of(reply), i, item)
        {
            const json_t *watts = json_object_get(item, "tdp_watts");

            ck_assert(!unknown || json_is_null(watts));
            unknown = json_is_null(watts);
            if (unknown)
                continue;
            ck_assert(descending ? json_number_value(watts) <= last : json_number_value(watts) >= last);
            last = json_number_value(watts);
        }
        json_decref(reply);
    }
}
END_TEST

/* Equal in the first, ordered by the second; the id decides at last. */
START_TEST(a_second_column_breaks_ties)
{
    json_t *reply = get("/catalog/instances", "sort=provider,-gpu_count&limit=200"), *items = items_of(reply);

    for (size_t i = 1; i < json_array_size(items); i++) {
        const json_t *before = json_array_get(items, i - 1), *item = json_array_get(items, i);
        int order = strcmp(text_at(before, "provider"), text_at(item, "provider"));

        ck_assert_int_le(order, 0);
        if (order == 0)
            ck_assert_double_ge(number_at(before, "gpu_count"), number_at(item, "gpu_count"));
        if (order == 0 && number_at(before, "gpu_count") == number_at(item, "gpu_count"))
            ck_assert_str_lt(text_at(before, "id"), text_at(item, "id"));
    }
    json_decref(reply);
}
END_TEST

START_TEST(sorted_pages_do_not_repeat_rows)
{
    char query[1024] = "sort=-gpu_count,provider&limit=100";
    size_t seen = 0;
    double last = 1e9;

    for (bool more = true; more;) {
        json_t *reply = get("/catalog/instances", query);
        const char *cursor = text_at(reply, "next_cursor");

        seen += json_array_size(items_of(reply));
        ck_assert_double_le(number_at(json_array_get(items_of(reply), 0), "gpu_count"), last);
        last = number_at(json_array_get(items_of(reply), json_array_size(items_of(reply)) - 1), "gpu_count");
        more = cursor != NULL;
        text_format(query, sizeof query, "sort=-gpu_count,provider&limit=100&cursor=%s", cursor ? cursor : "");
        json_decref(reply);
    }
    ck_assert_uint_eq(seen, total("/catalog/instances", ""));
}
END_TEST

START_TEST(only_the_fields_asked_for_are_shown)
{
    json_t *reply = get("/catalog/gpus", "fields=name,id&limit=1"), *item = json_array_get(items_of(reply), 0);

    ck_assert_uint_eq(json_object_size(item), 2);
    ck_assert_str_eq(json_object_iter_key(json_object_iter(item)), "name");
    json_decref(reply);
    reply = get("/catalog/gpus/t4-16gb", "fields=tdp_watts");
    ck_assert_uint_eq(json_object_size(reply), 2); /* and the version */
    json_decref(reply);
}
END_TEST

/* Prices of the day; a day of the past shows what held then. */
START_TEST(as_of_shows_the_prices_of_another_day)
{
    const struct catalog *catalog = seed_catalog();
    size_t now = total("/catalog/prices", ""), then = total("/catalog/prices", "as_of=2024-06-01");
    size_t held = 0;
    char query[64];

    for (size_t i = 0; i < catalog->price_count; i++) {
        const struct price *price = &catalog->prices[i];

        held += strcmp(price->valid_from, "2024-06-01") <= 0 &&
                (!price->valid_to || strcmp(price->valid_to, "2024-06-01") > 0);
    }
    ck_assert_uint_eq(then, held);
    ck_assert_uint_lt(now, catalog->price_count);
    ck_assert_uint_eq(total("/catalog/prices", "as_of=1999-01-01T00:00:00Z"), 0);
    text_format(query, sizeof query, "as_of=%s", catalog->as_of);
    ck_assert_uint_eq(total("/catalog/prices", query), now);
    ck_assert_uint_eq(total("/catalog/instances", "as_of=1999-01-01&price_count_min=1"), 0);
    ck_assert_uint_gt(total("/catalog/instances", "as_of=2024-06-01&price_count_min=1"), 0);
    ck_assert_uint_eq(total("/catalog/gpus", query), catalog->gpu_count);
}
END_TEST

START_TEST(a_limit_is_cut_not_refused)
{
    json_t *reply = get("/catalog/instances", "limit=1000000"), *usual = get("/catalog/instances", "");

    ck_assert_uint_eq(json_array_size(items_of(reply)), 200);
    ck_assert_uint_eq(json_array_size(items_of(usual)), 50);
    json_decref(reply);
    json_decref(usual);
}
END_TEST

/* --- other forms --- */

static size_t
lines_of(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

START_TEST(csv_is_the_whole_list_with_a_byte_order_mark)
{
    const char *csv = get_text("/catalog/instances", "format=csv&fields=id,gpu_count,note");

    ck_assert_int_eq(strncmp(csv, "\xEF\xBB\xBFid,gpu_count,note\r\n", 22), 0);
    ck_assert_int_eq(response.media, MEDIA_CSV);
    ck_assert_str_eq(header("Content-Disposition"), "attachment; filename=\"sizer-instances.csv\"");
    ck_assert_uint_ge(lines_of(csv), total("/catalog/instances", "") + 1);
}
END_TEST

START_TEST(accept_chooses_the_form_and_format_beats_it)
{
    start_request("/catalog/gpus", "");
    request.accept = MEDIA_NDJSON;
    ck_assert_int_eq(send_request(), STATUS_OK);
    ck_assert_int_eq(response.media, MEDIA_NDJSON);
    start_request("/catalog/gpus", "format=json");
    request.accept = MEDIA_CSV;
    ck_assert_int_eq(send_request(), STATUS_OK);
    ck_assert_int_eq(response.media, MEDIA_JSON);
}
END_TEST

START_TEST(ndjson_is_one_object_a_line)
{
    char *text = strdup(get_text("/catalog/servers", "format=ndjson"));
    size_t lines = 0;

    for (char *line = text; *line; lines++) {
        char *end = strchr(line, '\n');

        ck_assert_ptr_nonnull(end);
        json_t *object = json_loadb(line, (size_t)(end - line), 0, NULL);
        ck_assert(json_is_object(object));
        json_decref(object);
        line = end + 1;
    }
    free(text);
    ck_assert_uint_eq(lines, total("/catalog/servers", ""));
}
END_TEST

/* --- tags --- */

static void
ask_again(const char *path, const char *query, const char *if_none_match)
{
    start_request(path, query);
    request.if_none_match = if_none_match;
    ck_assert_int_eq(send_request(), STATUS_OK);
}

START_TEST(an_unchanged_reply_is_not_sent_again)
{
    static const char *const paths[] = { "/catalog", "/catalog/gpus", "/catalog/gpus/t4-16gb" };
    char etag[64], list[256];

    json_decref(get(paths[_i], ""));
    text_copy(etag, sizeof etag, header("ETag"));
    ck_assert_int_eq(etag[0], '"'); /* strong */
    ask_again(paths[_i], "", etag);
    ck_assert_int_eq(response.status, 304);
    ck_assert_uint_eq(response.body->size, 0);
    ck_assert_str_eq(header("ETag"), etag);
    ck_assert_ptr_nonnull(header("Vary"));
    text_format(list, sizeof list, "\"a,b\", W/%s", etag);
    ask_again(paths[_i], "", list);
    ck_assert_int_eq(response.status, 304);
    ask_again(paths[_i], "", "*");
    ck_assert_int_eq(response.status, 304);
    ck_assert_uint_eq(response.body->size, 0);
    ask_again(paths[_i], "", "\"0123456789abcdef\"");
    ck_assert_int_eq(response.status, 200);
}
END_TEST

START_TEST(each_form_and_query_has_its_own_tag)
{
    char tags[5][64];

    for (size_t i = 0; i < COUNT_OF(tags); i++) {
        start_request("/catalog/gpus", i == 1 ? "limit=3" : i == 2 ? "limit=3&format=csv" : "");
        request.accept = i == 3 ? MEDIA_CSV : MEDIA_JSON;
        request.accepts_gzip = i == 4;
        ck_assert_int_eq(send_request(), STATUS_OK);
        text_copy(tags[i], sizeof tags[i], header("ETag"));
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(tags[i], tags[j]);
    }
}
END_TEST

/* The second reply comes from the cache: the same bytes and headers, and freed by nobody but the cache. */
START_TEST(a_reply_is_the_same_the_second_time)
{
    static const char *const queries[] = { "limit=3", "limit=3&format=csv", "q=a100", "sort=-tdp_watts" };

    for (size_t i = 0; i < COUNT_OF(queries); i++) {
        for (int gzip = 0; gzip < 2; gzip++) {
            char *bytes, link[RESPONSE_HEADER_SIZE];
            size_t size;

            start_request("/catalog/gpus", queries[i]);
            request.accepts_gzip = gzip;
            ck_assert_int_eq(send_request(), STATUS_OK);
            size = response.body->size;
            bytes = malloc(size);
            memcpy(bytes, response.body->bytes, size);
            text_copy(link, sizeof link, header("Link"));
            ck_assert_int_eq(header("Content-Encoding") != NULL, gzip);
            start_request("/catalog/gpus", queries[i]);
            request.accepts_gzip = gzip;
            ck_assert_int_eq(send_request(), STATUS_OK);
            ck_assert_uint_eq(response.body->size, size);
            ck_assert_mem_eq(response.body->bytes, bytes, size);
            ck_assert_int_eq(header("Content-Encoding") != NULL, gzip);
            ck_assert_str_eq(header("Link") ? header("Link") : "", link);
            free(bytes);
        }
    }
}
END_TEST

START_TEST(a_link_leads_to_the_next_page)
{
    json_decref(get("/catalog/providers", "limit=2&q=a&sort=-name"));
    ck_assert_ptr_nonnull(strstr(header("Link"), "</catalog/providers?cursor="));
    ck_assert_ptr_nonnull(strstr(header("Link"), "&limit=2&q=a&sort=-name>; rel=\"next\""));
    json_decref(get("/catalog/providers", "limit=2&q=阿"));
    ck_assert_ptr_null(header("Link"));
    json_decref(get("/catalog/models", "limit=2&q=通"));
    ck_assert_ptr_nonnull(strstr(header("Link"), "&q=%E9%80%9A>"));
}
END_TEST

/* --- refusals --- */

static const struct {
    const char *path, *query;
    enum fault_code code;
    const char *parameter, *suggestion;
} refused[] = {
    { "/catalog", "x=1", FAULT_UNKNOWN_PARAMETER, "x", "" },
    { "/catalog/gpus", "vndor=x", FAULT_UNKNOWN_PARAMETER, "vndor", "vendor" },
    { "/catalog/gpus", "memory_bytes_mim=1", FAULT_UNKNOWN_PARAMETER, "memory_bytes_mim", "memory_bytes_min" },
    { "/catalog/gpus", "name_min=1", FAULT_UNKNOWN_PARAMETER, "name_min", NULL },
    { "/catalog/gpus", "aliases=x", FAULT_UNKNOWN_PARAMETER, "aliases", NULL },
    { "/catalog/instances", "prices=1", FAULT_UNKNOWN_PARAMETER, "prices", NULL },
    { "/catalog/gpus", "limits=5", FAULT_UNKNOWN_PARAMETER, "limits", "limit" },
    { "/catalog/gpus", "memory_bytes=much", FAULT_BAD_PARAMETER, "memory_bytes", "" },
    { "/catalog/gpus", "memory_bytes_min=nan", FAULT_BAD_PARAMETER, "memory_bytes_min", "" },
    { "/catalog/gpus", "memory_bytes_min=1e999", FAULT_BAD_PARAMETER, "memory_bytes_min", "" },
    { "/catalog/gpus", "peer_to_peer=yes", FAULT_BAD_PARAMETER, "peer_to_peer", "" },
    { "/catalog/gpus", "limit=0", FAULT_BAD_PARAMETER, "limit", "" },
    { "/catalog/gpus", "limit=-1", FAULT_BAD_PARAMETER, "limit", "" },
    { "/catalog/gpus", "limit=ten", FAULT_BAD_PARAMETER, "limit", "" },
    { "/catalog/gpus", "limit=1&limit=2", FAULT_BAD_PARAMETER, "limit", "" },
    { "/catalog/gpus", "sort=tdp_wats", FAULT_BAD_PARAMETER, "sort", "tdp_watts" },
    { "/catalog/gpus", "sort=aliases", FAULT_BAD_PARAMETER, "sort", NULL },
    { "/catalog/gpus", "sort=id,name,vendor,family,note", FAULT_BAD_PARAMETER, "sort", "" },
    { "/catalog/gpus", "fields=nam", FAULT_BAD_PARAMETER, "fields", "name" },
    { "/catalog/gpus", "fields=id,", FAULT_BAD_PARAMETER, "fields", "" },
    { "/catalog/gpus", "format=xml", FAULT_BAD_PARAMETER, "format", "" },
    { "/catalog/gpus", "as_of=yesterday", FAULT_BAD_PARAMETER, "as_of", "" },
    { "/catalog/gpus", "as_of=2026-13-01", FAULT_BAD_PARAMETER, "as_of", "" },
    { "/catalog/gpus", "as_of=2024-01-01", FAULT_BAD_PARAMETER, "as_of", "" },
    { "/catalog/prices", "as_of=2024-01-01T00:00:00+08:00", FAULT_BAD_PARAMETER, "as_of", "" },
    { "/catalog/gpus", "cursor=abc", FAULT_CURSOR_INVALID, "cursor", "" },
    { "/catalog/gpus", "cursor=%%%", FAULT_CURSOR_INVALID, "cursor", "" },
    { "/catalog/gpus/t4-16gb", "limit=1", FAULT_UNKNOWN_PARAMETER, "limit", NULL },
    { "/catalog/gpus/h100-smx-80gb", "", FAULT_NOT_FOUND, "id", "h100-sxm-80gb" },
    { "/catalog/gpus/H100", "", FAULT_NOT_FOUND, "id", "h100-sxm-80gb" },
    { "/catalog/instances/dell-xe9680-8xh100", "", FAULT_NOT_FOUND, "id", NULL },
    { "/catalog/models/Llama 3 8B", "", FAULT_NOT_FOUND, "id", NULL },
    { "/catalog/prices/none", "", FAULT_NOT_FOUND, "id", "" },
};

START_TEST(what_is_wrong_is_named)
{
    start_request(refused[_i].path, refused[_i].query);
    ck_assert_msg(send_request() == STATUS_FAULT, "%s?%s was answered", refused[_i].path, refused[_i].query);
    ck_assert_str_eq(fault_code_name(fault.code), fault_code_name(refused[_i].code));
    ck_assert_str_eq(fault.items[0].pointer, refused[_i].parameter);
    ck_assert(fault.items[0].is_parameter);
    if (refused[_i].suggestion)
        ck_assert_str_eq(fault.items[0].suggestion, refused[_i].suggestion);
}
END_TEST

START_TEST(all_mistakes_are_told_at_once)
{
    start_request("/catalog/gpus", "limit=0&vndor=x&sort=nothing&memory_bytes=much");
    ck_assert_int_eq(send_request(), STATUS_FAULT);
    ck_assert_uint_eq(fault.item_count, 4);
}
END_TEST

/* A cursor belongs to its list, filters, order and version. */
START_TEST(a_cursor_of_another_question_is_refused)
{
    static const char *const others[][2] = {
        { "/catalog/providers", "limit=2&q=a&cursor=%s" },
        { "/catalog/gpus", "limit=2&q=b&cursor=%s" },
        { "/catalog/gpus", "limit=2&q=a&sort=-id&cursor=%s" },
        { "/catalog/gpus", "limit=2&q=a&vendor=AMD&cursor=%s" },
    };
    json_t *reply = get("/catalog/gpus", "limit=2&q=a");
    const char *cursor = text_at(reply, "next_cursor");
    struct catalog_cursor taken;
    char query[1024], text[CURSOR_TEXT_SIZE];

    text_format(query, sizeof query, "limit=50&q=a&fields=id&cursor=%s", cursor);
    json_decref(get("/catalog/gpus", query)); /* the page's size and columns may change */
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        (void)snprintf(query, sizeof query, others[i][1], cursor);
        start_request(others[i][0], query);
        ck_assert_int_eq(send_request(), STATUS_FAULT);
        ck_assert_str_eq(fault_code_name(fault.code), "cursor_invalid");
    }
    ck_assert(catalog_cursor_read(cursor, &taken));
    ck_assert_uint_eq(taken.version, seed_catalog()->version);
    taken.version++;
    catalog_cursor_write(&taken, text);
    text_format(query, sizeof query, "limit=2&q=a&cursor=%s", text);
    start_request("/catalog/gpus", query);
    ck_assert_int_eq(send_request(), STATUS_FAULT);
    ck_assert_str_eq(fault_code_name(fault.code), "cursor_invalid");
    json_decref(reply);
}
END_TEST

START_TEST(a_cursor_is_read_as_it_was_written)
{
    struct catalog_cursor cursor = { .version = 0xFFFFFFFFFFFFU, .shape = UINT64_MAX }, taken;
    char text[CURSOR_TEXT_SIZE];

    for (size_t length = 1; length < CURSOR_ID_SIZE; length++) {
        memset(cursor.id, 'x', length);
        cursor.id[length - 1] = '.';
        catalog_cursor_write(&cursor, text);
        ck_assert(catalog_cursor_read(text, &taken));
        ck_assert_uint_eq(taken.version, cursor.version);
        ck_assert_uint_eq(taken.shape, cursor.shape);
        ck_assert_str_eq(taken.id, cursor.id);
    }
}
END_TEST

static void
give_back(void)
{
    buffer_give(response.body);
    response.body = NULL;
    catalog_cache_done();
}

int
main(void)
{
    TCase *tcase = tcase_create("catalog");
    int lists = (int)catalog_list_count;

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, NULL, give_back);
    tcase_add_test(tcase, the_root_counts_and_links);
    tcase_add_loop_test(tcase, pages_hold_every_row_once, 0, lists);
    tcase_add_loop_test(tcase, a_row_has_every_column, 0, lists);
    tcase_add_test(tcase, figures_are_those_of_the_data_sheets);
    tcase_add_test(tcase, money_is_a_decimal_text_and_no_price_is_an_empty_list);
    tcase_add_loop_test(tcase, filters_leave_what_fits, 0, COUNT_OF(filters));
    tcase_add_test(tcase, several_values_of_one_filter_are_any_of_them);
    tcase_add_test(tcase, what_is_not_known_fits_neither_truth);
    tcase_add_loop_test(tcase, words_are_found_in_names_and_aliases, 0, COUNT_OF(searches));
    tcase_add_test(tcase, a_word_that_stands_nowhere_finds_nothing);
    tcase_add_test(tcase, order_is_as_asked_and_the_unknown_comes_last);
    tcase_add_test(tcase, a_second_column_breaks_ties);
    tcase_add_test(tcase, sorted_pages_do_not_repeat_rows);
    tcase_add_test(tcase, only_the_fields_asked_for_are_shown);
    tcase_add_test(tcase, as_of_shows_the_prices_of_another_day);
    tcase_add_test(tcase, a_limit_is_cut_not_refused);
    tcase_add_test(tcase, csv_is_the_whole_list_with_a_byte_order_mark);
    tcase_add_test(tcase, accept_chooses_the_form_and_format_beats_it);
    tcase_add_test(tcase, ndjson_is_one_object_a_line);
    tcase_add_loop_test(tcase, an_unchanged_reply_is_not_sent_again, 0, 3);
    tcase_add_test(tcase, each_form_and_query_has_its_own_tag);
    tcase_add_test(tcase, a_reply_is_the_same_the_second_time);
    tcase_add_test(tcase, a_link_leads_to_the_next_page);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, COUNT_OF(refused));
    tcase_add_test(tcase, all_mistakes_are_told_at_once);
    tcase_add_test(tcase, a_cursor_of_another_question_is_refused);
    tcase_add_test(tcase, a_cursor_is_read_as_it_was_written);
    return suite_run("catalog", tcase);
}
