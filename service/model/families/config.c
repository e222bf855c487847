/* Passages that the configs of many classes have alike: objects and lists that must be there, keys without a size. */
#include "service/model/families/config.h"

#include <string.h>

bool
config_enter(struct reader *reader, const char *object)
{
    if (reader_enter(reader, object))
        return true;
    reader_fault(reader, FAULT_MODEL_FIELD_MISSING, object, NULL, "object");
    return false;
}

void
config_pass_over(const struct reader *reader, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)reader_find(reader, keys[i]);
}

bool
config_list_fits(struct reader *reader, const char *key, uint32_t length, uint32_t layers)
{
    if (length == 0 || length == layers)
        return true;
    reader_contradiction(reader, key, length, "num_hidden_layers =", layers);
    return false;
}

bool
config_list_needed(struct reader *reader, const char *key, uint32_t layers)
{
    uint32_t length = reader_list_length(reader, key, MAX_LAYERS);

    if (length == 0)
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, key, NULL, "list");
    return config_list_fits(reader, key, length, layers) && length > 0;
}

bool
config_is_word(struct reader *reader, const char *key, uint32_t index, const char *word, const char *other,
               const char *expected)
{
    const char *told = reader_list_word(reader, key, index);

    if (strcmp(told, word) != 0 && strcmp(told, other) != 0)
        reader_fault(reader, FAULT_MODEL_FIELD_UNSUPPORTED, key, told, expected);
    return strcmp(told, word) == 0;
}

void
config_divides_heads(struct reader *reader, const char *key, uint32_t number, uint32_t heads)
{
    if (heads % number != 0)
        reader_contradiction(reader, key, number, "divides num_attention_heads", heads);
}
