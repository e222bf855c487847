/* What catalog replies have in common: entity tags, not rendering or sending twice, compression, links. */
#ifndef API_HANDLERS_CATALOG_REPLY_H
#define API_HANDLERS_CATALOG_REPLY_H

#include "api/handlers/catalog_cache.h"
#include "api/route.h"

/* Sets media, ETag and Vary. The tag follows from the catalog's version and the request alone, so that "not modified"
 * costs no look at the rows. true: the reply is that (304). `media` MEDIA_NONE (a wrong format=) is never that. */
bool catalog_reply_begin(const struct request *request, const struct service_state *state, enum media_type media,
                         struct reply_key *ret_key, struct response *response);

/* Answers from the cache; false when it has no such reply. */
bool catalog_reply_again(const struct request *request, const struct reply_key *key, struct response *response);

/* Ends a reply that is rendered each time: If-None-Match: * is met by its being there. */
void catalog_reply_settle(const struct request *request, struct response *response);

/* Compresses a rendered body where the caller takes that, and keeps it for the next. */
void catalog_reply_end(const struct request *request, const struct reply_key *key, struct response *response);

/* Link to the next page: the same request with another cursor (RFC 8288). Left out when it does not fit a header. */
void catalog_reply_link(const struct request *request, const char *cursor, struct response *response);

/* Content-Disposition: the file that a browser saves a table as. */
void catalog_reply_name(const char *list, struct response *response);

#endif
