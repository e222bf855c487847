/* Sorts names that are UTF-8 as their UTF-16 would sort. */
#include "api/json/members.h"

#include <stdlib.h>

/* Bytes of UTF-8 sort as code points do. UTF-16 differs in one case: code points above U+FFFF are written with
 * surrogates (U+D800..), below U+E000..U+FFFF, whose first bytes are EE and EF. */
static int
compare_names(const char *a, const char *b)
{
    unsigned char in_a, in_b;

    while (*a && *a == *b) {
        a++;
        b++;
    }
    in_a = (unsigned char)*a;
    in_b = (unsigned char)*b;
    if (in_a >= 0xEE && in_b >= 0xEE && (in_a >= 0xF0) != (in_b >= 0xF0))
        return in_a >= 0xF0 ? -1 : 1;
    return (in_a > in_b) - (in_a < in_b);
}

static int
compare_members(const void *a, const void *b)
{
    return compare_names(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void
sort_few(struct member *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct member item = items[i];
        size_t at = i;

        for (; at > 0 && compare_names(item.name, items[at - 1].name) < 0; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

bool
members_take(const json_t *object, struct members *ret_members)
{
    size_t count = json_object_size(object), i = 0;
    const char *name;
    json_t *value;

    ret_members->items = ret_members->few;
    ret_members->count = 0;
    if (count > FEW_MEMBERS)
        ret_members->items = malloc(count * sizeof *ret_members->items);
    if (!ret_members->items)
        return false;
    json_object_foreach((json_t *)object, name, value) ret_members->items[i++] = (struct member){ name, value };
    ret_members->count = count;
    if (count > FEW_MEMBERS)
        qsort(ret_members->items, count, sizeof *ret_members->items, compare_members);
    else
        sort_few(ret_members->items, count);
    return true;
}

void
members_done(struct members *members)
{
    if (members->items != members->few)
        free(members->items);
}
