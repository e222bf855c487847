/* Human text by code: the only place where prose lives, in every language. */
#ifndef API_I18N_MESSAGE_H
#define API_I18N_MESSAGE_H

#include <stddef.h>

#include "api/http/request.h"
#include "api/json/buffer.h"

/* What a sentence is filled with: {t0}..{t3} texts, {n0}..{n3} numbers; a number takes a format after a colon:
 * {n0} (a whole number exactly, else 4 significant digits), {n0:int} (a whole number in groups of three), {n0:bytes}
 * (GiB with one decimal, MiB below 1), {n0:bits} (bits per second: Gb/s), {n0:percent} (of a ratio), {n0:seconds} (in
 * the unit that reads best); {t0:expected} is what a fault expected ("integer 1..8") in the sentence's language. What
 * stands in [brackets] is left out when a text in it is empty or a number is NaN. */
struct message_values {
    const char *text[4];
    double number[4];
};

/* The sentence of an id ("notice.fp8_is_weight_only", "fault.unknown_member", "title.not_found", "assumption.engine",
 * "fix.lora", "reason.over_budget", "why.cheapest") in a language, NULL when there is none. */
const char *message_template(const char *id, enum language language);

/* Writes it filled into `text`. An unknown id writes the id itself (and a test keeps that from happening). */
void
message_write(char *text, size_t size, const char *id, enum language language, const struct message_values *values);

/* All ids, for tests: the i-th, NULL beyond the last. */
const char *message_id(size_t i);

#endif
