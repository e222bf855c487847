/* What every answer carries beside its figures: assumptions, notices, fixes, provenance. */
#ifndef API_JSON_REMARKS_JSON_H
#define API_JSON_REMARKS_JSON_H

#include "api/http/request.h"
#include "api/json/writer.h"
#include "service/catalog/catalog.h"
#include "service/job/defaults.h"
#include "service/search/fixes.h"

/* Who answers, from which catalog, to which body. */
struct provenance {
    const char *sizer_version;
    const struct catalog *catalog;
    const char *request_sha256;
};

void assumptions_encode(struct json_writer *writer, const struct assumptions *assumptions, enum language language);
void notices_encode(struct json_writer *writer, const struct notices *notices, enum language language);
void fixes_encode(struct json_writer *writer, const struct fixes *fixes, enum language language);
void provenance_encode(struct json_writer *writer, const struct provenance *provenance);

#endif
