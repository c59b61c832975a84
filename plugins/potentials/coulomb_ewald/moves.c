/* What a trial move does to the waves of an Ewald sum: one particle moves, some move at once, or some come and leave. The structure
 * factors of each walker are kept, so it costs some operations a wave and particle. */
#include <math.h>
#include <string.h>

#include "sum_parts.h"

static int32_t species_of(const ewald_sum *s, int64_t i)
{
    int32_t a = 0;
    while (i >= s->system->first[a + 1]) a++;
    return a;
}

static complex_table structure_of(const ewald_sum *s, int32_t walker)
{
    double *at = s->single.structure + 2 * walker * s->waves;
    return (complex_table){at, at + s->waves};
}

static const plugmc_box *box_now(const ewald_sum *s, int32_t walker)
{
    return s->other.box ? &s->other.box[walker] : &s->system->box;
}

static const double *weights_now(const ewald_sum *s, int32_t walker)
{
    return s->other.box && is_new(s, &s->other.box[walker])
               ? s->other.own_weight + walker * s->waves
               : s->common.weight;
}

/* Keeps a walker's box and the weights in it. */
static void take_box(ewald_sum *s, const plugmc_box *box, int32_t walker)
{
    const spectrum *in;
    if (!s->other.box) return;
    spectrum_of(s, box, &in);
    s->other.box[walker] = *box;
    if (in == &s->other.spectrum)
        memcpy(s->other.own_weight + walker * s->waves, in->weight,
               (size_t)s->waves * sizeof *in->weight);
}

static int start_walker(ewald_sum *s, const void *what, int32_t w)
{
    const plugmc_view *view = what;
    take_box(s, box_of(s, view, w), w);
    take_phases(s, box_now(s, w), view->positions + 3 * w * s->system->particles);
    return structure_factors(s, structure_of(s, w));
}

int ewald_sum_start(ewald_sum *s, const plugmc_view *view)
{
    const int64_t n = 3 * s->system->particles;
    const int code = ewald_each_walker(s, view, start_walker, view);
    memcpy(s->single.positions, view->positions,
           (size_t)(n * s->system->walkers) * sizeof *s->single.positions);
    if (s->single.count)
        memcpy(s->single.count, view->count,
               (size_t)(s->system->walkers * s->system->species_count) * sizeof *s->single.count);
    s->single.trial.walker = -1;
    s->single.started = 1;
    return code;
}

/* exp(2 pi i n f) for |n| <= most, at [MOST + n]. */
static void axis_phases(double f, int32_t most, double *re, double *im)
{
    const double c = cos(2 * M_PI * f), e = sin(2 * M_PI * f);
    re += MOST;
    im += MOST;
    re[0] = 1;
    im[0] = 0;
    for (int32_t m = 1; m <= most; m++) {
        re[m] = re[m - 1] * c - im[m - 1] * e;
        im[m] = re[m - 1] * e + im[m - 1] * c;
        re[-m] = re[m];
        im[-m] = -im[m];
    }
}

typedef struct place_phases {
    double re[3][2 * MOST + 1], im[3][2 * MOST + 1];
} place_phases;

static void phases_at(const ewald_sum *s, const plugmc_box *box, const double r[3],
                      place_phases *out)
{
    for (int d = 0; d < 3; d++)
        axis_phases(fractional(box, r, d), s->most[d], out->re[d], out->im[d]);
}

/* shift = charge (exp(i k.to) - exp(i k.from)); returns the change of energy,
 * sum of weight (|S + shift|^2 - |S|^2). */
static PLUGMC_TARGETS double shift_waves(const ewald_sum *s, const double *weights,
                                         complex_table structure, double charge,
                                         const place_phases *from, const place_phases *to)
{
    double *shift_re = s->single.shift, *shift_im = s->single.shift + s->waves, all = 0;
    for (int32_t r = 0; r < s->row_count; r++) {
        const row *row = &s->rows[r];
        const int x = MOST + row->x, y = MOST + row->y;
        const double fr = charge *
                          (from->re[0][x] * from->re[1][y] - from->im[0][x] * from->im[1][y]),
                     fi = charge *
                          (from->im[0][x] * from->re[1][y] + from->re[0][x] * from->im[1][y]),
                     tr = charge * (to->re[0][x] * to->re[1][y] - to->im[0][x] * to->im[1][y]),
                     ti = charge * (to->im[0][x] * to->re[1][y] + to->re[0][x] * to->im[1][y]);
        const double *from_re = from->re[2] + MOST + row->low,
                     *from_im = from->im[2] + MOST + row->low;
        const double *to_re = to->re[2] + MOST + row->low, *to_im = to->im[2] + MOST + row->low;
        const double *weight = weights + row->first;
        const double *sr = structure.re + row->first, *si = structure.im + row->first;
        double *dr = shift_re + row->first, *di = shift_im + row->first, lane[LANES] = {0};
        for (int32_t begin = 0; begin < row->n; begin += LANES) {
            const int32_t n = row->n - begin < LANES ? row->n - begin : LANES;
            for (int32_t l = 0; l < n; l++) {
                const int32_t w = begin + l;
                dr[w] = (tr * to_re[w] - ti * to_im[w]) - (fr * from_re[w] - fi * from_im[w]);
                di[w] = (ti * to_re[w] + tr * to_im[w]) - (fi * from_re[w] + fr * from_im[w]);
                lane[l] += weight[w] * (dr[w] * (2 * sr[w] + dr[w]) + di[w] * (2 * si[w] + di[w]));
            }
        }
        all += sum_of_lanes(lane);
    }
    return all;
}

int ewald_sum_change(ewald_sum *s, int32_t walker, int64_t particle, const double position[3],
                     double *change)
{
    place_phases from, to;
    const double charge = s->charge[particle];
    s->single.trial = (trial){.walker = walker, .particle = particle};
    memcpy(s->single.trial.position[0], position, sizeof s->single.trial.position[0]);
    if (charge == 0) return PLUGMC_OK;
    const plugmc_box *box = box_now(s, walker);
    phases_at(s, box, &s->single.positions[3 * (walker * s->system->particles + particle)], &from);
    phases_at(s, box, position, &to);
    *change += shift_waves(s, weights_now(s, walker), structure_of(s, walker), charge, &from, &to);
    return PLUGMC_OK;
}

/* shift += charge exp(i k.r). */
static PLUGMC_TARGETS void add_waves(const ewald_sum *s, double charge, const place_phases *at)
{
    double *shift_re = s->single.shift, *shift_im = s->single.shift + s->waves;
    for (int32_t r = 0; r < s->row_count; r++) {
        const row *row = &s->rows[r];
        const int x = MOST + row->x, y = MOST + row->y;
        const double pr = charge * (at->re[0][x] * at->re[1][y] - at->im[0][x] * at->im[1][y]),
                     pi = charge * (at->im[0][x] * at->re[1][y] + at->re[0][x] * at->im[1][y]);
        const double *zr = at->re[2] + MOST + row->low, *zi = at->im[2] + MOST + row->low;
        double *dr = shift_re + row->first, *di = shift_im + row->first;
        for (int32_t w = 0; w < row->n; w++) {
            dr[w] += pr * zr[w] - pi * zi[w];
            di[w] += pi * zr[w] + pr * zi[w];
        }
    }
}

/* Sum of weight (|S + shift|^2 - |S|^2). */
static PLUGMC_TARGETS double energy_of_shift(const ewald_sum *s, const double *weight,
                                             complex_table structure)
{
    const double *dr = s->single.shift, *di = s->single.shift + s->waves;
    double lane[LANES] = {0};
    for (int64_t begin = 0; begin < s->waves; begin += LANES) {
        const int64_t n = s->waves - begin < LANES ? s->waves - begin : LANES;
        for (int64_t l = 0; l < n; l++) {
            const int64_t w = begin + l;
            lane[l] += weight[w] * (dr[w] * (2 * structure.re[w] + dr[w]) +
                                    di[w] * (2 * structure.im[w] + di[w]));
        }
    }
    return sum_of_lanes(lane);
}

/* shift += charge (exp(i k.to) - exp(i k.from)). */
static PLUGMC_TARGETS void move_waves(const ewald_sum *s, double charge, const place_phases *from,
                                      const place_phases *to)
{
    double *shift_re = s->single.shift, *shift_im = s->single.shift + s->waves;
    for (int32_t r = 0; r < s->row_count; r++) {
        const row *row = &s->rows[r];
        const int x = MOST + row->x, y = MOST + row->y, z = MOST + row->low;
        const double fr = charge *
                          (from->re[0][x] * from->re[1][y] - from->im[0][x] * from->im[1][y]),
                     fi = charge *
                          (from->im[0][x] * from->re[1][y] + from->re[0][x] * from->im[1][y]),
                     tr = charge * (to->re[0][x] * to->re[1][y] - to->im[0][x] * to->im[1][y]),
                     ti = charge * (to->im[0][x] * to->re[1][y] + to->re[0][x] * to->im[1][y]);
        const double *from_re = from->re[2] + z, *from_im = from->im[2] + z, *to_re = to->re[2] + z,
                     *to_im = to->im[2] + z;
        double *dr = shift_re + row->first, *di = shift_im + row->first;
        for (int32_t w = 0; w < row->n; w++) {
            dr[w] += (tr * to_re[w] - ti * to_im[w]) - (fr * from_re[w] - fi * from_im[w]);
            di[w] += (ti * to_re[w] + tr * to_im[w]) - (fi * from_re[w] + fr * from_im[w]);
        }
    }
}

int ewald_sum_displace(ewald_sum *s, int32_t walker, const plugmc_displacements *x, double *change)
{
    const plugmc_box *box = box_now(s, walker);
    const double *positions = s->single.positions + 3 * walker * s->system->particles;
    place_phases from, to;
    memset(s->single.shift, 0, 2 * (size_t)s->waves * sizeof *s->single.shift);
    s->single.trial = (trial){.walker = walker, .particle = -1, .moved = x->n};
    for (int32_t k = 0; k < x->n; k++) {
        const int32_t i = s->single.mover[k] = x->particle[k];
        memcpy(s->single.moved[k], x->position[k], sizeof s->single.moved[k]);
        if (s->charge[i] == 0) continue;
        phases_at(s, box, &positions[3 * i], &from);
        phases_at(s, box, x->position[k], &to);
        move_waves(s, s->charge[i], &from, &to);
    }
    *change += energy_of_shift(s, weights_now(s, walker), structure_of(s, walker));
    return PLUGMC_OK;
}

int ewald_sum_insert_remove(ewald_sum *s, int32_t walker, const plugmc_insert_remove *x,
                            double *change)
{
    const int32_t species = s->system->species_count;
    const plugmc_box *box = box_now(s, walker);
    const int64_t *before = s->single.count + walker * species;
    int64_t after[species + 1];
    double squares[2], net[2];
    place_phases at;
    memcpy(after, before, (size_t)species * sizeof *after);
    memset(s->single.shift, 0, 2 * (size_t)s->waves * sizeof *s->single.shift);
    s->single.trial =
        (trial){.walker = walker, .particle = -1, .comes = x->inserted, .leaves = x->removed};
    for (int32_t k = 0; k < x->removed; k++) {
        const int64_t i = s->single.trial.leaver[k] = x->particle[k];
        after[species_of(s, i)]--;
        phases_at(s, box, &s->single.positions[3 * (walker * s->system->particles + i)], &at);
        add_waves(s, -s->charge[i], &at);
    }
    for (int32_t k = 0; k < x->inserted; k++) {
        s->single.trial.species[k] = x->species[k];
        after[x->species[k]]++;
        memcpy(s->single.trial.position[k], x->position[k], sizeof s->single.trial.position[k]);
        phases_at(s, box, x->position[k], &at);
        add_waves(s, plugmc_species_at(s->system, x->species[k])->charge, &at);
    }
    charges_of(s, before, &squares[0], &net[0]);
    charges_of(s, after, &squares[1], &net[1]);
    *change += energy_of_shift(s, weights_now(s, walker), structure_of(s, walker)) +
               self_energy(s, squares[1] - squares[0]) + excluded_energy(s, after) -
               excluded_energy(s, before) +
               background(s, box) * (net[1] * net[1] - net[0] * net[0]);
    return PLUGMC_OK;
}

/* Numbers and places as plugmc_insert_remove has them. */
static void take_insertions(ewald_sum *s, const trial *t)
{
    double *positions = s->single.positions + 3 * t->walker * s->system->particles;
    int64_t *count = s->single.count + t->walker * s->system->species_count;
    for (int32_t k = 0; k < t->leaves; k++) {
        const int32_t a = species_of(s, t->leaver[k]);
        const int64_t last = s->system->first[a] + --count[a];
        memmove(&positions[3 * t->leaver[k]], &positions[3 * last], 3 * sizeof *positions);
        for (int d = 0; d < 3; d++) positions[3 * last + d] = NAN;
    }
    for (int32_t k = 0; k < t->comes; k++) {
        const int64_t i = s->system->first[t->species[k]] + count[t->species[k]]++;
        memcpy(&positions[3 * i], t->position[k], sizeof t->position[k]);
    }
}

/* A rejected move has touched nothing. */
int ewald_sum_settle(ewald_sum *s, int32_t walker, int accepted)
{
    const trial t = s->single.trial;
    if (t.walker != walker)
        return s->host->fail(s->host->context, PLUGMC_ERROR_STATE,
                             "no particle of walker %d has been moved", walker);
    s->single.trial.walker = -1;
    if (!accepted) return PLUGMC_OK;
    double *structure = structure_of(s, walker).re;
    for (int64_t w = 0; w < 2 * s->waves && (t.particle < 0 || s->charge[t.particle] != 0); w++)
        structure[w] += s->single.shift[w];
    double *positions = s->single.positions + 3 * walker * s->system->particles;
    for (int32_t k = 0; k < t.moved; k++)
        memcpy(&positions[3 * s->single.mover[k]], s->single.moved[k], sizeof s->single.moved[k]);
    if (t.particle < 0)
        take_insertions(s, &t);
    else
        memcpy(&positions[3 * t.particle], t.position[0], sizeof t.position[0]);
    return PLUGMC_OK;
}

/* Fresh structure factors would be rounded otherwise than those that went through all moves. */
int ewald_sum_archive(ewald_sum *s, plugmc_archive *archive)
{
    if (!s->single.started || !s->waves) return PLUGMC_OK; /* no single moves in this run */
    return plugmc_archive_walkers(archive, "structure factors", s->single.structure,
                                  (size_t)(2 * s->waves) * sizeof *s->single.structure);
}

int ewald_sum_weights(ewald_sum *s, const plugmc_box *box, int32_t walker, double *weight)
{
    const spectrum *in;
    const int code = s->other.box ? waves_suffice(s, box, walker) : PLUGMC_OK;
    if (code) return code;
    spectrum_of(s, box, &in);
    memcpy(weight, in->weight, (size_t)s->waves * sizeof *weight);
    return PLUGMC_OK;
}

double ewald_sum_of_counts(const ewald_sum *s, const plugmc_box *box, const int64_t *count)
{
    double squares, net;
    charges_of(s, count, &squares, &net);
    return self_energy(s, squares) + excluded_energy(s, count) + background(s, box) * net * net;
}

int ewald_sum_waves(const ewald_sum *s, plugmc_waves *out)
{
    out->count = s->waves;
    out->n = (const int32_t(*)[3])s->wave;
    out->weight = s->common.weight;
    out->constant = s->self + excluded_energy(s, NULL) + s->common.back * s->net * s->net;
    return PLUGMC_OK;
}
