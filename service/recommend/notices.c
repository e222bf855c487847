#include "service/recommend/notices.h"

#include "service/base/text.h"

/* A remark about each rate: notices are told apart by pointer, so the pair stands in it. */
static void
note_conversion(const struct exchange_rate *rate, struct notices *notices)
{
    char pointer[NOTE_POINTER_SIZE];
    struct notice *notice;

    text_format(pointer, sizeof pointer, "/catalog/fx/%s", rate->id);
    for (size_t i = 0; i < notices->count; i++)
        if (notices->items[i].code == NOTICE_CONVERTED_CURRENCY && text_equal(notices->items[i].text[0], rate->id))
            return;
    notice = notice_add(notices, NOTICE_CONVERTED_CURRENCY, pointer);
    notice->pointer[0] = '\0'; /* it is about no member of the request */
    text_copy(notice->text[0], NOTE_TEXT_SIZE, rate->id);
    text_copy(notice->text[1], NOTE_TEXT_SIZE, rate->rate_date);
    notice->number[0] = rate->rate;
}

void
price_notices(const struct price *price, const struct cost *cost, struct notices *notices)
{
    if (cost->exchanged)
        note_conversion(cost->exchanged, notices);
    if (price->low.micros != price->high.micros)
        notice_add(notices, NOTICE_PRICE_IS_RANGE, "");
    if (!price->observed_date)
        notice_add(notices, NOTICE_PRICE_UNDATED, "");
    if (price->type == PRICE_SPOT)
        notice_add(notices, NOTICE_SPOT_CAN_BE_TAKEN_BACK, "");
}

void
recommend_notices(const struct recommendation *recommendation, struct notices *notices)
{
    double unproven = 0; /* most host memory that a candidate needs and is not known to have */

    for (size_t i = 0; i < recommendation->count; i++) {
        const struct candidate *candidate = &recommendation->candidates[i];

        price_notices(candidate->price, &candidate->cost, notices);
        if (!candidate->offer->ram_bytes && candidate->outcome.offload_host_bytes > unproven)
            unproven = candidate->outcome.offload_host_bytes;
    }
    if (unproven > 0)
        notice_numbers(notices, NOTICE_HOST_MEMORY_NEEDED, "/training/offload", unproven, 0);
}
