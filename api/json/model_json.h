/* The "model" member of a request, and the "model" section of a reply. */
#ifndef API_JSON_MODEL_JSON_H
#define API_JSON_MODEL_JSON_H

#include <jansson.h>

#include "api/json/facts_json.h"
#include "api/json/field.h"
#include "api/json/writer.h"
#include "service/catalog/catalog.h"
#include "service/job/defaults.h"
#include "service/model/adapter.h"

/* What a decoded model stands in. `arch` points into the catalog (a preset) or at `own`. */
struct model_holder {
    struct facts_store facts;
    struct model_arch own;
    struct model_params own_params;
    const struct model_arch *arch;
    const struct model_params *params;
    struct adapter adapter; /* the file that was pasted was an adapter's: its rank and targets; base NULL: it was not */
};

extern const struct field_table model_shape_table, model_config_table;

void model_holder_init(struct model_holder *holder);
void model_holder_done(struct model_holder *holder);

/* Reads a preset's name, {"config": ...} or sizes, at `pointer`. Adds faults; on any, holder->arch stays NULL. The
 * JSON document must outlive the holder. */
void model_decode(const json_t *model, const char *pointer, const struct catalog *catalog, struct model_holder *holder,
                  struct notices *notices, struct fault *fault);

/* What an adapter's file says of rank and targets, for a LoRA job that does not say it itself. */
void
model_adapter_complete(const struct model_holder *holder, struct training_job *job, struct assumptions *assumptions);

/* {"name", "architecture", "parameter_count", ...} */
void model_encode(struct json_writer *writer, const char *name, const struct model_arch *arch,
                  const struct model_params *params, double kv_bytes_per_token);

#endif
