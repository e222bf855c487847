/* Any bytes as a body of POST /recommend, from the parser to the reply. */
#include "api/handlers/recommend.h"
#include "tests/fuzz/handle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_handle(handle_recommend, "/recommend", data, size);
    return 0;
}
