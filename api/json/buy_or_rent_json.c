#include "api/json/buy_or_rent_json.h"

#include <math.h>

#include "api/i18n/message.h"
#include "service/base/text.h"
#include "service/recommend/market.h"

enum { SENTENCE_SIZE = 512 };

void
buy_or_rent_encode(struct json_writer *writer, const struct recommend_request *request,
                   const struct recommendation *all, const struct rates *rates, enum language language)
{
    struct buy_or_rent result;
    char id[64], text[SENTENCE_SIZE];

    if (!market_compare(all, request, rates, &result))
        return;

    double use = result.break_even_utilization_ratio;
    struct message_values values = { { NULL }, { round(result.break_even_months * 10) / 10, use <= 1 ? use : NAN } };

    writer_object(writer, "buy_or_rent");
    if (result.break_even_months > 0)
        writer_real(writer, "break_even_months", result.break_even_months);
    if (isfinite(use))
        writer_real(writer, "break_even_utilization_ratio", use);
    writer_array(writer, "series");
    for (uint32_t i = 0; i < result.series_count; i++) {
        writer_object(writer, NULL);
        writer_real(writer, "month", result.series[i].month);
        writer_money(writer, "rent_total", result.series[i].rent_total);
        writer_money(writer, "buy_total", result.series[i].buy_total);
        writer_end_object(writer);
    }
    writer_end_array(writer);
    writer_text(writer, "verdict", buy_or_rent_verdict_name(result.verdict));
    text_format(id, sizeof id, "buy_or_rent.%s", buy_or_rent_verdict_name(result.verdict));
    message_write(text, sizeof text, id, language, &values);
    writer_text(writer, "text", text);
    writer_end_object(writer);
}
