/* The text of a formula: names, numbers, + - * / ^ and functions of them. */
#ifndef PLUGMC_EXPRESSION_FORMULA_H
#define PLUGMC_EXPRESSION_FORMULA_H

#include <stddef.h>

#include "graph.h"

enum {
    FORMULA_LONGEST = 4000, /* bytes */
    FORMULA_DEEPEST = 100,  /* parentheses, signs and exponents within each other */
    FORMULA_WHY = 700
};

/* A name that a formula may have. */
typedef struct formula_name {
    const char *name;
    const double *values; /* [pairs of the graph]; NULL: it cannot be used, `why` says why */
    const char *why;
    int used; /* set where the formula has it */
} formula_name;

/* The node of the formula; r, pi and the names stand for themselves. If the text is none, -1, and
 * `why` is a sentence with the character, from 1, and what stands there. */
int32_t formula_read(const char *text, formula_name *names, int count, graph *,
                     char why[FORMULA_WHY]);

/* Whether a name is taken by the language (r, pi, functions). */
int formula_takes(const char *name);
/* Whether it is a letter, and letters, digits and underscores behind it. */
int formula_can_name(const char *name);

#endif
