/* Formulas of pair energies: what is read has a value, derivatives, steps and a text. */
#include "fuzz.h"

#include "potentials/expression/formula.h"
#include "potentials/expression/program.h"

enum { PAIRS = 4 };

/* Registers are there, and read after they were written. */
static void check(const program *p)
{
    uint8_t written[PROGRAM_MOST_REGISTERS] = {1}; /* s */
    require(p->registers <= PROGRAM_MOST_REGISTERS);
    for (const step *s = p->steps; s < p->steps + p->count; s++) {
        const int operands =
            s->op <= STEP_LOAD       ? 0
            : s->op == STEP_FUNCTION ? graph_operand_count(s->function)
            : s->op == STEP_ADD || s->op == STEP_SUB || s->op == STEP_MUL || s->op == STEP_DIV ? 2
                                                                                               : 1;
        for (int k = 0; k < operands; k++) {
            require(s->operand[k] < p->registers && written[s->operand[k]]);
            require(s->operand[k] != s->out);
        }
        require(s->out < p->registers);
        written[s->out] = 1;
    }
    for (int k = 0; k < p->outputs; k++) require(written[p->output[k]]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double same[PAIRS] = {2, 2, 2, 2}, other[PAIRS] = {1, 0.5, 0.5, -1};
    static constants numbers, columns;
    formula_name names[] = {{"a", same, NULL, 0}, {"b", other, NULL, 0}, {"c", NULL, "no", 0}};
    const char *const out[] = {"*first", "*second", "*third"};
    char why[FORMULA_WHY], *text = strndup((const char *)data, size);
    graph g;
    if (!text || graph_make(&g, PAIRS)) abort();
    const int32_t u = formula_read(text, names, 3, &g, why);
    require(u < 0 ? why[0] && strlen(why) < FORMULA_WHY : u < g.count);
    if (u >= 0) {
        const int32_t d = graph_derivative(&g, u), dd = graph_derivative(&g, d);
        const int32_t roots[] = {graph_expanded(&g, u), graph_expanded(&g, d),
                                 graph_expanded(&g, dd)};
        numbers.count = columns.count = 0;
        for (int kind = PROGRAM_UNIFORM; kind <= PROGRAM_MIXED && !g.full; kind++) {
            step *steps;
            program p;
            const int failed = program_make(&g, roots, 3, kind, &numbers, &steps, &p);
            require(failed >= 0);
            if (!failed) check(&p);
            free(steps);
        }
        char *words = g.full ? NULL : program_text(&g, roots, 3, &columns, 1, out);
        require(g.full || words);
        free(words);
        (void)graph_value(&g, u, 0.7, PAIRS - 1);
    }
    graph_free(&g);
    free(text);
    return 0;
}
