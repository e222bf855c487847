/* What the work of a request costs without HTTP: reading a model against parsing its JSON, one estimate of each kind.
 * Prints a Markdown table; each figure is the least of many runs, in CPU time of this thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/json/estimate_json.h"
#include "service/base/quantity.h"
#include "tests/support/seed_catalog.h"

enum { MAX_BODY = 16384, RUNS = 300 };

static char body[MAX_BODY];
static size_t body_size;

static void
fail(const char *what)
{
    (void)fprintf(stderr, "%s\n", what);
    exit(1);
}

static double
cpu_seconds(void)
{
    struct timespec time;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
        fail("no clock of the thread's CPU time");
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void
load(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL)
        fail(path);
    body_size = fread(body, 1, sizeof body, file);
    if (ferror(file) || body_size == sizeof body || fclose(file) != 0)
        fail(path);
}

/* The model of the body flattened, read and counted, held against jansson's parsing of the whole body. */
static void
measure_reading(const char *path)
{
    static struct model_holder holder;
    static struct notices notices;
    static struct fault fault;
    double parse = 1, read = 1;

    load(path);
    for (int run = 0; run < RUNS; run++) {
        double start = cpu_seconds(), parsed, end;
        json_t *document = json_loadb(body, body_size, JSON_REJECT_DUPLICATES, NULL);

        parsed = cpu_seconds();
        fault_clear(&fault);
        notices.count = notices.dropped = 0;
        model_holder_init(&holder);
        model_decode(json_object_get(document, "model"), "/model", seed_catalog(), &holder, &notices, &fault);
        if (holder.arch == NULL || fault_any(&fault) || holder.params->total == 0)
            fail("the model was not read");
        model_holder_done(&holder);
        end = cpu_seconds();
        parse = parsed - start < parse ? parsed - start : parse;
        read = end - parsed < read ? end - parsed : read;
        json_decref(document);
    }
    printf("| a model of %zu bytes read and counted | %.1f | %.2f of jansson's parsing |\n", body_size, read * 1e6,
           read / parse);
}

/* One request answered, its JSON aside: plan choice, memory, time, fixes, notices. */
static void
measure_answer(const char *what)
{
    static struct estimate_decoded decoded;
    static struct answer answer;
    static struct fault fault;
    const struct request request = { .method = HTTP_POST, .path = "/estimate", .body = body, .body_size = body_size };
    double least = 1;

    fault_clear(&fault);
    answer.notices.count = answer.assumptions.count = 0;
    if (estimate_open(&request, &decoded, &answer.notices, &fault) != STATUS_OK ||
        estimate_decode(seed_catalog(), &decoded, &answer.assumptions, &answer.notices, &fault) != STATUS_OK)
        fail("the request was not read");
    for (int run = 0; run < RUNS; run++) {
        double start = cpu_seconds(), end;

        answer.notices.count = answer.assumptions.count = 0;
        if (answer_run(&decoded.members.request, seed_catalog(), &answer, &fault) != STATUS_OK)
            fail("the request was not answered");
        end = cpu_seconds();
        least = end - start < least ? end - start : least;
    }
    printf("| %s | %.1f | %" PRIu64 " plans |\n", what, least * 1e6,
           answer.has_training ? answer.training.searched : 1);
    estimate_decoded_done(&decoded);
}

static const struct {
    const char *what, *body;
} searches[] = {
    { "plan choice, llama-3.1-8b on 64 GPUs",
      "{\"model\":\"llama-3.1-8b\",\"training\":{\"method\":\"pretrain\"},\"hardware\":{\"gpu\":\"h100-sxm-80gb\","
      "\"gpus\":64}}" },
    { "plan choice, llama-3.1-70b on 64 GPUs",
      "{\"model\":\"llama-3.1-70b\",\"training\":{\"method\":\"pretrain\",\"sequence_length\":8192,"
      "\"global_batch_size\":512},\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":64}}" },
    { "plan choice, llama-3.1-70b at 131,072 tokens on 64 GPUs",
      "{\"model\":\"llama-3.1-70b\",\"training\":{\"method\":\"full\",\"sequence_length\":131072,"
      "\"global_batch_size\":1024},\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":64}}" },
    { "plan choice, mixtral-8x22b on 64 GPUs",
      "{\"model\":\"mixtral-8x22b\",\"training\":{\"method\":\"pretrain\",\"sequence_length\":4096},"
      "\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":64}}" },
    { "plan choice, deepseek-v3 on 64 GPUs, which do not suffice",
      "{\"model\":\"deepseek-v3\",\"training\":{\"method\":\"full\",\"sequence_length\":4096},"
      "\"hardware\":{\"gpu\":\"h100-sxm-80gb\",\"gpus\":64}}" },
};

int
main(void)
{
    printf("| work without HTTP | CPU µs | |\n|---|---|---|\n");
    measure_reading(PROJECT_ROOT "/tests/bench/estimate_config.json");
    load(PROJECT_ROOT "/tests/bench/estimate.json");
    measure_answer("an estimate under a stated plan");
    for (size_t i = 0; i < COUNT_OF(searches); i++) {
        body_size = strlen(searches[i].body);
        memcpy(body, searches[i].body, body_size);
        measure_answer(searches[i].what);
    }
    return 0;
}
