/* Entity tags: what a reply is called, so that a client need not be sent it again (RFC 9110, section 8.8.3). */
#ifndef API_HTTP_ETAG_H
#define API_HTTP_ETAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fingerprint of bytes, to make a tag of; FNV-1a over 64 bits. `seed` chains calls: 0 to begin with. */
uint64_t fingerprint(uint64_t seed, const void *bytes, size_t size);

enum { ETAG_SIZE = 24 };

/* A strong tag of a fingerprint: "0123456789abcdef" in its quotes. */
void etag_write(char ret_etag[ETAG_SIZE], uint64_t fingerprint);

/* Whether an If-None-Match header (NULL: absent) names the tag: "*", or a list, where weak tags count too. */
bool etag_matches(const char *if_none_match, const char *etag);

#endif
