#include "tests/support/http_client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { REPLY_SECONDS = 60, VALUE_SIZE = 2048 };

/* Text that grows by what comes in. */
struct text {
    char *bytes;
    size_t size;
};

static size_t
append(char *bytes, size_t one, size_t count, void *to)
{
    struct text *text = to;
    size_t size = one * count;
    char *grown = realloc(text->bytes, text->size + size + 1);

    if (!grown)
        return 0;
    memcpy(grown + text->size, bytes, size);
    text->size += size;
    grown[text->size] = '\0';
    text->bytes = grown;
    return size;
}

/* A status line begins a new reply (after 100 Continue): only the last one's headers count. */
static size_t
append_header(char *bytes, size_t one, size_t count, void *to)
{
    struct text *text = to;

    if (one * count > 5 && strncmp(bytes, "HTTP/", 5) == 0) {
        text->size = 0;
        return one * count;
    }
    return append(bytes, one, count, to);
}

static struct curl_slist *
headers_of(const struct http_request *request)
{
    struct curl_slist *list = request->body ? curl_slist_append(NULL, "Expect:") : NULL;
    int typed = 0;

    for (const char *const *header = request->headers; header && *header; header++) {
        typed |= strncasecmp(*header, "Content-Type:", 13) == 0;
        list = curl_slist_append(list, *header);
    }
    return request->body && !typed ? curl_slist_append(list, "Content-Type: application/json") : list;
}

static void
set_method(CURL *curl, const struct http_request *request)
{
    if (request->body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(request->body));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    }
    if (request->method && strcmp(request->method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    else if (request->method)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

void
http_send(const struct http_request *request, struct http_reply *ret_reply)
{
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = headers_of(request);
    struct text body = { calloc(1, 1), 0 }, lines = { calloc(1, 1), 0 };
    CURLcode result;

    if (!curl || !body.bytes || !lines.bytes)
        abort();
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)REPLY_SECONDS);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, append_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &lines);
    set_method(curl, request);
    result = curl_easy_perform(curl);
    if (result != CURLE_OK) {
        (void)fprintf(stderr, "%s: %s\n", request->url, curl_easy_strerror(result));
        abort();
    }
    *ret_reply = (struct http_reply){ .body = body.bytes, .body_size = body.size, .header_lines = lines.bytes };
    lines.bytes[lines.size] = '\0';
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &ret_reply->status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
}

void
http_reply_done(struct http_reply *reply)
{
    free(reply->body);
    free(reply->header_lines);
}

const char *
http_reply_header(const struct http_reply *reply, const char *name)
{
    static _Thread_local char value[VALUE_SIZE];
    size_t size = strlen(name);

    for (const char *line = reply->header_lines; line && *line; line = strstr(line, "\r\n") + 2) {
        if (strncasecmp(line, name, size) != 0 || line[size] != ':')
            continue;
        line += size + 1 + strspn(line + size + 1, " ");
        (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(line, "\r\n"), line);
        return value;
    }
    return NULL;
}

json_t *
http_reply_json(const struct http_reply *reply)
{
    json_error_t error;
    json_t *value = json_loadb(reply->body, reply->body_size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);

    if (!value) {
        (void)fprintf(stderr, "no JSON (%s): status %ld, %.400s\n", error.text, reply->status, reply->body);
        abort();
    }
    return value;
}
