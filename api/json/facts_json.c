/* A walk that writes each value's path into blocks that do not move, in an order that is nearly sorted already. */
#include "api/json/facts_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/field_fault.h"
#include "api/json/members.h"
#include "service/base/text.h"

enum { PATH_BLOCK_BYTES = 8192, FIRST_CAPACITY = 256 };

struct path_block {
    struct path_block *next;
    size_t used;
    char bytes[PATH_BLOCK_BYTES];
};

/* Where the walk is. */
struct walk {
    struct facts_store *store;
    char path[FACT_PATH_SIZE];
    size_t path_size;
    unsigned depth;
    bool out_of_memory, full;
};

void
facts_store_init(struct facts_store *store)
{
    *store = (struct facts_store){ .items = NULL };
}

void
facts_store_done(struct facts_store *store)
{
    while (store->paths) {
        struct path_block *block = store->paths;

        store->paths = block->next;
        free(block);
    }
    free(store->items);
    free(store->used);
    facts_store_init(store);
}

/* The walk's present path, kept. NULL when memory is out. */
static const char *
keep_path(struct walk *walk)
{
    struct path_block *block = walk->store->paths;
    char *path;

    if (!block || PATH_BLOCK_BYTES - block->used <= walk->path_size) {
        block = malloc(sizeof *block);
        if (!block)
            return NULL;
        block->next = walk->store->paths;
        block->used = 0;
        walk->store->paths = block;
    }
    path = block->bytes + block->used;
    memcpy(path, walk->path, walk->path_size);
    path[walk->path_size] = '\0';
    block->used += walk->path_size + 1;
    return path;
}

/* The next fact of the list, its path set. NULL when memory is out. */
static struct fact *
next_fact(struct walk *walk)
{
    struct facts_store *store = walk->store;
    const char *path = keep_path(walk);

    if (store->count == store->capacity) {
        size_t capacity = store->capacity ? 2 * store->capacity : FIRST_CAPACITY;
        struct fact *items = realloc(store->items, capacity * sizeof *items);

        if (!items)
            path = NULL;
        else
            *store = (struct facts_store){ items, store->count, capacity, store->used, store->paths };
    }
    if (!path) {
        walk->out_of_memory = true;
        return NULL;
    }
    store->items[store->count] = (struct fact){ .path = path };
    return &store->items[store->count++];
}

static void
set_real(struct fact *fact, double real)
{
    fact->kind = FACT_REAL;
    fact->real = real;
    if (real == floor(real) && fabs(real) < 9223372036854775808.0) { /* 2^63 */
        fact->kind = FACT_INTEGER;
        fact->integer = (int64_t)real;
    }
}

static void
set_value(struct fact *fact, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        fact->kind = FACT_OBJECT;
        fact->integer = (int64_t)json_object_size(value);
        return;
    case JSON_ARRAY:
        fact->kind = FACT_LIST;
        fact->integer = (int64_t)json_array_size(value);
        return;
    case JSON_STRING:
        fact->kind = FACT_TEXT;
        fact->text = json_string_value(value);
        return;
    case JSON_INTEGER:
        fact->kind = FACT_INTEGER;
        fact->integer = json_integer_value(value);
        fact->real = (double)fact->integer;
        return;
    case JSON_REAL:
        set_real(fact, json_real_value(value));
        return;
    case JSON_TRUE:
    case JSON_FALSE:
        fact->kind = FACT_BOOL;
        fact->integer = json_is_true(value);
        return;
    case JSON_NULL:
        fact->kind = FACT_NULL;
        return;
    }
}

/* Adds "/token" to the walk's path, escaped, as far as it has room. */
static void
push_token(struct walk *walk, const char *token)
{
    size_t size = walk->path_size;
    const size_t room = FACT_PATH_SIZE - 1;

    if (size < room)
        walk->path[size++] = '/';
    for (; *token && size + 1 < room; token++) {
        if (*token == '~' || *token == '/') {
            walk->path[size++] = '~';
            walk->path[size++] = *token == '~' ? '0' : '1';
        } else {
            walk->path[size++] = *token;
        }
    }
    walk->path_size = text_whole(walk->path, size);
}

static bool
stopped(const struct walk *walk)
{
    return walk->out_of_memory || walk->full;
}

static void add_value(struct walk *walk, const char *token, const json_t *value);

static void
add_members(struct walk *walk, const json_t *object)
{
    struct members members;

    if (!members_take(object, &members)) {
        walk->out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < members.count && !stopped(walk); i++)
        add_value(walk, members.items[i].name, members.items[i].value);
    members_done(&members);
}

/* The index that follows in the order of decimal text: 0 1 10 11 2 3 .. below `count`. */
static size_t
next_in_text_order(size_t index, size_t count)
{
    if (index > 0 && index * 10 < count)
        return index * 10;
    while (index % 10 == 9 || index + 1 >= count)
        index /= 10;
    return index + 1;
}

static void
add_items(struct walk *walk, const json_t *array)
{
    size_t count = json_array_size(array), index = 0;
    char token[24];

    for (size_t i = 0; i < count && !stopped(walk); i++) {
        text_format(token, sizeof token, "%zu", index);
        add_value(walk, token, json_array_get(array, index));
        if (i + 1 < count)
            index = next_in_text_order(index, count);
    }
}

/* Whether the first member of an object is an object: then all are taken to be. */
static bool
holds_objects(const json_t *object)
{
    void *first = json_object_iter((json_t *)object);

    return first != NULL && json_is_object(json_object_iter_value(first));
}

static void
add_children(struct walk *walk, const json_t *value)
{
    size_t size = json_is_object(value) ? json_object_size(value) : json_array_size(value);

    if (size == 0 || walk->depth == MAX_FACT_DEPTH || size > MAX_FACT_MODULES)
        return;
    if (size > MAX_FACT_CHILDREN && json_is_object(value) && !holds_objects(value))
        return;
    walk->depth++;
    if (json_is_object(value))
        add_members(walk, value);
    else
        add_items(walk, value);
    walk->depth--;
}

static void
add_value(struct walk *walk, const char *token, const json_t *value)
{
    size_t path_size = walk->path_size;
    struct fact *fact;

    if (walk->store->count == MAX_FACTS) {
        walk->full = true;
        return;
    }
    push_token(walk, token);
    fact = next_fact(walk);
    if (fact) {
        set_value(fact, value);
        add_children(walk, value);
    }
    walk->path_size = path_size;
}

static int
compare_facts(const void *a, const void *b)
{
    return strcmp(((const struct fact *)a)->path, ((const struct fact *)b)->path);
}

/* The walk goes in order but where a name has a byte below '/' ("a-b" stands between "a" and "a/c"). */
static void
sort_facts(struct facts_store *store)
{
    for (size_t i = 1; i < store->count; i++) {
        if (strcmp(store->items[i - 1].path, store->items[i].path) > 0) {
            qsort(store->items, store->count, sizeof *store->items, compare_facts);
            return;
        }
    }
}

static enum status
refuse_count(const char *pointer, struct fault *fault)
{
    char most[FAULT_TEXT_SIZE];

    text_format(most, sizeof most, "%d", MAX_FACTS);
    fault_add(fault, FAULT_TOO_MANY_ITEMS, pointer, NULL, most, NULL);
    return STATUS_FAULT;
}

enum status
facts_flatten(const json_t *config, const char *pointer, struct facts_store *store, struct facts *ret_facts,
              struct fault *ret_fault)
{
    struct walk walk = { .store = store };
    char was[FAULT_TEXT_SIZE];

    if (!json_is_object(config)) {
        field_value_text(config, true, was);
        fault_add(ret_fault, FAULT_WRONG_TYPE, pointer, was, "object", NULL);
        return STATUS_FAULT;
    }
    add_members(&walk, config);
    if (walk.full)
        return refuse_count(pointer, ret_fault);
    sort_facts(store);
    store->used = calloc(store->count + 1, sizeof *store->used);
    if (walk.out_of_memory || !store->used) {
        fault_add(ret_fault, FAULT_INTERNAL, pointer, NULL, NULL, NULL);
        return STATUS_FAULT;
    }
    *ret_facts = (struct facts){ store->items, store->count, store->used };
    return STATUS_OK;
}
