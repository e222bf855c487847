/* How far estimates are from what people measured: every published case is asked in process, results by slice.
 *
 *   accuracy [--verbose] [FILE.jsonl ...]     without files: all of tests/data/accuracy
 *
 * Prints a Markdown table; ends with 1 when a case was refused by a fault of this program (5xx). A case is one JSON
 * object a line: {"id", "slice", "source", "path", "request", "expect": [{"at", "is"|"equals"|"near"+"within"|"min"|
 * "max"|"has"}]}. A range is read at "expected"; whether the truth lies in its band, and how wide that is, is counted.
 */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers/estimate.h"
#include "api/handlers/recommend.h"
#include "db/db.h"
#include "service/base/quantity.h"

enum { MAX_SLICES = 64, MAX_FILES = 16 };

struct slice {
    char name[64];
    size_t cases, held, refused, errors_count, capacity, banded, covered;
    double *errors, *signed_errors, *widths;
};

static struct slice slices[MAX_SLICES];
static size_t slice_count, broken;
static int verbose;

static struct slice *
slice_of(const char *name)
{
    for (size_t i = 0; i < slice_count; i++)
        if (strcmp(slices[i].name, name) == 0)
            return &slices[i];
    if (slice_count == MAX_SLICES)
        return NULL;
    snprintf(slices[slice_count].name, sizeof slices[slice_count].name, "%s", name);
    return &slices[slice_count++];
}

static void
keep_error(struct slice *slice, double error, double width, int covered)
{
    if (slice->errors_count == slice->capacity) {
        slice->capacity = slice->capacity ? 2 * slice->capacity : 64;
        slice->errors = realloc(slice->errors, slice->capacity * sizeof(double));
        slice->signed_errors = realloc(slice->signed_errors, slice->capacity * sizeof(double));
        slice->widths = realloc(slice->widths, slice->capacity * sizeof(double));
        if (!slice->errors || !slice->signed_errors || !slice->widths)
            abort();
    }
    slice->signed_errors[slice->errors_count] = error;
    slice->errors[slice->errors_count++] = fabs(error);
    if (covered >= 0) {
        slice->widths[slice->banded++] = width;
        slice->covered += (size_t)covered;
    }
}

/* The value at an RFC 6901 pointer (no escapes occur in ours), NULL when absent. */
static const json_t *
value_at(const json_t *document, const char *pointer, size_t length)
{
    while (document && length > 1) {
        char token[96];
        size_t size = 0;

        for (pointer++, length--; length && *pointer != '/' && size + 1 < sizeof token; pointer++, length--)
            token[size++] = *pointer;
        token[size] = '\0';
        document = json_is_array(document) ? json_array_get(document, (size_t)strtoul(token, NULL, 10))
                                           : json_object_get(document, token);
    }
    return document;
}

/* Low and high end of the band around a figure: its own range, or the members beside a memory figure. */
static int
band_of(const json_t *reply, const char *at, const json_t *seen, double *ret_low, double *ret_high)
{
    const json_t *low = json_object_get(seen, "low"), *high = json_object_get(seen, "high");
    const char *name = strrchr(at, '/');
    const json_t *holder = value_at(reply, at, (size_t)(name - at));

    if (strcmp(name, "/allocated_bytes") == 0) {
        low = json_object_get(holder, "allocated_low_bytes");
        high = json_object_get(holder, "allocated_high_bytes");
    } else if (strcmp(name, "/reserved_bytes") == 0) {
        low = json_object_get(holder, "low_bytes");
        high = json_object_get(holder, "high_bytes");
    }
    if (!json_is_number(low) || !json_is_number(high))
        return 0;
    *ret_low = json_number_value(low);
    *ret_high = json_number_value(high);
    return 1;
}

static int
has_code(const json_t *list, const char *code)
{
    size_t i;
    const json_t *item;

    json_array_foreach(list, i, item)
    {
        const char *found = json_string_value(json_object_get(item, "code"));

        if (found && strcmp(found, code) == 0)
            return 1;
    }
    return 0;
}

static int
is_one_of(const json_t *seen, const json_t *list)
{
    size_t i;
    const json_t *item;

    json_array_foreach(list, i, item)
    {
        if (json_equal(seen, item))
            return 1;
    }
    return 0;
}

static int
near_holds(struct slice *slice, const json_t *reply, const char *at, const json_t *raw, double value,
           const json_t *expectation)
{
    double truth = json_number_value(json_object_get(expectation, "near"));
    double within = json_number_value(json_object_get(expectation, "within"));
    double error = truth != 0 ? (value - truth) / truth : value != 0;
    double low = 0, high = 0;
    int banded = band_of(reply, at, raw, &low, &high) && value != 0;

    keep_error(slice, error, banded ? (high - low) / fabs(value) : 0, banded ? low <= truth && truth <= high : -1);
    return fabs(error) <= within;
}

static int
holds(struct slice *slice, const json_t *reply, const json_t *expectation)
{
    const char *at = json_string_value(json_object_get(expectation, "at"));
    const json_t *raw = value_at(reply, at, strlen(at)), *seen = raw;
    const json_t *low = json_object_get(expectation, "min"), *high = json_object_get(expectation, "max");
    double value;

    if (json_object_get(seen, "expected"))
        seen = json_object_get(seen, "expected");
    if (json_object_get(expectation, "is"))
        return seen && is_one_of(seen, json_object_get(expectation, "is"));
    if (json_object_get(expectation, "equals"))
        return seen && json_equal(seen, json_object_get(expectation, "equals"));
    if (json_object_get(expectation, "has"))
        return has_code(seen, json_string_value(json_object_get(expectation, "has")));
    if (!json_is_number(seen))
        return 0;
    value = json_number_value(seen);
    if (json_object_get(expectation, "near"))
        return near_holds(slice, reply, at, raw, value, expectation);
    return (!low || value >= json_number_value(low)) && (!high || value <= json_number_value(high));
}

static json_t *
ask(const struct catalog *catalog, struct catalog_slot *slot, const char *path, const json_t *body, struct fault *fault)
{
    struct service_state state = { .version = "accuracy", .catalog = catalog, .slot = slot };
    struct request request = { .method = HTTP_POST, .path = path };
    struct response response = { .status = 200, .body = buffer_take() };
    char *text = json_dumps(body, JSON_COMPACT);
    json_t *reply = NULL;
    enum status status;

    request.body = text;
    request.body_size = strlen(text);
    fault_clear(fault);
    status = strcmp(path, "/recommend") == 0 ? handle_recommend(&request, &state, &response, fault)
                                             : handle_estimate(&request, &state, &response, fault);
    if (status == STATUS_OK) {
        reply = json_loadb(response.body->bytes, response.body->size, 0, NULL);
        broken += !reply;
    } else if (fault->code == FAULT_INTERNAL) {
        broken++;
    }
    buffer_give(response.body);
    free(text);
    return reply;
}

static void
run_case(const struct catalog *catalog, struct catalog_slot *slot, const json_t *row)
{
    const char *path = json_string_value(json_object_get(row, "path"));
    const json_t *expectations = json_object_get(row, "expect"), *expectation;
    struct slice *slice = slice_of(json_string_value(json_object_get(row, "slice")));
    struct fault fault;
    json_t *reply = ask(catalog, slot, path ? path : "/estimate", json_object_get(row, "request"), &fault);
    int held = reply != NULL;
    size_t i;

    slice->cases++;
    slice->refused += !reply;
    if (!reply && verbose)
        printf("%s [%s] refused: %s at %s (%s)\n", json_string_value(json_object_get(row, "id")), slice->name,
               fault_code_name(fault.code), fault.item_count ? fault.items[0].pointer : "",
               fault.item_count ? fault.items[0].value : "");
    json_array_foreach(expectations, i, expectation)
    {
        if (reply && !holds(slice, reply, expectation)) {
            const char *at = json_string_value(json_object_get(expectation, "at"));
            char *seen = json_dumps(value_at(reply, at, strlen(at)), JSON_ENCODE_ANY | JSON_COMPACT);
            char *want = json_dumps(expectation, JSON_COMPACT);

            held = 0;
            if (verbose)
                printf("%s [%s] %.120s wanted %.200s\n", json_string_value(json_object_get(row, "id")), slice->name,
                       seen ? seen : "absent", want);
            free(seen);
            free(want);
        }
    }
    slice->held += (size_t)held;
    json_decref(reply);
}

static void
run_file(const struct catalog *catalog, struct catalog_slot *slot, const char *name)
{
    FILE *file = fopen(name, "r");
    char *line = NULL;
    size_t capacity = 0;

    if (!file) {
        perror(name);
        exit(2);
    }
    while (getline(&line, &capacity, file) > 0) {
        json_error_t error;
        json_t *row = json_loads(line, 0, &error);

        if (!row) {
            fprintf(stderr, "%s: %s\n", name, error.text);
            exit(2);
        }
        run_case(catalog, slot, row);
        json_decref(row);
    }
    free(line);
    fclose(file);
}

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct slice *)a)->name, ((const struct slice *)b)->name);
}

/* The value at a share of a sorted list, as a per cent; "-" for an empty one. */
static const char *
at_share(double *values, size_t count, double share, char *text)
{
    if (!count)
        return "-";
    qsort(values, count, sizeof *values, by_value);
    snprintf(text, 16, "%.1f %%", 100 * values[(size_t)(share * (double)(count - 1))]);
    return text;
}

static void
print_table(void)
{
    qsort(slices, slice_count, sizeof *slices, by_name);
    puts("| slice | cases | hold | refused | median error | nine in ten | bias | in band | band width |");
    puts("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (size_t i = 0; i < slice_count; i++) {
        struct slice *slice = &slices[i];
        char median[16], most[16], bias[16], width[16], covered[16] = "-";

        if (slice->banded)
            snprintf(covered, sizeof covered, "%.0f %%", 100.0 * (double)slice->covered / (double)slice->banded);
        printf("| %s | %zu | %zu | %zu | %s | %s | %s | %s | %s |\n", slice->name, slice->cases, slice->held,
               slice->refused, at_share(slice->errors, slice->errors_count, 0.5, median),
               at_share(slice->errors, slice->errors_count, 0.9, most),
               at_share(slice->signed_errors, slice->errors_count, 0.5, bias), covered,
               at_share(slice->widths, slice->banded, 0.5, width));
    }
}

int
main(int argc, char **argv)
{
    static const char *const all[] = { "models", "cases", "train", "serve" };
    struct catalog_slot slot;
    struct db_settings settings = { 0 };
    struct fault fault;
    struct db *db;
    struct snapshot *snapshot;
    int files = 0;

    catalog_slot_init(&slot);
    fault_clear(&fault);
    if (db_start(&slot, &settings, &db, &fault) != STATUS_OK) {
        fprintf(stderr, "the seed catalog is unsound: %s: %s\n", fault.items[0].pointer, fault.items[0].expected);
        return 2;
    }
    snapshot = catalog_acquire(&slot, 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0) {
            verbose = 1;
            continue;
        }
        run_file(snapshot->catalog, &slot, argv[i]);
        files++;
    }
    for (size_t i = 0; !files && i < COUNT_OF(all); i++) {
        char name[512];

        snprintf(name, sizeof name, "%s/tests/data/accuracy/%s.jsonl", PROJECT_ROOT, all[i]);
        run_file(snapshot->catalog, &slot, name);
    }
    print_table();
    catalog_release(snapshot);
    db_stop(db);
    catalog_slot_done(&slot);
    buffer_pool_done();
    return broken ? 1 : 0;
}
