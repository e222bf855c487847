/* Model presets: their names, their configs as facts, and the architecture read from them. */
#include "db/load.h"

#include <stdlib.h>
#include <string.h>
#include <talloc.h>

#include "db/load_facts.h"
#include "service/base/text.h"

static const char *const licences[] = { "open", "open_with_terms", "non_commercial", "unknown" };

static const struct cell model_cells[] = {
    CELL("id", CELL_SLUG, struct model_preset, id, CELL_REQUIRED),
    CELL("name", CELL_TEXT, struct model_preset, name, CELL_REQUIRED),
    CELL("name_zh", CELL_TEXT, struct model_preset, name_zh, 0),
    CELL("publisher", CELL_TEXT, struct model_preset, publisher, CELL_REQUIRED),
    NAME_CELL("licence", CELL_NAME, struct model_preset, licence, CELL_REQUIRED, licences),
    SOURCE_CELLS(struct model_preset),
};
static const struct cell_table model_table = { "models", model_cells, COUNT_OF(model_cells),
                                               sizeof(struct model_preset), 2000 };

static const struct cell fact_cells[] = {
    CELL("model_id", CELL_TEXT, struct fact_row, model_id, CELL_REQUIRED),
    CELL("model_id", CELL_MODEL, struct fact_row, model, CELL_REQUIRED),
    CELL("path", CELL_PATH, struct fact_row, path, CELL_REQUIRED),
    CELL("value", CELL_TEXT, struct fact_row, value, CELL_REQUIRED),
    SOURCE_CELLS(struct fact_row),
};
static const struct cell_table fact_table = { "model_fields", fact_cells, COUNT_OF(fact_cells), sizeof(struct fact_row),
                                              MAX_ROWS };

struct model_alias_row {
    const char *alias;
    const struct model_preset *model;
    const char *source, *source_date;
};
static const struct cell model_alias_cells[] = {
    CELL("alias", CELL_TEXT, struct model_alias_row, alias, CELL_REQUIRED),
    CELL("model_id", CELL_MODEL, struct model_alias_row, model, CELL_REQUIRED),
    SOURCE_CELLS(struct model_alias_row),
};
static const struct cell_table model_alias_table = { "model_aliases", model_alias_cells, COUNT_OF(model_alias_cells),
                                                     sizeof(struct model_alias_row), MAX_SMALL_ROWS };

static bool
refuse_model(struct loader *loader, const struct model_preset *model, const struct fault *fault)
{
    const struct fault_item *item = &fault->items[0];
    char why[DB_WHY_SIZE];

    if (fault->item_count == 0)
        return loader_refuse(loader, "model_fields", model->id, "", fault_code_name(fault->code));
    text_format(why, sizeof(why), "%s: \"%s\", expected %s", fault_code_name(item->code), item->value, item->expected);
    return loader_refuse(loader, "model_fields", model->id, item->pointer, why);
}

/* Reads and counts the architecture once, so that requests need not. */
static bool
read_arch(struct loader *loader, struct model_preset *model)
{
    struct facts facts = { .items = model->facts, .count = model->fact_count };
    struct notices notices = { .count = 0 };
    struct fault fault;
    enum status status;

    fault_clear(&fault);
    facts.used = loader_array(loader, facts.count, sizeof(*facts.used));
    if (facts.used == NULL)
        return false;
    status = model_arch_read(&facts, "", &model->arch, &notices, &fault);
    if (status == STATUS_OK)
        status = model_arch_check(&model->arch, "", &fault);
    talloc_free(facts.used);
    if (status != STATUS_OK)
        return refuse_model(loader, model, &fault);
    text_copy(model->arch.name, sizeof(model->arch.name), model->id);
    model->params = model_params_count(&model->arch);
    return true;
}

static int
by_model_and_path(const void *a, const void *b)
{
    const struct fact_row *left = a, *right = b;

    if (left->model != right->model)
        return left->model < right->model ? -1 : 1;
    return strcmp(left->path, right->path);
}

static bool
load_fields(struct loader *loader, struct model_preset *models)
{
    struct fact_row *rows;
    void *loaded;
    size_t count, next = 0;

    if (!cells_load(loader, &fact_table, NULL, &loaded, &count))
        return false;
    rows = loaded;
    qsort(rows, count, sizeof(*rows), by_model_and_path);
    for (size_t i = 0; i < loader->catalog->model_count; i++) {
        struct model_preset *model = &models[i];
        size_t first = next;

        while (next < count && rows[next].model == model)
            next++;
        if (next == first)
            return loader_refuse(loader, "model_fields", model->id, "model_id", "the model has no fields");
        if (!load_facts(loader, &rows[first], next - first, &model->facts, &model->fact_count) ||
            !read_arch(loader, model))
            return false;
    }
    talloc_free(rows);
    return true;
}

static bool
load_model_aliases(struct loader *loader)
{
    const struct model_alias_row *rows;
    void *loaded;
    size_t count;
    struct alias *aliases;

    if (!cells_load(loader, &model_alias_table, NULL, &loaded, &count))
        return false;
    rows = loaded;
    aliases = loader_array(loader, count, sizeof(*aliases));
    if (aliases == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        aliases[i] =
            (struct alias){ .alias = rows[i].alias, .index = (size_t)(rows[i].model - loader->catalog->models) };
    }
    loader->catalog->model_aliases = aliases;
    return load_alias_list(loader, &model_alias_table, aliases, count, &loader->catalog->model_alias_count);
}

bool
load_models(struct loader *loader)
{
    void *rows;

    if (!cells_load(loader, &model_table, NULL, &rows, &loader->catalog->model_count) ||
        !cells_sort(loader, &model_table, rows, loader->catalog->model_count))
        return false;
    loader->catalog->models = rows;
    return load_fields(loader, rows) && load_model_aliases(loader);
}
