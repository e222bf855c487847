/* In which format a checkpoint is stored: its own type, or what its quantization_config says. */
#ifndef SERVICE_MODEL_QUANTIZATION_H
#define SERVICE_MODEL_QUANTIZATION_H

#include "service/model/reader.h"

/* Sets arch->native_format and arch->stored_format. Counts never change. A method that is not known leaves the native
 * format, with a notice. */
void quantization_read(struct reader *reader);

#endif
