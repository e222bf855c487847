/* Regular expressions over module names, as lists of quantisation blocks use them. */
#ifndef SERVICE_MODEL_NAME_EXPRESSION_H
#define SERVICE_MODEL_NAME_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

enum { EXPRESSION_STEPS = 192 };

enum step_kind { STEP_BYTE = 0, STEP_ANY, STEP_SET, STEP_START, STEP_END, STEP_FORK, STEP_MATCH };

/* One step of a compiled expression: a test of a byte, or a fork. */
struct expression_step {
    enum step_kind kind;
    bool negated;       /* STEP_SET */
    uint8_t byte;       /* STEP_BYTE */
    uint8_t next, fork; /* where it goes on; STEP_FORK: the two ways */
    uint64_t set[2];    /* STEP_SET: ASCII */
};

struct name_expression {
    uint8_t start, step_count;
    struct expression_step steps[EXPRESSION_STEPS];
};

/* Reads an expression: bytes, ".", sets, groups, "|", "*", "+", "?", anchors, \d \w \s. false when it holds anything
 * else or is longer than EXPRESSION_STEPS. */
bool name_expression_read(const char *text, struct name_expression *ret_expression);

/* Whether it matches from the start of a component of `name` on, to wherever it ends. Each step of the work is taken
 * from `steps_left`; when none is left nothing matches. */
bool name_expression_matches(const struct name_expression *expression, const char *name, uint32_t *steps_left);

#endif
