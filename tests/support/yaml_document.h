/* Reads a YAML file into a JSON value, so that tests can look things up in openapi.yaml. */
#ifndef TESTS_SUPPORT_YAML_DOCUMENT_H
#define TESTS_SUPPORT_YAML_DOCUMENT_H

#include <jansson.h>

/* The whole document; the caller ends it with json_decref. Plain scalars become null, booleans and numbers as in the
 * core schema of YAML 1.2, all others strings; members keep their order. Prints why and aborts when the file cannot be
 * read, is no YAML, or has a key that is no scalar or stands twice. */
json_t *yaml_document_read(const char *path);

#endif
