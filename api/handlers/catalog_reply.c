/* The tag is a fingerprint of the key by which the cache knows a reply. */
#include "api/handlers/catalog_reply.h"

#include <string.h>
#include <zlib.h>

#include "api/http/etag.h"
#include "service/base/text.h"

enum {
    GZIP_WINDOW_BITS = 15 + 16, /* 16: a gzip header instead of zlib's own */
    GZIP_LEVEL = 4,             /* within a tenth of the best on these lists, in a third of its time */
    GZIP_MEMORY = 8,
    MIN_GZIP_BYTES = 1024,
};

static const char link_name[] = "Link";

static void
make_key(const struct request *request, const struct service_state *state, enum media_type media, struct reply_key *key)
{
    const char coding = request->accepts_gzip ? 'z' : '-';

    reply_key_begin(key);
    reply_key_add(key, &state->catalog->version, sizeof state->catalog->version);
    reply_key_add(key, state->version, strlen(state->version) + 1);
    reply_key_add(key, &media, sizeof media);
    reply_key_add(key, &coding, 1);
    reply_key_add(key, request->path, strlen(request->path) + 1);
    for (size_t i = 0; i < request->query_count; i++) {
        reply_key_add(key, request->query[i].name, strlen(request->query[i].name) + 1);
        reply_key_add(key, request->query[i].value, strlen(request->query[i].value) + 1);
    }
}

bool
catalog_reply_begin(const struct request *request, const struct service_state *state, enum media_type media,
                    struct reply_key *ret_key, struct response *response)
{
    const char *asked = request->if_none_match;
    char etag[ETAG_SIZE];

    make_key(request, state, media, ret_key);
    etag_write(etag, ret_key->fingerprint);
    response->media = media;
    response_header(response, "ETag", etag);
    response_header(response, "Vary", "Accept, Accept-Encoding, Origin");
    if (media == MEDIA_NONE || !etag_matches(asked, etag))
        return false;
    if (asked[strspn(asked, " \t")] == '*') /* any reply: whether there is one is still to be seen */
        return false;
    response->status = 304;
    return true;
}

/* A condition of "*" holds once the reply is known to exist. */
static bool
settle_any(const struct request *request, struct response *response)
{
    const char *asked = request->if_none_match;

    if (!asked || asked[strspn(asked, " \t")] != '*')
        return false;
    response->status = 304;
    response->body->size = 0;
    return true;
}

void
catalog_reply_settle(const struct request *request, struct response *response)
{
    (void)settle_any(request, response);
}

static void
name_coding(const struct request *request, struct response *response)
{
    const unsigned char *body = (const unsigned char *)response->body->bytes;

    if (request->accepts_gzip && response->body->size > 2 && body[0] == 0x1F && body[1] == 0x8B) /* RFC 1952, 2.3.1 */
        response_header(response, "Content-Encoding", "gzip");
}

bool
catalog_reply_again(const struct request *request, const struct reply_key *key, struct response *response)
{
    struct cached_reply *reply = catalog_cache_find(key);

    if (!reply)
        return false;
    if (reply->link[0])
        response_header(response, link_name, reply->link);
    if (response->media == MEDIA_CSV)
        catalog_reply_name(strrchr(request->path, '/') + 1, response);
    buffer_lend(response->body, reply->body, reply->size, catalog_cache_release, reply);
    if (!settle_any(request, response))
        name_coding(request, response);
    return true;
}

/* Replaces a body by its gzip form; leaves it when that fails. */
static void
compress_body(struct buffer *body)
{
    z_stream stream = { .next_in = (unsigned char *)body->bytes, .avail_in = (uInt)body->size };
    struct buffer *packed = buffer_take();

    if (packed &&
        deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK) {
        size_t bound = deflateBound(&stream, (uLong)body->size);

        if (buffer_reserve(packed, bound)) {
            stream.next_out = (unsigned char *)packed->bytes;
            stream.avail_out = (uInt)bound;
            if (deflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out < body->size) {
                body->size = 0;
                buffer_append(body, packed->bytes, stream.total_out);
            }
        }
        (void)deflateEnd(&stream);
    }
    buffer_give(packed);
}

static const char *
header_of(const struct response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    }
    return "";
}

void
catalog_reply_end(const struct request *request, const struct reply_key *key, struct response *response)
{
    struct buffer *body = response->body;

    if (body->failed)
        return;
    if (request->accepts_gzip && body->size >= MIN_GZIP_BYTES && body->size < UINT32_MAX / 2)
        compress_body(body);
    catalog_cache_keep(key, body->bytes, body->size, header_of(response, link_name));
    if (!settle_any(request, response))
        name_coding(request, response);
}

/* Appends with everything escaped but what a query may hold as it is (RFC 3986, unreserved). */
static void
append_escaped(char *to, size_t size, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t used = strlen(to);

    for (; *text && used + 4 < size; text++) {
        unsigned char byte = (unsigned char)*text;
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                     strchr("-._~,:", byte) != NULL;

        if (plain) {
            to[used++] = (char)byte;
        } else {
            to[used++] = '%';
            to[used++] = hex[byte >> 4];
            to[used++] = hex[byte & 15];
        }
    }
    to[used] = '\0';
    if (*text)
        to[0] = '\0'; /* did not fit: told by an empty text */
}

static void
append(char *to, size_t size, const char *text)
{
    size_t used = strlen(to);

    if (used == 0 || used + strlen(text) >= size)
        to[0] = '\0';
    else
        text_copy(to + used, size - used, text);
}

void
catalog_reply_link(const struct request *request, const char *cursor, struct response *response)
{
    char link[RESPONSE_HEADER_SIZE] = "<";

    append(link, sizeof link, request->path);
    append(link, sizeof link, "?cursor=");
    append(link, sizeof link, cursor);
    for (size_t i = 0; i < request->query_count && link[0]; i++) {
        if (strcmp(request->query[i].name, "cursor") == 0)
            continue;
        append(link, sizeof link, "&");
        if (link[0])
            append_escaped(link, sizeof link, request->query[i].name);
        append(link, sizeof link, "=");
        if (link[0])
            append_escaped(link, sizeof link, request->query[i].value);
    }
    append(link, sizeof link, ">; rel=\"next\"");
    if (link[0])
        response_header(response, link_name, link);
}

void
catalog_reply_name(const char *list, struct response *response)
{
    char value[96];

    text_format(value, sizeof value, "attachment; filename=\"sizer-%s.csv\"", list);
    response_header(response, "Content-Disposition", value);
}
