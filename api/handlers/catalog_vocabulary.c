#include "api/handlers/catalog_vocabulary.h"

#include <string.h>
#include <strings.h>

#include "api/json/job_json.h"
#include "service/base/quantity.h"
#include "service/base/result.h"
#include "service/base/text.h"

static bool
gpu_is_known(const struct catalog *catalog, const char *word, char *expected, const char **nearest)
{
    bool ambiguous;
    const struct gpu *usual;

    if (catalog_gpu(catalog, word))
        return true;
    usual = catalog_gpu_by_name(catalog, word, &ambiguous);
    text_copy(expected, FAULT_TEXT_SIZE, "id of /catalog/gpus");
    *nearest = usual ? usual->id : catalog_nearest_gpu(catalog, word);
    return false;
}

static bool
provider_is_known(const struct catalog *catalog, const char *word, char *expected, const char **nearest)
{
    if (catalog_provider(catalog, word))
        return true;
    text_copy(expected, FAULT_TEXT_SIZE, "id of /catalog/providers");
    *nearest = catalog_nearest_provider(catalog, word);
    return false;
}

enum { MAX_WORDS = 32 };

/* One of a table of words; NULL stands for none. */
static bool
is_one_of(const char *const *table, size_t count, const char *word, char *expected, const char **nearest)
{
    const char *words[MAX_WORDS];
    size_t known = 0;

    text_copy(expected, FAULT_TEXT_SIZE, "one of ");
    for (size_t i = 0; i < count && known < MAX_WORDS; i++) {
        size_t used = strlen(expected);

        if (!table[i])
            continue;
        if (strcasecmp(table[i], word) == 0)
            return true;
        text_format(expected + used, FAULT_TEXT_SIZE - used, known > 0 ? "|%s" : "%s", table[i]);
        words[known++] = table[i];
    }
    *nearest = text_nearest(word, words, known);
    return false;
}

static bool
price_type_is_known(const struct catalog *catalog, const char *word, char *expected, const char **nearest)
{
    (void)catalog;
    return is_one_of(price_type_names, PRICE_TYPE_COUNT, word, expected, nearest);
}

static bool
currency_is_known(const struct catalog *catalog, const char *word, char *expected, const char **nearest)
{
    (void)catalog;
    return is_one_of(currency_names, CURRENCY_COUNT, word, expected, nearest);
}

static const struct {
    const char *column;
    bool (*is_known)(const struct catalog *catalog, const char *word, char *expected, const char **nearest);
} vocabularies[] = {
    { "gpu", gpu_is_known },
    { "provider", provider_is_known },
    { "price_type", price_type_is_known },
    { "currency", currency_is_known },
};

bool
vocabulary_has(const struct catalog *catalog, const char *column, const char *word, char *ret_expected,
               const char **ret_nearest)
{
    char small[FAULT_TEXT_SIZE]; /* ids are in small letters, filters in any */
    size_t size = 0;

    for (; word[size] && size + 1 < sizeof small; size++)
        small[size] = (char)(word[size] >= 'A' && word[size] <= 'Z' ? word[size] - 'A' + 'a' : word[size]);
    small[size] = '\0';
    for (size_t i = 0; i < COUNT_OF(vocabularies); i++) {
        if (strcmp(vocabularies[i].column, column) == 0)
            return vocabularies[i].is_known(catalog, small, ret_expected, ret_nearest);
    }
    return true;
}
