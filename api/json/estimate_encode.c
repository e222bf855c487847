#include "api/json/cost_json.h"
#include "api/json/diagnosis_json.h"
#include "api/json/estimate_json.h"
#include "api/json/feed_json.h"
#include "api/json/network_json.h"
#include "api/json/serving_json.h"
#include "api/json/training_json.h"

static void
fitting_encode(struct json_writer *writer, const struct fitting_gpus *fitting)
{
    writer_array(writer, "fitting_gpus");
    for (size_t i = 0; i < fitting->count; i++) {
        writer_object(writer, NULL);
        writer_text(writer, "gpu", fitting->items[i].gpu->id);
        writer_u64(writer, "gpus", fitting->items[i].gpus);
        writer_text(writer, "verdict", verdict_name(fitting->items[i].verdict));
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

static void
capabilities_encode(struct json_writer *writer, const struct capabilities *capabilities)
{
    writer_array(writer, "capabilities");
    for (size_t i = 0; i < capabilities->count; i++) {
        const struct capability *capability = &capabilities->items[i];
        const struct model_preset *largest = capability->largest;

        writer_object(writer, NULL);
        writer_text(writer, "method", capability->is_training ? training_method_names[capability->method] : "serving");
        writer_text(writer, "precision",
                    capability->is_training ? training_precision_names[capability->precision]
                                            : weight_format_name(capability->format));
        if (largest) {
            writer_u64(writer, "largest_parameter_count", largest->params.total);
            writer_text(writer, "example_model", largest->id);
        }
        writer_text(writer, "verdict", verdict_name(capability->verdict));
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

void
estimate_encode(const struct answer *answer, const struct estimate_remarks *remarks,
                const struct provenance *provenance, enum language language, struct buffer *body)
{
    struct json_writer writer;

    writer_init(&writer, body);
    writer_object(&writer, NULL);
    if (answer->arch)
        model_encode(&writer, "model", answer->arch, answer->params, answer->kv_bytes_per_token);
    if (answer->has_training)
        training_encode(&writer, answer, language);
    if (answer->has_serving)
        serving_encode(&writer, answer, language);
    feed_encode(&writer, answer);
    network_encode(&writer, answer);
    if (remarks->has_cost)
        cost_encode(&writer, "cost", &remarks->cost);
    diagnosis_encode(&writer, &remarks->diagnosis, language);
    if (answer->has_fitting)
        fitting_encode(&writer, &answer->fitting);
    if (answer->has_capabilities)
        capabilities_encode(&writer, &answer->capabilities);
    assumptions_encode(&writer, &answer->assumptions, language);
    notices_encode(&writer, &answer->notices, language);
    provenance_encode(&writer, provenance);
    writer_end_object(&writer);
}
