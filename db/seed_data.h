/* The seed files compiled into the program, one a table. The build generates their definition. */
#ifndef DB_SEED_DATA_H
#define DB_SEED_DATA_H

#include <stddef.h>

struct seed_file {
    const char *table;
    const unsigned char *bytes;
    size_t size;
};

extern const struct seed_file seed_files[];
extern const size_t seed_file_count;

#endif
