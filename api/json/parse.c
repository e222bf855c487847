/* Reads a body with jansson and says of each refusal what it was and where. */
#include <stdlib.h>
#include <string.h>

#include "api/json/field.h"
#include "api/json/locate.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

static const char byte_order_mark[] = "\xEF\xBB\xBF"; /* some editors and shells send one */

struct outline {
    size_t bare_count; /* tokens that JSON does not have: NaN, Infinity, -Infinity */
    bool too_deep;
};

/* The length of the bare token that `text` begins with, 0 when there is none. */
static size_t
bare_token_bytes(const char *text, size_t size)
{
    static const char *const tokens[] = { "NaN", "Infinity", "-Infinity" };

    if (*text != 'N' && *text != 'I' && *text != '-')
        return 0;
    for (size_t i = 0; i < COUNT_OF(tokens); i++) {
        size_t length = strlen(tokens[i]);

        if (size >= length && memcmp(text, tokens[i], length) == 0)
            return length;
    }
    return 0;
}

/* One look at what stands outside strings, before anything is built from it. */
static struct outline
outline_of(const char *text, size_t size, unsigned max_depth)
{
    struct outline outline = { 0, false };
    unsigned depth = 0;

    for (size_t at = 0; at < size;) {
        switch (text[at]) {
        case '"':
            at = locate_string_end(text, size, at);
            continue;
        case '{':
        case '[':
            if (++depth > max_depth) {
                outline.too_deep = true;
                return outline;
            }
            break;
        case '}':
        case ']':
            depth -= depth > 0;
            break;
        case 'N':
        case 'I':
            outline.bare_count += bare_token_bytes(text + at, size - at) > 0;
            break;
        default:
            break;
        }
        at++;
    }
    return outline;
}

/* Copies `text` with null for each bare token, until at least `limit` bytes are written. NaN grows by one byte, so
 * `to` holds size + bare_count; the rest of it is blank. Returns how many bytes of `text` the first `limit` are. */
static size_t
copy_with_nulls(const char *text, size_t size, char *to, size_t limit)
{
    size_t at = 0, written = 0;

    while (at < size && written < limit) {
        size_t bare = bare_token_bytes(text + at, size - at);
        size_t end = text[at] == '"' ? locate_string_end(text, size, at) : at + 1;

        if (bare > 0) {
            memset(to + written, ' ', bare);
            memcpy(to + written, "null", 4);
            written += u64_max(bare, 4);
            at += bare;
        } else {
            memcpy(to + written, text + at, end - at);
            written += end - at;
            at = end;
        }
    }
    if (written < limit)
        memset(to + written, ' ', limit - written);
    return written > limit ? at - (written - limit) : at;
}

static void
fault_malformed(const char *text, size_t end, const char *what, struct fault *fault)
{
    char where[FAULT_TEXT_SIZE];
    size_t line = 1, column = 0;

    for (size_t i = 0; i < end; i++) {
        column += ((unsigned char)text[i] & 0xC0U) != 0x80U;
        if (text[i] == '\n') {
            line++;
            column = 0;
        }
    }
    text_format(where, sizeof where, "line %zu, column %zu (byte %zu)", line, column, end);
    fault_add(fault, FAULT_MALFORMED_JSON, "", where, what, NULL);
}

/* The number that ends at `end`. */
static void
fault_number(const char *text, size_t end, struct fault *fault)
{
    char pointer[FAULT_POINTER_SIZE], value[FAULT_TEXT_SIZE];
    size_t start = end, bytes;

    while (start > 0 && text[start - 1] != '\0' && strchr("+-.0123456789eE", text[start - 1]))
        start--;
    locate_member(text, start, pointer, sizeof pointer);
    bytes = u64_min(end - start, sizeof value - 1);
    memcpy(value, text + start, bytes);
    value[bytes] = '\0';
    fault_add(fault, FAULT_NUMBER_TOO_LARGE, pointer, value, "-9223372036854775808..9223372036854775807", NULL);
}

static void
fault_depth(unsigned max_depth, struct fault *fault)
{
    char expected[FAULT_TEXT_SIZE];

    text_format(expected, sizeof expected, "%u", max_depth);
    fault_add(fault, FAULT_NESTED_TOO_DEEP, "", NULL, expected, NULL);
}

static void
fault_duplicate(const char *text, size_t end, struct fault *fault)
{
    char pointer[FAULT_POINTER_SIZE];
    const char *slash;

    locate_member(text, end, pointer, sizeof pointer);
    slash = strrchr(pointer, '/');
    fault_add(fault, FAULT_DUPLICATE_MEMBER, pointer, slash ? slash + 1 : "", NULL, NULL);
}

/* What jansson refused when it had read the first `end` bytes. */
static void
fault_of_error(const char *text, size_t end, const json_error_t *error, unsigned max_depth, struct fault *fault)
{
    enum json_error_code code = json_error_code(error);

    if (code == json_error_duplicate_key)
        fault_duplicate(text, end, fault);
    else if (code == json_error_numeric_overflow)
        fault_number(text, end, fault);
    else if (code == json_error_stack_overflow)
        fault_depth(max_depth, fault);
    else if (code == json_error_out_of_memory)
        fault_add(fault, FAULT_INTERNAL, "", NULL, NULL, NULL);
    else if (code == json_error_null_character || code == json_error_null_byte_in_key)
        fault_malformed(text, end, "\\u0000 is not allowed", fault);
    else
        fault_malformed(text, end, error->text, fault);
}

/* As json_loadb, with bare tokens as null. *ret_end: how much of `text` was read when it was refused. */
static json_t *
load(const char *text, size_t size, size_t bare_count, json_error_t *error, size_t *ret_end)
{
    size_t copy_size = size + bare_count;
    char *copy;
    json_t *root;

    if (bare_count == 0) {
        root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, error);
        *ret_end = (size_t)error->position;
        return root;
    }
    copy = malloc(copy_size);
    if (!copy) {
        error->text[JSON_ERROR_TEXT_LENGTH - 1] = (char)json_error_out_of_memory; /* where json_error_code() looks */
        *ret_end = 0;
        return NULL;
    }
    copy_with_nulls(text, size, copy, copy_size);
    root = json_loadb(copy, copy_size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, error);
    *ret_end = root ? size : copy_with_nulls(text, size, copy, (size_t)error->position);
    free(copy);
    return root;
}

json_t *
json_parse(const char *text, size_t size, unsigned max_depth, bool *ret_nan, struct fault *fault)
{
    struct outline outline;
    json_error_t error = { .position = 0 };
    size_t end;
    json_t *root;

    *ret_nan = false;
    if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        size -= 3;
    }
    outline = outline_of(text, size, max_depth);
    if (outline.too_deep) {
        fault_depth(max_depth, fault);
        return NULL;
    }
    root = load(text, size, outline.bare_count, &error, &end);
    if (!root) {
        fault_of_error(text, u64_min(end, size), &error, max_depth, fault);
        return NULL;
    }
    if (!json_is_object(root)) {
        fault_add(fault, FAULT_WRONG_TYPE, "", json_is_array(root) ? "array" : "", "object", NULL);
        json_decref(root);
        return NULL;
    }
    *ret_nan = outline.bare_count > 0;
    return root;
}
