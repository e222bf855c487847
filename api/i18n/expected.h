/* Says in a language what a fault expected: "integer 1..1024", "one of a|b". */
#ifndef API_I18N_EXPECTED_H
#define API_I18N_EXPECTED_H

#include <stddef.h>

#include "api/http/request.h"

/* `expected` as fault items carry it. Words it knows are translated, names and numbers stay; English stays as it is. */
void expected_write(char *text, size_t size, const char *expected, enum language language);

#endif
