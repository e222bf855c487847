/* Remarks that answers carry: a code and the figures its sentence needs, no prose. */
#ifndef SERVICE_BASE_NOTE_H
#define SERVICE_BASE_NOTE_H

#include <stddef.h>

enum severity { SEVERITY_INFO = 0, SEVERITY_WARNING, SEVERITY_CRITICAL };

enum {
    MAX_NOTES = 48,
    NOTE_TEXT_SIZE = 64,
    NOTE_POINTER_SIZE = 64,
    NOTE_NUMBERS = 4,
};

/* NOTE codes are the ids of sentences in api/i18n/messages.def under "notice.". */
enum notice_code {
    NOTICE_NONE = 0,
#define NOTICE(id, name, severity) NOTICE_##id,
#include "service/base/notices.def"
#undef NOTICE
    NOTICE_COUNT
};

struct notice {
    enum notice_code code;
    char pointer[NOTE_POINTER_SIZE]; /* RFC 6901 into the request; "" when it is about the whole */
    char text[2][NOTE_TEXT_SIZE];    /* {t0} {t1} of the sentence: names, not prose */
    double number[NOTE_NUMBERS];     /* {n0}..{n3} */
};

struct notices {
    size_t count;
    size_t dropped; /* beyond MAX_NOTES */
    struct notice items[MAX_NOTES];
    struct notice lost; /* lent to whoever adds one too many */
};

/* Adds a remark and returns it for its texts and numbers; the same code at the same pointer is not added twice
 * (the first stays and is returned). Never NULL: when the list is full, a remark that is then lost is lent. */
struct notice *notice_add(struct notices *notices, enum notice_code code, const char *pointer);

/* The same with what its sentence needs: {t0}, or {n0} and {n1}. */
struct notice *notice_text(struct notices *notices, enum notice_code code, const char *pointer, const char *text);
struct notice *
notice_numbers(struct notices *notices, enum notice_code code, const char *pointer, double first, double second);

/* Stable name ("fp8_is_weight_only") and severity of a code. */
const char *notice_code_name(enum notice_code code);
enum severity notice_severity(enum notice_code code);

#endif
