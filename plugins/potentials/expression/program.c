/* Steps and texts from graphs. Nodes come after what they are made of, so their order is that of the
 * steps; registers are given back behind the last step that reads them. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct compiler {
    const graph *g;
    int kind;
    constants *constants;
    uint8_t *reached;                      /* [nodes] */
    int32_t *last;                         /* [nodes] the node that reads it last */
    int32_t *reg;                          /* [nodes] its register, -1: none */
    uint8_t taken[PROGRAM_MOST_REGISTERS]; /* by a node */
    step *steps;
    program *out;
    int short_of_registers;
} compiler;

/* ---- Constants ------------------------------------------------------------------------------- */

static int32_t number_of(constants *c, int32_t node)
{
    for (int32_t k = 0; k < c->count; k++)
        if (c->node[k] == node) return k;
    c->node[c->count] = node;
    return c->count++;
}

/* ---- Registers ------------------------------------------------------------------------------- */

static int32_t take_register(compiler *c)
{
    for (int32_t r = 0; r < PROGRAM_MOST_REGISTERS; r++) {
        if (c->taken[r]) continue;
        c->taken[r] = 1;
        if (r >= c->out->registers) c->out->registers = r + 1;
        return r;
    }
    c->short_of_registers = 1;
    return 0;
}

static void add_step(compiler *c, step s) { c->steps[c->out->count++] = s; }

/* The register of an operand; constants get one for this step, which `lent` has then. */
static int32_t register_of(compiler *c, int32_t node, int32_t *lent)
{
    if (c->reg[node] >= 0) return c->reg[node];
    const int loaded = c->kind == PROGRAM_MIXED && c->g->nodes[node].op == GRAPH_COLUMN;
    *lent = take_register(c);
    add_step(c, (step){.op = loaded ? STEP_LOAD : STEP_FILL,
                       .out = *lent,
                       .constant = number_of(c->constants, node)});
    return *lent;
}

/* Whether it can be an operand that is the same for all. */
static int is_shared(const compiler *c, int32_t node)
{
    const graph_op op = c->g->nodes[node].op;
    return op == GRAPH_NUMBER || (op == GRAPH_COLUMN && c->kind == PROGRAM_UNIFORM);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* With a constant as first or second operand, where there is such a step; else STEP_FUNCTION. */
static step_op with_constant(graph_op op, int first)
{
    switch (op) {
    case GRAPH_ADD: return STEP_ADD_CONSTANT;
    case GRAPH_SUB: return first ? STEP_CONSTANT_SUB : STEP_SUB_CONSTANT;
    case GRAPH_MUL: return STEP_MUL_CONSTANT;
    case GRAPH_DIV: return first ? STEP_CONSTANT_DIV : STEP_FUNCTION;
    default: return STEP_FUNCTION;
    }
}

static step_op without_constant(graph_op op)
{
    switch (op) {
    case GRAPH_ADD: return STEP_ADD;
    case GRAPH_SUB: return STEP_SUB;
    case GRAPH_MUL: return STEP_MUL;
    case GRAPH_DIV: return STEP_DIV;
    default: return STEP_FUNCTION;
    }
}

static void put_operation(compiler *c, int32_t i)
{
    const graph_node *n = &c->g->nodes[i];
    const int operands = graph_operand_count(n->op);
    int32_t lent[GRAPH_OPERANDS] = {-1, -1, -1, -1};
    step s = {.op = without_constant(n->op), .function = n->op};
    for (int k = 0; k < 2 && operands == 2; k++) {
        if (!is_shared(c, n->operand[k])) continue;
        const step_op op = with_constant(n->op, k == 0);
        if (op == STEP_FUNCTION) continue;
        s.op = op;
        s.operand[0] = register_of(c, n->operand[1 - k], &lent[0]);
        s.constant = number_of(c->constants, n->operand[k]);
        break;
    }
    for (int k = 0; k < operands && s.op == without_constant(n->op); k++)
        s.operand[k] = register_of(c, n->operand[k], &lent[k]);
    /* Never one that is read in the same step. */
    s.out = c->reg[i] = take_register(c);
    add_step(c, s);
    for (int k = 0; k < operands; k++) {
        const int32_t o = n->operand[k];
        if (lent[k] >= 0) c->taken[lent[k]] = 0;
        if (c->reg[o] >= 0 && c->last[o] == i) c->taken[c->reg[o]] = 0;
    }
}

static void put_steps(compiler *c, const int32_t *roots)
{
    const graph *g = c->g;
    const int outputs = c->out->outputs;
    graph_reach(g, roots, outputs, c->reached);
    for (int32_t i = 0; i < g->count; i++) {
        c->reg[i] = -1;
        for (int k = 0; c->reached[i] && k < graph_operand_count(g->nodes[i].op); k++)
            c->last[g->nodes[i].operand[k]] = i;
    }
    for (int k = 0; k < outputs; k++) c->last[roots[k]] = INT32_MAX;
    c->taken[0] = 1; /* s */
    c->out->registers = 1;
    for (int32_t i = 0; i < g->count && !c->short_of_registers; i++) {
        if (!c->reached[i] || graph_is_constant(g, i)) continue;
        if (g->nodes[i].op == GRAPH_SQUARE)
            c->reg[i] = 0;
        else
            put_operation(c, i);
    }
    for (int k = 0; k < outputs && !c->short_of_registers; k++) {
        int32_t lent; /* kept */
        c->out->output[k] = register_of(c, roots[k], &lent);
    }
}

int program_make(const graph *g, const int32_t *roots, int outputs, int kind, constants *constants,
                 step **steps, program *out)
{
    const size_t n = (size_t)g->count;
    *out = (program){.outputs = outputs};
    compiler c = {.g = g, .kind = kind, .constants = constants, .out = out};
    /* Each operation and at most four constants that are put into registers for it. */
    *steps = c.steps = calloc((GRAPH_OPERANDS + 1) * n + PROGRAM_MOST_OUTPUTS, sizeof *c.steps);
    c.reached = calloc(n, 1);
    c.last = calloc(n, sizeof *c.last);
    c.reg = calloc(n, sizeof *c.reg);
    const int lacks = !c.steps || !c.reached || !c.last || !c.reg;
    if (!lacks) put_steps(&c, roots);
    free(c.reached);
    free(c.last);
    free(c.reg);
    out->steps = c.steps;
    return lacks ? -1 : c.short_of_registers;
}

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *const words[GRAPH_OPS] = {
    [GRAPH_ADD] = "@ + @",           [GRAPH_SUB] = "@ - @",
    [GRAPH_MUL] = "@ * @",           [GRAPH_DIV] = "@ / @",
    [GRAPH_MIN] = "@ < @ ? @ : @", /* a < b ? a : b */
    [GRAPH_MAX] = "@ < @ ? @ : @", /* b < a ? a : b */
    [GRAPH_POW] = "power_of(@, @)",  [GRAPH_LESS] = "@ < @ ? @ : @",
    [GRAPH_SQRT] = "plugmc_sqrt(@)", [GRAPH_ABS] = "size_of(@)",
    [GRAPH_SIGN] = "sign_of(@)",     [GRAPH_EXP] = "exponential_of(@)",
    [GRAPH_LOG] = "logarithm_of(@)", [GRAPH_SIN] = "sine_of(@)",
    [GRAPH_COS] = "cosine_of(@)",    [GRAPH_TANH] = "tangent_of(@)",
    [GRAPH_ERF] = "error_of(@)",     [GRAPH_ERFC] = "complement_of(@)",
};

static void put_operand(FILE *f, const graph *g, constants *columns, int first, int32_t node)
{
    const graph_node *n = &g->nodes[node];
    if (n->op == GRAPH_NUMBER)
        fprintf(f, "(real)(%a)", n->number);
    else if (n->op == GRAPH_COLUMN)
        fprintf(f, "row[%d]", first + number_of(columns, node));
    else if (n->op == GRAPH_SQUARE)
        fputs("s", f);
    else
        fprintf(f, "v%d", node);
}

static void put_operation_text(FILE *f, const graph *g, constants *columns, int first,
                               const char *word, const int32_t *operands)
{
    for (; *word; word++) {
        if (*word == '@')
            put_operand(f, g, columns, first, *operands++);
        else
            fputc(*word, f);
    }
}

char *program_text(const graph *g, const int32_t *roots, int outputs, constants *columns, int first,
                   const char *const *out)
{
    char *text = NULL;
    size_t size = 0;
    uint8_t *reached = calloc((size_t)g->count, 1);
    FILE *f = reached ? open_memstream(&text, &size) : NULL;
    if (f) {
        graph_reach(g, roots, outputs, reached);
        for (int32_t i = 0; i < g->count; i++) {
            const graph_node *n = &g->nodes[i];
            if (!reached[i] || n->op <= GRAPH_SQUARE) continue;
            int32_t x[GRAPH_OPERANDS];
            memcpy(x, n->operand, sizeof x);
            if (n->op == GRAPH_MIN || n->op == GRAPH_MAX) {
                const int more = n->op == GRAPH_MAX;
                x[2] = x[0], x[3] = x[1];
                x[0] = n->operand[more], x[1] = n->operand[!more];
            }
            fprintf(f, "    real v%d = ", i);
            put_operation_text(f, g, columns, first, words[n->op], x);
            fputs(";\n", f);
        }
        for (int k = 0; k < outputs; k++) {
            fprintf(f, "    %s = ", out[k]);
            put_operand(f, g, columns, first, roots[k]);
            fputs(";\n", f);
        }
        if (fclose(f)) {
            free(text);
            text = NULL;
        }
    }
    free(reached);
    return text;
}
