/* The model of a request in its forms, and the section of the reply that tells what it holds. */
#include "api/json/model_json.h"

#include <string.h>

#include "api/json/buffer.h"
#include "tests/support/seed_catalog.h"
#include "tests/support/suite.h"

static struct model_holder holder;
static struct notices notices;
static struct fault fault;
static json_t *document;

#define LLAMA_8B                                                                                           \
    "\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":4096,\"intermediate_size\":14336,"           \
    "\"num_attention_heads\":32,\"num_hidden_layers\":32,\"num_key_value_heads\":8,\"vocab_size\":128256," \
    "\"max_position_embeddings\":8192,\"torch_dtype\":\"bfloat16\""
#define ADAPTER "\"peft_type\":\"LORA\",\"r\":16,\"target_modules\":[\"q_proj\",\"v_proj\"]"

static bool
decode_document(void)
{
    ck_assert_ptr_nonnull(document);
    fault_clear(&fault);
    notices.count = notices.dropped = 0;
    model_holder_init(&holder);
    model_decode(document, "/model", seed_catalog(), &holder, &notices, &fault);
    return holder.arch != NULL && !fault_any(&fault);
}

static bool
decode(const char *text)
{
    bool nan;

    fault_clear(&fault);
    document = json_parse(text, strlen(text), 32, &nan, &fault);
    return decode_document();
}

static void
done(void)
{
    model_holder_done(&holder);
    json_decref(document);
}

/* The reply's section, as JSON. */
static json_t *
encoded(void)
{
    struct buffer *buffer = buffer_take();
    struct json_writer writer;
    json_t *reply;

    writer_init(&writer, buffer);
    writer_object(&writer, NULL);
    model_encode(&writer, "model", holder.arch, holder.params, 0);
    writer_end_object(&writer);
    reply = json_loadb(buffer->bytes, buffer->size, JSON_REJECT_DUPLICATES, NULL);
    buffer_give(buffer);
    ck_assert_ptr_nonnull(reply);
    return reply;
}

static json_int_t
number(const json_t *object, const char *name)
{
    ck_assert_msg(json_is_integer(json_object_get(object, name)), "%s", name);
    return json_integer_value(json_object_get(object, name));
}

START_TEST(a_block_may_stand_beside_the_config)
{
    ck_assert(decode("{\"config\":{" LLAMA_8B "},\"quantization_config\":{\"producer\":{\"name\":\"modelopt\"},"
                     "\"quantization\":{\"quant_algo\":\"FP8\",\"exclude_modules\":[\"lm_head\"],"
                     "\"kv_cache_quant_algo\":\"FP8\"}}}"));
    ck_assert_int_eq(holder.arch->stored_format, WEIGHT_FP8);
    ck_assert_int_eq(holder.arch->stored.cache, KV_FP8);
    ck_assert_uint_eq(holder.params->total, 8030261248);
    ck_assert_uint_eq(notices.count, 0);
    done();
    ck_assert(!decode("{\"config\":{" LLAMA_8B "},\"quantization_config\":[]}"));
    ck_assert_str_eq(fault.items[0].pointer, "/model/quantization_config");
    done();
    ck_assert(decode("{\"config\":{" LLAMA_8B "},\"quantization_config\":null}"));
    ck_assert_int_eq(holder.arch->stored_format, WEIGHT_BF16);
    done();
}
END_TEST

/* Mirrors, tags of ollama, full-width letters. */
static const struct {
    const char *name;
    const char *id; /* NULL: not known */
} names[] = {
    { "LLM-Research/Meta-Llama-3-8B-Instruct", "llama-3-8b" },
    { "ZhipuAI/glm-4-9b-chat", "glm-4-9b" },
    { "01ai/Yi-34B-Chat", "yi-34b" },
    { "deepseek-r1:70b", "deepseek-r1-distill-llama-70b" },
    { "deepseek-r1:671b", "deepseek-r1" },
    { "qwen3:8b", "qwen3-8b" },
    { "\uff31wen\uff13\uff1a\uff18\uff22", "qwen3-8b" },
    { "\uff31\uff37\uff25\uff2e3-8b", "qwen3-8b" },
    { "\uff5fqwen3-8b", NULL }, /* beyond the full-width letters */
    { "somebody/qwen3-8b", NULL },
    { "unsloth/llama-3-8b-bnb-4bit", NULL },
    { "", NULL },
};

START_TEST(presets_are_known_by_other_peoples_names)
{
    document = json_string(names[_i].name);
    bool known = decode_document();

    ck_assert_msg(known == (names[_i].id != NULL), "%s", names[_i].name);
    if (known)
        ck_assert_ptr_eq(holder.arch, &catalog_model(seed_catalog(), names[_i].id)->arch);
    done();
}
END_TEST

static const struct {
    const char *name, *suggestion;
} copies[] = {
    { "Qwen/Qwen3-32B-AWQ-Int4", NULL },
    { "Qwen3-14B-AWQ", "qwen3-14b" },
    { "TheBloke/Llama-2-7B-GGUF", "llama-2-7b" },
    { "Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "qwen2.5-72b" },
    { "unsloth/Meta-Llama-3.1-8B-Instruct-unsloth-bnb-4bit", "llama-3.1-8b" },
    { "lama-3-8b", "llama-3-8b" },
};

START_TEST(packed_copies_are_told_their_model)
{
    document = json_string(copies[_i].name);
    ck_assert(!decode_document());
    ck_assert_int_eq(fault.items[0].code, FAULT_MODEL_UNKNOWN);
    if (copies[_i].suggestion != NULL)
        ck_assert_str_eq(fault.items[0].suggestion, copies[_i].suggestion);
    done();
}
END_TEST

START_TEST(an_adapter_stands_for_its_base)
{
    static const char *const bases[] = { "meta-llama/Meta-Llama-3-8B", "llama-3-8b", "/data/models/Meta-Llama-3-8B",
                                         "unsloth/llama-3-8b-bnb-4bit" };
    struct training_job job = { .method = METHOD_LORA };
    struct training_job own = { .method = METHOD_QLORA, .lora_rank = 4, .lora_targets = LORA_ALL_LINEAR };
    struct training_job full = { .method = METHOD_FULL };
    struct assumptions assumptions = { .count = 0 };
    char text[256];

    for (size_t i = 0; i < COUNT_OF(bases); i++) {
        (void)snprintf(text, sizeof text, "{\"config\":{" ADAPTER ",\"base_model_name_or_path\":\"%s\"}}", bases[i]);
        ck_assert_msg(decode(text), "%s", bases[i]);
        ck_assert_uint_eq(holder.params->total, 8030261248);
        ck_assert_int_eq(notices.items[0].code, NOTICE_ADAPTER_READ);
        done();
    }
    ck_assert(decode(text));
    model_adapter_complete(&holder, &job, &assumptions);
    ck_assert_uint_eq(job.lora_rank, 16);
    ck_assert_int_eq(job.lora_targets, LORA_QUERY_VALUE);
    ck_assert_uint_eq(assumptions.count, 2);
    ck_assert_str_eq(assumptions.items[0].pointer, "/training/lora/rank");
    model_adapter_complete(&holder, &own, &assumptions);
    ck_assert_uint_eq(own.lora_rank, 4);
    ck_assert_int_eq(own.lora_targets, LORA_ALL_LINEAR);
    model_adapter_complete(&holder, &full, &assumptions);
    ck_assert_uint_eq(full.lora_rank, 0);
    ck_assert_uint_eq(assumptions.count, 2);
    done();
}
END_TEST

START_TEST(an_adapter_of_a_base_that_is_not_known_is_refused)
{
    ck_assert(!decode("{\"config\":{" ADAPTER ",\"base_model_name_or_path\":\"me/llama-3-8bb\"}}"));
    ck_assert_int_eq(fault.items[0].code, FAULT_MODEL_UNKNOWN);
    ck_assert_str_eq(fault.items[0].pointer, "/model/config/base_model_name_or_path");
    ck_assert_str_eq(fault.items[0].value, "me/llama-3-8bb");
    done();
}
END_TEST

/* What is pasted without its wrapper is told so, whatever file it is. */
START_TEST(a_bare_file_is_told_where_it_belongs)
{
    static const char *const bare[] = { "{" LLAMA_8B "}", "{" ADAPTER "}", "{\"dim\":4096,\"n_layers\":32}",
                                        "{\"weight_map\":{}}", "{\"ssm_cfg\":{},\"d_model\":768}" };

    for (size_t i = 0; i < COUNT_OF(bare); i++) {
        ck_assert(!decode(bare[i]));
        ck_assert_uint_eq(fault.item_count, 1);
        ck_assert_int_eq(fault.items[0].code, FAULT_MISSING_MEMBER);
        ck_assert_str_eq(fault.items[0].suggestion, "{\"config\": { ... }}");
        done();
    }
}
END_TEST

START_TEST(the_reply_tells_the_parts)
{
    json_int_t parameters = 0, bytes = 0;
    json_t *reply, *model, *part;
    size_t i;

    ck_assert(decode("{\"config\":{" LLAMA_8B ",\"quantization_config\":{\"quant_method\":\"awq\",\"bits\":4}}}"));
    reply = encoded();
    model = json_object_get(reply, "model");
    json_array_foreach(json_object_get(model, "parts"), i, part)
    {
        parameters += number(part, "parameter_count");
        bytes += number(part, "stored_bytes");
        ck_assert_ptr_null(strchr(json_string_value(json_object_get(part, "formula")), '{'));
    }
    ck_assert_int_eq(parameters, number(model, "parameter_count"));
    ck_assert_int_eq(bytes, number(json_object_get(model, "checkpoint"), "bytes"));
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(model, "checkpoint"), "format")), "int4_awq");
    /* 2 x 8 heads x 128 x 2 bytes x 32 layers x 8192 tokens */
    ck_assert_int_eq(number(json_object_get(model, "kv_cache"), "bytes_per_sequence"), 1073741824);
    ck_assert_ptr_null(json_object_get(json_object_get(model, "kv_cache"), "bytes_per_sequence_without_windows"));
    ck_assert_int_eq(number(model, "flop_context_length"), 4096);
    /* 2 x (all but the embedding and the norms) + 4 x 4096 wide x 2048 tokens on average x 32 layers */
    ck_assert_int_eq(number(model, "flop_per_token_forward"),
                     2 * (INT64_C(8030261248) - 525336576 - 65 * 4096) + INT64_C(4) * 4096 * 2048 * 32);
    json_decref(reply);
    done();
}
END_TEST

/* Windows and states: what a sequence keeps of each. */
START_TEST(the_reply_tells_windows_and_states)
{
    json_t *reply, *cache;

    /* two layers, one of them with a window of 128 of 8192 tokens: 2 x 1 head x 64 x 2 bytes a token and layer */
    ck_assert(
        decode("{\"config\":{\"architectures\":[\"Gemma2ForCausalLM\"],\"hidden_size\":64,\"intermediate_size\":64,"
               "\"num_attention_heads\":1,\"num_key_value_heads\":1,\"head_dim\":64,\"num_hidden_layers\":2,"
               "\"sliding_window\":128,\"vocab_size\":10,\"max_position_embeddings\":8192}}"));
    reply = encoded();
    cache = json_object_get(json_object_get(reply, "model"), "kv_cache");
    ck_assert_int_eq(number(cache, "bytes_per_sequence"), 256 * (8192 + 128));
    ck_assert_int_eq(number(cache, "bytes_per_sequence_without_windows"), 256 * 2 * 8192);
    ck_assert_ptr_null(json_object_get(cache, "state_bytes_per_sequence"));
    json_decref(reply);
    done();
    /* a Mamba layer keeps 128 channels x (16 states + 3 inputs) in 2 bytes, four times */
    ck_assert(decode("{\"config\":{\"architectures\":[\"MambaForCausalLM\"],\"hidden_size\":64,\"num_hidden_layers\":4,"
                     "\"state_size\":16,\"vocab_size\":10}}"));
    reply = encoded();
    cache = json_object_get(json_object_get(reply, "model"), "kv_cache");
    ck_assert_int_eq(number(cache, "state_bytes_per_sequence"), 4 * 128 * 19 * 2);
    ck_assert_int_eq(number(cache, "bytes_per_sequence"), 4 * 128 * 19 * 2);
    json_decref(reply);
    done();
}
END_TEST

START_TEST(presets_are_remarked_on_too)
{
    json_t *name = json_string("deepseek-v3");

    notices.count = 0;
    fault_clear(&fault);
    model_holder_init(&holder);
    model_decode(name, "/model", seed_catalog(), &holder, &notices, &fault);
    ck_assert_ptr_nonnull(holder.arch);
    ck_assert_uint_eq(notices.count, 1);
    ck_assert_int_eq(notices.items[0].code, NOTICE_MTP_LEFT_OUT);
    ck_assert_str_eq(notices.items[0].pointer, "/model");
    json_decref(name);
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("model");

    tcase_add_test(tcase, a_block_may_stand_beside_the_config);
    tcase_add_loop_test(tcase, presets_are_known_by_other_peoples_names, 0, COUNT_OF(names));
    tcase_add_loop_test(tcase, packed_copies_are_told_their_model, 0, COUNT_OF(copies));
    tcase_add_test(tcase, an_adapter_stands_for_its_base);
    tcase_add_test(tcase, an_adapter_of_a_base_that_is_not_known_is_refused);
    tcase_add_test(tcase, a_bare_file_is_told_where_it_belongs);
    tcase_add_test(tcase, the_reply_tells_the_parts);
    tcase_add_test(tcase, the_reply_tells_windows_and_states);
    tcase_add_test(tcase, presets_are_remarked_on_too);
    return suite_run("model json", tcase);
}
