/* A walk over brackets, strings and commas that keeps the way down. */
#include "api/json/locate.h"

#include <stdbool.h>
#include <string.h>

#include "api/json/field.h"
#include "service/base/text.h"

enum { MAX_LEVELS = 64, TOKEN_SIZE = 128 };

struct level {
    bool is_array, after_colon;
    size_t index;            /* of an array */
    size_t name, name_bytes; /* of an object: where its latest name stands */
};

struct walk {
    struct level levels[MAX_LEVELS];
    size_t depth;
};

size_t
locate_string_end(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++)
        if (text[at] == '\\')
            at++;
    return at < size ? at + 1 : size;
}

static struct level *
innermost(struct walk *walk)
{
    return walk->depth > 0 && walk->depth <= MAX_LEVELS ? &walk->levels[walk->depth - 1] : NULL;
}

static void
step_in(struct walk *walk, bool is_array)
{
    struct level *level;

    walk->depth++;
    level = innermost(walk);
    if (level)
        *level = (struct level){ .is_array = is_array };
}

/* Takes what begins at text[at]; returns where the next part begins. */
static size_t
step(struct walk *walk, const char *text, size_t end, size_t at)
{
    struct level *level = innermost(walk);
    size_t next = at + 1;

    switch (text[at]) {
    case '{':
    case '[':
        step_in(walk, text[at] == '[');
        break;
    case '}':
    case ']':
        walk->depth -= walk->depth > 0;
        break;
    case ':':
        if (level)
            level->after_colon = true;
        break;
    case ',':
        if (level) {
            level->after_colon = false;
            level->index++;
        }
        break;
    case '"':
        next = locate_string_end(text, end, at);
        if (level && !level->is_array && !level->after_colon) {
            level->name = at + 1;
            level->name_bytes = next - at >= 2 ? next - at - 2 : 0;
        }
        break;
    default:
        break;
    }
    return next;
}

void
locate_member(const char *text, size_t end, char *pointer, size_t pointer_size)
{
    struct walk walk = { .depth = 0 };
    char token[TOKEN_SIZE], above[FAULT_POINTER_SIZE];

    for (size_t at = 0; at < end;)
        at = step(&walk, text, end, at);
    text_copy(pointer, pointer_size, "");
    for (size_t i = 0; i < walk.depth && i < MAX_LEVELS; i++) {
        const struct level *level = &walk.levels[i];

        if (level->is_array) {
            text_format(token, sizeof token, "%zu", level->index);
        } else {
            size_t bytes = level->name_bytes < sizeof token - 1 ? level->name_bytes : sizeof token - 1;

            memcpy(token, text + level->name, bytes);
            token[text_whole(token, bytes)] = '\0';
        }
        text_copy(above, sizeof above, pointer);
        pointer_join(pointer, pointer_size, above, token);
    }
}
