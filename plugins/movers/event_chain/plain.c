/* plain.c: chains among particles of any sizes, in two or three dimensions, straight or reflected, in double.
 *
 * No overlap is ever made. Particles meet at f->hair more than their contact distance, and with every step of i:
 *
 *   who is ahead   is met at that distance, or passed at more than that, up to rounding, which is less than the hair;
 *   who is behind  gets away from i. Straight steps change one coordinate, so that is so to the last bit. A reflected
 *                  step of length t makes the squared distance larger by t^2 at least, and those that are shorter than
 *                  `least` leave i where it is: least^2 is more than what rounding can take from a square.
 *
 * Two that come closer than the hair, from outside or in a box that shrank, touch at once if one goes towards the
 * other, and so do not come closer still. Of two that are met at the same distance it is the one with the smaller
 * number: a chain does not depend on how cells are sorted.
 */
#include "event_chain.h"

/* ---- Cells ----------------------------------------------------------------------------------------- */

/* The cell that r is in, so that a cell begins exactly at its number times the width. */
static int32_t cell_along(const flock *f, int d, double r)
{
    const int32_t k = (int32_t)(r / f->width[d]), last = f->cells[d] - 1;
    if (k <= last && r < k * f->width[d]) return k - 1;
    return k < last && r >= (k + 1) * f->width[d] ? k + 1 : k < last ? k : last;
}

static int32_t cell_of(const flock *f, int32_t i)
{
    int32_t cell = 0;
    for (int d = f->box.dimension - 1; d >= 0; d--)
        cell = cell * f->cells[d] + cell_along(f, d, f->r[d][i]);
    return cell;
}

static void put(flock *f, int32_t i, int32_t cell)
{
    f->cell[i] = cell;
    f->previous[i] = -1;
    f->next[i] = f->head[cell];
    if (f->head[cell] >= 0) f->previous[f->head[cell]] = i;
    f->head[cell] = i;
}

static void pick(flock *f, int32_t i)
{
    if (f->previous[i] >= 0)
        f->next[f->previous[i]] = f->next[i];
    else
        f->head[f->cell[i]] = f->next[i];
    if (f->next[i] >= 0) f->previous[f->next[i]] = f->previous[i];
}

/* Wider than the largest contact distance, by more than a step goes beyond its cell; as many as there is room for. */
void lay_out(const event_chain *e, flock *f)
{
    const int dimension = f->box.dimension;
    const double most = floor(pow((double)e->rooms, 1.0 / dimension) + 1e-9);
    int64_t all = 1;
    for (int d = 0; d < 3; d++) {
        const double fits = floor(f->box.length[d] / (e->largest * (1 + 1e-5)));
        f->cells[d] = d < dimension ? (int32_t)fmax(1, fmin(fits, most)) : 1;
        f->width[d] = f->box.length[d] / f->cells[d];
        all *= f->cells[d];
    }
    for (int64_t k = 0; k < all; k++) f->head[k] = -1;
    for (int64_t k = 0; k < f->count; k++) {
        const int32_t i = f->number[k];
        put(f, i, cell_of(f, i));
    }
}

/* Cells of one direction around number k: itself and those beside it, each once. */
static int beside(int32_t k, int32_t n, int32_t out[3])
{
    if (n < 3) {
        for (int i = 0; i < n; i++) out[i] = i;
        return n;
    }
    out[0] = (k + n - 1) % n, out[1] = k, out[2] = (k + 1) % n;
    return 3;
}

/* Particle i has gone: it is in the box, and in the cell where it is, as it would be if it came from the state. */
static void arrive(flock *f, int32_t i)
{
    for (int d = 0; d < f->box.dimension; d++)
        f->r[d][i] = plugmc_wrapped(f->r[d][i], f->box.length[d]);
    const int32_t cell = cell_of(f, i);
    if (cell == f->cell[i]) return;
    pick(f, i);
    put(f, i, cell);
}

/* ---- Who is met ------------------------------------------------------------------------------------ */

/* Who is met first, after which distance, and how far apart the centres then are along the way. */
typedef struct meeting {
    int32_t who; /* -1: nobody */
    double distance, apart;
} meeting;

static void meet(meeting *m, int32_t j, double ahead, double square)
{
    const double apart = sqrt(square), distance = fmax(0, ahead - apart);
    if (distance < m->distance || (distance == m->distance && m->who > j))
        *m = (meeting){j, distance, apart};
}

/* Looks at the particles of a cell, for i that goes along `axis`. */
static void look_into(const event_chain *e, const flock *f, int32_t i, int axis, int32_t cell,
                      meeting *m)
{
    const double *own = &e->contact[e->species[i] * e->system->species_count];
    for (int32_t j = f->head[cell]; j >= 0; j = f->next[j]) {
        double ahead = 0, beside = 0;
        for (int d = 0; d < f->box.dimension; d++) {
            double apart = f->r[d][j] - f->r[d][i];
            apart -= f->box.length[d] * rint(apart / f->box.length[d]);
            if (d == axis)
                ahead = apart;
            else
                beside += apart * apart;
        }
        const double contact = own[e->species[j]] * (1 + f->hair);
        const double square = contact * contact - beside;
        if (j != i && ahead > 0 && square > 0) meet(m, j, ahead, square);
    }
}

/* The same along v. */
static void look_along(const event_chain *e, const flock *f, int32_t i, const double v[3],
                       int32_t cell, meeting *m)
{
    const double *own = &e->contact[e->species[i] * e->system->species_count];
    for (int32_t j = f->head[cell]; j >= 0; j = f->next[j]) {
        double ahead = 0, all = 0;
        for (int d = 0; d < f->box.dimension; d++) {
            double apart = f->r[d][j] - f->r[d][i];
            apart -= f->box.length[d] * rint(apart / f->box.length[d]);
            ahead += apart * v[d];
            all += apart * apart;
        }
        const double contact = own[e->species[j]] * (1 + f->hair);
        const double square = contact * contact - (all - ahead * ahead);
        if (j != i && ahead > 0 && square > 0) meet(m, j, ahead, square);
    }
}

/* Who is met before `most`, which is not beyond the end of the cell: it is in this cell or in those beside it.
 * v: NULL, along the axis; then nobody behind is looked at. */
static meeting look_ahead(const event_chain *e, const flock *f, int32_t i, int axis,
                          const double *v, double most)
{
    const int32_t own = f->cell[i], *n = f->cells;
    const int32_t at[3] = {own % n[0], own / n[0] % n[1], own / n[0] / n[1]};
    int32_t along[3][3];
    int many[3];
    meeting m = {-1, most, 0};
    for (int d = 0; d < 3; d++) many[d] = beside(at[d], n[d], along[d]);
    if (!v && n[axis] >= 3) {
        along[axis][0] = at[axis];
        along[axis][1] = (at[axis] + 1) % n[axis];
        many[axis] = 2;
    }
    for (int z = 0; z < many[2]; z++)
        for (int y = 0; y < many[1]; y++)
            for (int x = 0; x < many[0]; x++) {
                const int32_t cell = along[0][x] + n[0] * (along[1][y] + n[1] * along[2][z]);
                if (v)
                    look_along(e, f, i, v, cell, &m);
                else
                    look_into(e, f, i, axis, cell, &m);
            }
    return m;
}

/* ---- Straight chains -------------------------------------------------------------------------------- */

/* Where cell k along an axis ends. The last one ends with the box: rounding may leave its number times the width short of
 * that, and whoever came to rest there would go on by nothing for ever. */
static double end_of_cell(const flock *f, int axis, int32_t k)
{
    return k + 1 < f->cells[axis] ? (k + 1) * f->width[axis] : f->box.length[axis];
}

/* A step ends where the cell does, and before one could be met that is not the nearest image yet. */
void run_straight(const event_chain *e, flock *f, int32_t i, int axis, met *found)
{
    double left = e->length;
    int32_t stride = 1;
    for (int d = 0; d < axis; d++) stride *= f->cells[d];
    while (left > 0) {
        const double end = end_of_cell(f, axis, f->cell[i] / stride % f->cells[axis]),
                     to_end = end - f->r[axis][i],
                     most = fmin(left, f->box.length[axis] / 2 - e->largest);
        const meeting m = look_ahead(e, f, i, axis, NULL, fmin(to_end, most));
        const int at_end = m.who < 0 && m.distance == to_end;
        f->r[axis][i] = at_end ? end : f->r[axis][i] + m.distance;
        arrive(f, i);
        left -= m.distance;
        if (m.who < 0) continue;
        found->sum[axis] += m.apart;
        found->events++;
        i = m.who;
    }
}

/* ---- Reflected chains ------------------------------------------------------------------------------- */

/* How far particle i may go at once along v: out of its cell, by so much that no step is too short to be made, and not
 * so far that one could be met that is not the nearest image yet. */
static double step_along(const event_chain *e, const flock *f, int32_t i, const double v[3],
                         double least)
{
    const int32_t own = f->cell[i], *n = f->cells;
    const int32_t at[3] = {own % n[0], own / n[0] % n[1], own / n[0] / n[1]};
    double shortest = INFINITY, to_side = INFINITY;
    for (int d = 0; d < f->box.dimension; d++) {
        shortest = fmin(shortest, f->box.length[d]);
        if (v[d] == 0) continue;
        to_side = fmin(to_side, ((at[d] + (v[d] > 0)) * f->width[d] - f->r[d][i]) / v[d]);
    }
    return fmin(fmax(0, to_side) + 2 * least, shortest / 2 - e->largest);
}

/* v is that of who goes on, from who is at `from` and touches who is at `to`. Contacts are shared out by axis as
 * event_chain.c says. */
static void turn(const flock *f, int32_t from, int32_t to, double apart, double v[3], met *found)
{
    const int dimension = f->box.dimension;
    double e[3] = {0, 0, 0}, square = 0, along = 0, length = 0;
    for (int d = 0; d < dimension; d++) {
        e[d] = f->r[d][to] - f->r[d][from];
        e[d] -= f->box.length[d] * rint(e[d] / f->box.length[d]);
        square += e[d] * e[d];
        along += v[d] * e[d];
    }
    for (int d = 0; d < dimension; d++) found->sum[d] += dimension * apart * e[d] * e[d] / square;
    for (int d = 0; d < dimension; d++) v[d] = 2 * along / square * e[d] - v[d];
    for (int d = 0; d < dimension; d++) length += v[d] * v[d];
    for (int d = 0; d < dimension; d++) v[d] /= sqrt(length); /* rounding does not add up */
    found->events++;
}

void run_reflected(const event_chain *e, flock *f, int32_t i, double v[3], met *found)
{
    const double least = e->largest * sqrt(f->hair);
    double left = e->length;
    while (left > 0) {
        const double most = fmin(left, step_along(e, f, i, v, least));
        const meeting m = look_ahead(e, f, i, 0, v, most);
        if (m.distance > least) {
            for (int d = 0; d < f->box.dimension; d++) f->r[d][i] += v[d] * m.distance;
            arrive(f, i);
        }
        left -= m.distance;
        if (m.who < 0) continue;
        turn(f, i, m.who, m.apart, v, found);
        i = m.who;
    }
}
