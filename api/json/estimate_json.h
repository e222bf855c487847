/* POST /estimate: the request read, the answer written. */
#ifndef API_JSON_ESTIMATE_JSON_H
#define API_JSON_ESTIMATE_JSON_H

#include "api/http/request.h"
#include "api/json/job_json.h"
#include "api/json/model_json.h"
#include "api/json/remarks_json.h"
#include "service/advice/diagnosis.h"
#include "service/recommend/machine_cost.h"
#include "service/search/answer.h"

extern const struct field_table estimate_table, hardware_table;

/* hardware as JSON names it, before the catalog is asked what the names mean. */
struct hardware_members {
    char gpu[96], instance[160], server[96], storage[96];
    struct hardware_ask ask;
};

/* A request as it was read. What `request` points to stands in the document, the model holder and the catalog, so it
 * is used in place and ended with estimate_decoded_done. */
struct estimate_decoded {
    json_t *document;
    char digest[65]; /* SHA-256 of the canonical body */
    struct model_holder model;
    struct estimate_members {
        const json_t *model;
        struct estimate_request request;
        bool has_cost;
        struct cost_members cost;
        struct hardware_members hardware;
        char catalog_version[32]; /* "": the current one */
    } members;
};

enum { MAX_BODY_DEPTH = 32 };

/* Opens a body: parsed, digested, nothing read of it. On STATUS_OK it is to be ended with estimate_decoded_done. */
enum status estimate_open(const struct request *http, struct estimate_decoded *decoded, struct notices *notices,
                          struct fault *fault);
void estimate_decoded_done(struct estimate_decoded *decoded);

/* The catalog version that an open body pins, as it stands there; NULL when it pins none (or no text). */
const char *estimate_version_asked(const struct estimate_decoded *decoded);

/* What the names and the model of `members` mean in this catalog; faults are added. Used by /recommend too. */
void estimate_members_resolve(const struct catalog *catalog, struct estimate_decoded *decoded,
                              struct assumptions *assumptions, struct notices *notices, struct fault *fault);

/* Says of a part of the request, when it is present, that it was read but that nothing in the reply answers it. */
void notice_unanswered(struct notices *notices, bool present, const char *pointer);

/* Reads an open body; all faults at once. */
enum status estimate_decode(const struct catalog *catalog, struct estimate_decoded *decoded,
                            struct assumptions *assumptions, struct notices *notices, struct fault *fault);

/* What is added to an answer once it is known. */
struct estimate_remarks {
    struct diagnosis diagnosis;
    bool has_cost;
    struct cost cost; /* of the machine */
};

void estimate_encode(const struct answer *answer, const struct estimate_remarks *remarks,
                     const struct provenance *provenance, enum language language, struct buffer *body);

#endif
