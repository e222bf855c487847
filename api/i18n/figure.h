/* Writes figures as people read them. */
#ifndef API_I18N_FIGURE_H
#define API_I18N_FIGURE_H

#include <stddef.h>

#include "api/http/request.h"

enum { FIGURE_SIZE = 64 };

/* Writes `number` into FIGURE_SIZE bytes in the format named by the first `format_size` bytes of `format` (see
 * message.h); an unknown name is as none. Not a finite number: "?". */
void figure_write(char *text, const char *format, size_t format_size, double number, enum language language);

#endif
