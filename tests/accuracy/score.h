/* Readings gathered under names (slices, sources, GPUs), and the figures and tables they come to. */
#ifndef TESTS_ACCURACY_SCORE_H
#define TESTS_ACCURACY_SCORE_H

#include <stddef.h>
#include <stdio.h>

#include "tests/accuracy/reply.h"

enum { TALLY_NAME_SIZE = 160, SHARE_SIZE = 24 };

struct tally {
    char name[TALLY_NAME_SIZE];
    size_t cases, held, refused;
    size_t untold; /* cases that were not refused, but whose reply lacks something that was asked for */
    struct reading *readings;
    size_t count, capacity;
};

/* Tallies in the order in which their names came up. Start from { 0 }; a tally pointer holds until the next name. */
struct score {
    struct tally *items;
    size_t count, capacity;
};

/* The tally of a name, made when it is new. */
struct tally *score_tally(struct score *score, const char *name);

void tally_add(struct tally *tally, struct reading reading);
void score_sort(struct score *score);
void score_done(struct score *score);

/* Shares; errors are relative. NAN where nothing was read. */
struct figures {
    size_t count;
    double median, most; /* of the absolute errors: half and nine in ten lie below */
    double bias;         /* median of the signed errors */
    double covered;      /* of the readings with a band: how many truths are in it */
    double width;        /* median width of the bands */
};
struct figures tally_figures(const struct tally *tally);

/* A share as a per cent with so many places, "-" for NAN. Returns text. */
const char *share_text(double share, int places, char text[SHARE_SIZE]);

/* "| name | n | median | nine in ten | bias | in band | band width |", a row each, under a title. */
void score_print_errors(const struct score *score, const char *title, const char *heading, FILE *to);

#endif
