/* The few phrases that expectations begin with, in other languages. */
#include "api/i18n/expected.h"

#include <stdbool.h>
#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

struct phrase {
    const char *begins, *ends; /* English, around what stays */
    const char *before[LANGUAGE_COUNT], *after[LANGUAGE_COUNT];
};

/* A longer beginning stands before one that it begins with. */
static const struct phrase phrases[] = {
    { "string of at most ", " bytes", { [LANGUAGE_ZH_CN] = "长度不超过 " }, { [LANGUAGE_ZH_CN] = " 字节的字符串" } },
    { "decimal string such as ", "", { [LANGUAGE_ZH_CN] = "十进制数字符串，例如 " }, { [LANGUAGE_ZH_CN] = "" } },
    { "array of a class name", "", { [LANGUAGE_ZH_CN] = "含一个类名的数组" }, { [LANGUAGE_ZH_CN] = "" } },
    { "array of strings", "", { [LANGUAGE_ZH_CN] = "字符串数组" }, { [LANGUAGE_ZH_CN] = "" } },
    { "id of ", "", { [LANGUAGE_ZH_CN] = "" }, { [LANGUAGE_ZH_CN] = " 中的 id" } },
    { "integer ", "", { [LANGUAGE_ZH_CN] = "整数 " }, { [LANGUAGE_ZH_CN] = "" } },
    { "number ", "", { [LANGUAGE_ZH_CN] = "数值 " }, { [LANGUAGE_ZH_CN] = "" } },
    { "one of ", "", { [LANGUAGE_ZH_CN] = "以下之一：" }, { [LANGUAGE_ZH_CN] = "" } },
    { "at most ", "", { [LANGUAGE_ZH_CN] = "最多 " }, { [LANGUAGE_ZH_CN] = "" } },
    { "below ", "", { [LANGUAGE_ZH_CN] = "小于 " }, { [LANGUAGE_ZH_CN] = "" } },
    { "divides ", "", { [LANGUAGE_ZH_CN] = "能整除 " }, { [LANGUAGE_ZH_CN] = "" } },
    { "string", "", { [LANGUAGE_ZH_CN] = "字符串" }, { [LANGUAGE_ZH_CN] = "" } },
    { "object", "", { [LANGUAGE_ZH_CN] = "JSON 对象" }, { [LANGUAGE_ZH_CN] = "" } },
    { "array", "", { [LANGUAGE_ZH_CN] = "数组" }, { [LANGUAGE_ZH_CN] = "" } },
};

/* Whether `expected` is this phrase; a phrase that ends in a letter must be all of it. */
static bool
is_phrase(const struct phrase *phrase, const char *expected)
{
    size_t begins = strlen(phrase->begins), ends = strlen(phrase->ends), size = strlen(expected);

    if (size < begins + ends || strncmp(expected, phrase->begins, begins) != 0)
        return false;
    if (phrase->begins[begins - 1] != ' ')
        return size == begins;
    return strcmp(expected + size - ends, phrase->ends) == 0;
}

void
expected_write(char *text, size_t size, const char *expected, enum language language)
{
    for (size_t i = 0; language != LANGUAGE_EN && i < COUNT_OF(phrases); i++) {
        const struct phrase *phrase = &phrases[i];
        size_t begins = strlen(phrase->begins);

        if (!is_phrase(phrase, expected))
            continue;
        text_format(text, size, "%s%.*s%s", phrase->before[language],
                    (int)(strlen(expected) - begins - strlen(phrase->ends)), expected + begins,
                    phrase->after[language]);
        return;
    }
    text_copy(text, size, expected);
}
