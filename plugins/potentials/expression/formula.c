/* Formulas are read by recursive descent, a function a rule:
 *
 *     sum       product { (+ | -) product }
 *     product   signed { (* | /) signed }
 *     signed    (+ | -) signed | power
 *     power     atom [ (^ | **) signed ]
 *     atom      number | name | function ( sum { , sum } ) | ( sum )
 *
 * so that -r^2 is -(r^2), and 2^3^2 is 2^9. Each recursion is counted, and too many are refused.
 */
#include "formula.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct function {
    const char *name;
    graph_op op;
    int arguments;
} function;

static const function functions[] = {
    {"exp", GRAPH_EXP, 1},   {"log", GRAPH_LOG, 1}, {"sqrt", GRAPH_SQRT, 1}, {"abs", GRAPH_ABS, 1},
    {"sin", GRAPH_SIN, 1},   {"cos", GRAPH_COS, 1}, {"tanh", GRAPH_TANH, 1}, {"erf", GRAPH_ERF, 1},
    {"erfc", GRAPH_ERFC, 1}, {"pow", GRAPH_POW, 2}, {"min", GRAPH_MIN, 2},   {"max", GRAPH_MAX, 2},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
enum { LONGEST_NAME = 64 };
static const double pi = 3.14159265358979323846;

typedef struct reader {
    const char *text, *at;
    formula_name *names;
    int count, depth, wrong;
    graph *g;
    char *why; /* [FORMULA_WHY] */
} reader;

static int32_t sum(reader *);

/* ---- What is wrong --------------------------------------------------------------------------- */

/* Says it once, of what stands at `at`. Returns node 0. */
__attribute__((format(printf, 3, 4))) static int32_t refuse(reader *in, const char *at,
                                                            const char *format, ...)
{
    int character = 1, length = 0;
    char what[FORMULA_WHY / 2];
    va_list arguments;
    if (in->wrong) return 0;
    in->wrong = 1;
    for (const char *c = in->text; c < at; c++) character += ((unsigned char)*c & 0xc0) != 0x80;
    while (length < 20 && at[length]) length++;
    while (length > 0 && ((unsigned char)at[length] & 0xc0) == 0x80) length--; /* no half of one */
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (*at)
        snprintf(in->why, FORMULA_WHY, "character %d, '%.*s%s': %s", character, length, at,
                 at[length] ? "..." : "", what);
    else
        snprintf(in->why, FORMULA_WHY, "character %d, at the end: %s", character, what);
    return 0;
}

static int32_t refuse_name(reader *in, const char *at, const char *name)
{
    char known[FORMULA_WHY / 2] = "r, pi";
    for (int k = 0; k < in->count + FUNCTIONS; k++) {
        const size_t length = strlen(known);
        const char *next = k < in->count ? in->names[k].name : functions[k - in->count].name;
        if (k < in->count && !in->names[k].values) continue;
        snprintf(known + length, sizeof known - length, ", %s%s", next, k < in->count ? "" : "()");
    }
    return refuse(in, at, "there is no '%s'; there are %s", name, known);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void skip_blanks(reader *in)
{
    while (*in->at == ' ' || *in->at == '\t') in->at++;
}

static int takes(reader *in, const char *word)
{
    skip_blanks(in);
    const size_t length = strlen(word);
    if (strncmp(in->at, word, length)) return 0;
    in->at += length;
    return 1;
}

/* Not those of the locale. */
static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

int formula_can_name(const char *name)
{
    if (!is_letter(*name) || strlen(name) >= LONGEST_NAME) return 0;
    while (is_letter(*name) || is_digit(*name)) name++;
    return !*name;
}

int formula_takes(const char *name)
{
    int taken = !strcmp(name, "r") || !strcmp(name, "pi");
    for (int k = 0; k < FUNCTIONS; k++) taken |= !strcmp(name, functions[k].name);
    return taken;
}

/* ---- Atoms ----------------------------------------------------------------------------------- */

/* Digits, point and exponent: strtod would also take inf, nan and 0x. */
static int32_t number(reader *in)
{
    enum { LONGEST = 64 };
    const char *begin = in->at, *end = begin;
    char copy[LONGEST], *rest;
    while (is_digit(*end) || *end == '.') end++;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        if (is_digit(*exponent))
            for (end = exponent; is_digit(*end);) end++;
    }
    if (end - begin >= LONGEST) return refuse(in, begin, "this number has too many digits");
    snprintf(copy, sizeof copy, "%.*s", (int)(end - begin), begin);
    const double value = strtod(copy, &rest);
    if (*rest) return refuse(in, begin, "this is not a number");
    if (!isfinite(value)) return refuse(in, begin, "this number is beyond double precision");
    in->at = end;
    return graph_number(in->g, value);
}

static int32_t call(reader *in, const char *begin, const function *f)
{
    int32_t argument[2] = {0, 0};
    int n = 0;
    do {
        const int32_t value = sum(in);
        if (n < 2) argument[n] = value;
        n++;
    } while (!in->wrong && takes(in, ","));
    if (in->wrong) return 0;
    if (!takes(in, ")")) return refuse(in, in->at, "')' is missing behind %s(", f->name);
    if (n != f->arguments)
        return refuse(in, begin, "%s takes %d argument%s, not %d", f->name, f->arguments,
                      f->arguments == 1 ? "" : "s", n);
    return n == 1 ? graph_one(in->g, f->op, argument[0])
                  : graph_two(in->g, f->op, argument[0], argument[1]);
}

static int32_t name(reader *in)
{
    const char *begin = in->at;
    char word[LONGEST_NAME];
    while (is_letter(*in->at) || is_digit(*in->at)) in->at++;
    const size_t length = (size_t)(in->at - begin);
    if (length >= sizeof word) return refuse(in, begin, "this name is too long");
    snprintf(word, sizeof word, "%.*s", (int)length, begin);
    for (int k = 0; k < FUNCTIONS; k++) {
        if (strcmp(word, functions[k].name)) continue;
        if (takes(in, "(")) return call(in, begin, &functions[k]);
        return refuse(in, begin, "%s is a function: its argument goes in parentheses", word);
    }
    if (!strcmp(word, "r")) return graph_one(in->g, GRAPH_SQRT, graph_square(in->g));
    if (!strcmp(word, "pi")) return graph_number(in->g, pi);
    for (int k = 0; k < in->count; k++) {
        formula_name *n = &in->names[k];
        if (strcmp(word, n->name)) continue;
        n->used = 1;
        if (!n->values) return refuse(in, begin, "%s", n->why);
        return graph_column(in->g, n->values);
    }
    return refuse_name(in, begin, word);
}

static int32_t atom(reader *in)
{
    skip_blanks(in);
    const char *begin = in->at;
    if (is_digit(*begin) || *begin == '.') return number(in);
    if (is_letter(*begin)) return name(in);
    if (!takes(in, "(")) return refuse(in, begin, "a number, a name or '(' is expected here");
    const int32_t inside = sum(in);
    if (!in->wrong && !takes(in, ")")) return refuse(in, begin, "this parenthesis is not closed");
    return inside;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* A node that was made of what begins at `begin`. */
static int32_t made(reader *in, const char *begin, int32_t node)
{
    if (in->g->undefined) return refuse(in, begin, "this is not a finite number");
    if (in->g->full) return refuse(in, begin, "the formula is too large");
    return node;
}

static int is_too_deep(reader *in)
{
    if (in->depth < FORMULA_DEEPEST) return 0;
    refuse(in, in->at, "more than %d parentheses, signs and exponents are within each other",
           FORMULA_DEEPEST);
    return 1;
}

static int32_t signed_power(reader *in)
{
    if (is_too_deep(in)) return 0;
    in->depth++;
    skip_blanks(in);
    const char *begin = in->at;
    int32_t out;
    if (takes(in, "-")) {
        out = graph_two(in->g, GRAPH_MUL, graph_number(in->g, -1), signed_power(in));
    } else if (takes(in, "+")) {
        out = signed_power(in);
    } else {
        out = made(in, begin, atom(in));
        if (!in->wrong && (takes(in, "^") || takes(in, "**")))
            out = graph_two(in->g, GRAPH_POW, out, signed_power(in));
    }
    in->depth--;
    return in->wrong ? 0 : made(in, begin, out);
}

static int32_t product(reader *in)
{
    skip_blanks(in);
    const char *begin = in->at;
    int32_t out = signed_power(in);
    while (!in->wrong) {
        const int divides = takes(in, "/");
        if (!divides && !takes(in, "*")) break;
        const int32_t next = signed_power(in);
        if (!in->wrong)
            out = made(in, begin, graph_two(in->g, divides ? GRAPH_DIV : GRAPH_MUL, out, next));
    }
    return out;
}

static int32_t sum(reader *in)
{
    if (is_too_deep(in)) return 0;
    in->depth++;
    skip_blanks(in);
    const char *begin = in->at;
    int32_t out = product(in);
    while (!in->wrong) {
        const int less = takes(in, "-");
        if (!less && !takes(in, "+")) break;
        const int32_t next = product(in);
        if (!in->wrong)
            out = made(in, begin, graph_two(in->g, less ? GRAPH_SUB : GRAPH_ADD, out, next));
    }
    in->depth--;
    return out;
}

int32_t formula_read(const char *text, formula_name *names, int count, graph *g,
                     char why[FORMULA_WHY])
{
    reader in = {.text = text, .at = text, .names = names, .count = count, .g = g, .why = why};
    why[0] = 0;
    if (strlen(text) > FORMULA_LONGEST) {
        snprintf(why, FORMULA_WHY, "the formula has %zu characters: the limit is %d", strlen(text),
                 FORMULA_LONGEST);
        return -1;
    }
    const int32_t out = sum(&in);
    skip_blanks(&in);
    if (!in.wrong && *in.at)
        refuse(&in, in.at,
               *in.at == ')' ? "there is no '(' for it"
                             : "an operation (+ - * / ^) is expected here");
    return in.wrong ? -1 : out;
}
