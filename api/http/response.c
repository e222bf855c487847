/* Headers and media types of replies. */
#include "api/http/response.h"

#include "service/base/text.h"

static const char *const media_type_names[] = {
    [MEDIA_JSON] = "application/json",
    [MEDIA_CSV] = "text/csv; charset=utf-8",
    [MEDIA_NDJSON] = "application/x-ndjson",
    [MEDIA_PROBLEM] = "application/problem+json",
    [MEDIA_TEXT] = "text/plain; version=0.0.4; charset=utf-8", /* the version is that of Prometheus's format */
    [MEDIA_YAML] = "application/yaml",
    [MEDIA_NONE] = "",
};

void
response_header(struct response *response, const char *name, const char *value)
{
    struct response_header *header;

    if (response->header_count == MAX_RESPONSE_HEADERS)
        return;
    header = &response->headers[response->header_count++];
    header->name = name;
    text_copy(header->value, sizeof header->value, value);
}

const char *
media_type_name(enum media_type media)
{
    return media_type_names[media];
}
