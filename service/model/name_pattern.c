/* Wildcards by trying again behind the last star. */
#include "service/model/name_pattern.h"

#include <string.h>

static bool
ends_component(char byte)
{
    return byte == '\0' || byte == '.';
}

/* A wildcard's class "[a-f0]" at `class`; NULL when it is not closed. */
static const char *
class_matches(const char *class, char byte, bool *ret_matches)
{
    bool negated = class[1] == '!' || class[1] == '^';
    const char *at = class + (negated ? 2 : 1);
    bool found = false;

    do {
        if (*at == '\0')
            return NULL;
        if (at[1] == '-' && at[2] != '\0' && at[2] != ']') {
            found = found || (byte >= at[0] && byte <= at[2]);
            at += 2;
        } else {
            found = found || byte == *at;
        }
        at++;
    } while (*at != ']');
    *ret_matches = byte != '\0' && found != negated;
    return at + 1;
}

/* One byte of a wildcard pattern against one of the name; NULL when they differ, else where the pattern goes on. */
static const char *
byte_matches(const char *pattern, char byte)
{
    bool matches = false;

    if (*pattern == '[') {
        const char *after = class_matches(pattern, byte, &matches);

        if (after != NULL)
            return matches ? after : NULL;
    }
    return byte != '\0' && (*pattern == '?' || *pattern == byte) ? pattern + 1 : NULL;
}

/* A class is looked through byte by byte. */
enum { STEPS_OF_CLASS = 8 };

/* The pattern from the start of `name` to the end of one of its components. */
static bool
wildcard_matches(const char *pattern, const char *name, uint32_t *steps_left)
{
    const char *star = NULL, *tried = NULL;

    for (; *steps_left > STEPS_OF_CLASS; *steps_left -= *pattern == '[' ? STEPS_OF_CLASS : 1) {
        const char *after;

        if (*pattern == '*') {
            star = ++pattern;
            tried = name;
            continue;
        }
        if ((*pattern == '\0' || (pattern[0] == '.' && pattern[1] == '\0')) && ends_component(*name))
            return true;
        after = *pattern != '\0' ? byte_matches(pattern, *name) : NULL;
        if (after != NULL) {
            pattern = after;
            name++;
        } else if (star != NULL && *tried != '\0') {
            pattern = star;
            name = ++tried;
        } else {
            return false;
        }
    }
    return false;
}

/* The number behind "layers." or "h." and in front of a dot or the end. */
static int32_t
layer_of(const char *text, uint32_t *ret_end)
{
    static const char *const stacks[] = { "layers.", "h.", "blocks.", "block.", "layer." };

    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
        const char *at = strstr(text, stacks[i]);
        int32_t layer = 0;

        if (at == NULL || (at != text && at[-1] != '.'))
            continue;
        at += strlen(stacks[i]);
        const char *digits = at;
        while (*at >= '0' && *at <= '9' && at - digits < 6)
            layer = layer * 10 + (*at++ - '0');
        if (at == digits || !ends_component(*at))
            continue;
        size_t end = (size_t)(at - text);
        *ret_end = strcspn(text, "*?[") >= end ? (uint32_t)end : 0;
        return layer;
    }
    return PATTERN_EVERY_LAYER;
}

/* Whether it could mean one layer and not another: only digits, or what may stand for them, tell layers apart. In a
 * name a digit counts where a number can begin. */
static bool
may_tell_layers_apart(const char *text, bool is_expression)
{
    if (strpbrk(text, "[?{") != NULL)
        return true;
    if (is_expression)
        return strpbrk(text, "0123456789") != NULL || strstr(text, "\\d") != NULL;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at >= '0' && *at <= '9' && (at == text || at[-1] == '.' || at[-1] == '*'))
            return true;
    }
    return false;
}

void
name_pattern_read(const char *text, bool is_expression, struct name_pattern *ret_pattern)
{
    ret_pattern->kind = PATTERN_NAME;
    if (is_expression || strncmp(text, "re:", 3) == 0) {
        ret_pattern->kind = PATTERN_EXPRESSION;
        text += is_expression ? 0 : 3;
    }
    ret_pattern->text = text[0] == '.' && ret_pattern->kind == PATTERN_NAME ? text + 1 : text;
    ret_pattern->layer = PATTERN_EVERY_LAYER;
    ret_pattern->layer_end = 0;
    ret_pattern->tells_layers_apart = may_tell_layers_apart(text, ret_pattern->kind == PATTERN_EXPRESSION);
    ret_pattern->understood = text[0] != '\0' && strnlen(text, PATTERN_BYTES) < PATTERN_BYTES;
    if (ret_pattern->kind == PATTERN_EXPRESSION)
        ret_pattern->understood = ret_pattern->understood && name_expression_read(text, &ret_pattern->expression);
    else if (ret_pattern->understood)
        ret_pattern->layer = layer_of(ret_pattern->text, &ret_pattern->layer_end);
}

bool
name_pattern_matches(const struct name_pattern *pattern, const char *name, uint32_t *steps_left)
{
    if (!pattern->understood)
        return false;
    if (pattern->kind == PATTERN_EXPRESSION)
        return name_expression_matches(&pattern->expression, name, steps_left);
    for (const char *at = name; at != NULL; at = strchr(at, '.')) {
        at += *at == '.';
        if (wildcard_matches(pattern->text, at, steps_left))
            return true;
    }
    return false;
}

bool
name_pattern_matches_below(const struct name_pattern *pattern, const char *module, uint32_t *steps_left)
{
    const char *rest = pattern->text + pattern->layer_end;

    rest += *rest == '.';
    return *rest == '\0' || wildcard_matches(rest, module, steps_left);
}
