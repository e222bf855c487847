/* Making and comparing entity tags. */
#include "api/http/etag.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t
fingerprint(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = seed ? seed : 0xCBF29CE484222325U; /* draft-eastlake-fnv-17, section 5 */

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001B3U;
    return hash;
}

void
etag_write(char ret_etag[ETAG_SIZE], uint64_t of)
{
    (void)snprintf(ret_etag, ETAG_SIZE, "\"%016" PRIx64 "\"", of);
}

/* A tag may hold commas, so the list is walked by its quotes. */
bool
etag_matches(const char *if_none_match, const char *etag)
{
    size_t size = strlen(etag);

    if (!if_none_match)
        return false;
    if_none_match += strspn(if_none_match, " \t");
    if (*if_none_match == '*')
        return true;
    for (const char *at = strchr(if_none_match, '"'); at; at = strchr(at, '"')) {
        const char *end = strchr(at + 1, '"');

        if (!end)
            return false;
        if ((size_t)(end + 1 - at) == size && strncmp(at, etag, size) == 0)
            return true;
        at = end + 1;
    }
    return false;
}
