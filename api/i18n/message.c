/* The table of sentences, found by id in sorted order, and the way they are filled in. */
#include "api/i18n/message.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "api/i18n/expected.h"
#include "api/i18n/figure.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

enum { FILLED_SIZE = 256 }; /* the longest text that is filled in; longer ones are cut */

struct message {
    const char *id;
    const char *text[LANGUAGE_COUNT];
};

static const struct message messages[] = {
#define MESSAGE(id, english, chinese) { (id), { [LANGUAGE_EN] = (english), [LANGUAGE_ZH_CN] = (chinese) } },
#include "api/i18n/messages.def"
#undef MESSAGE
};

const char *
message_template(const char *id, enum language language)
{
    size_t low = 0, high = COUNT_OF(messages);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(id, messages[middle].id);

        if (order == 0)
            return messages[middle].text[language];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const char *
message_id(size_t i)
{
    return i < COUNT_OF(messages) ? messages[i].id : NULL;
}

/* Where filled text goes; what does not fit is dropped. */
struct page {
    char *text;
    size_t size, length;
    bool gap; /* something that was to be filled in is not known */
};

static void
page_add(struct page *page, const char *bytes, size_t size)
{
    size_t room = page->size - 1 - page->length;

    size = size < room ? size : room;
    memcpy(page->text + page->length, bytes, size);
    page->length += size;
}

/* The inside of braces: "t0", "n1:bytes". */
struct blank {
    bool is_text;
    size_t index;
    const char *format;
    size_t format_size;
};

static struct blank
blank_of(const char *inside, size_t size)
{
    struct blank blank = { .is_text = inside[0] == 't', .format = "" };

    if (size > 1 && inside[1] >= '0' && inside[1] <= '3')
        blank.index = (size_t)(inside[1] - '0');
    if (size > 3) {
        blank.format = inside + 3;
        blank.format_size = size - 3;
    }
    return blank;
}

static void
page_fill(struct page *page, const struct blank *blank, enum language language, const struct message_values *values)
{
    char written[FILLED_SIZE];
    const char *text = values->text[blank->index] ? values->text[blank->index] : "";

    if (blank->is_text) {
        page->gap |= text[0] == '\0';
        if (blank->format_size > 0)
            expected_write(written, sizeof written, text, language);
        else
            text_copy(written, sizeof written, text);
    } else {
        page->gap |= isnan(values->number[blank->index]) != 0;
        figure_write(written, blank->format, blank->format_size, values->number[blank->index], language);
    }
    page_add(page, written, strlen(written));
}

/* A sentence whose first words were left out begins with a capital all the same. */
static void
begin_sentence(char *text, const char *id)
{
    const char *sentence = message_template(id, LANGUAGE_EN);

    if (sentence && sentence[0] == '[' && text[0] >= 'a' && text[0] <= 'z')
        text[0] = (char)(text[0] - 'a' + 'A');
}

void
message_write(char *text, size_t size, const char *id, enum language language, const struct message_values *values)
{
    const char *at = message_template(id, language);
    struct page page = { text, size, 0, false };
    size_t optional = 0;

    if (size == 0)
        return;
    for (at = at ? at : id; *at;) {
        size_t plain = strcspn(at, "{[]");
        struct blank blank;
        const char *end;

        page_add(&page, at, plain);
        at += plain;
        if (*at == '[') {
            optional = page.length;
            page.gap = false;
            at++;
        } else if (*at == ']') {
            page.length = page.gap ? optional : page.length;
            at++;
        } else if (*at == '{') {
            end = strchr(at, '}');
            if (!end)
                break;
            blank = blank_of(at + 1, (size_t)(end - at) - 1);
            page_fill(&page, &blank, language, values);
            at = end + 1;
        }
    }
    text[text_whole(text, page.length)] = '\0';
    begin_sentence(text, id);
}
