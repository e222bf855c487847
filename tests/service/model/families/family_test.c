/* Every supported class against totals that others published, and what is not supported. */
#include "service/model/families/family.h"

#include <stdlib.h>
#include <string.h>

#include "service/base/text.h"
#include "service/memory/kv_cache.h"
#include "service/model/params.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;
static bool used[MAX_FACTS];

static enum status
read_row(const struct model_row *row)
{
    struct facts facts = model_row_facts(row->facts, row->fact_count, used);

    notices.count = 0;
    fault_clear(&fault);
    return model_arch_read(&facts, "/model/config", &arch, &notices, &fault);
}

static int
by_path(const void *a, const void *b)
{
    return strcmp(((const struct fact *)a)->path, ((const struct fact *)b)->path);
}

START_TEST(published_totals_are_exact)
{
    size_t count;
    const struct model_row *rows = model_rows(&count);

    ck_assert_uint_gt(count, 100);
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(read_row(&rows[i]) == STATUS_OK, "%s: %s at %s", rows[i].name, fault_code_name(fault.code),
                      fault.items[0].pointer);
        struct model_params params = model_params_count(&arch);
        double cache = kv_cache_bytes_per_token(&arch, 2);

        ck_assert_msg(params.total == rows[i].parameters, "%s: %ju, not %ju (%s)", rows[i].name,
                      (uintmax_t)params.total, (uintmax_t)rows[i].parameters, rows[i].source);
        ck_assert_msg(rows[i].active == 0 || params.active == rows[i].active, "%s: active %ju, not %ju", rows[i].name,
                      (uintmax_t)params.active, (uintmax_t)rows[i].active);
        ck_assert_msg(cache == (double)rows[i].cache_bytes_per_token, "%s: cache %f, not %ju", rows[i].name, cache,
                      (uintmax_t)rows[i].cache_bytes_per_token);
        ck_assert_msg(arch.ignored_key_count == 0, "%s: %s ignored", rows[i].name, arch.ignored_keys[0]);
    }
}
END_TEST

/* What the parts of a count hold adds up to the whole. */
START_TEST(parts_sum_to_the_total)
{
    size_t count;
    const struct model_row *rows = model_rows(&count);

    for (size_t i = 0; i < count; i++) {
        ck_assert(read_row(&rows[i]) == STATUS_OK);
        struct model_params params = model_params_count(&arch);
        uint64_t sum = params.embedding + params.position + params.head + params.final_norm + params.extra;
        uint32_t layers = 0;

        for (uint32_t kind = 0; kind < arch.kind_count; kind++) {
            const struct layer_params *layer = &params.layers[kind];

            sum += arch.kinds[kind].count * (layer->attention + layer->mlp + layer->router + layer->norms +
                                             arch.kinds[kind].expert_count * layer->expert);
            layers += arch.kinds[kind].count;
            ck_assert_uint_le(layer->attention_replicated, layer->attention);
        }
        ck_assert_msg(sum == params.total, "%s", rows[i].name);
        ck_assert_uint_eq(layers, arch.layer_count);
        ck_assert_uint_lt(params.linear, params.total);
    }
}
END_TEST

static const struct {
    const char *class_name, *nearest;
} unknown_classes[] = {
    { "LamaForCausalLM", "LlamaForCausalLM" },
    { "LlamaForCausallLM", "LlamaForCausalLM" },
    { "Gemma5ForConditionalGeneration", "Gemma3ForConditionalGeneration" },
    { "MiniMaxM4ForCausalLM", "MiniMaxM2ForCausalLM" },
    { "LongcatFlashForCausalLM", "" },
    { "Rwkv5Model", "" },
    { "LlamaTextModel", "" },
    { "", "" },
};

START_TEST(unknown_classes_are_refused_by_name)
{
    struct fact facts[] = {
        model_row_fact("/architectures", "list", "1"),
        model_row_fact("/architectures/0", "text", unknown_classes[_i].class_name),
        model_row_fact("/hidden_size", "integer", "4096"),
        model_row_fact("/model_type", "text", "llama"),
    };
    struct facts list = model_row_facts(facts, COUNT_OF(facts), used);

    fault_clear(&fault);
    ck_assert(model_arch_read(&list, "/model/config", &arch, &notices, &fault) == STATUS_FAULT);
    ck_assert_int_eq(fault.code, FAULT_MODEL_CLASS_UNSUPPORTED);
    ck_assert_uint_eq(fault.item_count, 1);
    ck_assert_str_eq(fault.items[0].pointer, "/model/config/architectures/0");
    ck_assert_str_eq(fault.items[0].value, unknown_classes[_i].class_name);
    ck_assert_str_eq(fault.items[0].suggestion, unknown_classes[_i].nearest);
}
END_TEST

static const struct {
    const char *class_name, *model_type;
} sharing_classes[] = {
    { "ZambaForCausalLM", "zamba" }, /* one letter from Bamba and Mamba, which share nothing */
    { "Zamba2ForCausalLM", "zamba2" },
    { "Zamba2Model", "zamba2" },
    { "Zamba2ForSequenceClassification", "zamba2" },
    { NULL, "zamba" },
    { NULL, "zamba2" },
};

START_TEST(shared_weights_are_refused_as_such)
{
    const char *class_name = sharing_classes[_i].class_name, *type = sharing_classes[_i].model_type;
    struct fact of_class[] = {
        model_row_fact("/architectures", "list", "1"),
        model_row_fact("/architectures/0", "text", class_name != NULL ? class_name : ""),
        model_row_fact("/hidden_size", "integer", "2048"),
        model_row_fact("/model_type", "text", type),
    };
    struct fact *facts = class_name != NULL ? of_class : of_class + 2;
    struct facts list = model_row_facts(facts, class_name != NULL ? 4 : 2, used);

    fault_clear(&fault);
    ck_assert(model_arch_read(&list, "/model/config", &arch, &notices, &fault) == STATUS_FAULT);
    ck_assert_int_eq(fault.code, FAULT_MODEL_SHARES_WEIGHTS);
    ck_assert_uint_eq(fault.item_count, 1);
    ck_assert_str_eq(fault.items[0].pointer,
                     class_name != NULL ? "/model/config/architectures/0" : "/model/config/model_type");
    ck_assert_str_eq(fault.items[0].value, class_name != NULL ? class_name : type);
    ck_assert_str_eq(fault.items[0].suggestion, "");
}
END_TEST

START_TEST(a_model_type_stands_in_for_a_class)
{
    const struct model_row *row = model_row_of("llama-3-8b");
    struct fact facts[MODEL_ROW_FACTS];
    size_t count = 0;

    for (size_t i = 0; i < row->fact_count; i++) {
        if (strncmp(row->facts[i].path, "/architectures", 14) != 0)
            facts[count++] = row->facts[i];
    }
    struct facts list = model_row_facts(facts, count, used);
    fault_clear(&fault);
    ck_assert(model_arch_read(&list, "/model/config", &arch, &notices, &fault) == STATUS_OK);
    ck_assert_str_eq(arch.architecture, "LlamaForCausalLM");
    ck_assert_uint_eq(model_params_count(&arch).total, row->parameters);
}
END_TEST

/* Embedding and reward models: the same layers without the head, or with a row a label in its place. */
static const struct {
    const char *row, *class_name;
    uint64_t head;
} relatives[] = {
    { "mistral-7b-v0.1", "MistralModel", 0 },
    { "llama-3-8b", "LlamaForSequenceClassification", 2 * 4096 },
    { "qwen2.5-7b", "Qwen2Model", 0 },
    { "mixtral-8x7b", "MixtralForSequenceClassification", 2 * 4096 },
    { "gpt2-large", "GPT2Model", 0 },
    { "gpt2-medium", "GPT2ForSequenceClassification", 2 * 1024 },
    { "gemma-3-1b", "Gemma3TextModel", 0 },
    { "llama-3-8b", "LlamaModel", 0 },
    { "opt-125m", "OPTModel", 0 },
    { "mamba-130m-hf", "MambaModel", 0 },
    { "falcon-mamba-7b", "FalconMambaModel", 0 },
};

START_TEST(relatives_differ_by_their_head)
{
    const struct model_row *row = model_row_of(relatives[_i].row);
    struct fact items[MODEL_ROW_FACTS + 1];
    size_t count = model_row_with(row, "/architectures/0", "text", relatives[_i].class_name, items);
    struct facts facts = model_row_facts(items, count, used);

    fault_clear(&fault);
    ck_assert(read_row(row) == STATUS_OK);
    uint64_t head = model_params_count(&arch).head;
    ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
    ck_assert_str_eq(arch.architecture, relatives[_i].class_name);
    ck_assert_uint_eq(model_params_count(&arch).total, row->parameters - head + relatives[_i].head);
}
END_TEST

START_TEST(a_config_without_class_and_type_says_so)
{
    struct fact facts[] = { model_row_fact("/hidden_size", "integer", "4096") };
    struct facts list = model_row_facts(facts, COUNT_OF(facts), used);

    fault_clear(&fault);
    ck_assert(model_arch_read(&list, "/model/config", &arch, &notices, &fault) == STATUS_FAULT);
    ck_assert_int_eq(fault.code, FAULT_MODEL_FIELD_MISSING);
    ck_assert_str_eq(fault.items[0].pointer, "/model/config/architectures");
}
END_TEST

START_TEST(prediction_layers_are_noted_and_left_out)
{
    ck_assert(read_row(model_row_of("deepseek-v3")) == STATUS_OK);
    ck_assert_uint_eq(arch.mtp_layer_count, 1);
    ck_assert_uint_eq(notices.count, 1);
    ck_assert_int_eq(notices.items[0].code, NOTICE_MTP_LEFT_OUT);
}
END_TEST

/* Nemotron-3 Ultra names its layers in a list, Super writes a letter for each. */
START_TEST(a_list_of_layers_says_the_same_as_a_string)
{
    static const char letters[] = "M*E-";
    static const char *const words[] = { "mamba", "attention", "moe", "mlp" };
    static char paths[MAX_LAYERS][48];
    const struct model_row *row = model_row_of("nemotron-3-super-120b-a12b");
    struct fact items[MODEL_ROW_FACTS + 1];
    const char *pattern = NULL;
    size_t count = 0, layers = 0;

    for (size_t i = 0; i < row->fact_count; i++) {
        bool told = strcmp(row->facts[i].path, "/hybrid_override_pattern") == 0;

        if (told)
            pattern = row->facts[i].text;
        else if (strcmp(row->facts[i].path, "/num_hidden_layers") != 0)
            items[count++] = row->facts[i];
    }
    ck_assert(pattern != NULL);
    layers = strlen(pattern);
    items[count++] = (struct fact){ .path = "/layers_block_type", .kind = FACT_LIST, .integer = (int64_t)layers };
    for (size_t i = 0; i < layers; i++) {
        text_format(paths[i], sizeof(paths[i]), "/layers_block_type/%zu", i);
        items[count++] = model_row_fact(paths[i], "text", words[strchr(letters, pattern[i]) - letters]);
    }
    qsort(items, count, sizeof(items[0]), by_path);
    struct facts facts = model_row_facts(items, count, used);
    fault_clear(&fault);
    ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
    ck_assert_uint_eq(arch.layer_count, layers);
    ck_assert_uint_eq(model_params_count(&arch).total, row->parameters);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("classes");

    tcase_add_test(tcase, published_totals_are_exact);
    tcase_add_test(tcase, parts_sum_to_the_total);
    tcase_add_loop_test(tcase, unknown_classes_are_refused_by_name, 0, COUNT_OF(unknown_classes));
    tcase_add_loop_test(tcase, shared_weights_are_refused_as_such, 0, COUNT_OF(sharing_classes));
    tcase_add_test(tcase, a_model_type_stands_in_for_a_class);
    tcase_add_loop_test(tcase, relatives_differ_by_their_head, 0, COUNT_OF(relatives));
    tcase_add_test(tcase, a_config_without_class_and_type_says_so);
    tcase_add_test(tcase, prediction_layers_are_noted_and_left_out);
    tcase_add_test(tcase, a_list_of_layers_says_the_same_as_a_string);
    return suite_run("model families", tcase);
}
