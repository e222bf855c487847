/* What the Accept family of headers allows, by their weights (RFC 9110, section 12.5). */
#ifndef API_HTTP_NEGOTIATE_H
#define API_HTTP_NEGOTIATE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/request.h"

/* A set of media types. */
#define MEDIA_BIT(media) (1U << (media))

/* The language liked best of those that texts exist in: "zh" and all that begins with it is zh-CN; NULL, and a header
 * that names neither language, is English. */
enum language language_negotiate(const char *accept_language);

/* As Content-Language and Accept-Language write it. */
const char *language_name(enum language language);

/* The media type liked best among `offered`, the first of enum media_type when several are equally good. MEDIA_NONE
 * when the header allows none of them. NULL: the first. */
enum media_type media_negotiate(const char *accept, unsigned offered);

/* The media types of a set by name, "application/json|text/csv". */
void media_list(unsigned set, char *text, size_t size);

/* Whether a gzip body may be sent. NULL: no. */
bool gzip_accepted(const char *accept_encoding);

/* Whether a request's Content-Type says JSON in UTF-8. NULL (it does not say): yes. */
bool content_type_is_json(const char *content_type);

/* Whether a request's Content-Encoding leaves the body as it is. NULL: yes. */
bool content_encoding_is_identity(const char *content_encoding);

#endif
