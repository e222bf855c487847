/* Finds the row of a route table that answers a request. */
#include <string.h>

#include "api/route.h"
#include "service/base/text.h"

/* Whether a row's path covers `path`; *ret_tail is what its {id} stands for, NULL when it has none. */
static bool
path_matches(const char *pattern, const char *path, const char **ret_tail)
{
    while (*pattern && *pattern != '{' && *pattern == *path) {
        pattern++;
        path++;
    }
    *ret_tail = *pattern == '{' ? path : NULL;
    return *pattern == '{' ? *path != '\0' : *pattern == *path;
}

static bool
method_matches(enum http_method of_route, enum http_method asked)
{
    return asked == of_route || (asked == HTTP_HEAD && of_route == HTTP_GET);
}

static void
allow_add(char *allow, size_t size, const char *name)
{
    size_t used = strlen(allow);

    text_format(allow + used, size - used, used > 0 ? ", %s" : "%s", name);
}

const struct route *
route_match(const struct route *table, size_t count, enum http_method method, const char *path, char *ret_allow,
            size_t allow_size, const char **ret_tail)
{
    const char *tail;

    ret_allow[0] = '\0';
    *ret_tail = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!path_matches(table[i].path, path, &tail))
            continue;
        if (method_matches(table[i].method, method)) {
            ret_allow[0] = '\0';
            *ret_tail = tail;
            return &table[i];
        }
        allow_add(ret_allow, allow_size, method_name(table[i].method));
        if (table[i].method == HTTP_GET)
            allow_add(ret_allow, allow_size, method_name(HTTP_HEAD));
    }
    if (ret_allow[0])
        allow_add(ret_allow, allow_size, method_name(HTTP_OPTIONS));
    return NULL;
}
