/* One reader of weighted lists, and what each header of the Accept family makes of it. */
#include "api/http/negotiate.h"

#include <string.h>
#include <strings.h>

#include "service/base/quantity.h"
#include "service/base/text.h"

enum { FULL_WEIGHT = 1000 };

/* One element of a list: what stands before the first ';', and its q in thousandths. */
struct preference {
    const char *text;
    size_t size;
    unsigned weight;
};

static const char *
skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* To the next of `stops` outside a quoted string, or the end. */
static const char *
skip_to(const char *at, const char *stops)
{
    bool quoted = false;

    for (; *at; at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (quoted && *at == '\\' && at[1])
            at++;
        else if (!quoted && strchr(stops, *at))
            break;
    }
    return at;
}

/* "1", "0.5", "0.123" in thousandths; anything else counts as 0: a client that writes it gets the next choice. */
static unsigned
read_weight(const char *at)
{
    unsigned weight, place = FULL_WEIGHT / 10;

    if (*at != '0' && *at != '1')
        return 0;
    weight = *at == '1' ? FULL_WEIGHT : 0;
    if (at[1] == '.')
        for (at += 2; *at >= '0' && *at <= '9' && place > 0; at++, place /= 10)
            weight += (unsigned)(*at - '0') * place;
    return weight > FULL_WEIGHT ? FULL_WEIGHT : weight;
}

/* Reads the next element of a list and moves *at behind it; false at its end. */
static bool
preference_next(const char **at, struct preference *ret_preference)
{
    const char *from = *at, *to;

    from += strspn(from, ", \t");
    if (!*from)
        return false;
    to = skip_to(from, ",;");
    ret_preference->text = from;
    ret_preference->size = (size_t)(to - from);
    while (ret_preference->size > 0 && strchr(" \t", from[ret_preference->size - 1]))
        ret_preference->size--;
    ret_preference->weight = FULL_WEIGHT;
    while (*to == ';') {
        to = skip_blanks(to + 1);
        if ((to[0] == 'q' || to[0] == 'Q') && to[1] == '=')
            ret_preference->weight = read_weight(to + 2);
        to = skip_to(to, ",;");
    }
    *at = to;
    return true;
}

static bool
preference_is(const struct preference *preference, const char *word)
{
    return strlen(word) == preference->size && strncasecmp(preference->text, word, preference->size) == 0;
}

/* Whether a language range is `language` or a variant of it: "zh", "zh-TW", "zh-Hans-CN". */
static bool
preference_is_language(const struct preference *preference, const char *language)
{
    size_t size = strlen(language);

    return preference->size >= size && strncasecmp(preference->text, language, size) == 0 &&
           (preference->size == size || preference->text[size] == '-');
}

enum language
language_negotiate(const char *accept_language)
{
    struct preference preference;
    enum language best = LANGUAGE_EN;
    unsigned best_weight = 0;

    while (accept_language && preference_next(&accept_language, &preference)) {
        if (preference.weight <= best_weight)
            continue;
        if (preference_is_language(&preference, "zh"))
            best = LANGUAGE_ZH_CN;
        else if (preference_is_language(&preference, "en") || preference_is(&preference, "*"))
            best = LANGUAGE_EN;
        else
            continue;
        best_weight = preference.weight;
    }
    return best;
}

const char *
language_name(enum language language)
{
    return language == LANGUAGE_ZH_CN ? "zh-CN" : "en";
}

/* The names a media type goes by; the first has its range "type" + "/" + "*" too. */
static const struct {
    const char *name, *other_name, *range;
} media_names[] = {
    [MEDIA_JSON] = { "application/json", "application/json", "application/*" },
    [MEDIA_CSV] = { "text/csv", "text/csv", "text/*" },
    [MEDIA_NDJSON] = { "application/x-ndjson", "application/ndjson", "application/*" },
    [MEDIA_PROBLEM] = { "application/problem+json", "application/problem+json", "application/*" },
    [MEDIA_TEXT] = { "text/plain", "text/plain", "text/*" },
    [MEDIA_YAML] = { "application/yaml", "text/yaml", "application/*" },
};

/* The weight a header gives to one media type: that of the most specific range which covers it. */
static unsigned
media_weight(const char *accept, enum media_type media)
{
    struct preference preference;
    unsigned weight = 0, weight_specificity = 0;

    while (preference_next(&accept, &preference)) {
        unsigned specificity = 0;

        if (preference_is(&preference, media_names[media].name) ||
            preference_is(&preference, media_names[media].other_name))
            specificity = 3;
        else if (preference_is(&preference, media_names[media].range))
            specificity = 2;
        else if (preference_is(&preference, "*/*"))
            specificity = 1;
        if (specificity > weight_specificity) {
            weight_specificity = specificity;
            weight = preference.weight;
        }
    }
    return weight;
}

enum media_type
media_negotiate(const char *accept, unsigned offered)
{
    enum media_type best = MEDIA_NONE;
    unsigned best_weight = 0;

    if (!accept || !*accept || strcmp(accept, "*/*") == 0)
        return (enum media_type)__builtin_ctz(offered);
    for (size_t i = 0; i < COUNT_OF(media_names); i++) {
        unsigned weight = offered & MEDIA_BIT(i) ? media_weight(accept, (enum media_type)i) : 0;

        if (weight > best_weight) {
            best = (enum media_type)i;
            best_weight = weight;
        }
    }
    return best;
}

void
media_list(unsigned set, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(media_names); i++) {
        if (!(set & MEDIA_BIT(i)))
            continue;
        text_format(text + used, size - used, "%s%s", used > 0 ? "|" : "", media_names[i].name);
        used = strlen(text);
    }
}

bool
gzip_accepted(const char *accept_encoding)
{
    struct preference preference;
    bool any = false;

    while (accept_encoding && preference_next(&accept_encoding, &preference)) {
        if (preference_is(&preference, "gzip") || preference_is(&preference, "x-gzip"))
            return preference.weight > 0;
        if (preference_is(&preference, "*"))
            any = preference.weight > 0;
    }
    return any;
}

/* Whether the parameters of a media type name no character set but UTF-8. */
static bool
charset_is_utf8(const char *parameters)
{
    while (*parameters == ';') {
        const char *at = skip_blanks(parameters + 1);

        parameters = skip_to(at, ";");
        if (strncasecmp(at, "charset=", 8) != 0)
            continue;
        at += 8;
        if (strncasecmp(at, "utf-8", 5) == 0)
            at += 5;
        else if (strncasecmp(at, "\"utf-8\"", 7) == 0)
            at += 7;
        else
            return false;
        if (skip_blanks(at) != parameters)
            return false;
    }
    return true;
}

bool
content_type_is_json(const char *content_type)
{
    static const char json[] = "application/json";
    const char *at;

    if (!content_type)
        return true;
    content_type = skip_blanks(content_type);
    if (strncasecmp(content_type, json, sizeof json - 1) != 0)
        return false;
    at = skip_blanks(content_type + sizeof json - 1);
    return *at == '\0' || (*at == ';' && charset_is_utf8(at));
}

bool
content_encoding_is_identity(const char *content_encoding)
{
    return !content_encoding || !*content_encoding || strcasecmp(content_encoding, "identity") == 0;
}
