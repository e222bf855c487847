/* From a config to an architecture: the class is looked up, its family reads, nothing unknown is passed over. */
#include "service/model/arch.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/families/decoder.h"
#include "service/model/families/family.h"
#include "service/model/families/native.h"
#include "service/model/keys.h"
#include "service/model/params.h"
#include "service/model/pasted.h"
#include "service/model/quantization.h"
#include "service/model/reader.h"

/* Where the class of a config stands: `architectures`, or `_class_name` of a diffusers config. */
static const struct fact *
class_fact(const struct facts *facts)
{
    const struct fact *fact = facts_get(facts, "/architectures/0");

    return fact != NULL ? fact : facts_get(facts, "/_class_name");
}

static void
class_fault(struct reader *reader, const struct fact *fact)
{
    char pointer[FAULT_POINTER_SIZE];

    text_format(pointer, sizeof(pointer), "%s%s", reader->pointer, fact->path);
    if (fact->kind == FACT_TEXT && family_shares_weights(fact->text))
        fault_add(reader->fault, FAULT_MODEL_SHARES_WEIGHTS, pointer, fact->text, NULL, NULL);
    else if (fact->kind == FACT_TEXT)
        fault_add(reader->fault, FAULT_MODEL_CLASS_UNSUPPORTED, pointer, fact->text, NULL,
                  family_nearest_class(fact->text));
    else
        fault_add(reader->fault, FAULT_WRONG_TYPE, pointer, NULL, "string", NULL);
}

/* A file that names neither class nor type: one that describes a model in its own words, or another one. */
static const struct family_class *
find_native(struct reader *reader)
{
    const struct family_class *row = native_family_of(&reader->facts);

    if (row == NULL && !pasted_refuse(&reader->facts, reader->pointer, reader->fault))
        reader_fault(reader, FAULT_MODEL_FIELD_MISSING, "architectures", NULL, "array of a class name");
    return row;
}

/* transformers builds what model_type says, vLLM what the class says: they must not be two different decoders. A type
 * that is not known, as of a fine-tune, says nothing. */
static void
check_type(struct reader *reader, const struct family_class *row, const struct fact *type)
{
    const struct family_class *other =
        type != NULL && type->kind == FACT_TEXT ? family_of_model_type(type->text) : NULL;

    if (other == NULL || row->model_type[0] == '\0' || other->read != decoder_read || row->read != decoder_read ||
        other->decoder == row->decoder)
        return;
    reader_fault(reader, FAULT_MODEL_CONTRADICTION, "model_type", type->text, row->model_type);
}

/* The row of the config's class; NULL after a fault. A model type stands in when no class is named. */
static const struct family_class *
find_class(struct reader *reader, enum head_kind *ret_head)
{
    const struct fact *named = class_fact(&reader->facts);
    const struct fact *type = facts_get(&reader->facts, "/model_type");
    const struct family_class *row = NULL;

    if (named == NULL && type == NULL)
        return find_native(reader);
    if (named != NULL && named->kind == FACT_TEXT)
        row = family_of_class(named->text);
    if (row == NULL && named != NULL && named->kind == FACT_TEXT)
        row = family_of_relative(named->text, ret_head);
    if (named == NULL && type->kind == FACT_TEXT)
        row = family_of_model_type(type->text);
    if (row == NULL)
        class_fault(reader, named != NULL ? named : type);
    else
        check_type(reader, row, type);
    return row;
}

/* Puts another head in the place of the one that the family read. */
static void
change_head(struct reader *reader, enum head_kind head)
{
    static const uint32_t default_labels = 2; /* PretrainedConfig.num_labels */
    struct model_arch *arch = reader->arch;

    if (head == HEAD_OF_CLASS)
        return;
    arch->tied_head = true;
    arch->headless = true;
    if (head == HEAD_CLASSIFIER)
        arch->final_norm_elements += (uint64_t)reader_labels(reader, default_labels) * arch->hidden_size;
}

uint32_t
layer_value_size(const struct layer_kind *kind)
{
    return kind->value_size > 0 ? kind->value_size : kind->head_size;
}

uint32_t
layer_expert_hidden_size(const struct layer_kind *kind, uint32_t hidden_size)
{
    return kind->expert_hidden_size > 0 ? kind->expert_hidden_size : hidden_size;
}

uint32_t
model_layer_embedding_rows(const struct model_arch *arch)
{
    return arch->layer_embedding_rows > 0 ? arch->layer_embedding_rows : arch->vocabulary_size;
}

uint64_t
model_layer_embedding_elements(const struct model_arch *arch)
{
    return u64_mul_sat(model_layer_embedding_rows(arch), arch->layer_embedding_size);
}

bool
model_arch_generates(const struct model_arch *arch)
{
    return arch->causal && !arch->generic && !arch->headless;
}

/* openai/gpt-oss: 5.1B and 3.6B active leave the embedding out (arXiv:2508.10925 table 1). */
static bool
publishes_without_embedding(const struct model_arch *arch)
{
    return strcmp(arch->architecture, "GptOssForCausalLM") == 0;
}

void
model_arch_remarks(const struct model_arch *arch, const char *pointer, struct notices *notices)
{
    if (arch->mtp_layer_count > 0)
        notice_add(notices, NOTICE_MTP_LEFT_OUT, pointer)->number[0] = arch->mtp_layer_count;
    if (publishes_without_embedding(arch)) {
        struct model_params params = model_params_count(arch);
        struct notice *notice = notice_add(notices, NOTICE_ACTIVE_CONVENTION, pointer);

        notice->number[0] = (double)params.active;
        notice->number[1] = (double)(params.active - params.embedding);
    }
}

enum status
model_arch_read(const struct facts *facts, const char *pointer, struct model_arch *ret_arch, struct notices *notices,
                struct fault *ret_fault)
{
    bool used[MAX_FACTS];
    struct model_arch arch;
    struct reader reader = {
        .facts = *facts, .pointer = pointer, .arch = &arch, .notices = notices, .fault = ret_fault
    };
    size_t faults_before = ret_fault->item_count + ret_fault->more_count;
    enum head_kind head = HEAD_OF_CLASS;

    if (facts->used == NULL) {
        memset(used, 0, facts->count < MAX_FACTS ? facts->count : MAX_FACTS);
        reader.facts.used = used;
        reader.facts.count = facts->count < MAX_FACTS ? facts->count : MAX_FACTS;
    }
    memset(&arch, 0, sizeof(arch));
    const struct family_class *row = find_class(&reader, &head);
    if (row == NULL)
        return STATUS_FAULT;
    const struct fact *named = class_fact(&reader.facts);
    text_copy(arch.architecture, sizeof(arch.architecture), named != NULL ? named->text : row->class_name);
    text_copy(arch.model_type, sizeof(arch.model_type), row->model_type);
    row->read(&reader, row->decoder);
    change_head(&reader, head);
    if (ret_fault->item_count + ret_fault->more_count == faults_before)
        quantization_read(&reader);
    keys_sort_out(&reader);
    if (ret_fault->item_count + ret_fault->more_count > faults_before)
        return STATUS_FAULT;
    TRY(model_arch_check(&arch, pointer, ret_fault));
    model_arch_remarks(&arch, pointer, notices);
    *ret_arch = arch;
    return STATUS_OK;
}

/* Far above any network, far below what wraps when two of them are taken from each other. */
static int64_t
bounded(uint64_t parameters)
{
    return (int64_t)u64_min(parameters, LIMIT_PARAMETERS);
}

void
model_arch_state_total(struct model_arch *arch, uint64_t stated, struct notices *notices)
{
    static const double noticed = 1e-3; /* of the counted total: smaller differences are rows of padding and buffers */
    uint64_t counted = model_params_count(arch).total;
    double difference = (double)stated - (double)counted;

    if (arch->generic) {
        arch->generic_parameters = stated;
        return;
    }
    if (difference > noticed * (double)counted || -difference > noticed * (double)counted) {
        struct notice *notice = notice_add(notices, NOTICE_STATED_PARAMETER_COUNT_DIFFERS, "/model/parameter_count");

        notice->number[0] = (double)stated;
        notice->number[1] = (double)counted;
    }
    arch->extra_parameters += bounded(stated) - bounded(counted);
}
