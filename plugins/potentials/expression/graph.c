/* Making nodes: what is constant is folded, equal nodes are one, and what users write is brought into the
 * form that costs least, (sigma / r)^12 into (sigma^2 / s)^6. No step changes magnitudes much: sigma^12
 * and r^-12 apart would leave the range of float. */
#include "graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int graph_make(graph *g, int32_t pairs)
{
    *g = (graph){.pairs = pairs, .nodes = calloc(GRAPH_MOST_NODES, sizeof *g->nodes)};
    if (!g->nodes) return -1;
    g->count = 1; /* the number 0 */
    return 0;
}

void graph_free(graph *g)
{
    for (int32_t i = 0; i < g->count; i++) free(g->nodes[i].column);
    free(g->nodes);
    *g = (graph){0};
}

int graph_operand_count(graph_op op)
{
    if (op <= GRAPH_SQUARE) return 0;
    if (op == GRAPH_LESS) return 4;
    return op < GRAPH_POWER ? 2 : 1;
}

int graph_is_constant(const graph *g, int32_t a) { return g->nodes[a].op <= GRAPH_COLUMN; }

double graph_constant(const graph *g, int32_t a, int32_t pair)
{
    return g->nodes[a].op == GRAPH_COLUMN ? g->nodes[a].column[pair] : g->nodes[a].number;
}

static int is_number(const graph *g, int32_t a, double value)
{
    return g->nodes[a].op == GRAPH_NUMBER && g->nodes[a].number == value;
}

static int is(const graph *g, int32_t a, graph_op op) { return g->nodes[a].op == op; }

static int32_t operand(const graph *g, int32_t a, int k) { return g->nodes[a].operand[k]; }

/* ---- Nodes ----------------------------------------------------------------------------------- */

static int same(const graph *g, const graph_node *a, const graph_node *b)
{
    if (a->op != b->op || memcmp(a->operand, b->operand, sizeof a->operand) ||
        memcmp(&a->number, &b->number, sizeof a->number))
        return 0;
    return a->op != GRAPH_COLUMN ||
           !memcmp(a->column, b->column, sizeof *a->column * (size_t)g->pairs);
}

/* The node, as it is there already or at the end. Takes over the column. */
static int32_t add_node(graph *g, graph_node node)
{
    for (int32_t i = 0; i < g->count; i++) {
        if (!same(g, &g->nodes[i], &node)) continue;
        free(node.column);
        return i;
    }
    if (g->count == GRAPH_MOST_NODES) {
        free(node.column);
        g->full = 1;
        return 0;
    }
    g->nodes[g->count] = node;
    return g->count++;
}

int32_t graph_number(graph *g, double number)
{
    if (!isfinite(number)) {
        g->undefined = 1;
        return 0;
    }
    return add_node(g, (graph_node){.op = GRAPH_NUMBER, .number = number + 0.0});
}

int32_t graph_column(graph *g, const double *values)
{
    int distinct = 0;
    for (int32_t k = 0; k < g->pairs; k++) {
        distinct |= values[k] != values[0];
        if (isfinite(values[k])) continue;
        g->undefined = 1;
        return 0;
    }
    if (!distinct) return graph_number(g, values[0]);
    graph_node node = {.op = GRAPH_COLUMN, .column = malloc(sizeof *values * (size_t)g->pairs)};
    if (!node.column) {
        g->full = 1;
        return 0;
    }
    memcpy(node.column, values, sizeof *values * (size_t)g->pairs);
    return add_node(g, node);
}

int32_t graph_square(graph *g) { return add_node(g, (graph_node){.op = GRAPH_SQUARE}); }

static double apply(graph_op op, const double x[GRAPH_OPERANDS], double power)
{
    switch (op) {
    case GRAPH_ADD: return x[0] + x[1];
    case GRAPH_SUB: return x[0] - x[1];
    case GRAPH_MUL: return x[0] * x[1];
    case GRAPH_DIV: return x[0] / x[1];
    case GRAPH_MIN: return x[0] < x[1] ? x[0] : x[1];
    case GRAPH_MAX: return x[1] < x[0] ? x[0] : x[1];
    case GRAPH_POW: return pow(x[0], x[1]);
    case GRAPH_POWER: return pow(x[0], power);
    case GRAPH_LESS: return x[0] < x[1] ? x[2] : x[3];
    case GRAPH_SQRT: return sqrt(x[0]);
    case GRAPH_ABS: return fabs(x[0]);
    case GRAPH_SIGN: return x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0;
    case GRAPH_EXP: return exp(x[0]);
    case GRAPH_LOG: return log(x[0]);
    case GRAPH_SIN: return sin(x[0]);
    case GRAPH_COS: return cos(x[0]);
    case GRAPH_TANH: return tanh(x[0]);
    case GRAPH_ERF: return erf(x[0]);
    case GRAPH_ERFC: return erfc(x[0]);
    default: return NAN;
    }
}

/* An operation as it stands; of constants, its value. */
static int32_t operation(graph *g, graph_op op, const int32_t operands[GRAPH_OPERANDS],
                         double power)
{
    const int n = graph_operand_count(op);
    int constant = 1;
    for (int k = 0; k < n; k++) constant &= graph_is_constant(g, operands[k]);
    if (!constant) {
        graph_node node = {.op = op, .number = power};
        memcpy(node.operand, operands, sizeof node.operand);
        return add_node(g, node);
    }
    double *values = malloc(sizeof *values * (size_t)g->pairs), x[GRAPH_OPERANDS] = {0};
    if (!values) {
        g->full = 1;
        return 0;
    }
    for (int32_t pair = 0; pair < g->pairs; pair++) {
        for (int k = 0; k < n; k++) x[k] = graph_constant(g, operands[k], pair);
        values[pair] = apply(op, x, power);
    }
    const int32_t out = graph_column(g, values);
    free(values);
    return out;
}

static int32_t plain(graph *g, graph_op op, int32_t a, int32_t b)
{
    return operation(g, op, (const int32_t[GRAPH_OPERANDS]){a, b}, 0);
}

/* ---- Forms that cost less -------------------------------------------------------------------- */

static int32_t negative(graph *g, int32_t a)
{
    return graph_two(g, GRAPH_MUL, graph_number(g, -1), a);
}

/* Whether it is a product with a number below 0, which is better subtracted. */
static int is_taken_off(const graph *g, int32_t a)
{
    return is(g, a, GRAPH_MUL) && is(g, operand(g, a, 0), GRAPH_NUMBER) &&
           g->nodes[operand(g, a, 0)].number < 0;
}

static int32_t add(graph *g, int32_t a, int32_t b)
{
    if (is_number(g, a, 0)) return b;
    if (is_number(g, b, 0)) return a;
    if (is_taken_off(g, b)) return graph_two(g, GRAPH_SUB, a, negative(g, b));
    if (is_taken_off(g, a)) return graph_two(g, GRAPH_SUB, b, negative(g, a));
    return graph_is_constant(g, b) ? plain(g, GRAPH_ADD, b, a) : plain(g, GRAPH_ADD, a, b);
}

static int32_t subtract(graph *g, int32_t a, int32_t b)
{
    if (is_number(g, b, 0)) return a;
    if (is_number(g, a, 0)) return negative(g, b);
    if (a == b) return 0;
    if (is_taken_off(g, b)) return add(g, a, negative(g, b));
    return plain(g, GRAPH_SUB, a, b);
}

/* A constant times b. */
static int32_t scale(graph *g, int32_t a, int32_t b)
{
    if (is_number(g, a, 0)) return 0;
    if (is_number(g, a, 1)) return b;
    if ((is(g, b, GRAPH_MUL) || is(g, b, GRAPH_DIV)) && graph_is_constant(g, operand(g, b, 0)))
        return graph_two(g, g->nodes[b].op, plain(g, GRAPH_MUL, a, operand(g, b, 0)),
                         operand(g, b, 1));
    return plain(g, GRAPH_MUL, a, b);
}

static int32_t multiply(graph *g, int32_t a, int32_t b)
{
    if (graph_is_constant(g, a)) return scale(g, a, b);
    if (graph_is_constant(g, b)) return scale(g, b, a);
    for (int k = 0; k < 2; k++) {
        const int32_t x = k ? b : a, y = k ? a : b;
        if (is(g, x, GRAPH_MUL) && graph_is_constant(g, operand(g, x, 0)))
            return scale(g, operand(g, x, 0), multiply(g, operand(g, x, 1), y));
        if (is(g, x, GRAPH_DIV) && is_number(g, operand(g, x, 0), 1))
            return graph_two(g, GRAPH_DIV, y, operand(g, x, 1));
    }
    return a < b ? plain(g, GRAPH_MUL, a, b) : plain(g, GRAPH_MUL, b, a);
}

static int32_t divide(graph *g, int32_t a, int32_t b)
{
    const int32_t one = graph_number(g, 1);
    if (graph_is_constant(g, b) && graph_is_constant(g, a)) return plain(g, GRAPH_DIV, a, b);
    if (graph_is_constant(g, b)) return multiply(g, plain(g, GRAPH_DIV, one, b), a);
    if (is_number(g, a, 0)) return 0;
    if (is(g, a, GRAPH_MUL) && graph_is_constant(g, operand(g, a, 0)))
        return scale(g, operand(g, a, 0), divide(g, operand(g, a, 1), b));
    if (is(g, b, GRAPH_MUL) && graph_is_constant(g, operand(g, b, 0)))
        return scale(g, plain(g, GRAPH_DIV, one, operand(g, b, 0)), divide(g, a, operand(g, b, 1)));
    if (is(g, a, GRAPH_DIV)) return divide(g, operand(g, a, 0), multiply(g, operand(g, a, 1), b));
    return plain(g, GRAPH_DIV, a, b);
}

/* a^2 where that is simpler than a: without the root that r is of s. Else -1. */
static int32_t simple_square(graph *g, int32_t a)
{
    if (graph_is_constant(g, a)) return plain(g, GRAPH_MUL, a, a);
    if (is(g, a, GRAPH_SQRT)) return operand(g, a, 0);
    if (!is(g, a, GRAPH_MUL) && !is(g, a, GRAPH_DIV)) return -1;
    const int32_t x = simple_square(g, operand(g, a, 0));
    const int32_t y = x < 0 ? -1 : simple_square(g, operand(g, a, 1));
    return y < 0 ? -1 : graph_two(g, g->nodes[a].op, x, y);
}

/* a^n for a whole n, at most GRAPH_MOST_POWER in size. */
static int32_t whole_power(graph *g, int32_t a, int n)
{
    const int32_t one = graph_number(g, 1);
    if (n == 0) return one;
    if (n == 1) return a;
    if (n < 0 && (is(g, a, GRAPH_DIV) || is(g, a, GRAPH_MUL))) {
        const int product = is(g, a, GRAPH_MUL);
        const int32_t x = operand(g, a, 0), y = operand(g, a, 1);
        if (!product) return whole_power(g, divide(g, y, x), -n);
        if (graph_is_constant(g, x)) return whole_power(g, divide(g, divide(g, one, x), y), -n);
    }
    if (n < 0) return divide(g, one, whole_power(g, a, -n));
    const int32_t square = simple_square(g, a);
    if (square >= 0 && !graph_is_constant(g, a)) {
        const int32_t even = whole_power(g, square, n / 2);
        return n % 2 ? multiply(g, even, a) : even;
    }
    const int of_power = is(g, a, GRAPH_POWER) ? (int)g->nodes[a].number : 1;
    if (of_power > 1 && n * of_power <= GRAPH_MOST_POWER)
        return whole_power(g, operand(g, a, 0), n * of_power);
    return operation(g, GRAPH_POWER, (const int32_t[GRAPH_OPERANDS]){a}, n);
}

static int32_t power(graph *g, int32_t a, int32_t b)
{
    if (graph_is_constant(g, a) || !is(g, b, GRAPH_NUMBER)) return plain(g, GRAPH_POW, a, b);
    const double n = g->nodes[b].number, whole = floor(n);
    if (fabs(n) <= GRAPH_MOST_POWER && whole == n) return whole_power(g, a, (int)n);
    if (fabs(n) < GRAPH_MOST_POWER && n - whole == 0.5) {
        const int32_t root = graph_one(g, GRAPH_SQRT, a);
        return n > 0 ? multiply(g, whole_power(g, a, (int)whole), root)
                     : divide(g, whole_power(g, a, (int)whole + 1), root);
    }
    return plain(g, GRAPH_POW, a, b);
}

int32_t graph_one(graph *g, graph_op op, int32_t a)
{
    return operation(g, op, (const int32_t[GRAPH_OPERANDS]){a}, 0);
}

int32_t graph_two(graph *g, graph_op op, int32_t a, int32_t b)
{
    if (graph_is_constant(g, a) && graph_is_constant(g, b)) return plain(g, op, a, b);
    switch (op) {
    case GRAPH_ADD: return add(g, a, b);
    case GRAPH_SUB: return subtract(g, a, b);
    case GRAPH_MUL: return multiply(g, a, b);
    case GRAPH_DIV: return divide(g, a, b);
    case GRAPH_POW: return power(g, a, b);
    default: return plain(g, op, a, b);
    }
}

int32_t graph_less(graph *g, int32_t a, int32_t b, int32_t c, int32_t d)
{
    if (c == d) return c;
    return operation(g, GRAPH_LESS, (const int32_t[GRAPH_OPERANDS]){a, b, c, d}, 0);
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

/* The degree h of node i if it is s^h times a constant, or a sum of such with the same h; else NaN. */
static double degree_of(const graph *g, int32_t i, const double *degree)
{
    const graph_node *n = &g->nodes[i];
    const double a = degree[n->operand[0]], b = degree[n->operand[1]];
    switch (n->op) {
    case GRAPH_NUMBER:
    case GRAPH_COLUMN: return 0;
    case GRAPH_SQUARE: return 1;
    case GRAPH_ADD:
    case GRAPH_SUB:
    case GRAPH_MIN:
    case GRAPH_MAX: return a == b ? a : NAN;
    case GRAPH_MUL: return a + b;
    case GRAPH_DIV: return a - b;
    case GRAPH_POWER: return n->number * a;
    case GRAPH_SQRT: return a / 2;
    case GRAPH_ABS: return a;
    default: return NAN;
    }
}

/* That of node i, where d has those of its operands. */
static int32_t derivative_of(graph *g, int32_t i, const int32_t *d)
{
    const graph_node n = g->nodes[i]; /* nodes are not moved, but let it be safe */
    const int32_t a = n.operand[0], b = n.operand[1], da = d[a], db = d[b];
    const int32_t one = graph_number(g, 1);
    switch (n.op) {
    case GRAPH_NUMBER:
    case GRAPH_COLUMN:
    case GRAPH_SIGN: return 0;
    case GRAPH_SQUARE: return i;
    case GRAPH_ADD: return add(g, da, db);
    case GRAPH_SUB: return subtract(g, da, db);
    case GRAPH_MUL: return add(g, multiply(g, da, b), multiply(g, a, db));
    case GRAPH_DIV: return divide(g, subtract(g, da, multiply(g, i, db)), b);
    case GRAPH_MIN: return graph_less(g, a, b, da, db);
    case GRAPH_MAX: return graph_less(g, b, a, da, db);
    case GRAPH_POWER:
        return multiply(
            g, scale(g, graph_number(g, n.number), whole_power(g, a, (int)n.number - 1)), da);
    case GRAPH_POW: {
        if (graph_is_constant(g, b))
            return multiply(g, multiply(g, b, power(g, a, subtract(g, b, one))), da);
        const int32_t by_exponent = multiply(g, db, graph_one(g, GRAPH_LOG, a));
        return multiply(g, i, add(g, by_exponent, multiply(g, b, divide(g, da, a))));
    }
    case GRAPH_LESS: return graph_less(g, a, b, d[n.operand[2]], d[n.operand[3]]);
    case GRAPH_SQRT: return scale(g, graph_number(g, 0.5), divide(g, da, i));
    case GRAPH_ABS: return multiply(g, graph_one(g, GRAPH_SIGN, a), da);
    case GRAPH_EXP: return multiply(g, i, da);
    case GRAPH_LOG: return divide(g, da, a);
    case GRAPH_SIN: return multiply(g, graph_one(g, GRAPH_COS, a), da);
    case GRAPH_COS: return multiply(g, negative(g, graph_one(g, GRAPH_SIN, a)), da);
    case GRAPH_TANH: return multiply(g, subtract(g, one, multiply(g, i, i)), da);
    case GRAPH_ERF:
    case GRAPH_ERFC: {
        const double factor = (n.op == GRAPH_ERF ? 2 : -2) / sqrt(3.14159265358979323846);
        const int32_t gauss = graph_one(g, GRAPH_EXP, negative(g, whole_power(g, a, 2)));
        return multiply(g, scale(g, graph_number(g, factor), gauss), da);
    }
    default: return 0;
    }
}

int32_t graph_derivative(graph *g, int32_t of)
{
    uint8_t *reached = calloc((size_t)of + 1, 1);
    int32_t *d = calloc((size_t)of + 1, sizeof *d), out = 0;
    double *degree = calloc((size_t)of + 1, sizeof *degree);
    if (reached && d && degree) {
        graph_reach(g, &of, 1, reached);
        for (int32_t i = 0; i <= of; i++) {
            if (!reached[i]) continue;
            degree[i] = degree_of(g, i, degree);
            d[i] = isnan(degree[i]) ? derivative_of(g, i, d)
                                    : multiply(g, graph_number(g, degree[i]), i);
        }
        out = d[of];
    } else {
        g->full = 1;
    }
    free(reached);
    free(d);
    free(degree);
    return out;
}

/* ---- What a node is made of ------------------------------------------------------------------ */

void graph_reach(const graph *g, const int32_t *roots, int n, uint8_t *out)
{
    int32_t last = 0;
    for (int k = 0; k < n; k++) last = roots[k] > last ? roots[k] : last;
    memset(out, 0, (size_t)last + 1);
    for (int k = 0; k < n; k++) out[roots[k]] = 1;
    for (int32_t i = last; i >= 0; i--)
        for (int k = 0; out[i] && k < graph_operand_count(g->nodes[i].op); k++)
            out[g->nodes[i].operand[k]] = 1;
}

/* By squares, so that a^12 and a^6 have a^6 in common. Depth: log2 of the power, twice. */
static int32_t product(graph *g, int32_t a, int n)
{
    if (n == 1) return a;
    const int32_t rest = product(g, a, n % 2 ? n - 1 : n / 2);
    return plain(g, GRAPH_MUL, rest, n % 2 ? a : rest);
}

int32_t graph_expanded(graph *g, int32_t of)
{
    uint8_t *reached = calloc((size_t)of + 1, 1);
    int32_t *to = calloc((size_t)of + 1, sizeof *to), out = 0;
    if (!reached || !to) g->full = 1;
    if (!g->full) graph_reach(g, &of, 1, reached);
    for (int32_t i = 0; !g->full && i <= of; i++) {
        if (!reached[i]) continue;
        const graph_node n = g->nodes[i];
        int32_t operands[GRAPH_OPERANDS] = {0};
        for (int k = 0; k < graph_operand_count(n.op); k++) operands[k] = to[n.operand[k]];
        to[i] = n.op <= GRAPH_SQUARE  ? i
                : n.op == GRAPH_POWER ? product(g, operands[0], (int)n.number)
                                      : operation(g, n.op, operands, n.number);
    }
    if (!g->full) out = to[of];
    free(reached);
    free(to);
    return out;
}

double graph_value(const graph *g, int32_t of, double s, int32_t pair)
{
    uint8_t *reached = calloc((size_t)of + 1, 1);
    double *values = calloc((size_t)of + 1, sizeof *values), out = NAN, x[GRAPH_OPERANDS] = {0};
    if (reached && values) {
        graph_reach(g, &of, 1, reached);
        for (int32_t i = 0; i <= of; i++) {
            const graph_node *n = &g->nodes[i];
            if (!reached[i]) continue;
            for (int k = 0; k < graph_operand_count(n->op); k++) x[k] = values[n->operand[k]];
            values[i] = graph_is_constant(g, i) ? graph_constant(g, i, pair)
                        : n->op == GRAPH_SQUARE ? s
                                                : apply(n->op, x, n->number);
        }
        out = values[of];
    }
    free(reached);
    free(values);
    return out;
}
