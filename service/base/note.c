/* Names and severities of notices and the list that they are collected in. */
#include "service/base/note.h"

#include <string.h>

#include "service/base/text.h"

static const struct {
    const char *name;
    enum severity severity;
} notices_known[NOTICE_COUNT] = {
    [NOTICE_NONE] = { "", SEVERITY_INFO },
#define NOTICE(id, name, severity) [NOTICE_##id] = { (name), SEVERITY_##severity },
#include "service/base/notices.def"
#undef NOTICE
};

const char *
notice_code_name(enum notice_code code)
{
    return (unsigned)code < NOTICE_COUNT ? notices_known[code].name : "";
}

enum severity
notice_severity(enum notice_code code)
{
    return (unsigned)code < NOTICE_COUNT ? notices_known[code].severity : SEVERITY_INFO;
}

struct notice *
notice_add(struct notices *notices, enum notice_code code, const char *pointer)
{
    struct notice *notice;

    for (size_t i = 0; i < notices->count; i++) {
        notice = &notices->items[i];
        if (notice->code == code && strncmp(notice->pointer, pointer, NOTE_POINTER_SIZE - 1) == 0)
            return notice;
    }
    if (notices->count < MAX_NOTES) {
        notice = &notices->items[notices->count++];
    } else {
        notices->dropped++;
        notice = &notices->lost;
    }
    memset(notice, 0, sizeof *notice);
    notice->code = code;
    text_copy(notice->pointer, sizeof notice->pointer, pointer);
    return notice;
}

struct notice *
notice_text(struct notices *notices, enum notice_code code, const char *pointer, const char *text)
{
    struct notice *notice = notice_add(notices, code, pointer);

    text_copy(notice->text[0], NOTE_TEXT_SIZE, text);
    return notice;
}

struct notice *
notice_numbers(struct notices *notices, enum notice_code code, const char *pointer, double first, double second)
{
    struct notice *notice = notice_add(notices, code, pointer);

    notice->number[0] = first;
    notice->number[1] = second;
    return notice;
}
