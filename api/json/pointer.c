/* RFC 6901 pointers: a token is escaped as it is joined on. */
#include <string.h>

#include "api/json/field.h"
#include "service/base/text.h"

void
pointer_join(char *to, size_t size, const char *pointer, const char *token)
{
    size_t length;

    text_copy(to, size, pointer);
    length = strlen(to);
    if (length + 1 >= size)
        return;
    to[length++] = '/';
    for (; *token && length + 2 < size; token++) {
        if (*token == '~' || *token == '/') {
            to[length++] = '~';
            to[length++] = *token == '~' ? '0' : '1';
        } else {
            to[length++] = *token;
        }
    }
    to[text_whole(to, length)] = '\0';
}
