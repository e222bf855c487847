/* Any bytes as a body of POST /estimate, from the parser to the reply. */
#include "api/handlers/estimate.h"
#include "tests/fuzz/handle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_handle(handle_estimate, "/estimate", data, size);
    return 0;
}
