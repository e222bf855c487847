/* The table of classes, put together from those of the families. */
#include "service/model/families/family.h"

#include <string.h>

#include "service/base/quantity.h"
#include "service/base/text.h"
#include "service/model/families/tables.h"

static const struct family_class *const tables[] = {
    family_dense,           family_dense_chinese, family_experts,        family_latent,      family_gpt,
    family_vision_language, family_intern_vl,     family_variants,       family_states,      family_nemotron_h,
    family_gemma3n,         family_gemma4,        family_deci,           family_deepseek_v4, family_minimax_m3,
    family_glm5_next,       family_kimi_linear,   family_laguna,         family_mimo_v2,     family_step,
    family_encoders,        family_text_encoders, family_image_encoders, family_pairs,       family_conv_nets,
    family_diffusion,
};

static const struct family_class *
find(const char *name, bool by_class)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        for (const struct family_class *row = tables[i]; row->class_name != NULL; row++) {
            if (strcmp(by_class ? row->class_name : row->model_type, name) == 0)
                return row;
        }
    }
    return NULL;
}

const struct family_class *
family_of_class(const char *class_name)
{
    return find(class_name, true);
}

const struct family_class *
family_of_model_type(const char *model_type)
{
    return model_type[0] == '\0' ? NULL : find(model_type, false);
}

/* Whether nothing but the head stands between a class and its base class. Those that are read by a function of their
 * own are named. */
static bool
has_plain_head(const struct family_class *row, enum head_kind head)
{
    static const char *const stacks[] = { "OPTForCausalLM", "MambaForCausalLM", "Mamba2ForCausalLM",
                                          "FalconMambaForCausalLM", "FalconForCausalLM" };

    if (row->read == decoder_read)
        return !row->decoder->head_bias.always && row->decoder->head_bias.keys == NULL;
    for (size_t i = 0; i < COUNT_OF(stacks); i++) {
        if (head == HEAD_NONE && strcmp(row->class_name, stacks[i]) == 0)
            return true;
    }
    return false;
}

const struct family_class *
family_of_relative(const char *class_name, enum head_kind *ret_head)
{
    static const struct {
        const char *ending;
        enum head_kind head;
    } endings[] = { { "ForSequenceClassification", HEAD_CLASSIFIER },
                    { "TextModel", HEAD_NONE },
                    { "Model", HEAD_NONE } };
    size_t length = strlen(class_name);

    for (size_t i = 0; i < COUNT_OF(endings); i++) {
        size_t ending = strlen(endings[i].ending);
        char base[ARCH_NAME_SIZE];

        if (length <= ending || strcmp(class_name + length - ending, endings[i].ending) != 0)
            continue;
        text_format(base, sizeof(base), "%.*sForCausalLM", (int)(length - ending), class_name);
        const struct family_class *row = family_of_class(base);
        if (row == NULL) { /* the older name for the same */
            text_format(base, sizeof(base), "%.*sLMHeadModel", (int)(length - ending), class_name);
            row = family_of_class(base);
        }
        bool of_text = strcmp(endings[i].ending, "TextModel") == 0; /* a class of its own beside one with a tower */
        if (row == NULL || (of_text && strstr(row->model_type, "_text") == NULL) ||
            !has_plain_head(row, endings[i].head))
            return NULL;
        *ret_head = endings[i].head;
        return row;
    }
    return NULL;
}

bool
family_shares_weights(const char *name)
{
    static const char *const stems[] = { "Zamba", "zamba" };

    for (size_t i = 0; i < COUNT_OF(stems); i++) {
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return true;
    }
    return false;
}

/* Class names end alike ("ForCausalLM"), so only what stands before that tells them apart. */
static const char *
tail_of(const char *class_name)
{
    const char *tail = strstr(class_name, "For");

    return tail != NULL ? tail : class_name + strlen(class_name);
}

/* Edits between two classes: of their stems, and of their endings. */
static unsigned
class_distance(const char *a, const char *b, unsigned limit)
{
    char stems[2][ARCH_NAME_SIZE];
    unsigned endings = text_distance(tail_of(a), tail_of(b), limit);

    if (endings > limit)
        return limit + 1;
    text_format(stems[0], sizeof(stems[0]), "%.*s", (int)(tail_of(a) - a), a);
    text_format(stems[1], sizeof(stems[1]), "%.*s", (int)(tail_of(b) - b), b);
    return endings + text_distance(stems[0], stems[1], limit - endings);
}

const char *
family_nearest_class(const char *class_name)
{
    const char *nearest = NULL;
    unsigned limit = 1 + (unsigned)(tail_of(class_name) - class_name) / 6;

    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        for (const struct family_class *row = tables[i]; row->class_name != NULL; row++) {
            unsigned distance = class_distance(class_name, row->class_name, limit);

            if (distance > limit)
                continue;
            nearest = row->class_name;
            if (distance == 0)
                return nearest;
            limit = distance - 1;
        }
    }
    return nearest;
}
