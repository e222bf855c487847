/* When owning a machine becomes cheaper than renting one like it. */
#ifndef SERVICE_COST_BUY_OR_RENT_H
#define SERVICE_COST_BUY_OR_RENT_H

#include "service/cost/cost.h"

enum buy_or_rent_verdict { VERDICT_RENT = 0, VERDICT_BUY, VERDICT_HYBRID };

enum { MAX_SERIES = 48 };

struct buy_or_rent {
    double break_even_months;            /* until rent paid is what buying and running cost; 0: never */
    double break_even_utilization_ratio; /* use at which both cost the same over the horizon; above 1: none is enough */
    struct {
        double month;
        struct money rent_total, buy_total; /* paid until then; what is left of the machine's worth is not taken off */
    } series[MAX_SERIES];
    uint32_t series_count;
    enum buy_or_rent_verdict verdict;
};

/* `rent_per_hour` and `purchase` are of the same GPUs, in terms->currency; `watts` under load. Rent and electricity are
 * paid for hours of use, upkeep (room, support, spares: cost.upkeep_ratio_per_year of the price) always. Over the
 * horizon the worth that is left (residual) counts. Where both cost nearly the same (cost.hybrid_margin): hybrid. */
struct buy_or_rent buy_or_rent_of(double rent_per_hour, double purchase, double watts, const struct cost_terms *terms,
                                  const struct rates *rates);

const char *buy_or_rent_verdict_name(enum buy_or_rent_verdict verdict);

#endif
