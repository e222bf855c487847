#include "tests/accuracy/leave_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "service/catalog/catalog.h"

const char *const leave_key_names[LEAVE_KEY_COUNT] = {
    [LEAVE_SOURCE] = "source",
    [LEAVE_GPU] = "GPU",
    [LEAVE_GENERATION] = "generation",
    [LEAVE_ENGINE] = "engine",
};

const char *
leave_key_of(const struct runs *runs, const struct target *target, enum leave_key key)
{
    const struct accuracy_case *from = target->from;

    switch (key) {
    case LEAVE_SOURCE:
        return from->source;
    case LEAVE_GPU:
        return from->gpu;
    case LEAVE_GENERATION: {
        const struct gpu *gpu = *from->gpu ? catalog_gpu(runs->catalog, from->gpu) : NULL;

        return gpu ? gpu_family_name(gpu->family) : "";
    }
    case LEAVE_ENGINE:
        return from->engine;
    case LEAVE_KEY_COUNT:
        break;
    }
    return "";
}

const char *
slice_short(const char *slice)
{
    static const char prefix[] = "accuracy_";

    return strncmp(slice, prefix, sizeof prefix - 1) == 0 ? slice + sizeof prefix - 1 : slice;
}

void
score_targets(const struct runs *runs, const struct rates *rates, const bool *chosen, const char *name,
              struct score *by_slice, struct score *by_name)
{
    for (size_t i = 0; i < runs->target_count; i++) {
        const struct target *target = &runs->targets[i];
        const char *slice = slice_short(target->from->slice);
        struct range figures[FIGURE_COUNT];
        char both[TALLY_NAME_SIZE];

        if (!(target->truth > 0) || (chosen && !chosen[i]))
            continue;
        run_estimate(&runs->items[target->run], rates, figures);

        const struct range *seen = &figures[target->figure];
        struct reading reading =
            reading_of(target->truth, seen->low, isnan(seen->expected) ? 0 : seen->expected, seen->high);

        tally_add(score_tally(by_slice, slice), reading);
        if (!by_name)
            continue;
        snprintf(both, sizeof both, "%s, %s", name, slice);
        tally_add(score_tally(by_name, both), reading);
    }
}

static void
leave_one_out(const struct refit_ask *ask, const struct reach *reach, enum leave_key key, const char *name,
              struct left_out *out)
{
    const struct runs *runs = ask->runs;
    bool *chosen = calloc(runs->target_count + 1, sizeof *chosen);
    struct refit_ask without = *ask;
    struct rates rates;

    if (!chosen)
        abort();
    for (size_t i = 0; i < runs->target_count; i++)
        chosen[i] = strcmp(leave_key_of(runs, &runs->targets[i], key), name) == 0;
    without.left_out = chosen;
    refit(&without, reach, &rates);
    score_targets(runs, &rates, chosen, name, &out->by_slice, &out->by_name);
    for (size_t i = 0; i < ask->constants->count; i++) {
        double value = *rates_at(&rates, ask->constants->items[i].index);

        out->lowest[i] = fmin(out->lowest[i], value);
        out->highest[i] = fmax(out->highest[i], value);
    }
    out->fits++;
    free(chosen);
}

/* Whether no earlier target, of a fact or a bound alike, has the same name. */
static bool
is_first_of(const struct runs *runs, size_t index, enum leave_key key, const char *name)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(leave_key_of(runs, &runs->targets[i], key), name) == 0)
            return false;
    return true;
}

void
leave_out(const struct refit_ask *ask, const struct reach *reach, enum leave_key key, struct left_out *ret_out)
{
    memset(ret_out, 0, sizeof *ret_out);
    for (size_t i = 0; i < ask->constants->count; i++) {
        ret_out->lowest[i] = INFINITY;
        ret_out->highest[i] = -INFINITY;
    }
    for (size_t i = 0; i < ask->runs->target_count; i++) {
        const char *name = leave_key_of(ask->runs, &ask->runs->targets[i], key);

        if (*name && is_first_of(ask->runs, i, key, name))
            leave_one_out(ask, reach, key, name, ret_out);
    }
    score_sort(&ret_out->by_slice);
    score_sort(&ret_out->by_name);
}

void
left_out_done(struct left_out *out)
{
    score_done(&out->by_slice);
    score_done(&out->by_name);
}
