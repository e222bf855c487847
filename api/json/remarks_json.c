#include "api/json/remarks_json.h"

#include <string.h>

#include "api/i18n/message.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

enum { SENTENCE_SIZE = 768, ID_SIZE = 96 };

static const char *const severity_names[] = { "info", "warning", "critical" };

/* A sentence by kind and code ("assumption", "engine"). */
static void
sentence_encode(struct json_writer *writer, const char *kind, const char *code, enum language language,
                const struct message_values *values)
{
    char id[ID_SIZE], text[SENTENCE_SIZE];

    text_format(id, sizeof id, "%s.%s", kind, code);
    message_write(text, sizeof text, id, language, values);
    writer_text(writer, "text", text);
}

void
assumptions_encode(struct json_writer *writer, const struct assumptions *assumptions, enum language language)
{
    writer_array(writer, "assumptions");
    for (size_t i = 0; i < assumptions->count; i++) {
        const struct assumption *assumption = &assumptions->items[i];
        struct message_values values = { { assumption->text }, { assumption->number } };

        writer_object(writer, NULL);
        writer_text(writer, "code", assumption->code);
        writer_text(writer, "pointer", assumption->pointer);
        if (assumption->kind == ASSUMED_NUMBER)
            writer_real(writer, "value", assumption->number);
        else
            writer_text(writer, "value", assumption->text);
        sentence_encode(writer, "assumption", assumption->code, language, &values);
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

void
notices_encode(struct json_writer *writer, const struct notices *notices, enum language language)
{
    writer_array(writer, "notices");
    for (size_t i = 0; i < notices->count; i++) {
        const struct notice *notice = &notices->items[i];
        const char *code = notice_code_name(notice->code);
        struct message_values values = { { notice->text[0], notice->text[1] }, { 0 } };

        memcpy(values.number, notice->number, sizeof values.number);
        writer_object(writer, NULL);
        writer_text(writer, "code", code);
        writer_text(writer, "severity", severity_names[notice_severity(notice->code)]);
        if (notice->pointer[0])
            writer_text(writer, "pointer", notice->pointer);
        sentence_encode(writer, "notice", code, language, &values);
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

static void
setting_value_encode(struct json_writer *writer, const char *name, const struct setting *setting)
{
    const char *text;
    bool is_null;

    setting_path(setting, &text, &is_null);
    if (is_null)
        writer_null(writer, name);
    else if (text)
        writer_text(writer, name, text);
    else
        writer_real(writer, name, setting->value);
}

/* The member of a section that a setting of a fix sets ("precision", "parallelism/sharding"); NULL when it is of
 * another section. */
static const char *
member_in(const struct setting *setting, const char *section)
{
    size_t length = strlen(section);
    const char *text;
    bool is_null;
    const char *path = setting_path(setting, &text, &is_null);

    return strncmp(path + 1, section, length) == 0 && path[length + 1] == '/' ? path + length + 2 : NULL;
}

/* Members of one section of the request ("/training/..."), then those of its "parallelism", the only one that is
 * nested. */
static void
section_encode(struct json_writer *writer, const struct fix *fix, const char *section)
{
    bool nested = false;

    for (uint32_t i = 0; i < fix->setting_count; i++) {
        const char *member = member_in(&fix->settings[i], section);

        if (member && !strchr(member, '/'))
            setting_value_encode(writer, member, &fix->settings[i]);
    }
    for (uint32_t i = 0; i < fix->setting_count; i++) {
        const char *member = member_in(&fix->settings[i], section), *deeper = member ? strchr(member, '/') : NULL;

        if (!deeper)
            continue;
        if (!nested)
            writer_object(writer, "parallelism");
        nested = true;
        setting_value_encode(writer, deeper + 1, &fix->settings[i]);
    }
    if (nested)
        writer_end_object(writer);
}

static bool
touches(const struct fix *fix, const char *section)
{
    for (uint32_t i = 0; i < fix->setting_count; i++)
        if (member_in(&fix->settings[i], section))
            return true;
    return false;
}

/* The change as a merge patch (RFC 7396) on the request. */
static void
change_encode(struct json_writer *writer, const struct fix *fix)
{
    static const char *const sections[] = { "training", "serving", "hardware" };

    writer_object(writer, "change");
    for (size_t i = 0; i < COUNT_OF(sections); i++) {
        if (!touches(fix, sections[i]))
            continue;
        writer_object(writer, sections[i]);
        section_encode(writer, fix, sections[i]);
        writer_end_object(writer);
    }
    writer_end_object(writer);
}

/* What of the training itself is another after a fix; left out when it is the same. */
static void
changes_encode(struct json_writer *writer, unsigned changes)
{
    static const struct {
        unsigned change;
        const char *name;
    } names[] = { { FIX_CHANGES_BATCH, "batch" },
                  { FIX_CHANGES_PRECISION, "precision" },
                  { FIX_CHANGES_OPTIMIZER, "optimizer" },
                  { FIX_CHANGES_METHOD, "method" } };

    if (!changes)
        return;
    writer_array(writer, "changes_training");
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (changes & names[i].change)
            writer_text(writer, NULL, names[i].name);
    writer_end_array(writer);
}

void
fixes_encode(struct json_writer *writer, const struct fixes *fixes, enum language language)
{
    writer_array(writer, "fixes");
    for (uint32_t i = 0; i < fixes->count; i++) {
        const struct fix *fix = &fixes->items[i];
        const char *code = fix_code_name(fix->code);
        struct message_values values = { { fix->text }, { fix->number } };

        writer_object(writer, NULL);
        writer_text(writer, "code", code);
        change_encode(writer, fix);
        writer_text(writer, "verdict", verdict_name(fix->verdict));
        writer_bytes(writer, "allocated_bytes", fix->allocated_bytes);
        if (fix->time_factor > 0)
            writer_real(writer, "time_factor", fix->time_factor);
        changes_encode(writer, fix->changes);
        if (fix->has_targets)
            writer_bool(writer, "meets_slo", fix->meets_targets);
        sentence_encode(writer, "fix", code, language, &values);
        writer_end_object(writer);
    }
    writer_end_array(writer);
}

void
provenance_encode(struct json_writer *writer, const struct provenance *provenance)
{
    writer_object(writer, "provenance");
    writer_text(writer, "sizer_version", provenance->sizer_version);
    writer_id(writer, "catalog_version", provenance->catalog->version);
    writer_text(writer, "as_of", provenance->catalog->as_of);
    writer_text(writer, "request_sha256", provenance->request_sha256);
    writer_end_object(writer);
}
