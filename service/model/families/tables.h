/* The classes of each file of families; every table ends with an empty row. */
#ifndef SERVICE_MODEL_FAMILIES_TABLES_H
#define SERVICE_MODEL_FAMILIES_TABLES_H

#include "service/model/families/family.h"

extern const struct family_class family_dense[];   /* RMS norms or the like, gated MLP */
extern const struct family_class family_experts[]; /* mixtures of experts with heads */
extern const struct family_class family_latent[];  /* latent attention */
extern const struct family_class family_gpt[];     /* layer norms with biases, plain MLP */

#endif
