/* The coefficients of a polynomial Jastrow factor as free numbers (plugmc/wave.h), for polynomial_jastrow.c: included
 * inside its PLUGMC_HOST part.
 *
 * J is linear in them. What every monomial adds up to over pairs and ions is found first, for like and for unlike
 * spins, in columns; the free numbers are combinations of columns, c_0 brings C c_1 with it, and those of f have the
 * basis of f_form.h. */
#ifndef POLYNOMIAL_JASTROW_FREE_NUMBERS_H
#define POLYNOMIAL_JASTROW_FREE_NUMBERS_H

enum {
    FREE_LISTS = 5,
    MOST_TERMS = CORRELATION_MOST_ORDER + 1,
    MOST_POWERS = CORRELATION_MOST_F + 1
};

static void free_lists(const parameters *p, const plugmc_list *lists[FREE_LISTS])
{
    const plugmc_list *const all[] = {&p->u_like, &p->u_unlike, &p->chi, &p->f_like, &p->f_unlike};
    memcpy(lists, all, sizeof all);
}

static const char *const free_keys[] = {"u_like", "u_unlike", "chi", "f_like", "f_unlike"};

static int64_t free_count(const void *instance)
{
    const plugmc_list *lists[FREE_LISTS];
    int64_t count = 0;
    free_lists(instance, lists);
    for (int k = 0; k < FREE_LISTS; k++) count += lists[k]->count;
    return count;
}

static int free_number(const void *instance, int64_t k, plugmc_free_number *out)
{
    const plugmc_list *lists[FREE_LISTS];
    int list = 0;
    free_lists(instance, lists);
    while (k >= lists[list]->count) k -= lists[list++]->count;
    out->key = free_keys[list];
    out->place = k;
    return PLUGMC_OK;
}

static int free_get(const void *instance, double *values)
{
    const plugmc_list *lists[FREE_LISTS];
    free_lists(instance, lists);
    for (int k = 0; k < FREE_LISTS; k++)
        for (int32_t i = 0; i < lists[k]->count; i++) *values++ = (double)lists[k]->values[i];
    return PLUGMC_OK;
}

static int free_set(void *instance, const double *values)
{
    const plugmc_list *lists[FREE_LISTS];
    free_lists(instance, lists);
    for (int k = 0; k < FREE_LISTS; k++)
        for (int32_t i = 0; i < lists[k]->count; i++)
            ((real *)lists[k]->values)[i] = (real)*values++;
    fill_tables(instance);
    return PLUGMC_OK;
}

/* ---- Columns ----------------------------------------------------------------------------------- */

/* Sums of monomials with their factors (1 - x)^C, and of what the kinetic energy asks of them. */
typedef struct columns {
    double u[2][MOST_TERMS], chi[MOST_TERMS];
    double *f[2]; /* [form->columns] */
} columns;

/* A configuration with its box; `values` and `kinetic` are what is added to, NULL: not wanted. */
typedef struct looking {
    const parameters *p;
    const plugmc_system *system;
    const double *r; /* [particles][3], length */
    plugmc_images images;
    int mode;
    columns *values, *kinetic;
    double factor; /* of values */
} looking;

/* x^k (1 - x)^C and its derivatives by x, k = 0 ... terms - 1. */
static void find_powers(double x, int terms, int power, double out[][3])
{
    const double y = 1 - x, w2 = pow(y, power - 2), w1 = w2 * y, w = w1 * y, c = power;
    double now = 1, before = 0, last = 0; /* x^k, x^(k-1), x^(k-2); what has the factor 0 is 0 */
    for (int k = 0; k < terms; k++) {
        const double first = k * before, second = k * (k - 1) * last;
        out[k][0] = now * w;
        out[k][1] = first * w - c * now * w1;
        out[k][2] = second * w - 2 * c * first * w1 + c * (c - 1) * now * w2;
        last = before;
        before = now;
        now *= x;
    }
}

static double dot(const double a[3], const plugmc_separation *s)
{
    return a[0] * (double)s->x + a[1] * (double)s->y + a[2] * (double)s->z;
}

/* A function of a distance: `bodies` electrons have it in their Laplacian; `along` is the drift along s. */
static void add_radial(const looking *k, plugmc_separation s, double reach, int terms, int bodies,
                       double along, double *values, double *kinetic)
{
    double powers[MOST_TERMS][3];
    const double r = sqrt((double)s.r2), over = 1 / (reach * (r > 1e-30 ? r : 1e-30));
    if (!(r < reach) || terms < 1) return;
    find_powers(r / reach, terms, (int)k->p->truncation, powers);
    for (int i = 0; i < terms; i++) {
        const double first = powers[i][1] * over, second = powers[i][2] / (reach * reach);
        if (values) values[i] += k->factor * powers[i][0];
        if (kinetic) kinetic[i] -= 0.5 * bodies * (second + 2 * first) + along * first;
    }
}

/* What f's monomials need of one electron of a pair: its own distance from the ion, and how it is moved by. */
typedef struct side {
    double powers[MOST_POWERS][3];
    double over_x;           /* 1 / x */
    double cosine;           /* of the directions from the ion and from the other electron */
    double by_ion, by_other; /* drift along these, times length */
} side;

static side side_of(const looking *k, const plugmc_separation *from, const plugmc_separation *s,
                    const double *drift)
{
    const double reach = (double)k->p->f_reach, r = sqrt((double)from->r2), z = sqrt((double)s->r2);
    const double near = r > 1e-12 * reach ? r : 1e-12 * reach,
                 close = z > 1e-12 * reach ? z : 1e-12 * reach;
    side d = {.over_x = reach / near};
    find_powers(r / reach, (int)k->p->f_electron_ion + 1, (int)k->p->truncation, d.powers);
    d.cosine = ((double)from->x * (double)s->x + (double)from->y * (double)s->y +
                (double)from->z * (double)s->z) /
               (near * close);
    if (drift) {
        d.by_ion = dot(drift, from) / near * reach;
        d.by_other = dot(drift, s) / close * reach;
    }
    return d;
}

/* -1/2 lap - drift . grad of x^l y^m z^n by the electron of x, times length^2. */
static double kinetic_of(const side *own, const double other, int l, const double z[3],
                         double over_z)
{
    const double *x = own->powers[l];
    const double laplacian = x[2] * z[0] + 2 * x[1] * own->over_x * z[0] + x[0] * z[2] +
                             2 * x[0] * z[1] * over_z + 2 * own->cosine * x[1] * z[1];
    return -other * (0.5 * laplacian + own->by_ion * x[1] * z[0] + own->by_other * x[0] * z[1]);
}

/* z^n and its derivatives. */
static void find_plain(double z, int terms, double out[][3])
{
    double now = 1, before = 0, last = 0;
    for (int n = 0; n < terms; n++) {
        out[n][0] = now;
        out[n][1] = n * before;
        out[n][2] = n * (n - 1) * last;
        last = before;
        before = now;
        now *= z;
    }
}

/* One pair near one ion. */
static void add_f(const looking *k, const side *a, const side *b, double z, double *values,
                  double *kinetic)
{
    const f_form *form = k->p->form;
    const double reach = (double)k->p->f_reach, over_z = 1 / (z > 1e-12 ? z : 1e-12);
    double of_z[MOST_POWERS][3];
    find_plain(z, form->most_n + 1, of_z);
    for (int32_t c = 0; c < form->columns; c++) {
        const int32_t l = form->power[c][0], m = form->power[c][1];
        const double *w = of_z[form->power[c][2]];
        double value = a->powers[l][0] * b->powers[m][0], energy = 0;
        if (l != m) value += a->powers[m][0] * b->powers[l][0];
        if (values) values[c] += k->factor * value * w[0];
        if (!kinetic) continue;
        energy = kinetic_of(a, b->powers[m][0], l, w, over_z) +
                 kinetic_of(b, a->powers[m][0], l, w, over_z);
        if (l != m)
            energy += kinetic_of(a, b->powers[l][0], m, w, over_z) +
                      kinetic_of(b, a->powers[l][0], m, w, over_z);
        kinetic[c] += energy / (reach * reach);
    }
}

static plugmc_separation reversed(plugmc_separation s)
{
    return (plugmc_separation){-s.x, -s.y, -s.z, s.r2};
}

/* All ions that a pair is near, a at `at`, s from b to a. */
static void add_ions_of_pair(const looking *k, const double at[3], plugmc_separation s, int unlike,
                             const double *drift_a, const double *drift_b)
{
    const parameters *p = k->p;
    const real square = p->f_reach * p->f_reach;
    real f[3];
    if (!p->f_places.count || !(s.r2 < 4 * square)) return;
    const plugmc_position r =
        in_cell(p, (plugmc_position){(real)at[0], (real)at[1], (real)at[2]}, f);
    const int32_t bin = bin_of(p, f), end = (int32_t)p->f_begin.values[bin + 1];
    const plugmc_separation back = reversed(s);
    for (int32_t i = (int32_t)p->f_begin.values[bin]; i < end; i += 3) {
        const plugmc_separation from = from_place(p->f_places.values, i, r), other = less(from, s);
        if (!(from.r2 < square && other.r2 < square)) continue;
        const side a = side_of(k, &from, &s, drift_a), b = side_of(k, &other, &back, drift_b);
        add_f(k, &a, &b, sqrt((double)s.r2) / (double)p->f_reach,
              k->values ? k->values->f[unlike] : NULL, k->kinetic ? k->kinetic->f[unlike] : NULL);
    }
}

static int32_t species_of(const plugmc_system *system, int64_t particle)
{
    int32_t s = 0;
    while (particle >= system->first[s + 1]) s++;
    return s;
}

/* Electron i at a place with electron j where it is. */
static void add_pair(const looking *k, int64_t i, const double at[3], int64_t j,
                     const double *drift)
{
    const parameters *p = k->p;
    const int unlike = species_of(k->system, i) != species_of(k->system, j);
    const double *there = k->r + 3 * j;
    const plugmc_separation s = plugmc_separate((real)(at[0] - there[0]), (real)(at[1] - there[1]),
                                                (real)(at[2] - there[2]), &k->images, k->mode);
    const double *of_i = drift ? drift + 3 * i : NULL, *of_j = drift ? drift + 3 * j : NULL;
    add_radial(k, s, (double)p->u_reach, (int)p->u_terms, 2,
               drift ? dot(of_i, &s) - dot(of_j, &s) : 0, k->values ? k->values->u[unlike] : NULL,
               k->kinetic ? k->kinetic->u[unlike] : NULL);
    add_ions_of_pair(k, at, s, unlike, of_i, of_j);
}

static void add_chi(const looking *k, const double at[3], const double *drift)
{
    const parameters *p = k->p;
    real f[3];
    const plugmc_position r =
        in_cell(p, (plugmc_position){(real)at[0], (real)at[1], (real)at[2]}, f);
    for (int32_t i = 0; i < p->chi_places.count; i += 3) {
        const plugmc_separation s = from_place(p->chi_places.values, i, r);
        add_radial(k, s, (double)p->chi_reach, (int)p->chi_terms, 1, drift ? dot(drift, &s) : 0,
                   k->values ? k->values->chi : NULL, k->kinetic ? k->kinetic->chi : NULL);
    }
}

/* ---- Combinations ------------------------------------------------------------------------------ */

static void combine_radial(const double *column, int64_t truncation, int32_t count, double **out)
{
    for (int32_t k = 0; k < count; k++)
        (*out)[k] += k ? column[k + 1] : column[0] + (double)truncation * column[1];
    *out += count;
}

static void combine_f(const f_form *form, const double *column, int32_t count, double **out)
{
    for (int32_t c = 0; c < (count ? form->columns : 0); c++)
        for (int32_t k = 0; k < count; k++) (*out)[k] += form->basis[c * count + k] * column[c];
    *out += count;
}

/* Adds to a row of free numbers. */
static void combine(const parameters *p, const columns *c, double *out)
{
    combine_radial(c->u[0], p->truncation, p->u_like.count, &out);
    combine_radial(c->u[1], p->truncation, p->u_unlike.count, &out);
    combine_radial(c->chi, p->truncation, p->chi.count, &out);
    combine_f(p->form, c->f[0], p->f_like.count, &out);
    combine_f(p->form, c->f[1], p->f_unlike.count, &out);
}

/* Cleared, with memory for f in `room` [2][columns of the form]. */
static void clear_columns(const parameters *p, columns *c, double *room)
{
    const size_t n = p->form ? (size_t)p->form->columns : 0;
    memset(c, 0, sizeof *c);
    memset(room, 0, 2 * n * sizeof *room);
    c->f[0] = room;
    c->f[1] = room + n;
}

/* Room for f of two sets of columns; NULL: there is none. */
static double *room_for_columns(const parameters *p)
{
    return malloc((4 * (size_t)(p->form ? p->form->columns : 0) + 1) * sizeof(double));
}

static looking looking_at(const parameters *p, const plugmc_host *host, const plugmc_view *view,
                          int32_t walker)
{
    const plugmc_box *box = &view->box[walker];
    looking k = {.p = p,
                 .system = host->system,
                 .r = view->positions + 3 * walker * host->system->particles,
                 .factor = 1};
    k.mode = plugmc_images_of(box, box->domain == PLUGMC_DOMAIN_PERIODIC, &k.images);
    return k;
}

/* ---- The facet --------------------------------------------------------------------------------- */

static int free_derivatives(const void *instance, const plugmc_host *host,
                            const plugmc_free_request *q)
{
    const parameters *p = instance;
    const int64_t n = host->system->particles;
    double *room = room_for_columns(p);
    columns values, kinetic;
    if (!room) return PLUGMC_ERROR_MEMORY;
    for (int32_t w = 0; w < q->walkers; w++) {
        looking k = looking_at(p, host, q->view, q->first + w);
        const double *drift = q->kinetic ? q->drift + 3 * w * n : NULL;
        clear_columns(p, &values, room);
        clear_columns(p, &kinetic, room + 2 * (p->form ? p->form->columns : 0));
        k.values = q->derivatives ? &values : NULL;
        k.kinetic = q->kinetic ? &kinetic : NULL;
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < i; j++) add_pair(&k, i, k.r + 3 * i, j, drift);
            add_chi(&k, k.r + 3 * i, drift ? drift + 3 * i : NULL);
        }
        if (q->derivatives) combine(p, &values, q->derivatives + w * q->row);
        if (q->kinetic) combine(p, &kinetic, q->kinetic + w * q->row);
    }
    free(room);
    return PLUGMC_OK;
}

/* What hangs on one electron at a place, times k->factor. */
static void add_electron(const looking *k, int64_t electron, const double at[3])
{
    for (int64_t j = 0; j < k->system->particles; j++)
        if (j != electron) add_pair(k, electron, at, j, NULL);
    add_chi(k, at, NULL);
}

static int free_at_places(const void *instance, const plugmc_host *host,
                          const plugmc_free_places *q)
{
    const parameters *p = instance;
    double *room = room_for_columns(p);
    columns here, there;
    if (!room) return PLUGMC_ERROR_MEMORY;
    looking k = looking_at(p, host, q->view, q->walker);
    clear_columns(p, &here, room);
    k.values = &here;
    k.factor = -1;
    add_electron(&k, q->particle, k.r + 3 * q->particle);
    k.values = &there;
    k.factor = 1;
    for (int64_t i = 0; i < q->places; i++) {
        clear_columns(p, &there, room + 2 * (p->form ? p->form->columns : 0));
        add_electron(&k, q->particle, q->position[i]);
        combine(p, &there, q->changes + i * q->row);
        combine(p, &here, q->changes + i * q->row);
    }
    free(room);
    return PLUGMC_OK;
}

static const char *const free_tables[] = {"u_like",  "u_unlike",  "chi",     "f_like", "f_unlike",
                                          "u_table", "chi_table", "f_table", NULL};

static const plugmc_free free_facet = {.size = sizeof free_facet,
                                       .count = free_count,
                                       .number = free_number,
                                       .get = free_get,
                                       .set = free_set,
                                       .derivatives = free_derivatives,
                                       .at_places = free_at_places,
                                       .keys_before_files = 1,
                                       .tables = free_tables};

#endif
