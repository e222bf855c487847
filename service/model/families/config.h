/* Passages that the configs of many classes have alike. */
#ifndef SERVICE_MODEL_FAMILIES_CONFIG_H
#define SERVICE_MODEL_FAMILIES_CONFIG_H

#include <stddef.h>

#include "service/model/reader.h"

/* Enters an object that has to be there and says whether it is; a fault when not. Leave by reader_leave(). */
bool config_enter(struct reader *reader, const char *object);

/* Keys that change no size of a class: read, whatever they hold. */
void config_pass_over(const struct reader *reader, const char *const *keys, size_t count);

/* Whether a list of this length has one entry a layer, or none at all; a fault when it has more or fewer. */
bool config_list_fits(struct reader *reader, const char *key, uint32_t length, uint32_t layers);

/* Whether a list that has to be there has one entry a layer; a fault when not. */
bool config_list_needed(struct reader *reader, const char *key, uint32_t layers);

/* Whether an entry of a list is `word`; a fault that names what was `expected` when it is neither that nor `other`. */
bool config_is_word(struct reader *reader, const char *key, uint32_t index, const char *word, const char *other,
                    const char *expected);

/* A fault when a number of key heads, or of groups, does not divide that of the query heads. */
void config_divides_heads(struct reader *reader, const char *key, uint32_t number, uint32_t heads);

#endif
