#include "api/json/cost_json.h"

void
cost_encode(struct json_writer *writer, const char *name, const struct cost *cost)
{
    writer_object(writer, name);
    if (cost->has_total)
        writer_money(writer, "total", cost->total);
    if (cost->has_total && cost->total_low.micros != cost->total_high.micros) {
        writer_money(writer, "total_low", cost->total_low);
        writer_money(writer, "total_high", cost->total_high);
    }
    writer_money(writer, "per_hour", cost->per_hour);
    writer_money(writer, "per_month", cost->per_month);
    if (cost->per_million_tokens.micros > 0)
        writer_money(writer, "per_million_tokens", cost->per_million_tokens);
    if (cost->purchase.micros > 0)
        writer_money(writer, "purchase", cost->purchase);
    writer_array(writer, "lines");
    for (uint32_t i = 0; i < cost->line_count; i++) {
        const struct cost_line *line = &cost->lines[i];

        writer_object(writer, NULL);
        writer_text(writer, "code", line->code);
        writer_real(writer, "quantity", line->quantity);
        writer_text(writer, "unit", line->unit);
        writer_money(writer, "unit_price", line->unit_price);
        writer_money(writer, "amount", line->amount);
        writer_text(writer, "price_id", line->price ? line->price->id : NULL);
        writer_end_object(writer);
    }
    writer_end_array(writer);
    writer_end_object(writer);
}
