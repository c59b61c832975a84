/* spme.c: what host and device share: tables, constant energies, defines of the kernels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "spme.h"

static int check_line(const spme *m);
static int check_exclusions(const spme *m);
static void fill_defines(spme *m);
static int boxes_change(const spme *m);

int spme_configure(const plugmc_host *host, const spme_settings *set, spme **out)
{
    spme *m = host->allocate(host->context, sizeof *m);
    if (!m) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a mesh");
    m->host = host;
    m->set = *set;
    m->charges = spme_charges_of(host->system);
    m->counts_change = (host->system->changes & PLUGMC_CHANGED_COUNT) != 0;
    int code = check_line(m);
    if (!code) code = check_exclusions(m);
    if (code) return code;
    fill_defines(m);
    *out = m;
    return PLUGMC_OK;
}

/* Gathering has a thread, and n weights in shared memory, for each point of a line along x. */
static int check_line(const spme *m)
{
    const int32_t bytes = m->set.order * (m->set.precision == SPME_SINGLE ? 4 : 8);
    const int32_t most = 49152 / bytes < 1024 ? 49152 / bytes : 1024;
    if (m->set.spreading != SPME_GATHER || m->set.grid[0] <= most) return PLUGMC_OK;
    return m->host->fail(
        m->host->context, PLUGMC_ERROR_INPUT,
        "spreading = gather supports at most %d grid points along x, but %d are needed: use "
        "spreading = sorted",
        most, m->set.grid[0]);
}

/* Pairs are told by the numbers of particles, which go from one to another where particles come and go. */
static int check_exclusions(const spme *m)
{
    const spme_settings *s = &m->set;
    if (!(s->molecule_species || *s->molecules || *s->exclusions)) return PLUGMC_OK;
    if (m->host->system->molecules)
        return m->host->fail(m->host->context, PLUGMC_ERROR_INPUT,
                             "the run has rigid molecules, of which pairs are excluded without a "
                             "word: molecule, molecules and exclusions are for runs without them");
    if (!m->counts_change) return PLUGMC_OK;
    return m->host->fail(m->host->context, PLUGMC_ERROR_INPUT,
                         "molecules and excluded pairs need fixed particle numbers, but a "
                         "mover of the run changes them");
}

/* For coulomb_spme.cu. */
static void fill_defines(spme *m)
{
    static const char *const names[] = {"SPME_ORDER",    "SPME_X",     "SPME_Y",     "SPME_Z",
                                        "SPME_GATHERED", "SPME_BOXES", "SPME_COUNTS"};
    const int values[] = {m->set.order,
                          m->set.grid[0],
                          m->set.grid[1],
                          m->set.grid[2],
                          m->set.spreading == SPME_GATHER,
                          boxes_change(m),
                          m->counts_change};
    for (int i = 0; i < PLUGMC_COUNT(names); i++) {
        snprintf(m->defines[i], sizeof m->defines[i], "%s=%d", names[i], values[i]);
        m->define_list[i] = m->defines[i];
    }
}

/* ---- Preparation ------------------------------------------------------------------------- */

static void warn_of_errors(const spme *m);
static void warn_of_background(const spme *m);
static int fill_charges(spme *m);
static int fill_tables(spme *m);
static void fill_limit(spme *m);

int spme_prepare(spme *m, const plugmc_host *host)
{
    m->host = host;
    warn_of_errors(m);
    warn_of_background(m);
    int code = spme_read_exclusions(host, &m->set, &m->exclusions);
    if (!code) code = spme_exclude_rigid(m);
    if (!code) code = fill_charges(m);
    if (!code) code = fill_tables(m);
    if (!code && boxes_change(m)) fill_limit(m);
    return code || !host->gpu ? code : spme_device_prepare(m);
}

/* Of the pairs, of the grid, and both together. */
static double errors_of(const spme *m, const spme_charges *charges, double *pairs, double *grid)
{
    const spme_settings *s = &m->set;
    *pairs = spme_pair_error(charges, s->cutoff, s->alpha);
    *grid = spme_grid_error(charges, s->alpha, s->order, s->influence, s->grid);
    return sqrt(*pairs * *pairs + *grid * *grid);
}

/* Of settings that were given, and do not keep the tolerance. */
static void warn_of_errors(const spme *m)
{
    const spme_settings *s = &m->set;
    double pairs, grid;
    const double both = errors_of(m, &m->charges, &pairs, &grid);
    if (both > 2 * s->tolerance)
        m->host->warn(
            m->host->context,
            "the error of the forces will be about %.1e, with %.1e from the cutoff and %.1e "
            "from the grid of %d x %d x %d, which exceeds tolerance = %g",
            both, pairs, grid, s->grid[0], s->grid[1], s->grid[2], s->tolerance);
}

static void warn_of_background(const spme *m)
{
    if (m->counts_change) return; /* the mover knows what it does */
    if (fabs(m->charges.net) > 1e-9 * sqrt(m->charges.count * m->charges.square))
        m->host->warn(m->host->context,
                      "the box has a charge of %g: a uniform background neutralises it, with the "
                      "energy -pi l_B charge^2 / (2 alpha^2 V)",
                      m->charges.net);
}

static int fill_charges(spme *m)
{
    const plugmc_system *system = m->host->system;
    m->charge = m->host->allocate(m->host->context, (size_t)system->particles * sizeof *m->charge);
    if (!m->charge)
        return m->host->fail(m->host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld charges",
                             (long long)system->particles);
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            m->charge[i] = plugmc_species_at(system, s)->charge;
    return PLUGMC_OK;
}

int spme_new_tables(const spme *m, spme_box *out)
{
    for (int d = 0; d < 3; d++) {
        const size_t points = (size_t)m->set.grid[d];
        double *memory = m->host->allocate(m->host->context, 3 * points * sizeof *memory);
        if (!memory) return 0;
        out->table[d] = (spme_table){memory, memory + points, memory + 2 * points};
    }
    return 1;
}

void spme_constants(const spme *m, double volume, const int64_t *count, double *energy,
                    double *virial)
{
    const spme_settings *s = &m->set;
    double net = count ? 0 : m->charges.net, square = count ? 0 : m->charges.square;
    for (int32_t a = 0; a < m->host->system->species_count && count; a++) {
        const double z = plugmc_species_at(m->host->system, a)->charge;
        net += (double)count[a] * z;
        square += (double)count[a] * z * z;
    }
    *virial = -M_PI * s->bjerrum_length * net * net / (2 * s->alpha * s->alpha * volume);
    *energy =
        *virial - s->bjerrum_length * s->alpha / sqrt(M_PI) * square + spme_rigid_energy(m, count);
}

static void fill_constants(const spme *m, double volume, spme_box *out)
{
    out->factor = 4 * M_PI * m->set.bjerrum_length / volume;
    out->volume = volume;
    spme_constants(m, volume, NULL, &out->constant, &out->constant_virial);
}

static int fill_tables(spme *m)
{
    const spme_settings *s = &m->set;
    if (!spme_new_tables(m, &m->start))
        return m->host->fail(m->host->context, PLUGMC_ERROR_MEMORY,
                             "no memory for the waves of %d x %d x %d points", s->grid[0],
                             s->grid[1], s->grid[2]);
    for (int d = 0; d < 3; d++) {
        m->start.length[d] = m->charges.length[d];
        spme_fill_table(&m->start.table[d], s->grid[d], m->start.length[d], s->alpha, s->order,
                        s->influence);
    }
    fill_constants(m, m->charges.volume, &m->start);
    return PLUGMC_OK;
}

/* ---- Boxes that have changed ------------------------------------------------------------- */

/* Boxes that change are looked at by the host, counts are sent by it. */
int spme_recordable(const spme *m) { return !boxes_change(m) && !m->counts_change; }

static int boxes_change(const spme *m)
{
    return (m->host->system->changes & PLUGMC_CHANGED_BOX) != 0;
}

static double error_in(const spme *m, const double length[3])
{
    double pairs, grid;
    spme_charges charges = m->charges;
    charges.volume = length[0] * length[1] * length[2];
    memcpy(charges.length, length, sizeof charges.length);
    return errors_of(m, &charges, &pairs, &grid);
}

static double error_of_stretched(const spme *m, double stretch)
{
    double length[3];
    for (int d = 0; d < 3; d++) length[d] = stretch * m->start.length[d];
    return error_in(m, length);
}

/* Errors grow with the box, so that most boxes need no look at the grid. */
static void fill_limit(spme *m)
{
    double low = 1, high = 16;
    m->limit.allowed = fmax(m->set.tolerance, error_in(m, m->start.length));
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        if (error_of_stretched(m, middle) > 2 * m->limit.allowed)
            high = middle;
        else
            low = middle;
    }
    m->limit.stretch = low;
}

int spme_check_box(const spme *m, const plugmc_box *box, int64_t walker)
{
    double stretch = 0;
    for (int d = 0; d < 3; d++) stretch = fmax(stretch, box->length[d] / m->start.length[d]);
    if (stretch <= m->limit.stretch) return PLUGMC_OK;
    const double error = error_in(m, box->length);
    if (error <= 2 * m->limit.allowed) return PLUGMC_OK;
    return m->host->fail(
        m->host->context, PLUGMC_ERROR_INPUT,
        "the box of walker %lld has grown to a volume of %g: the error of the forces with "
        "the initial grid of %d x %d x %d is about %.1e, more than twice the allowed %.1e: "
        "set a finer grid",
        (long long)walker, box->volume, m->set.grid[0], m->set.grid[1], m->set.grid[2], error,
        m->limit.allowed);
}

void spme_fill_box(const spme *m, const plugmc_box *box, spme_box *out)
{
    for (int d = 0; d < 3; d++) {
        const double ratio = m->start.length[d] / box->length[d];
        out->length[d] = box->length[d];
        spme_stretch_table(&m->start.table[d], m->set.grid[d], ratio * ratio, &out->table[d]);
    }
    fill_constants(m, box->volume, out);
}

/* ---- Calls ------------------------------------------------------------------------------- */

int spme_energy(spme *m, const plugmc_total_request *request)
{
    return request->view->on_device ? spme_device_energy(m, request) : spme_host_energy(m, request);
}

void spme_release(spme *m)
{
    if (!m) return;
    spme_host_release(m);
    spme_device_release(m);
}
