#include "service/recommend/recommend.h"

#include <string.h>

static int
by_number(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* The worse of the asked jobs' verdicts: 1 fits, 2 tight. */
static int
tightness(const struct candidate *candidate)
{
    enum verdict training = candidate->outcome.training_verdict, serving = candidate->outcome.serving_verdict;

    return (int)(training > serving ? training : serving);
}

/* What is to be paid: the total where the job has an end, else the rate. */
static double
price_of(const struct candidate *candidate)
{
    return money_amount(candidate->cost.has_total ? candidate->cost.total : candidate->cost.per_hour);
}

/* Hours of the job, or the time one unit of work takes. */
static double
time_of(const struct candidate *candidate)
{
    const struct outcome *outcome = &candidate->outcome;

    if (outcome->has_hours)
        return outcome->hours.expected;
    if (outcome->samples_per_second > 0)
        return 1 / outcome->samples_per_second;
    return outcome->output_tokens_per_second > 0 ? 1 / outcome->output_tokens_per_second : 0;
}

static double
fullness(const struct candidate *candidate)
{
    return candidate->outcome.required_bytes / candidate->outcome.usable_bytes;
}

int
candidate_compare(const struct candidate *a, const struct candidate *b, enum objective objective)
{
    int order;

    /* 1. what fits with room before what is tight: a cheap run that dies is not cheap */
    order = by_number(tightness(a), tightness(b));
    if (order)
        return order;
    /* 2. the objective */
    switch (objective) {
    case OBJECTIVE_TIME:
        order = by_number(time_of(a), time_of(b));
        break;
    case OBJECTIVE_BALANCED: /* as much cheaper as it is slower is even */
        order = by_number(price_of(a) * time_of(a), price_of(b) * time_of(b));
        break;
    case OBJECTIVE_HEADROOM:
        order = by_number(fullness(a), fullness(b));
        break;
    case OBJECTIVE_COST:
    case OBJECTIVE_UNSAID:
        order = by_number(price_of(a), price_of(b));
        break;
    }
    if (order)
        return order;
    /* 3. the cheaper, 4. the faster */
    order = by_number(price_of(a), price_of(b));
    if (!order)
        order = by_number(time_of(a), time_of(b));
    if (order)
        return order;
    /* 5. the better documented price, then the id: the same order every time */
    if (a->price->confidence != b->price->confidence)
        return a->price->confidence - b->price->confidence;
    return strcmp(a->price->id, b->price->id);
}

void
pareto_mark(struct candidate *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        candidates[i].pareto = true;
        for (size_t j = 0; j < count && candidates[i].pareto; j++) {
            double cheaper = price_of(&candidates[i]) - price_of(&candidates[j]);
            double faster = time_of(&candidates[i]) - time_of(&candidates[j]);

            if (cheaper >= 0 && faster >= 0 && (cheaper > 0 || faster > 0))
                candidates[i].pareto = false;
        }
    }
}
