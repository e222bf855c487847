/* Rates and GPUs of the seed files, read without db/: for tests of the domain that need real rows. */
#ifndef TESTS_SUPPORT_SEED_RATES_H
#define TESTS_SUPPORT_SEED_RATES_H

#include "service/hardware/gpu.h"
#include "service/hardware/rates.h"

/* All constants of migrations/seed/rates.csv. Aborts with a message when the file lacks one of rates.def. */
struct rates seed_rates(void);

/* A row of migrations/seed/gpus.csv; its texts stay valid. Aborts with a message when there is none of this id. */
struct gpu seed_gpu(const char *id);

#endif
