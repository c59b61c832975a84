/* QMCPACK's NAME.s000.scalar.dat, which qmca and other programs of the field read: a line a block, Hartree,
 *
 *     #   index  LocalEnergy  LocalEnergy_sq  LocalPotential  Kinetic  ElecElec  ...  BlockWeight  BlockCPU  AcceptRatio
 *
 * A block is the mean over all walkers and some measurements, BlockWeight the samples in it, or the sum of their
 * weights. Of wall time and
 * acceptance a run keeps the whole: BlockCPU is a block's part of the seconds, AcceptRatio the same in all lines.
 *
 * The columns are those of the observable that has the quantities energy, energy_squared and kinetic. */
#include "formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 1000 };
enum { ENERGY, SQUARE, KINETIC, REPULSION, IONS, NONLOCAL, ION_ION, PARTS };

static const char *const names[PARTS] = {"energy", "energy_squared", "kinetic", "electron_electron",
                                         "local",  "nonlocal",       "ion_ion"};

typedef struct table {
    const quantity_record *part[PARTS]; /* NULL: it has none */
    const quantity_record *weights;     /* of samples, where walkers have weights; else NULL */
    bool shown[PARTS];                  /* not 0 in all samples */
    double scale;                       /* to Hartree of the whole box */
    bool pseudopotentials;
    int64_t first, end, block; /* samples, and how many of them a line has */
    double seconds;            /* a sample */
    double whole;              /* walkers that a weight stands for */
    double acceptance;
} table;

/* ---- What there is ---------------------------------------------------------------------------- */

/* Quantities of one observable stand together, and begin with number i. Those of a ladder belong to rungs. */
static bool take_parts(const output_data *data, int i, table *t)
{
    const quantity_record *all = data->quantities;
    memset(t->part, 0, sizeof t->part);
    t->weights = NULL;
    for (int k = i; k < data->quantity_count && !strcmp(all[k].observable, all[i].observable);
         k++) {
        if (all[k].length == 1 && all[k].weighs) t->weights = &all[k];
        for (int p = 0; p < PARTS; p++)
            if (all[k].length == 1 && !strcmp(all[k].name, names[p])) t->part[p] = &all[k];
    }
    return t->part[ENERGY] && t->part[SQUARE] && t->part[KINETIC] &&
           (t->weights || t->part[ENERGY]->walkers == data->walkers);
}

static int find_parts(const run_file *run, table *t, report *r)
{
    for (int i = 0; i < run->data.quantity_count; i++)
        if (take_parts(&run->data, i, t)) return EXIT_DONE;
    return report_error(r, EXIT_INPUT, run->path, 0,
                        "no observable of this run has local energies: the quantities energy, "
                        "energy_squared and kinetic");
}

static const char *value_of(const run_file *run, const char *label, const char *key)
{
    for (int i = 0; i < run->config.ini.count; i++) {
        const ini_section *section = &run->config.ini.sections[i];
        const ini_entry *entry = ini_get(section, key);
        if (!strcmp(section->kind, "observable") && !strcmp(section->label, label))
            return entry ? entry->value : "";
    }
    return "";
}

/* Energies are reported in a unit, of the box or of a part of it. */
static int find_scale(const run_file *run, table *t, report *r)
{
    static const struct {
        const char *name;
        double hartree;
    } units[] = {{"hartree", 1}, {"rydberg", 0.5}, {"eV", 1 / 27.211386245988}};
    const char *unit = t->part[ENERGY]->unit,
               *per = value_of(run, t->part[ENERGY]->observable, "per");
    for (int i = 0; i < PLUGMC_COUNT(units); i++)
        if (!strcmp(unit, units[i].name)) t->scale = units[i].hartree;
    if (!strcmp(per, "electron")) t->scale *= (double)run->system.particles;
    if (!t->scale || (*per && strcmp(per, "cell") && strcmp(per, "electron")))
        return report_error(
            r, EXIT_INPUT, run->path, 0,
            "energies of this run are in %s%s%s, and not known in Hartree of the box", unit,
            *per ? " per " : "", per);
    t->whole = t->weights ? run->data.walkers : 1;
    t->pseudopotentials = *value_of(run, t->part[ENERGY]->observable, "pseudopotentials");
    return EXIT_DONE;
}

/* Samples after sweeps from ... until. Sample k is after production sweep (k + 1) period, counted from the end. */
static int find_range(const run_file *run, table *t, int64_t from, int64_t until, int64_t block,
                      report *r)
{
    const output_data *data = &run->data;
    const quantity_record *q = t->part[ENERGY];
    const int64_t before = (int64_t)(data->sweep - data->equilibrate) / q->period - q->samples;
    const int64_t start = (int64_t)data->equilibrate;
    t->end = q->samples;
    while (t->first < t->end && start + (before + t->first + 1) * q->period < from) t->first++;
    while (t->end > t->first && start + (before + t->end) * q->period > until) t->end--;
    const int64_t samples = t->end - t->first;
    t->block = block ? block : (samples + MOST_LINES - 1) / MOST_LINES;
    if (samples < 1 || samples < t->block)
        return report_error(
            r, EXIT_INPUT, run->path, 0,
            "there are %lld samples of %s.energy in this range, which make no block",
            (long long)samples, q->observable);
    t->seconds = data->sweep ? data->seconds * (double)q->period / (double)data->sweep : 0;
    for (int p = 0; p < PARTS; p++)
        for (int64_t i = t->first * q->walkers; t->part[p] && i < t->end * q->walkers; i++)
            t->shown[p] |= t->part[p]->series[i] != 0;
    return EXIT_DONE;
}

/* Of all kinds of move that are there. */
static double acceptance_of(const output_data *data)
{
    double trials = 0, accepted = 0;
    for (int m = 0; m < data->move_count; m++)
        for (int32_t k = 0; k < data->moves[m].rungs; k++) {
            trials += (double)data->moves[m].counts[k].trials;
            accepted += (double)data->moves[m].counts[k].accepted;
        }
    return trials > 0 ? accepted / trials : 0;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static const char *column_name(const table *t, int part)
{
    static const char *const columns[PARTS] = {
        [REPULSION] = "ElecElec", [NONLOCAL] = "NonLocalECP", [ION_ION] = "IonIon"};
    return part == IONS ? t->pseudopotentials ? "LocalECP" : "ElecIon" : columns[part];
}

static void put_head(FILE *out, const table *t)
{
    fprintf(out, "#   index    %-22s %-22s %-22s %-22s", "LocalEnergy", "LocalEnergy_sq",
            "LocalPotential", "Kinetic");
    for (int p = REPULSION; p < PARTS; p++)
        if (t->shown[p]) fprintf(out, " %-22s", column_name(t, p));
    fprintf(out, " %-22s %-22s %-22s\n", "BlockWeight", "BlockCPU", "AcceptRatio");
}

static double weight_of(const table *t, int64_t i)
{
    return t->weights ? t->weights->series[i] : 1;
}

static double weight_of_block(const table *t, int64_t first)
{
    const int64_t walkers = t->part[ENERGY]->walkers;
    double sum = 0;
    for (int64_t i = first * walkers; i < (first + t->block) * walkers; i++) sum += weight_of(t, i);
    return sum;
}

static double mean_of(const table *t, int part, int64_t first)
{
    const quantity_record *q = t->part[part];
    double sum = 0;
    for (int64_t i = first * q->walkers; i < (first + t->block) * q->walkers; i++)
        sum += weight_of(t, i) * q->series[i];
    return sum / weight_of_block(t, first) * (part == SQUARE ? t->scale * t->scale : t->scale);
}

static void put_line(FILE *out, const table *t, int64_t index, int64_t first)
{
    const double energy = mean_of(t, ENERGY, first), kinetic = mean_of(t, KINETIC, first);
    fprintf(out, "%9lld    %-22.15e %-22.15e %-22.15e %-22.15e", (long long)index, energy,
            mean_of(t, SQUARE, first), energy - kinetic, kinetic);
    for (int p = REPULSION; p < PARTS; p++)
        if (t->shown[p]) fprintf(out, " %-22.15e", mean_of(t, p, first));
    fprintf(out, " %-22.15e %-22.15e %-22.15e\n", t->whole * weight_of_block(t, first),
            (double)t->block * t->seconds, t->acceptance);
}

/* What is left at the end is in no block. */
static int samples(exported *e, int64_t from, int64_t until, int64_t block, int64_t *lines,
                   report *r)
{
    table t = {.acceptance = acceptance_of(&e->run->data)};
    int code = find_parts(e->run, &t, r);
    if (!code) code = find_scale(e->run, &t, r);
    if (!code) code = find_range(e->run, &t, from, until, block, r);
    if (code) return code;
    put_head(e->out, &t);
    for (int64_t k = t.first; k + t.block <= t.end && !ferror(e->out); k += t.block)
        put_line(e->out, &t, (*lines)++, k);
    return EXIT_DONE;
}

const format scalar_format = {.name = "scalar", .endings = {".dat"}, .samples = samples};
