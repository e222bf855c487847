/* Faults to problem+json. */
#include "api/http/problem.h"

#include "api/i18n/message.h"
#include "api/json/writer.h"
#include "service/base/text.h"

enum { SENTENCE_SIZE = 768, ID_SIZE = 64 };

static const int http_statuses[FAULT_COUNT] = {
    [FAULT_NONE] = 500,
#define FAULT(id, name, http_status) [FAULT_##id] = (http_status),
#include "service/base/faults.def"
#undef FAULT
};

int
problem_status(enum fault_code code)
{
    return http_statuses[code];
}

/* The sentence of one item, or of a code alone when `item` is NULL. */
static void
write_sentence(char *text, const char *kind, enum fault_code code, const struct fault_item *item,
               enum language language)
{
    struct message_values values = { .text = { "", "", "", "" } };
    char id[ID_SIZE];

    if (item) {
        values.text[0] = item->value;
        values.text[1] = item->expected;
        values.text[2] = item->suggestion;
        values.text[3] = item->pointer;
    }
    text_format(id, sizeof id, "%s.%s", kind, fault_code_name(code));
    message_write(text, SENTENCE_SIZE, id, language, &values);
}

/* A member only when there is something to say. */
static void
write_said(struct json_writer *writer, const char *name, const char *text)
{
    if (text[0])
        writer_text(writer, name, text);
}

static void
write_item(struct json_writer *writer, const struct fault_item *item, enum language language)
{
    char sentence[SENTENCE_SIZE];

    write_sentence(sentence, "fault", item->code, item, language);
    writer_object(writer, NULL);
    writer_text(writer, item->is_parameter ? "parameter" : "pointer", item->pointer);
    writer_text(writer, "code", fault_code_name(item->code));
    writer_text(writer, "detail", sentence);
    write_said(writer, "expected", item->expected);
    write_said(writer, "value", item->value);
    write_said(writer, "suggestion", item->suggestion);
    writer_end_object(writer);
}

static void
write_items(struct json_writer *writer, const struct fault *fault, enum language language)
{
    if (fault->item_count == 0)
        return;
    writer_array(writer, "errors");
    for (size_t i = 0; i < fault->item_count; i++)
        write_item(writer, &fault->items[i], language);
    writer_end_array(writer);
    if (fault->more_count > 0)
        writer_u64(writer, "more_errors", fault->more_count);
}

void
problem_write(struct buffer *out, const struct fault *fault, enum language language, const char *request_id)
{
    enum fault_code code = fault_any(fault) ? fault->code : FAULT_INTERNAL;
    const struct fault_item *first = fault->item_count > 0 ? &fault->items[0] : NULL;
    struct json_writer writer;
    char sentence[SENTENCE_SIZE], type[ID_SIZE];

    writer_init(&writer, out);
    writer_object(&writer, NULL);
    text_format(type, sizeof type, "/problems/%s", fault_code_name(code));
    writer_text(&writer, "type", type);
    write_sentence(sentence, "title", code, first, language);
    writer_text(&writer, "title", sentence);
    writer_i64(&writer, "status", problem_status(code));
    write_sentence(sentence, "fault", code, first, language);
    writer_text(&writer, "detail", sentence);
    writer_text(&writer, "code", fault_code_name(code));
    writer_text(&writer, "request_id", request_id);
    write_items(&writer, fault, language);
    writer_end_object(&writer);
}
