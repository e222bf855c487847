#include "api/json/estimate_json.h"

#include <string.h>

#include "api/json/canonical.h"
#include "service/base/quantity.h"
#include "service/base/text.h"

static const char *const intranode_names[] = { NULL, "nvlink", "pcie" };

#define HARDWARE_NUMBER(member_name, member, high)                                                                 \
    {                                                                                                              \
        .name = member_name, .kind = FIELD_U32, .offset = offsetof(struct hardware_members, ask.member), .min = 1, \
        .max = (high)                                                                                              \
    }
#define HARDWARE_TEXT(member)                                                                     \
    {                                                                                             \
        .name = #member, .kind = FIELD_TEXT, .offset = offsetof(struct hardware_members, member), \
        .max = sizeof(((struct hardware_members *)0)->member)                                     \
    }

static const struct field hardware_fields[] = {
    HARDWARE_TEXT(gpu),
    HARDWARE_NUMBER("gpus", gpus, 100000),
    HARDWARE_NUMBER("gpus_per_node", gpus_per_node, 1024),
    { .name = "internode_bits_per_second",
      .kind = FIELD_REAL,
      .offset = offsetof(struct hardware_members, ask.internode_bits_per_second),
      .min = 1,
      .max = 1e15 },
    { .name = "intranode",
      .kind = FIELD_ENUM,
      .offset = offsetof(struct hardware_members, ask.intranode),
      .names = intranode_names,
      .name_count = COUNT_OF(intranode_names) },
    HARDWARE_TEXT(storage),
    HARDWARE_NUMBER("cpu_cores", cpu_cores, 100000),
    { .name = "ram_bytes",
      .kind = FIELD_REAL,
      .offset = offsetof(struct hardware_members, ask.ram_bytes),
      .min = 1,
      .max = 1e16 },
    HARDWARE_TEXT(instance),
    HARDWARE_TEXT(server),
    HARDWARE_NUMBER("count", offer_count, 10000),
};
const struct field_table hardware_table = { "Hardware", hardware_fields, COUNT_OF(hardware_fields) };

#define MEMBER(member) offsetof(struct estimate_members, member)

static const struct field estimate_fields[] = {
    { .name = "model", .kind = FIELD_ANY, .offset = MEMBER(model) },
    { .name = "training",
      .kind = FIELD_OBJECT,
      .offset = MEMBER(request.training),
      .table = &training_table,
      .present_offset = MEMBER(request.has_training) },
    { .name = "serving",
      .kind = FIELD_OBJECT,
      .offset = MEMBER(request.serving),
      .table = &serving_table,
      .present_offset = MEMBER(request.has_serving) },
    { .name = "dataset",
      .kind = FIELD_OBJECT,
      .offset = MEMBER(request.dataset),
      .table = &dataset_table,
      .present_offset = MEMBER(request.dataset.present) },
    { .name = "checkpoint",
      .kind = FIELD_OBJECT,
      .offset = MEMBER(request.checkpoint),
      .table = &checkpoint_table,
      .present_offset = MEMBER(request.checkpoint.present) },
    { .name = "hardware",
      .kind = FIELD_OBJECT,
      .offset = MEMBER(hardware),
      .table = &hardware_table,
      .present_offset = MEMBER(hardware.ask.present) },
    { .name = "observed",
      .kind = FIELD_OBJECT,
      .offset = MEMBER(request.observed),
      .table = &observed_table,
      .present_offset = MEMBER(request.observed.present) },
    { .name = "cost",
      .kind = FIELD_OBJECT,
      .offset = MEMBER(cost),
      .table = &cost_table,
      .present_offset = MEMBER(has_cost) },
    { .name = "catalog_version", .kind = FIELD_TEXT, .offset = MEMBER(catalog_version), .max = 32 },
};
const struct field_table estimate_table = { "EstimateRequest", estimate_fields, COUNT_OF(estimate_fields) };

/* 0 can be observed */
#define NOTHING_OBSERVED ((struct observed_ask){ false, -1, -1, -1, -1, -1, -1, -1 })

enum status
estimate_open(const struct request *http, struct estimate_decoded *decoded, struct notices *notices,
              struct fault *fault)
{
    bool nan = false;

    decoded->document = json_parse(http->body, http->body_size, MAX_BODY_DEPTH, &nan, fault);
    if (!decoded->document)
        return STATUS_FAULT;
    if (nan)
        notice_add(notices, NOTICE_NAN_READ_AS_NULL, "");
    memset(&decoded->members, 0, sizeof decoded->members);
    decoded->members.cost.residual_ratio = decoded->members.cost.electricity_per_kwh = -1; /* 0 can be meant */
    decoded->members.request.observed = NOTHING_OBSERVED;
    model_holder_init(&decoded->model);
    request_digest(decoded->document, decoded->digest);
    return STATUS_OK;
}

void
estimate_decoded_done(struct estimate_decoded *decoded)
{
    model_holder_done(&decoded->model);
    json_decref(decoded->document);
}

const char *
estimate_version_asked(const struct estimate_decoded *decoded)
{
    return json_string_value(json_object_get(decoded->document, "catalog_version"));
}

static void
resolve_gpu(const struct hardware_members *members, const struct catalog *catalog, struct hardware_ask *ask,
            struct notices *notices, struct fault *fault)
{
    bool ambiguous = false;

    ask->gpu = catalog_gpu_by_name(catalog, members->gpu, &ambiguous);
    if (!ask->gpu) {
        fault_add(fault, FAULT_GPU_UNKNOWN, "/hardware/gpu", members->gpu, "/catalog/gpus",
                  catalog_nearest_gpu(catalog, members->gpu));
        return;
    }
    if (ambiguous) {
        struct notice *notice = notice_add(notices, NOTICE_AMBIGUOUS_GPU_NAME, "/hardware/gpu");

        text_copy(notice->text[0], NOTE_TEXT_SIZE, members->gpu);
        text_copy(notice->text[1], NOTE_TEXT_SIZE, ask->gpu->id);
    }
}

static void
resolve_offer(const char *id, bool is_server, const struct catalog *catalog, struct hardware_ask *ask,
              struct fault *fault)
{
    const struct offer *offer = catalog_offer(catalog, id);

    if (!offer || offer->is_server != is_server)
        fault_add(fault, is_server ? FAULT_SERVER_UNKNOWN : FAULT_INSTANCE_UNKNOWN,
                  is_server ? "/hardware/server" : "/hardware/instance", id,
                  is_server ? "/catalog/servers" : "/catalog/instances", catalog_nearest_offer(catalog, id, is_server));
    else
        ask->offer = offer;
}

static void
resolve_hardware(const struct hardware_members *members, const struct catalog *catalog, struct hardware_ask *ask,
                 struct notices *notices, struct fault *fault)
{
    int named = !!members->gpu[0] + !!members->instance[0] + !!members->server[0];

    *ask = members->ask;
    if (!ask->present)
        return;
    if (named > 1)
        fault_add(fault, FAULT_CONFLICT, "/hardware", NULL, "one of gpu|instance|server", NULL);
    else if (!named)
        fault_add(fault, FAULT_MISSING_MEMBER, "/hardware", NULL, "one of gpu|instance|server", NULL);
    else if (members->gpu[0])
        resolve_gpu(members, catalog, ask, notices, fault);
    else
        resolve_offer(members->instance[0] ? members->instance : members->server, members->server[0] != 0, catalog, ask,
                      fault);
    if (members->gpu[0] && ask->offer_count)
        fault_add(fault, FAULT_CONFLICT, "/hardware/count", NULL, "gpus", "gpus");
    if (!members->gpu[0] && named == 1 && ask->gpus)
        fault_add(fault, FAULT_CONFLICT, "/hardware/gpus", NULL, "count", "count");
    if (members->storage[0]) {
        ask->storage = catalog_storage(catalog, members->storage);
        if (!ask->storage)
            fault_add(fault, FAULT_STORAGE_UNKNOWN, "/hardware/storage", members->storage, "/catalog/storage",
                      catalog_nearest_storage(catalog, members->storage));
    }
}

void
notice_unanswered(struct notices *notices, bool present, const char *pointer)
{
    if (present)
        text_copy(notice_add(notices, NOTICE_SECTION_NOT_ANSWERED, pointer)->text[0], NOTE_TEXT_SIZE, pointer + 1);
}

/* Of a network given by its work alone it is not known which layers could be frozen. */
static void
check_method(const struct estimate_request *request, struct fault *fault)
{
    if (request->arch && request->arch->generic && request->has_training && request->training.method == METHOD_FREEZE)
        fault_add(fault, FAULT_UNKNOWN_VALUE, "/training/method", "freeze", "pretrain|full|lora|qlora", NULL);
}

/* What a sample of the model is: said beside its work, pictures for the other networks known by it. */
static enum sample_kind
sample_kind_of(const json_t *model, const struct model_arch *arch)
{
    const char *said = json_string_value(json_object_get(model, "sample"));

    if (!arch || !arch->generic)
        return SAMPLE_TEXT;
    if (text_equal(said, "audio"))
        return SAMPLE_AUDIO;
    return text_equal(said, "record") ? SAMPLE_RECORD : SAMPLE_IMAGE;
}

void
estimate_members_resolve(const struct catalog *catalog, struct estimate_decoded *decoded,
                         struct assumptions *assumptions, struct notices *notices, struct fault *fault)
{
    struct estimate_members *members = &decoded->members;

    if (members->model && !json_is_null(members->model)) {
        model_decode(members->model, "/model", catalog, &decoded->model, notices, fault);
        members->request.arch = decoded->model.arch;
        members->request.params = decoded->model.params;
        if (members->request.has_training)
            model_adapter_complete(&decoded->model, &members->request.training, assumptions);
    }
    check_method(&members->request, fault);
    resolve_hardware(&members->hardware, catalog, &members->request.hardware, notices, fault);
    members->request.dataset.kind = sample_kind_of(members->model, members->request.arch);
    notice_unanswered(notices, members->cost.failure_ratio_per_year > 0, "/cost/failure_ratio_per_year");
    notice_unanswered(notices, members->cost.interruptions_per_hour > 0, "/cost/interruptions_per_hour");
}

enum status
estimate_decode(const struct catalog *catalog, struct estimate_decoded *decoded, struct assumptions *assumptions,
                struct notices *notices, struct fault *fault)
{
    fields_read(&estimate_table, decoded->document, "", &decoded->members, fault);
    estimate_members_resolve(catalog, decoded, assumptions, notices, fault);
    return fault_any(fault) ? STATUS_FAULT : STATUS_OK;
}
