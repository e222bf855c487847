/* Turns a model's (path, value) rows into the list of facts that model readers take. */
#ifndef DB_LOAD_FACTS_H
#define DB_LOAD_FACTS_H

#include "db/cells.h"
#include "service/model/facts.h"

struct fact_row {
    const char *model_id; /* as the cell has it, for refusals */
    const struct model_preset *model;
    const char *path, *value; /* a value as JSON writes it: number, true, false, null, "text", [] or {} */
    const char *source, *source_date;
};

/* `rows` are those of one model, sorted by path. Arrays and objects are not rows themselves (but for empty ones): the
 * facts of them are made from the paths of what they hold. In the loader's tree; false after loader_refuse. */
bool load_facts(struct loader *loader, const struct fact_row *rows, size_t count, const struct fact **ret_facts,
                size_t *ret_count);

#endif
