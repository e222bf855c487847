/* Files that llama-quantize made: bytes of their tensors, to the byte. */
#include "service/model/gguf.h"

#include <math.h>
#include <string.h>

#include "service/model/arch.h"
#include "service/model/params.h"
#include "tests/support/model_rows.h"
#include "tests/support/suite.h"

static struct notices notices;
static struct fault fault;
static struct model_arch arch;
static bool used[MAX_FACTS];

/* What stands in front of the tensors in files of Llama 3.1's vocabulary and of 292 tensors. */
enum { LLAMA_HEADER = 7841184 };

/* bartowski's files on the Hugging Face Hub, made by llama-quantize with an importance matrix, which changes no type
 * here. `header`: bytes in front of the tensors, most of them vocabulary. `changes`: facts that make the model of a
 * relative. */
static const struct {
    const char *file, *model;
    enum weight_format format;
    uint64_t bytes;
    uint64_t header_low, header_high;
    struct {
        const char *path, *kind, *value;
    } changes[8];
} files[] = {
    { "Meta-Llama-3.1-8B-Instruct-Q8_0.gguf",
      "llama-3-8b",
      WEIGHT_Q8_0,
      8540775840,
      LLAMA_HEADER,
      LLAMA_HEADER,
      { { 0 } } },
    { "Meta-Llama-3.1-8B-Instruct-Q6_K.gguf",
      "llama-3-8b",
      WEIGHT_Q6_K,
      6596011424,
      LLAMA_HEADER,
      LLAMA_HEADER,
      { { 0 } } },
    { "Meta-Llama-3.1-8B-Instruct-Q5_K_M.gguf",
      "llama-3-8b",
      WEIGHT_Q5_K_M,
      5732992416,
      LLAMA_HEADER,
      LLAMA_HEADER,
      { { 0 } } },
    { "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf",
      "llama-3-8b",
      WEIGHT_Q4_K_M,
      4920739232,
      LLAMA_HEADER,
      LLAMA_HEADER,
      { { 0 } } },
    { "Meta-Llama-3.1-8B-Instruct-Q3_K_M.gguf",
      "llama-3-8b",
      WEIGHT_Q3_K_M,
      4018922912,
      LLAMA_HEADER,
      LLAMA_HEADER,
      { { 0 } } },
    { "Meta-Llama-3.1-8B-Instruct-Q2_K.gguf",
      "llama-3-8b",
      WEIGHT_Q2_K,
      3179136416,
      LLAMA_HEADER,
      LLAMA_HEADER,
      { { 0 } } },
    /* tied heads: the embedding is the output, too */
    { "Llama-3.2-1B-Instruct-Q4_K_M.gguf", "llama-3.2-1b", WEIGHT_Q4_K_M, 807694464, 7800000, LLAMA_HEADER, { { 0 } } },
    { "Llama-3.2-3B-Instruct-Q4_K_M.gguf",
      "llama-3.2-3b",
      WEIGHT_Q4_K_M,
      2019377696,
      7800000,
      LLAMA_HEADER,
      { { 0 } } },
    /* rows of 896 are no whole blocks of 256: 397,808,192 bytes, of them 391,859,712 of tensors (its loader's log) */
    { "Qwen2.5-0.5B-Instruct-Q4_K_M.gguf",
      "qwen2.5-7b",
      WEIGHT_Q4_K_M,
      397808192,
      397808192 - 391859712,
      397808192 - 391859712,
      { { "/hidden_size", "integer", "896" },
        { "/intermediate_size", "integer", "4864" },
        { "/num_attention_heads", "integer", "14" },
        { "/num_hidden_layers", "integer", "24" },
        { "/num_key_value_heads", "integer", "2" },
        { "/tie_word_embeddings", "bool", "true" },
        { "/vocab_size", "integer", "151936" } } },
};

/* Bytes of a model's tensors by its mean bits. */
static double
bytes_of(enum weight_format format)
{
    struct model_params params = model_params_count(&arch);
    struct class_bits bits = gguf_bits(&arch, format);
    double linear = 0, latent = 0, experts = 0;

    for (uint32_t i = 0; i < arch.kind_count; i++) {
        const struct layer_params *layer = &params.layers[i];
        double count = arch.kinds[i].count;

        *(arch.kinds[i].attention == ATTENTION_LATENT ? &latent : &linear) += count * (double)layer->attention;
        linear += count * (double)layer->mlp;
        experts += count * arch.kinds[i].expert_count * (double)layer->expert;
    }
    return (linear * bits.linear + latent * bits.latent + experts * bits.experts +
            ((double)params.total - linear - latent - experts) * bits.plain) /
           8;
}

static void
read_facts(const struct fact *items, size_t count)
{
    struct facts facts = model_row_facts(items, count, used);

    fault_clear(&fault);
    ck_assert(model_arch_read(&facts, "/model/config", &arch, &notices, &fault) == STATUS_OK);
}

START_TEST(tensors_weigh_what_the_file_does)
{
    struct model_row row = *model_row_of(files[_i].model);
    struct fact items[MODEL_ROW_FACTS + 1];

    for (size_t i = 0; i < COUNT_OF(files[_i].changes) && files[_i].changes[i].path != NULL; i++) {
        row.fact_count = model_row_with(&row, files[_i].changes[i].path, files[_i].changes[i].kind,
                                        files[_i].changes[i].value, items);
        memcpy(row.facts, items, row.fact_count * sizeof(items[0]));
    }
    read_facts(row.facts, row.fact_count);
    double bytes = bytes_of(files[_i].format);
    ck_assert_msg(bytes >= (double)(files[_i].bytes - files[_i].header_high) - 0.5 &&
                      bytes <= (double)(files[_i].bytes - files[_i].header_low) + 0.5,
                  "%s: %.0f of %ju", files[_i].file, bytes, (uintmax_t)files[_i].bytes);
}
END_TEST

/* llama.cpp tools/quantize/README.md, 2026-07: GB of Llama-3.1-70B, whose few value heads get more bits; and what the
 * model cards of mixtures say (bartowski, unsloth), rounded to three digits. */
START_TEST(large_files_have_their_size)
{
    static const struct {
        const char *model;
        enum weight_format format;
        double gb;
    } sizes[] = { { "llama-3-70b", WEIGHT_Q4_K_M, 42.5 }, { "llama-3-70b", WEIGHT_Q5_K_M, 49.9 },
                  { "llama-3-70b", WEIGHT_Q2_K, 26.4 },   { "llama-3-70b", WEIGHT_Q8_0, 75.0 },
                  { "deepseek-v3", WEIGHT_Q4_K_M, 404 },  { "qwen3-235b-a22b", WEIGHT_Q4_K_M, 142 } };

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const struct model_row *row = model_row_of(sizes[i].model);

        read_facts(row->facts, row->fact_count);
        double gb = bytes_of(sizes[i].format) / 1e9;
        ck_assert_msg(fabs(gb / sizes[i].gb - 1) < 0.0015, "%s %s: %f", sizes[i].model,
                      weight_format_name(sizes[i].format), gb);
    }
}
END_TEST

/* More bits are never fewer, whatever the model. */
START_TEST(file_types_are_in_order)
{
    static const enum weight_format order[] = { WEIGHT_Q2_K,   WEIGHT_Q3_K_M, WEIGHT_Q4_K_M,
                                                WEIGHT_Q5_K_M, WEIGHT_Q6_K,   WEIGHT_Q8_0 };
    size_t count;
    const struct model_row *row = &model_rows(&count)[_i];
    double before = 0;

    read_facts(row->facts, row->fact_count);
    for (size_t i = 0; i < COUNT_OF(order) && !arch.generic; i++) {
        double bytes = bytes_of(order[i]);

        ck_assert_msg(bytes >= before, "%s: %s %.0f", row->name, weight_format_name(order[i]), bytes);
        ck_assert_msg(bytes < 4.0001 * (double)row->parameters, "%s", row->name);
        before = bytes;
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("files");
    size_t count;

    (void)model_rows(&count);
    tcase_add_loop_test(tcase, tensors_weigh_what_the_file_does, 0, COUNT_OF(files));
    tcase_add_test(tcase, large_files_have_their_size);
    tcase_add_loop_test(tcase, file_types_are_in_order, 0, (int)count);
    return suite_run("gguf", tcase);
}
