/* Any bytes as a seed file: refused with a reason, or rows whose every cell is text. */
#include <stdint.h>
#include <string.h>

#include "db/seed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct seed_file file = { "table", data, size };
    struct seed_set set = { &file, 1 };
    const struct row_source source = seed_source(&set);
    struct rows rows;
    char why[128] = "";

    if (!source.read_table(source.context, "table", &rows, why, sizeof(why)))
        return why[0] == '\0' ? __builtin_trap(), 0 : 0;
    for (size_t row = 0; row < rows.row_count; row++) {
        for (size_t column = 0; column < rows.column_count; column++) {
            const char *text = rows_text(&rows, row, (int)column);
            if (text != NULL && strlen(text) > size)
                __builtin_trap();
        }
    }
    rows_done(&rows);
    return 0;
}
