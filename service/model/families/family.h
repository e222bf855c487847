/* A family: how the configs of some classes are read. The table of classes is in family.c. */
#ifndef SERVICE_MODEL_FAMILIES_FAMILY_H
#define SERVICE_MODEL_FAMILIES_FAMILY_H

#include "service/model/reader.h"

struct decoder;

/* Fills reader->arch; faults are collected in reader->fault. */
typedef void family_read(struct reader *reader, const struct decoder *decoder);

/* A class of `architectures`, how it is read, and with which traits (NULL where the reader needs none). */
struct family_class {
    const char *class_name;
    const char *model_type; /* the one it stands for when a config names no class; "" when another row does */
    family_read *read;
    const struct decoder *decoder;
};

/* The row of a class, of a model type; NULL when it is not supported. */
const struct family_class *family_of_class(const char *class_name);
const struct family_class *family_of_model_type(const char *model_type);

/* What a class that is not in the table has instead of the head of the class it derives from. */
enum head_kind {
    HEAD_OF_CLASS = 0,
    HEAD_NONE,       /* "...Model": the layers alone */
    HEAD_CLASSIFIER, /* "...ForSequenceClassification": one row a label, no bias */
};

/* The row of the language model that a class derives from by its name ("MistralModel",
 * "LlamaForSequenceClassification"), and its head; NULL when there is none, or when its head is no plain matrix. */
const struct family_class *family_of_relative(const char *class_name, enum head_kind *ret_head);

/* Whether a class, or a model type, is of a kind that is not supported because several of its layers run the same
 * weights: no supported class is meant then, however near its name. Zamba and Zamba2 (arXiv:2405.16712 section 2,
 * arXiv:2411.15242 section 2): one attention and MLP, or two that take turns, between layers of Mamba. */
bool family_shares_weights(const char *name);

/* The supported class that was probably meant, NULL when none is near. */
const char *family_nearest_class(const char *class_name);

#endif
