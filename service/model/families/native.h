/* Files beside config.json that describe a model, too, and name no class: known by their keys. */
#ifndef SERVICE_MODEL_FAMILIES_NATIVE_H
#define SERVICE_MODEL_FAMILIES_NATIVE_H

#include "service/model/families/family.h"

/* How such a file is read; NULL when its keys are those of none. */
const struct family_class *native_family_of(const struct facts *facts);

#endif
