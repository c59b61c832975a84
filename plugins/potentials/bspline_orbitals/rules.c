/* Which bands of which k points are occupied, as the user says: a list, or promotions from the lowest ones.
 *
 *     1:1-4 2:1-3,5 -2:1-4      bands 1 to 4 of k point 1 ...; -2 is the opposite of k point 2, which the file does not have
 *     1:4>2:5                   the electron of band 4 of k point 1 is in band 5 of k point 2 instead
 *     1:4>2:5:real              likewise, in the real part; also imaginary, complex
 *
 * k points and bands are numbered from 1 in the order of the file. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "occupation.h"

static const char *const spin_names[] = {"up", "down"};

/* A text that is being read. */
typedef struct rule {
    const orbital_file *f;
    const k_set *set;
    int32_t spin;
    const char *key, *text, *at;
} rule;

#define REFUSE(r, ...) refuse(r, __VA_ARGS__)

static int refuse(const rule *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(const rule *r, const char *format, ...)
{
    char words[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return r->f->host->fail(r->f->host->context, PLUGMC_ERROR_INPUT, "%s_%s: %s", r->key,
                            spin_names[r->spin], words);
}

static int is_end(const rule *r) { return !r->at[strspn(r->at, " \t")]; }

static int read_number(rule *r, long *out)
{
    char *end;
    r->at += strspn(r->at, " \t");
    *out = strtol(r->at, &end, 10);
    if (end == r->at || labs(*out) > MOST_STATES)
        return REFUSE(r, "'%.30s' does not begin with a number", r->at);
    r->at = end;
    return PLUGMC_OK;
}

static int read_mark(rule *r, char mark)
{
    if (*r->at == mark) {
        r->at++;
        return PLUGMC_OK;
    }
    return REFUSE(r, "'%c' should stand before '%.30s' (k:bands, as 2:1-4)", mark, r->at);
}

/* A k point of the cell: its number, or less that number for its opposite. */
static int read_k(rule *r, int32_t *k, int32_t *conjugate)
{
    long number;
    int code = read_number(r, &number);
    if (!code) code = read_mark(r, ':');
    if (code) return code;
    *conjugate = number < 0;
    *k = (int32_t)labs(number) - 1;
    if (*k < 0 || *k >= r->f->k_points)
        return REFUSE(r, "there is no k point %ld: the file has %d", number, r->f->k_points);
    if (r->set->member[*k] & (*conjugate ? REVERSED : BY_ITSELF)) return PLUGMC_OK;
    return REFUSE(r, "k point %ld is none of this cell and twist%s", number,
                  *conjugate ? ", or the file has it as another one" : "");
}

/* The state of a band, from 1; what is wrong is said. */
static int find_band(const rule *r, int32_t k, int32_t conjugate, long band, occupied *out)
{
    const int32_t of_file = r->f->spins == 2 ? r->spin : SPIN_UP;
    for (int32_t i = 0; i < r->f->states; i++) {
        const orbital_state *s = &r->f->state[i];
        if (s->k != k || s->spin != of_file || s->band != band - 1) continue;
        *out = (occupied){i, conjugate, WHOLE_ORBITAL};
        return PLUGMC_OK;
    }
    return REFUSE(r, "k point %d has no band %ld", k + 1, band);
}

static int64_t find_occupied(const occupied *all, int64_t n, occupied one)
{
    for (int64_t l = 0; l < n; l++)
        if (all[l].state == one.state && all[l].conjugate == one.conjugate &&
            all[l].part == one.part)
            return l;
    return -1;
}

/* ---- A list ------------------------------------------------------------------------------------ */

/* Bands first ... last of a k point, added to `out`, which has room for `count`. */
static int add_bands(const rule *r, int32_t k, int32_t conjugate, long first, long last,
                     int64_t count, occupied *out, int64_t *n)
{
    for (long band = first; band <= last; band++) {
        occupied one;
        const int code = find_band(r, k, conjugate, band, &one);
        if (code) return code;
        if (find_occupied(out, *n, one) >= 0)
            return REFUSE(r, "band %ld of k point %d is there twice", band,
                          conjugate ? -(k + 1) : k + 1);
        if (*n == count)
            return REFUSE(r, "it has more than the %lld orbitals that there are electrons for",
                          (long long)count);
        out[(*n)++] = one;
    }
    return PLUGMC_OK;
}

int occupy_list(const orbital_file *f, const k_set *set, int32_t spin, const char *text,
                int64_t count, occupied *out)
{
    rule r = {f, set, spin, "occupied", text, text};
    int64_t n = 0;
    int code = PLUGMC_OK;
    while (!code && !is_end(&r)) {
        int32_t k, conjugate;
        int more = 1;
        code = read_k(&r, &k, &conjugate);
        while (!code && more) {
            long first, last;
            code = read_number(&r, &first);
            last = first;
            if (!code && *r.at == '-') {
                r.at++;
                code = read_number(&r, &last);
            }
            if (!code && (first < 1 || last < first))
                code = REFUSE(&r, "bands %ld to %ld are no bands", first, last);
            if (!code) code = add_bands(&r, k, conjugate, first, last, count, out, &n);
            more = *r.at == ',';
            r.at += more;
        }
        if (!code && *r.at && !isspace((unsigned char)*r.at))
            code = REFUSE(&r, "'%.30s' stands behind a band", r.at);
    }
    if (code || n == count) return code;
    return REFUSE(&r, "it has %lld orbitals, but there are %lld electrons of this spin",
                  (long long)n, (long long)count);
}

/* ---- Promotions -------------------------------------------------------------------------------- */

/* "2:5" or, of a pair k, -k, "2:5:complex", "2:5:real", "2:5:imaginary"; *named: whether there is such a word. */
static int read_orbital(rule *r, occupied *out, int *named)
{
    static const char *const words[] = {":complex", ":real", ":imaginary"};
    int32_t k, conjugate;
    long band;
    int code = read_k(r, &k, &conjugate);
    if (!code) code = read_number(r, &band);
    if (!code) code = find_band(r, k, conjugate, band, out);
    *named = 0;
    for (int32_t part = WHOLE_ORBITAL; part <= IMAGINARY_PART && !code && !*named; part++) {
        const size_t length = strlen(words[part]);
        if (strncmp(r->at, words[part], length) != 0) continue;
        out->part = part;
        r->at += length;
        *named = 1;
    }
    return code;
}

/* Whether an electron may not go there: the orbital is occupied, as a whole or in this part. */
static int is_taken(const occupied *all, int64_t n, occupied one)
{
    for (int64_t l = 0; l < n; l++)
        if (all[l].state == one.state && all[l].conjugate == one.conjugate &&
            (!all[l].part || !one.part || all[l].part == one.part))
            return 1;
    return 0;
}

/* Whether the cell has the opposite of an orbital's k point, too, as another one: then bands of both have one energy, and
 * only what is occupied of them says whether the determinant is complex. */
static int has_partner(const rule *r, occupied one)
{
    const int32_t k = r->f->state[one.state].k;
    return r->set->member[k] == (BY_ITSELF | REVERSED) ||
           (r->set->member[k] && k_has_opposite(r->f, r->set, k));
}

int promote(const orbital_file *f, const k_set *set, int32_t spin, const char *text, int64_t count,
            occupied *out)
{
    rule r = {f, set, spin, "promote", text, text};
    int code = PLUGMC_OK;
    while (!code && !is_end(&r)) {
        occupied from, to;
        int unused, named;
        code = read_orbital(&r, &from, &unused);
        if (!code) code = read_mark(&r, '>');
        if (!code) code = read_orbital(&r, &to, &named);
        if (code) return code;
        const int64_t place = find_occupied(out, count, from);
        const orbital_state *a = &f->state[from.state], *b = &f->state[to.state];
        if (place < 0)
            return REFUSE(&r, "band %d of k point %d is not occupied", a->band + 1, a->k + 1);
        if (is_taken(out, count, to))
            return REFUSE(&r, "band %d of k point %d is occupied already", b->band + 1, b->k + 1);
        if (has_partner(&r, to) && !named)
            return REFUSE(
                &r,
                "k point %d and its opposite both belong to this cell, so its band %d may "
                "be occupied as a complex orbital or as the real or imaginary part: write "
                "%d:%d:complex, :real or :imaginary",
                b->k + 1, b->band + 1, to.conjugate ? -(b->k + 1) : b->k + 1, b->band + 1);
        if (!has_partner(&r, to) && to.part)
            return REFUSE(&r,
                          "k point %d has no opposite in this cell, so its band %d is one orbital "
                          "and has no part that is another",
                          b->k + 1, b->band + 1);
        out[place] = to;
        if (*r.at && !isspace((unsigned char)*r.at))
            code = REFUSE(&r, "'%.30s' stands behind a promotion (k:band>k:band)", r.at);
    }
    return code;
}
