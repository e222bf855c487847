/* Look-ups in one version of the catalog: by id, by any usual spelling, the nearest word, and money across currencies.
 */
#include "service/catalog/catalog.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

enum {
    SPELLING_SIZE = 128,
    NAMES_AT_ONCE = 128, /* how many words are held against the best so far */
};

const char *const price_type_names[PRICE_TYPE_COUNT] = {
    [PRICE_ON_DEMAND] = "on_demand",       [PRICE_SPOT] = "spot",         [PRICE_RESERVED] = "reserved",
    [PRICE_SUBSCRIPTION] = "subscription", [PRICE_PURCHASE] = "purchase",
};

/* Every row begins with its key, so one search serves all tables. */
_Static_assert(offsetof(struct gpu, id) == 0 && offsetof(struct offer, id) == 0, "the key comes first");
_Static_assert(offsetof(struct provider, id) == 0 && offsetof(struct storage_tier, id) == 0, "the key comes first");
_Static_assert(offsetof(struct model_preset, id) == 0 && offsetof(struct alias, alias) == 0, "the key comes first");

static const char *
key_of(const void *rows, size_t row_size, size_t i)
{
    const char *key;

    memcpy(&key, (const char *)rows + i * row_size, sizeof(key));
    return key;
}

static const void *
row_of(const void *rows, size_t row_count, size_t row_size, const char *key)
{
    size_t first = 0, end = row_count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = strcmp(key_of(rows, row_size, middle), key);

        if (order == 0)
            return (const char *)rows + middle * row_size;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

const struct gpu *
catalog_gpu(const struct catalog *catalog, const char *id)
{
    return row_of(catalog->gpus, catalog->gpu_count, sizeof(struct gpu), id);
}

const struct offer *
catalog_offer(const struct catalog *catalog, const char *id)
{
    return row_of(catalog->offers, catalog->offer_count, sizeof(struct offer), id);
}

const struct provider *
catalog_provider(const struct catalog *catalog, const char *id)
{
    return row_of(catalog->providers, catalog->provider_count, sizeof(struct provider), id);
}

const struct storage_tier *
catalog_storage(const struct catalog *catalog, const char *id)
{
    return row_of(catalog->storage, catalog->storage_count, sizeof(struct storage_tier), id);
}

const struct model_preset *
catalog_model(const struct catalog *catalog, const char *id)
{
    return row_of(catalog->models, catalog->model_count, sizeof(struct model_preset), id);
}

/* Length of an opening or closing parenthesis at `text`, ASCII or full width; 0 when there is none. */
static size_t
parenthesis(const char *text, const char *ascii, const char *full_width)
{
    if (*text == *ascii)
        return 1;
    return strncmp(text, full_width, 3) == 0 ? 3 : 0;
}

/* Copies a name with its parentheses as blanks, or (`drop`) without what stands in them. */
static void
without_parentheses(char *to, size_t size, const char *name, bool drop)
{
    size_t length = 0, skip;
    unsigned depth = 0;

    while (*name != '\0' && length + 1 < size) {
        char c = ' ';

        if ((skip = parenthesis(name, "(", "\xEF\xBC\x88")) > 0) {
            depth++;
        } else if ((skip = parenthesis(name, ")", "\xEF\xBC\x89")) > 0) {
            depth -= depth > 0;
        } else {
            skip = 1;
            c = *name;
        }
        name += skip;
        if (!drop || depth == 0)
            to[length++] = c;
    }
    to[length] = '\0';
}

/* Removes the words that sellers put around a device's name. `spelling` is normalised: one blank between words. */
static void
drop_brand_words(char *spelling)
{
    static const char *const brands[] = { "nvidia", "geforce", "tesla", "gpu" };
    char *to = spelling, *word = spelling;

    while (*word != '\0') {
        size_t length = strcspn(word, " ");
        bool is_brand = false;

        for (size_t i = 0; i < COUNT_OF(brands); i++)
            is_brand = is_brand || (strlen(brands[i]) == length && strncmp(brands[i], word, length) == 0);
        if (!is_brand) {
            if (to != spelling)
                *to++ = ' ';
            memmove(to, word, length);
            to += length;
        }
        word += length + (word[length] == ' ');
    }
    *to = '\0';
}

static void
as_id(char *spelling)
{
    for (; *spelling != '\0'; spelling++) {
        if (*spelling == ' ')
            *spelling = '-';
    }
}

static const struct gpu *
gpu_by_spelling(const struct catalog *catalog, char *spelling, bool *ret_ambiguous)
{
    const struct alias *alias = row_of(catalog->gpu_aliases, catalog->gpu_alias_count, sizeof(struct alias), spelling);

    if (alias != NULL) {
        *ret_ambiguous = alias->ambiguous;
        return &catalog->gpus[alias->index];
    }
    as_id(spelling);
    return catalog_gpu(catalog, spelling);
}

/* From the most to the least of what was written: parenthesised words kept, then dropped; brand words kept, then
 * dropped. */
const struct gpu *
catalog_gpu_by_name(const struct catalog *catalog, const char *name, bool *ret_ambiguous)
{
    const struct gpu *gpu = catalog_gpu(catalog, name);

    *ret_ambiguous = false;
    for (int attempt = 0; gpu == NULL && attempt < 4; attempt++) {
        char plain[SPELLING_SIZE], spelling[SPELLING_SIZE];

        without_parentheses(plain, sizeof(plain), name, (attempt & 2) != 0);
        text_normalise(spelling, sizeof(spelling), plain);
        if ((attempt & 1) != 0)
            drop_brand_words(spelling);
        gpu = gpu_by_spelling(catalog, spelling, ret_ambiguous);
    }
    return gpu;
}

const struct model_preset *
catalog_model_by_name(const struct catalog *catalog, const char *name)
{
    const struct model_preset *model = catalog_model(catalog, name);
    const struct alias *alias;
    char spelling[SPELLING_SIZE];

    if (model != NULL)
        return model;
    text_normalise(spelling, sizeof(spelling), name);
    alias = row_of(catalog->model_aliases, catalog->model_alias_count, sizeof(struct alias), spelling);
    if (alias != NULL)
        return &catalog->models[alias->index];
    for (size_t i = 0; i < catalog->model_count; i++) {
        char known[SPELLING_SIZE];

        text_normalise(known, sizeof(known), catalog->models[i].name);
        if (strcmp(known, spelling) == 0)
            return &catalog->models[i];
    }
    as_id(spelling);
    return catalog_model(catalog, spelling);
}

/* Keeps the nearest of all words while only a bounded number is looked at together. */
struct nearest_search {
    const char *word;
    const char *names[NAMES_AT_ONCE]; /* [0] is the best so far, or NULL */
    size_t count;
};

static void
nearest_settle(struct nearest_search *search)
{
    search->names[0] = text_nearest(search->word, search->names, search->count);
    search->count = 1;
}

static void
nearest_offer_word(struct nearest_search *search, const char *name)
{
    search->names[search->count++] = name;
    if (search->count == NAMES_AT_ONCE)
        nearest_settle(search);
}

static const char *
nearest_key(const void *rows, size_t row_count, size_t row_size, const char *word)
{
    struct nearest_search search = { .word = word, .count = 1 };

    for (size_t i = 0; i < row_count; i++)
        nearest_offer_word(&search, key_of(rows, row_size, i));
    nearest_settle(&search);
    return search.names[0];
}

/* An id that is near, else what a near alias stands for. */
const char *
catalog_nearest_gpu(const struct catalog *catalog, const char *name)
{
    const char *id = nearest_key(catalog->gpus, catalog->gpu_count, sizeof(struct gpu), name);
    char spelling[SPELLING_SIZE];
    const char *near_alias;
    const struct alias *alias;

    if (id != NULL)
        return id;
    text_normalise(spelling, sizeof(spelling), name);
    near_alias = nearest_key(catalog->gpu_aliases, catalog->gpu_alias_count, sizeof(struct alias), spelling);
    if (near_alias == NULL)
        return NULL;
    alias = row_of(catalog->gpu_aliases, catalog->gpu_alias_count, sizeof(struct alias), near_alias);
    return catalog->gpus[alias->index].id;
}

/* A name that is known without its owner ("somebody/Llama-3-8B") may be another's work: near, not the same. */
static const char *
model_without_owner(const struct catalog *catalog, const char *name)
{
    const char *bare = strrchr(name, '/');
    const struct model_preset *model = bare ? catalog_model_by_name(catalog, bare + 1) : NULL;

    return model ? model->id : NULL;
}

const char *
catalog_nearest_model(const struct catalog *catalog, const char *name)
{
    const char *bare = model_without_owner(catalog, name);
    const char *id =
        bare ? bare : nearest_key(catalog->models, catalog->model_count, sizeof(struct model_preset), name);
    char spelling[SPELLING_SIZE];
    const char *near_alias;
    const struct alias *alias;

    if (id != NULL)
        return id;
    text_normalise(spelling, sizeof(spelling), name);
    near_alias = nearest_key(catalog->model_aliases, catalog->model_alias_count, sizeof(struct alias), spelling);
    if (near_alias == NULL)
        return NULL;
    alias = row_of(catalog->model_aliases, catalog->model_alias_count, sizeof(struct alias), near_alias);
    return catalog->models[alias->index].id;
}

const char *
catalog_nearest_offer(const struct catalog *catalog, const char *name, bool is_server)
{
    struct nearest_search search = { .word = name, .count = 1 };

    for (size_t i = 0; i < catalog->offer_count; i++) {
        if (catalog->offers[i].is_server == is_server)
            nearest_offer_word(&search, catalog->offers[i].id);
    }
    nearest_settle(&search);
    return search.names[0];
}

const char *
catalog_nearest_provider(const struct catalog *catalog, const char *name)
{
    return nearest_key(catalog->providers, catalog->provider_count, sizeof(struct provider), name);
}

const char *
catalog_nearest_storage(const struct catalog *catalog, const char *name)
{
    return nearest_key(catalog->storage, catalog->storage_count, sizeof(struct storage_tier), name);
}

/* Units of `to` for one of `from` by a row of this pair in either direction; 0: no such row. */
static double
pair_rate(const struct catalog *catalog, enum currency from, enum currency to, const struct exchange_rate **ret_row)
{
    for (size_t i = 0; i < catalog->fx_count; i++) {
        const struct exchange_rate *row = &catalog->fx[i];
        bool direct = row->base == from && row->quote == to;

        if (direct || (row->base == to && row->quote == from)) {
            *ret_row = row;
            return direct ? row->rate : 1 / row->rate;
        }
    }
    return 0;
}

/* The same over one currency that both are quoted in: the US dollar where it is possible, else the first that is. */
static double
crossed_rate(const struct catalog *catalog, enum currency from, enum currency to, const struct exchange_rate **ret_row)
{
    const struct exchange_rate *second;
    double rate = 0;

    for (int i = CURRENCY_UNSAID; i < CURRENCY_COUNT && rate == 0; i++) {
        enum currency over = i == CURRENCY_UNSAID ? CURRENCY_USD : (enum currency)i;
        double first_rate = pair_rate(catalog, from, over, ret_row);

        if (first_rate > 0)
            rate = first_rate * pair_rate(catalog, over, to, &second);
    }
    return rate;
}

bool
catalog_exchange(const struct catalog *catalog, struct money from, enum currency to, struct money *ret_money,
                 const struct exchange_rate **ret_rate)
{
    const struct exchange_rate *row = NULL;
    double rate;

    if (from.currency == to) {
        rate = 1;
    } else {
        rate = pair_rate(catalog, from.currency, to, &row);
        if (rate == 0)
            rate = crossed_rate(catalog, from.currency, to, &row);
    }
    if (rate == 0 || to == CURRENCY_UNSAID)
        return false;
    *ret_money = from.currency == to ? from : money_from_amount(money_amount(from) * rate, to);
    if (ret_rate != NULL)
        *ret_rate = row;
    return true;
}
