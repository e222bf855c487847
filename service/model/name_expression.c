/* Expressions by following all their states at once (Thompson, CACM 11(6), 1968): time never grows faster than the
 * name times the states it is in. */
#include "service/model/name_expression.h"

#include <string.h>

enum { NO_STEP = 255, MAX_DEPTH = 12 };

/* What an expression is compiled with. */
struct compiler {
    struct name_expression *expression;
    const char *at;
    unsigned depth;
    bool failed;
};

/* A piece of the program: its first step, and the step that ends it, whose `next` is still open. Both NO_STEP when the
 * piece is empty. */
struct piece {
    uint8_t first, last;
};

static uint8_t
add_step(struct compiler *compiler, enum step_kind kind)
{
    struct name_expression *expression = compiler->expression;

    if (expression->step_count >= EXPRESSION_STEPS) {
        compiler->failed = true;
        return 0;
    }
    memset(&expression->steps[expression->step_count], 0, sizeof(expression->steps[0]));
    expression->steps[expression->step_count].kind = kind;
    expression->steps[expression->step_count].next = NO_STEP;
    expression->steps[expression->step_count].fork = NO_STEP;
    return expression->step_count++;
}

static void
set_add(struct expression_step *step, unsigned char first, unsigned char last)
{
    for (unsigned byte = first; byte <= last && byte < 128; byte++)
        step->set[byte / 64] |= UINT64_C(1) << byte % 64;
}

/* \d \w \s as sets; false for any other letter. */
static bool
set_named(struct expression_step *step, char name)
{
    switch (name) {
    case 'd':
        set_add(step, '0', '9');
        return true;
    case 'w':
        set_add(step, '0', '9');
        set_add(step, 'A', 'Z');
        set_add(step, 'a', 'z');
        set_add(step, '_', '_');
        return true;
    case 's':
        set_add(step, ' ', ' ');
        return true;
    default:
        return false;
    }
}

static bool
is_letter_or_digit(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* "[...]", behind its opening. */
static void
compile_set(struct compiler *compiler, struct expression_step *step)
{
    bool first = true;

    if (*compiler->at == '^') {
        step->negated = true;
        compiler->at++;
    }
    for (; *compiler->at != ']' || first; first = false) {
        unsigned char from = (unsigned char)*compiler->at++;

        if (from == '\0') {
            compiler->at--;
            compiler->failed = true;
            return;
        }
        if (from == '\\') {
            if (set_named(step, *compiler->at)) {
                compiler->at++;
                continue;
            }
            from = (unsigned char)*compiler->at;
            if (from == '\0') {
                compiler->failed = true;
                return;
            }
            compiler->at++;
        }
        unsigned char to = from;
        if (compiler->at[0] == '-' && compiler->at[1] != ']' && compiler->at[1] != '\0') {
            to = (unsigned char)compiler->at[1];
            compiler->at += 2;
        }
        set_add(step, from, to);
    }
    compiler->at++;
}

static struct piece compile_choice(struct compiler *compiler);

static struct piece
piece_of(uint8_t step)
{
    return (struct piece){ step, step };
}

static struct piece
compile_escape(struct compiler *compiler)
{
    char byte = *compiler->at;

    if (byte == '\0' || (is_letter_or_digit(byte) && strchr("dws", byte) == NULL)) {
        compiler->failed = true; /* \b, \1 and the like */
        return piece_of(0);
    }
    compiler->at++;
    uint8_t step = add_step(compiler, strchr("dws", byte) != NULL ? STEP_SET : STEP_BYTE);
    compiler->expression->steps[step].byte = (uint8_t)byte;
    (void)set_named(&compiler->expression->steps[step], byte);
    return piece_of(step);
}

/* "( ... )", behind its opening. */
static struct piece
compile_group(struct compiler *compiler)
{
    if (compiler->at[0] == '?' && compiler->at[1] == ':')
        compiler->at += 2;
    else if (compiler->at[0] == '?')
        compiler->failed = true; /* looks ahead, flags */
    if (compiler->failed || ++compiler->depth > MAX_DEPTH) {
        compiler->failed = true;
        return piece_of(0);
    }
    struct piece inside = compile_choice(compiler);
    compiler->depth--;
    if (*compiler->at != ')')
        compiler->failed = true;
    else
        compiler->at++;
    return inside;
}

static struct piece
compile_atom(struct compiler *compiler)
{
    char byte = *compiler->at++;
    uint8_t step;

    switch (byte) {
    case '(':
        return compile_group(compiler);
    case '\\':
        return compile_escape(compiler);
    case '.':
        return piece_of(add_step(compiler, STEP_ANY));
    case '^':
        return piece_of(add_step(compiler, STEP_START));
    case '$':
        return piece_of(add_step(compiler, STEP_END));
    case '[':
        step = add_step(compiler, STEP_SET);
        compile_set(compiler, &compiler->expression->steps[step]);
        return piece_of(step);
    case '*':
    case '+':
    case '?':
    case '{':
        compiler->failed = true;
        return piece_of(0);
    default:
        step = add_step(compiler, STEP_BYTE);
        compiler->expression->steps[step].byte = (uint8_t)byte;
        return piece_of(step);
    }
}

/* A fork that joins again: both its ways end at one more fork, which serves as a plain step. */
static struct piece
repeat(struct compiler *compiler, struct piece piece, char times)
{
    struct expression_step *steps = compiler->expression->steps;
    uint8_t fork = add_step(compiler, STEP_FORK);
    uint8_t join = add_step(compiler, STEP_FORK);

    if (compiler->failed)
        return piece;
    steps[fork].next = piece.first;
    steps[fork].fork = join;
    if (piece.last != NO_STEP)
        steps[piece.last].next = times == '?' ? join : fork;
    else
        steps[fork].next = join;
    return (struct piece){ times == '+' && piece.first != NO_STEP ? piece.first : fork, join };
}

static struct piece
compile_sequence(struct compiler *compiler)
{
    struct piece whole = { NO_STEP, NO_STEP };

    while (!compiler->failed && *compiler->at != '\0' && *compiler->at != '|' && *compiler->at != ')') {
        struct piece piece = compile_atom(compiler);

        if (!compiler->failed && (*compiler->at == '*' || *compiler->at == '+' || *compiler->at == '?')) {
            piece = repeat(compiler, piece, *compiler->at++);
            if (*compiler->at == '?') /* the shortest match: it is a match all the same */
                compiler->at++;
        }
        if (compiler->failed || *compiler->at == '{') {
            compiler->failed = true;
            break;
        }
        if (piece.first == NO_STEP)
            continue;
        if (whole.first == NO_STEP)
            whole = piece;
        else
            compiler->expression->steps[whole.last].next = piece.first;
        whole.last = piece.last;
    }
    return whole;
}

static struct piece
compile_choice(struct compiler *compiler)
{
    struct piece left = compile_sequence(compiler);

    while (!compiler->failed && *compiler->at == '|') {
        struct expression_step *steps = compiler->expression->steps;

        compiler->at++;
        struct piece right = compile_sequence(compiler);
        uint8_t fork = add_step(compiler, STEP_FORK);
        uint8_t join = add_step(compiler, STEP_FORK);

        if (compiler->failed)
            break;
        steps[fork].next = left.first != NO_STEP ? left.first : join;
        steps[fork].fork = right.first != NO_STEP ? right.first : join;
        if (left.last != NO_STEP)
            steps[left.last].next = join;
        if (right.last != NO_STEP)
            steps[right.last].next = join;
        left = (struct piece){ fork, join };
    }
    return left;
}

bool
name_expression_read(const char *text, struct name_expression *ret_expression)
{
    ret_expression->start = ret_expression->step_count = 0;
    struct compiler compiler = { .expression = ret_expression, .at = text };
    struct piece piece = compile_choice(&compiler);
    uint8_t match = add_step(&compiler, STEP_MATCH);

    if (compiler.failed || *compiler.at != '\0')
        return false;
    if (piece.last != NO_STEP)
        ret_expression->steps[piece.last].next = match;
    ret_expression->start = piece.first != NO_STEP ? piece.first : match;
    return true;
}

/* The states that an expression is in. */
struct states {
    uint64_t bits[EXPRESSION_STEPS / 64];
    uint8_t list[EXPRESSION_STEPS];
    unsigned count;
};

/* Enters a step and, through forks and anchors, those that take no byte. true: the match is there. */
static bool
enter(const struct name_expression *expression, struct states *states, uint8_t first, bool at_start, bool at_end)
{
    uint8_t waiting[2 * EXPRESSION_STEPS + 1];
    unsigned count = 0;

    waiting[count++] = first;
    while (count > 0) {
        uint8_t step = waiting[--count];

        if (step >= expression->step_count || (states->bits[step / 64] >> step % 64 & 1) != 0)
            continue;
        states->bits[step / 64] |= UINT64_C(1) << step % 64;
        states->list[states->count++] = step;
        const struct expression_step *at = &expression->steps[step];
        if (at->kind == STEP_MATCH)
            return true;
        if (at->kind == STEP_FORK || (at->kind == STEP_START && at_start) || (at->kind == STEP_END && at_end))
            waiting[count++] = at->next;
        if (at->kind == STEP_FORK && at->fork != NO_STEP)
            waiting[count++] = at->fork;
    }
    return false;
}

static bool
takes_byte(const struct expression_step *step, unsigned char byte)
{
    bool in_set = byte < 128 && (step->set[byte / 64] >> byte % 64 & 1) != 0;

    switch (step->kind) {
    case STEP_BYTE:
        return step->byte == byte;
    case STEP_ANY:
        return true;
    case STEP_SET:
        return in_set != step->negated;
    case STEP_START:
    case STEP_END:
    case STEP_FORK:
    case STEP_MATCH:
        break;
    }
    return false;
}

static void
clear(struct states *states)
{
    memset(states->bits, 0, sizeof(states->bits));
    states->count = 0;
}

bool
name_expression_matches(const struct name_expression *expression, const char *name, uint32_t *steps_left)
{
    struct states both[2];
    struct states *now = &both[0], *then = &both[1];

    clear(now);
    for (const char *at = name;; at++) {
        struct states *swapped = now;

        if ((at == name || at[-1] == '.') && enter(expression, now, expression->start, at == name, *at == '\0'))
            return true;
        if (*at == '\0' || *steps_left <= now->count)
            return false;
        *steps_left -= now->count + 1;
        clear(then);
        for (unsigned i = 0; i < now->count; i++) {
            const struct expression_step *step = &expression->steps[now->list[i]];

            if (takes_byte(step, (unsigned char)*at) && enter(expression, then, step->next, false, at[1] == '\0'))
                return true;
        }
        now = then;
        then = swapped;
    }
}
