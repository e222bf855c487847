/* openapi.yaml as it is, compiled in and served at /openapi.yaml. */
#ifndef API_PAGES_OPENAPI_DATA_H
#define API_PAGES_OPENAPI_DATA_H

#include <stddef.h>

extern const unsigned char openapi_yaml[]; /* a NUL follows the last byte */
extern const size_t openapi_yaml_size;     /* without the NUL */

#endif
