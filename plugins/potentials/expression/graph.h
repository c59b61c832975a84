/* Formulas as graphs: each node is an operation on nodes before it, and none is there twice.
 *
 * The variable is s = r^2. What does not depend on it is computed when it is made, for every pair of
 * species: a number if it is the same for all, else a column of one number a pair. So whatever is left as
 * an operation depends on s.
 */
#ifndef PLUGMC_EXPRESSION_GRAPH_H
#define PLUGMC_EXPRESSION_GRAPH_H

#include <stdint.h>

typedef enum graph_op {
    GRAPH_NUMBER,
    GRAPH_COLUMN,
    GRAPH_SQUARE, /* s */
    GRAPH_ADD,
    GRAPH_SUB,
    GRAPH_MUL,
    GRAPH_DIV,
    GRAPH_MIN,
    GRAPH_MAX,
    GRAPH_POW,
    GRAPH_POWER, /* a^n, n = number: a whole one, 2 ... GRAPH_MOST_POWER */
    GRAPH_LESS,  /* a < b ? c : d */
    GRAPH_SQRT,
    GRAPH_ABS,
    GRAPH_SIGN, /* -1, 0, 1 */
    GRAPH_EXP,
    GRAPH_LOG,
    GRAPH_SIN,
    GRAPH_COS,
    GRAPH_TANH,
    GRAPH_ERF,
    GRAPH_ERFC,
    GRAPH_OPS
} graph_op;

enum { GRAPH_MOST_NODES = 6000, GRAPH_MOST_POWER = 64, GRAPH_OPERANDS = 4 };

typedef struct graph_node {
    graph_op op;
    int32_t operand[GRAPH_OPERANDS]; /* nodes before this one; unused ones are 0 */
    double number;
    double *column; /* [pairs] */
} graph_node;

typedef struct graph {
    int32_t pairs, count;
    graph_node *nodes; /* [GRAPH_MOST_NODES]; node 0 is the number 0 */
    int full;          /* 1: there was no room or no memory; what was made since is 0 */
    int undefined;     /* 1: a number or a column is not finite */
} graph;

/* 0, or -1 without memory. */
int graph_make(graph *, int32_t pairs);
void graph_free(graph *);

/* All return a node. */
int32_t graph_number(graph *, double);
int32_t graph_column(graph *, const double *values);
int32_t graph_square(graph *);
int32_t graph_one(graph *, graph_op, int32_t a);
int32_t graph_two(graph *, graph_op, int32_t a, int32_t b);
int32_t graph_less(graph *, int32_t a, int32_t b, int32_t c, int32_t d);
/* s times its derivative by s, exact where there is one: of the size of the energy, whatever the unit of
 * length. */
int32_t graph_derivative(graph *, int32_t of);
/* The same with powers as products, which have parts in common. */
int32_t graph_expanded(graph *, int32_t of);

int graph_is_constant(const graph *, int32_t);
/* Of a constant. */
double graph_constant(const graph *, int32_t, int32_t pair);
/* Which nodes the n nodes of `roots` are made of: out [count] 0 or 1. */
void graph_reach(const graph *, const int32_t *roots, int n, uint8_t *out);
int graph_operand_count(graph_op);
/* Value for r^2 = s, in double by libm; NaN without memory. */
double graph_value(const graph *, int32_t, double s, int32_t pair);

#endif
