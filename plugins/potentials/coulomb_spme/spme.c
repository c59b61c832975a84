/* spme.c: what host and device share: tables, constant energies, defines of the kernels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "spme.h"

static int check_line(const spme *m);
static void fill_defines(spme *m);

int spme_configure(const plugmc_host *host, const spme_settings *set, spme **out)
{
    spme *m = host->allocate(host->context, sizeof *m);
    if (!m) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a mesh");
    m->host = host;
    m->set = *set;
    m->charges = spme_charges_of(host->system);
    int code = check_line(m);
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
        "spreading = gather can have %d grid points along x, and %d are needed: take "
        "spreading = sorted",
        most, m->set.grid[0]);
}

/* For coulomb_spme.cu. */
static void fill_defines(spme *m)
{
    static const char *const names[] = {"SPME_ORDER", "SPME_X", "SPME_Y", "SPME_Z",
                                        "SPME_GATHERED"};
    const int values[] = {m->set.order, m->set.grid[0], m->set.grid[1], m->set.grid[2],
                          m->set.spreading == SPME_GATHER};
    for (int i = 0; i < 5; i++) {
        snprintf(m->defines[i], sizeof m->defines[i], "%s=%d", names[i], values[i]);
        m->define_list[i] = m->defines[i];
    }
}

/* ---- Preparation ------------------------------------------------------------------------- */

static void warn_of_errors(const spme *m);
static void warn_of_background(const spme *m);
static int fill_charges(spme *m);
static int fill_tables(spme *m);

int spme_prepare(spme *m, const plugmc_host *host)
{
    m->host = host;
    warn_of_errors(m);
    warn_of_background(m);
    int code = spme_read_exclusions(host, &m->set, &m->exclusions);
    if (!code) code = fill_charges(m);
    if (!code) code = fill_tables(m);
    return code || !host->gpu ? code : spme_device_prepare(m);
}

/* Of settings that were given, and do not keep the tolerance. */
static void warn_of_errors(const spme *m)
{
    const spme_settings *s = &m->set;
    const double pairs = spme_pair_error(&m->charges, s->cutoff, s->alpha);
    const double grid = spme_grid_error(&m->charges, s->alpha, s->order, s->influence, s->grid);
    const double both = sqrt(pairs * pairs + grid * grid);
    if (both > 2 * s->tolerance)
        m->host->warn(
            m->host->context,
            "forces will have errors of about %.1e, %.1e of it from the cutoff and %.1e from "
            "the grid of %d x %d x %d, which is more than tolerance = %g",
            both, pairs, grid, s->grid[0], s->grid[1], s->grid[2], s->tolerance);
}

static void warn_of_background(const spme *m)
{
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

static int fill_tables(spme *m)
{
    const spme_settings *s = &m->set;
    const spme_charges *c = &m->charges;
    for (int d = 0; d < 3; d++) {
        const size_t points = (size_t)s->grid[d];
        double *memory = m->host->allocate(m->host->context, 3 * points * sizeof *memory);
        if (!memory)
            return m->host->fail(m->host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu waves",
                                 points);
        m->table[d] = (spme_table){memory, memory + points, memory + 2 * points};
        spme_fill_table(&m->table[d], s->grid[d], c->length[d], s->alpha, s->order, s->influence);
    }
    m->factor = 4 * M_PI * s->bjerrum_length / c->volume;
    m->constant_virial =
        -M_PI * s->bjerrum_length * c->net * c->net / (2 * s->alpha * s->alpha * c->volume);
    m->constant = m->constant_virial - s->bjerrum_length * s->alpha / sqrt(M_PI) * c->square;
    return PLUGMC_OK;
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
