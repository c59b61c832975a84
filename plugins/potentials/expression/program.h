/* A graph as a list of steps on registers, for the CPU, and as CUDA text. */
#ifndef PLUGMC_EXPRESSION_PROGRAM_H
#define PLUGMC_EXPRESSION_PROGRAM_H

#include "graph.h"

enum { PROGRAM_MOST_REGISTERS = 128, PROGRAM_MOST_OUTPUTS = 3 };

/* Kinds of operands: registers (R), which have a number for each of many pairs of particles, and
 * constants (C) of a pair of species. */
typedef enum step_op {
    STEP_FILL, /* C */
    STEP_LOAD, /* C, of each pair of particles that of its own species */
    STEP_ADD,  /* R + R */
    STEP_ADD_CONSTANT,
    STEP_SUB,
    STEP_SUB_CONSTANT, /* R - C */
    STEP_CONSTANT_SUB, /* C - R */
    STEP_MUL,
    STEP_MUL_CONSTANT,
    STEP_DIV,
    STEP_CONSTANT_DIV, /* C / R */
    STEP_FUNCTION      /* of registers alone, as `function` says */
} step_op;

typedef struct step {
    step_op op;
    graph_op function;
    int32_t out, operand[GRAPH_OPERANDS]; /* registers; R is the first */
    int32_t constant;                     /* number of C */
} step;

/* Register 0 is s when it begins, and may be used for something else later. */
typedef struct program {
    const step *steps;
    int32_t count, registers, outputs;
    int32_t output[PROGRAM_MOST_OUTPUTS]; /* registers, when it ends */
} program;

/* The constants of programs and texts: those of each pair of species, in the order in which they are met. */
typedef struct constants {
    int32_t count;
    int32_t node[GRAPH_MOST_NODES];
} constants;

/* Which of a program's constants are loaded for each pair of particles: none, where all are of one pair of
 * species, or what is not the same for all. */
enum { PROGRAM_UNIFORM, PROGRAM_MIXED };

/* Steps for the nodes `roots` of an expanded graph; the caller frees them. What it needs of constants is
 * added. 0; -1: no memory; 1: too many registers. */
int program_make(const graph *, const int32_t *roots, int outputs, int kind, constants *,
                 step **steps, program *out);

/* A function body in CUDA C: statements of real, with s and `row`, which has the columns of a pair of
 * species from `first` on, in the order of `columns`; results go to out[k] (a lvalue each). The caller
 * frees it; NULL without memory. */
char *program_text(const graph *, const int32_t *roots, int outputs, constants *columns, int first,
                   const char *const *out);

#endif
