/* The presets of the seed: they count what others published, have a name that people use, and no name means two. */
#include <stdint.h>
#include <string.h>

#include "service/base/text.h"
#include "tests/support/seed_catalog.h"
#include "tests/support/suite.h"

/* Who published a total. Dates: 2026-09-25 to 2026-11-30. */
static const char hub[] = "Hugging Face Hub API, safetensors.total";
static const char keras[] = "KerasHub preset metadata, params";
static const char torchvision[] = "torchvision weights metadata, num_params";
static const char mteb[] = "mteb model metadata, n_parameters";
static const char numel[] = "sum of numel() of the loaded class, recorded in public repositories on GitHub";
static const char total_size[] = "metadata.total_size / bytes of dtype, index of the checkpoint";
static const char pythia[] = "arXiv:2304.01373 table 1, non-embedding parameters + 2 V h";
static const char together[] = "Together API model list, num_parameters";
static const char baichuan[] = "README of baichuan-inc/Baichuan-13B";

/* `apart`: what the published figure holds and the class does not: a tied head stored a second time (V h), a
 * multi-token prediction layer (attention, MLP, 2 h h of its projection, norms), position ids, frequencies, a pooler.
 * Below 0: what the figure lacks: router biases, the two rows before the first position of OPT and BART, the pooler of
 * a ViT. */
static const struct {
    const char *id;
    uint64_t published;
    int64_t apart;
    const char *source;
} totals[] = {
    { "all-minilm-l6-v2", 22713216, 0, numel },
    { "apertus-8b", 8053338176, 0, numel },
    { "atom-7b", 7008751616, 0, total_size },
    { "aya-23-8b", 8028033024, 0, hub },
    { "aya-expanse-32b", 32296476672, 0, hub },
    { "aya-expanse-8b", 8028033024, 0, hub },
    { "baichuan-13b", 13264901120, 0, baichuan },
    { "baichuan-7b", 7000559616, 0, numel },
    { "bart-base", 139417344, -4LL * 768, keras },
    { "bart-large", 406291456, 0, numel },
    { "bert-base-multilingual-cased", 178566653, 592130, hub },
    { "bge-large-zh-v1.5", 325522432, 0, keras },
    { "bge-m3", 567754752, 0, mteb },
    { "bge-small-en-v1.5", 33360512, 512, hub },
    { "bge-small-zh-v1.5", 23953920, 0, numel },
    { "bloom-176b", 176247271424, 0, hub },
    { "bloom-1b1", 1065314304, 0, keras },
    { "bloom-1b7", 1722408960, 0, keras },
    { "bloom-3b", 3002557440, 0, keras },
    { "bloom-560m", 559214592, 0, keras },
    { "bloom-7b1", 7069016064, 0, hub },
    { "chatglm3-6b", 6243584000, 0, total_size },
    { "clip-vit-b-32", 151277313, 0, keras },
    { "clip-vit-l-14", 427616513, 0, mteb },
    { "clip-vit-l-14-336", 427944193, 0, keras },
    { "codellama-13b", 13016028160, 0, together },
    { "codellama-7b", 6738546688, 0, together },
    { "convnext-base", 88591464, 0, torchvision },
    { "convnext-large", 197767336, 0, torchvision },
    { "convnext-small", 50223688, 0, torchvision },
    { "convnext-tiny", 28589128, 0, torchvision },
    { "deepseek-coder-1.3b", 1346471936, 0, numel },
    { "deepseek-llm-67b", 67425001472, 0, total_size },
    { "deepseek-llm-7b", 6910365696, 0, numel },
    { "deepseek-moe-16b", 16375728128, 0, numel },
    { "deepseek-v3.2", 671877944064, 0, hub },
    { "deepseek-v4-flash", 290942289362, 6610048891, numel },
    { "distilgpt2", 81912576, 0, numel },
    { "ernie-4.5-0.3b", 360748032, 0, numel },
    { "falcon-180b", 179522565120, 65024LL * 14848, hub },
    { "falcon-40b", 41835970560, 65024LL * 8192, hub },
    { "falcon-7b", 6921720704, 0, hub },
    { "falcon-mamba-7b", 7272665088, 0, hub },
    { "falcon-rw-1b", 1311625216, 0, keras },
    { "falcon3-1b", 1669408768, 0, hub },
    { "falcon3-3b", 3227655168, 0, hub },
    { "flan-t5-base", 247577856, 0, keras },
    { "flan-t5-large", 783150080, 0, keras },
    { "flan-t5-small", 76961152, 0, keras },
    { "flan-t5-xl", 2849757184, 0, keras },
    { "flan-t5-xxl", 11135332352, 0, keras },
    { "flux.1-schnell", 11891178560, 0, hub },
    { "gemma-2-27b", 27227128320, 0, hub },
    { "gemma-2-2b", 2614341888, 0, keras },
    { "gemma-2-9b", 9241705984, 0, keras },
    { "gemma-2b", 2506172416, 0, keras },
    { "gemma-3-12b", 12187325040, 0, hub },
    { "gemma-3-1b", 999885952, 0, keras },
    { "gemma-3-270m", 268098176, 0, keras },
    { "gemma-3-27b", 27432406640, 0, hub },
    { "gemma-3-4b", 4300079472, 0, hub },
    { "gemma-4-12b", 11959730224, 0, hub },
    { "gemma-4-26b-a4b", 25805936206, 0, hub },
    { "gemma-4-31b", 31273088876, 0, hub },
    { "gemma-4-e2b", 5123178051, 0, hub },
    { "gemma-4-e4b", 7996156490, 0, hub },
    { "gemma-7b", 8537680896, 0, keras },
    { "glm-4-9b", 9399951392, 32, numel },
    { "glm-4-9b-0414", 9400279040, 0, numel },
    { "glm-4.5", 352797829024, 0, hub },
    { "glm-4.5-air", 106852251264, 0, numel },
    { "glm-4.5v", 107710933120, 0, hub },
    { "glm-4.6v-flash", 10292777472, 0, hub },
    { "glm-5", 743911218432, 0, hub },
    { "glm-5.2", 753329940480, 9952920576, hub },
    { "glm-5.3", 753329940480, 9952920576, hub },
    { "glm-5.3-flash", 321323031390, 7432592416, hub },
    { "gpt-j-6b", 6050882784, 0, numel },
    { "gpt-neo-1.3b", 1315575808, 0, numel },
    { "gpt-neo-2.7b", 2651307520, 0, numel },
    { "gpt-oss-120b", 116829156672, 0, keras },
    { "gpt-oss-20b", 20914757184, 0, hub },
    { "gpt2", 124439808, 0, keras },
    { "gpt2-large", 774030080, 0, keras },
    { "gpt2-medium", 354823168, 0, keras },
    { "gpt2-xl", 1557611200, 0, keras },
    { "granite-3.1-1b-a400m", 1334628352, 0, numel },
    { "granite-3.1-2b", 2533531648, 0, hub },
    { "granite-3.1-3b-a800m", 3298793472, 0, hub },
    { "granite-3.3-2b", 2533539840, 0, hub },
    { "granite-3.3-8b", 8170864640, 0, hub },
    { "gte-qwen2-1.5b-instruct", 1543268864, 0, mteb },
    { "gte-qwen2-7b-instruct", 7069121024, 0, mteb },
    { "hy3", 298786155776, 3752612288, hub },
    { "internlm-7b", 7321948160, 0, total_size },
    { "internlm2-1.8b", 1889110016, 0, numel },
    { "internlm2-7b", 7737708544, 0, numel },
    { "internlm2.5-20b", 19861149696, 0, hub },
    { "internlm2.5-7b", 7737708544, 0, numel },
    { "jamba-1.5-mini", 51570323328, 0, hub },
    { "kimi-k2", 1026408232448, 0, numel },
    { "kimi-k3", 2779931837184, 69LL * 32, hub },
    { "kimi-linear-48b", 49122681728, 0, hub },
    { "laguna-s-2.1", 117561977600, 0, hub },
    { "laguna-xs-2.1", 33442617088, 0, hub },
    { "lfm2-1.2b", 1170340608, 0, hub },
    { "lfm2-350m", 354483968, 0, numel },
    { "lfm2-700m", 742489344, 0, numel },
    { "kimi-vl-a3b", 16407657776, 27LL * 64, total_size },
    { "ling-1t", 999705328640, 0, hub },
    { "ling-flash-2.0", 102889705216, 0, hub },
    { "ling-mini-2.0", 16255643392, 0, hub },
    { "llama-3.3-nemotron-super-49b", 49867145216, 0, numel },
    { "llama-30b", 32528943616, 0, numel },
    { "llama-4-maverick", 401583781376, 0, numel },
    { "llama-4-scout", 108641793536, 0, hub },
    { "llama-65b", 65285660672, 0, numel },
    { "mamba-130m", 129135360, 0, numel },
    { "mamba-370m", 371516416, 0, numel },
    { "mamba-790m", 793204224, 0, numel },
    { "mimo-7b", 7622619136, 0, total_size },
    { "minicpm-2b", 2724880896, 0, numel },
    { "minimax-m2", 228689764864, 0, hub },
    { "minimax-m3", 427040140160, 0, hub },
    { "ministral-8b", 8019808256, 0, hub },
    { "mistral-large-123b", 122610069504, 0, numel },
    { "mistral-small-3.2-24b", 24011361280, 0, numel },
    { "mpt-7b", 6649286656, 0, total_size },
    { "multilingual-e5-large", 559890432, 0, hub },
    { "muse-glimmer-30b", 29776626688, 0, hub },
    { "nemotron-3-nano-30b", 31577937344, -23LL * 128, hub },
    { "nemotron-3-super-120b", 123611012096, 2942324736LL - 40LL * 512, hub },
    { "nemotron-nano-9b-v2", 8888227328, 0, hub },
    { "olmo-1b", 1176764416, 0, numel },
    { "olmo-7b", 6888095744, 0, numel },
    { "olmo2-13b", 13716198400, 0, hub },
    { "olmo2-1b", 1484916736, 0, hub },
    { "olmo2-32b", 32234279936, 0, hub },
    { "olmo2-7b", 7298617344, 0, hub },
    { "olmo3-32b", 32233522176, 0, numel },
    { "olmo3-7b", 7298011136, 0, hub },
    { "olmoe-1b-7b", 6919161856, 0, hub },
    { "opt-1.3b", 1315753984, -2LL * 2048, keras },
    { "opt-125m", 125237760, -2LL * 768, keras },
    { "opt-2.7b", 2651596800, 0, numel },
    { "phi-1", 1418270720, 0, numel },
    { "phi-1.5", 1418270720, 0, numel },
    { "phi-2", 2779683840, 0, hub },
    { "phi-3-medium-128k", 13960238080, 0, numel },
    { "phi-4-mini", 3836021760, 0, hub },
    { "pythia-1.4b", 1414647808, 0, pythia },
    { "pythia-12b", 11846072320, 0, pythia },
    { "pythia-160m", 162322944, 0, pythia },
    { "pythia-1b", 1011781632, 0, pythia },
    { "pythia-2.8b", 2775208960, 0, pythia },
    { "pythia-410m", 405334016, 0, pythia },
    { "pythia-6.9b", 6857302016, 0, pythia },
    { "pythia-70m", 70426624, 0, pythia },
    { "qwen1.5-moe-a2.7b", 14315784192, 0, keras },
    { "qwen2-57b-a14b", 57408658944, 0, hub },
    { "qwen2-vl-2b", 2208985600, 0, mteb },
    { "qwen2-vl-72b", 73405560320, 0, hub },
    { "qwen2-vl-7b", 8291375616, 0, hub },
    { "qwen2.5-vl-32b", 33452718336, 0, numel },
    { "qwen2.5-vl-3b", 3754622976, 0, mteb },
    { "qwen3-4b-2507", 4022468096, 0, hub },
    { "qwen3-embedding-0.6b", 595776512, 0, hub },
    { "qwen3-embedding-4b", 4021774336, 0, hub },
    { "qwen3-embedding-8b", 7567295488, 0, hub },
    { "qwen3-next-80b-a3b", 81324862720, 1650471424, hub },
    { "qwen3-vl-235b-a22b", 235670022896, 0, hub },
    { "qwen3-vl-2b", 2127532032, 0, numel },
    { "qwen3-vl-30b-a3b", 31070754032, 0, numel },
    { "qwen3-vl-32b", 33357390064, 0, hub },
    { "qwen3-vl-4b", 4437815808, 0, numel },
    { "qwen3-vl-8b", 8767123696, 0, hub },
    { "qwen3.5-0.8b", 873438784, 20452864, hub },
    { "qwen3.5-122b-a10b", 122562817776, 0, hub },
    { "qwen3.5-27b", 27781427952, 424699392, hub },
    { "qwen3.5-2b", 2274069824, 60828160, hub },
    { "qwen3.5-35b-a3b", 35951822704, 844640768, hub },
    { "qwen3.5-397b-a17b", 396802360816, 0, hub },
    { "qwen3.5-4b", 4659865088, 120599552, hub },
    { "qwen3.5-9b", 9653104368, 243290624, hub },
    { "qwen3.8-2.4t-a95b", 2446182725504, 26378027520, hub },
    { "redpajama-7b", 6857302016, 0, together },
    { "resnet-101", 44549160, 0, torchvision },
    { "resnet-152", 60192808, 0, torchvision },
    { "resnet-18", 11689512, 0, torchvision },
    { "resnet-34", 21797672, 0, torchvision },
    { "resnet-50", 25557032, 0, torchvision },
    { "roberta-base", 124697433, 0, hub },
    { "roberta-large", 355412057, 0, hub },
    { "rwkv-4-1b5", 1515106304, 0, numel },
    { "rwkv-4-3b", 2984627200, 0, numel },
    { "rwkv-4-430m", 430397440, 0, numel },
    { "seed-oss-36b", 36151104512, 0, numel },
    { "smollm-1.7b", 1711376384, 0, hub },
    { "smollm-135m", 134515008, 0, hub },
    { "smollm-360m", 361821120, 0, hub },
    { "smollm3-3b", 3075098624, 0, hub },
    { "stable-diffusion-2.1-unet", 865910724, 0, numel },
    { "stablelm-2-1.6b", 1644515328, 0, numel },
    { "stablelm-3b-4e1t", 2795443200, 0, hub },
    { "starcoder2-7b", 7173923840, 0, hub },
    { "starcoderbase-15.5b", 15517456384, 0, hub },
    { "starcoderbase-1b", 1137207296, 0, numel },
    { "deepseek-v4-pro", 1598839674782, 2327040LL + 25840145979, hub },
    { "mimo-v2.5-pro", 1023244718976, 3LL * 644905088 + 61877376, hub },
    { "step-3.5-flash", 199384301376, 3LL * 809390336, hub },
    { "step-3.7-flash", 201365316160, 3LL * 809390336, hub },
    { "t5-11b", 11307321344, 0, numel },
    { "t5-3b", 2851598336, 0, keras },
    { "t5-base", 222903552, 0, keras },
    { "t5-large", 737668096, 0, keras },
    { "t5-small", 60506624, 0, keras },
    { "trinity-large", 398635286016, 0, hub },
    { "trinity-nano", 6120003328, 0, hub },
    { "vit-base-patch16-224", 86567656, 0, torchvision },
    { "vit-base-patch16-224-in21k", 86389248, 0, numel },
    { "vit-huge-patch14-224", 630764800, -1639680, keras },
    { "vit-large-patch16-224", 304326632, 0, torchvision },
    { "vit-large-patch32-224", 305510400, -1049600, keras },
    { "whisper-base", 72593920, 0, keras },
    { "whisper-large-v2", 1543304960, 0, keras },
    { "whisper-large-v3-turbo", 808878080, 0, hub },
    { "whisper-medium", 763857920, 0, keras },
    { "whisper-small", 241734912, 0, keras },
    { "whisper-tiny", 37760640, 0, keras },
    { "xlm-roberta-base", 278295186, 0, numel },
    { "xlm-roberta-large", 560142482, 0, numel },
};

/* What people write, as they write it. */
static const struct {
    const char *name, *id;
} names[] = {
    { "XiaomiMiMo/MiMo-V2-Flash", "mimo-v2-flash" },
    { "stepfun-ai/Step-3.5-Flash", "step-3.5-flash" },
    { "meta-llama/Meta-Llama-3-8B-Instruct", "llama-3-8b" },
    { "Meta Llama 3 8B Instruct", "llama-3-8b" },
    { "Qwen/Qwen2.5-VL-72B-Instruct", "qwen2.5-vl-72b" },
    { "qwen3-coder:30b", "qwen3-coder-30b-a3b" },
    { "Qwen3 30B A3B Instruct 2507", "qwen3-30b-a3b-2507" },
    { "通义千问3-VL-8B", "qwen3-vl-8b" },
    { "deepseek-ai/DeepSeek-V3.2", "deepseek-v3.2" },
    { "DeepSeek-V2.5", "deepseek-v2" },
    { "moonshotai/Kimi-K2-Instruct", "kimi-k2" },
    { "月之暗面 Kimi K2", "kimi-k2" },
    { "moonshotai/Kimi-K2.5", "kimi-k2.5" },
    { "Kimi K3", "kimi-k3" },
    { "google/gemma-4-31B-it", "gemma-4-31b" },
    { "Gemma 4 26B A4B", "gemma-4-26b-a4b" },
    { "deepseek-ai/DeepSeek-V4-Flash", "deepseek-v4-flash" },
    { "nvidia/Llama-3_3-Nemotron-Super-49B-v1_5", "llama-3.3-nemotron-super-49b" },
    { "zai-org/GLM-4.6V", "glm-4.6v" },
    { "GLM-5.1", "glm-5" },
    { "THUDM/glm-4-9b-chat", "glm-4-9b" },
    { "智谱 GLM-4.5 Air", "glm-4.5-air" },
    { "ChatGLM3", "chatglm3-6b" },
    { "百川2 7B", "baichuan2-7b" },
    { "internlm/internlm2_5-7b-chat", "internlm2.5-7b" },
    { "openai/gpt-oss-120b", "gpt-oss-120b" },
    { "gpt oss 20b", "gpt-oss-20b" },
    { "google/gemma-3-27b-it", "gemma-3-27b" },
    { "mistralai/Mistral-Large-Instruct-2407", "mistral-large-123b" },
    { "Command R+", "command-r-plus" },
    { "bigscience/bloom", "bloom-176b" },
    { "GPT-J", "gpt-j-6b" },
    { "BAAI/bge-m3", "bge-m3" },
    { "openai/whisper-large-v3", "whisper-large-v3" },
    { "ResNet50", "resnet-50" },
    { "SDXL", "sdxl-unet" },
    { "black-forest-labs/FLUX.1-dev", "flux.1-dev" },
    { "Llama 4 Maverick", "llama-4-maverick" },
};

static const char *const licences[] = { "open", "open_with_terms", "non_commercial", "unknown" };

START_TEST(presets_count_what_others_published)
{
    const struct model_preset *model = catalog_model(seed_catalog(), totals[_i].id);

    ck_assert_msg(model != NULL, "no preset %s", totals[_i].id);
    ck_assert_msg((int64_t)model->params.total + totals[_i].apart == (int64_t)totals[_i].published,
                  "%s: counted %llu and %lld apart, published %llu (%s)", model->id,
                  (unsigned long long)model->params.total, (long long)totals[_i].apart,
                  (unsigned long long)totals[_i].published, totals[_i].source);
}
END_TEST

START_TEST(names_that_people_write_are_known)
{
    const struct model_preset *model = catalog_model_by_name(seed_catalog(), names[_i].name);

    ck_assert_msg(model != NULL, "nothing is called \"%s\"", names[_i].name);
    ck_assert_str_eq(model->id, names[_i].id);
}
END_TEST

static bool
has_alias(const struct catalog *catalog, size_t index)
{
    for (size_t i = 0; i < catalog->model_alias_count; i++) {
        if (catalog->model_aliases[i].index == index)
            return true;
    }
    return false;
}

static bool
is_licence(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(licences); i++) {
        if (strcmp(licences[i], text) == 0)
            return true;
    }
    return false;
}

START_TEST(each_preset_has_an_alias_and_a_licence)
{
    const struct catalog *catalog = seed_catalog();

    ck_assert_uint_ge(catalog->model_count, 150);
    for (size_t i = 0; i < catalog->model_count; i++) {
        const struct model_preset *model = &catalog->models[i];

        ck_assert_msg(has_alias(catalog, i), "%s has no alias", model->id);
        ck_assert_msg(is_licence(model->licence), "%s has no licence", model->id);
        ck_assert_msg(model->publisher[0] != '\0' && model->source[0] != '\0', "%s is nobody's", model->id);
    }
}
END_TEST

/* A decoder alone, whose cache grows with the context. States have no limit, nor have the relative positions of T5. */
static bool
is_language_model(const struct model_arch *arch)
{
    bool cached = false;

    for (uint32_t i = 0; i < arch->kind_count; i++) {
        const struct layer_kind *kind = &arch->kinds[i];

        if (kind->encoder)
            return false;
        cached = cached || kind->attention == ATTENTION_HEADS || kind->attention == ATTENTION_LATENT;
    }
    return arch->causal && cached;
}

START_TEST(language_models_have_a_context_limit)
{
    const struct catalog *catalog = seed_catalog();
    size_t limited = 0;

    for (size_t i = 0; i < catalog->model_count; i++) {
        const struct model_preset *model = &catalog->models[i];

        if (!is_language_model(&model->arch))
            continue;
        ck_assert_msg(model->arch.max_context_tokens >= 1024, "%s: context %u", model->id,
                      model->arch.max_context_tokens);
        limited++;
    }
    ck_assert_uint_ge(limited, 150);
}
END_TEST

/* Ids and names are looked up too, so an alias may not be what another model is called. */
START_TEST(no_alias_means_two_models)
{
    const struct catalog *catalog = seed_catalog();

    for (size_t i = 0; i < catalog->model_alias_count; i++) {
        const struct alias *alias = &catalog->model_aliases[i];

        ck_assert(i == 0 || strcmp(catalog->model_aliases[i - 1].alias, alias->alias) < 0);
        ck_assert_str_eq(catalog_model_by_name(catalog, alias->alias)->id, catalog->models[alias->index].id);
        for (size_t j = 0; j < catalog->model_count; j++) {
            char id[128], name[128];

            if (j == alias->index)
                continue;
            text_normalise(id, sizeof(id), catalog->models[j].id);
            text_normalise(name, sizeof(name), catalog->models[j].name);
            ck_assert_msg(strcmp(alias->alias, id) != 0 && strcmp(alias->alias, name) != 0, "%s is also %s",
                          alias->alias, catalog->models[j].id);
        }
    }
}
END_TEST

int
main(void)
{
    TCase *tcase = tcase_create("presets");

    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, presets_count_what_others_published, 0, COUNT_OF(totals));
    tcase_add_loop_test(tcase, names_that_people_write_are_known, 0, COUNT_OF(names));
    tcase_add_test(tcase, each_preset_has_an_alias_and_a_licence);
    tcase_add_test(tcase, language_models_have_a_context_limit);
    tcase_add_test(tcase, no_alias_means_two_models);
    return suite_run("model_presets", tcase);
}
