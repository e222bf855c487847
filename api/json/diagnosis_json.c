#include "api/json/diagnosis_json.h"

#include <math.h>

#include "api/i18n/message.h"
#include "service/base/text.h"

enum { SENTENCE_SIZE = 512, ID_SIZE = 64 };

static const char *const severity_names[] = { "info", "warning", "critical" };

static void
sentence(struct json_writer *writer, const char *kind, const char *code, double number, enum language language)
{
    struct message_values values = { { NULL }, { number > 0 ? number : NAN } };
    char id[ID_SIZE], text[SENTENCE_SIZE];

    text_format(id, sizeof id, "%s.%s", kind, code);
    message_write(text, sizeof text, id, language, &values);
    writer_text(writer, "text", text);
}

static void
finding_encode(struct json_writer *writer, const struct finding *finding, enum language language)
{
    writer_object(writer, NULL);
    writer_text(writer, "code", finding->code);
    writer_text(writer, "severity", severity_names[finding->severity]);
    sentence(writer, "diagnosis", finding->code, 0, language);
    writer_array(writer, "actions");
    for (uint32_t i = 0; i < finding->action_count; i++) {
        const struct action *action = &finding->actions[i];

        writer_object(writer, NULL);
        writer_text(writer, "code", action->code);
        sentence(writer, "action", action->code, action->number, language);
        if (action->expected_gpu_utilization_ratio > 0)
            writer_real(writer, "expected_gpu_utilization_ratio", action->expected_gpu_utilization_ratio);
        writer_end_object(writer);
    }
    writer_end_array(writer);
    writer_end_object(writer);
}

void
diagnosis_encode(struct json_writer *writer, const struct diagnosis *diagnosis, enum language language)
{
    if (!diagnosis->count)
        return;
    writer_array(writer, "diagnosis");
    for (uint32_t i = 0; i < diagnosis->count; i++)
        finding_encode(writer, &diagnosis->items[i], language);
    writer_end_array(writer);
}
