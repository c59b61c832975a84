/* A data file of LAMMPS, as lib/formats/lammps.c reads it: one configuration, with all digits, in atom style full where there are
 * rigid molecules, else charge, or atomic where no species has a charge. Types have the names of the species as labels. The units are those of LAMMPS that
 * have this unit of length: real (Angstrom, u, e), also for nm, electron (bohr, u, e), and lj without [units]. */
#include <ctype.h>
#include <string.h>

#include "standard_axes.h"

static bool any_charge(const plugmc_system *system)
{
    bool any = false;
    for (int32_t s = 0; s < system->species_count; s++)
        any |= plugmc_species_at(system, s)->charge != 0;
    return any;
}

/* LAMMPS takes a word that begins with a digit for a number. */
static bool has_labels(exported *e)
{
    const plugmc_system *system = &e->run->system;
    for (int32_t s = 0; s < system->species_count; s++) {
        const char *name = plugmc_species_at(system, s)->name;
        if (isdigit((unsigned char)*name) || strchr("+-.", *name))
            snprintf(e->why, sizeof e->why,
                     "labels of types in LAMMPS begin with a letter, and a species is called %.60s",
                     name);
    }
    return !*e->why;
}

static void put_header(const exported *e, const snapshot *s, const standard_axes *a,
                       const char *units)
{
    static const char *const names[] = {"xlo xhi", "ylo yhi", "zlo zhi"};
    const plugmc_system *system = s->system;
    FILE *out = e->out;
    fprintf(out, "LAMMPS data file of plugmc, walker %d, sweep %llu, units = %s\n\n", s->walker,
            (unsigned long long)s->state->sweep, units);
    fprintf(out, "%lld atoms\n%d atom types\n\n", (long long)s->state->count,
            system->species_count);
    for (int d = 0; d < 3; d++) {
        const bool flat = s->state->box.dimension == 2 && d == 2;
        fprintf(out, "%.17g %.17g %s\n", flat ? -0.5 : 0, flat ? 0.5 : a->vector[d][d], names[d]);
    }
    if (a->leaning)
        fprintf(out, "%.17g %.17g %.17g xy xz yz\n", a->vector[1][0], a->vector[2][0],
                a->vector[2][1]);
    fputs("\nAtom Type Labels\n\n", out);
    for (int32_t k = 0; k < system->species_count; k++)
        fprintf(out, "%d %s\n", k + 1, plugmc_species_at(system, k)->name);
    fputs("\nMasses\n\n", out);
    for (int32_t k = 0; k < system->species_count; k++)
        fprintf(out, "%s %.17g\n", plugmc_species_at(system, k)->name,
                plugmc_species_at(system, k)->mass);
}

static void put(exported *e, const snapshot *s)
{
    const units *u = &e->run->config.units;
    const double bohr = 5.29177210903e-11;
    const bool atomic = u->given && u->metre < 0.9e-10, charged = any_charge(s->system);
    const standard_axes a = standard_axes_of(e, s, atomic ? bohr : 1e-10);
    if (*e->why || !standard_holds(e, "LAMMPS data", 255) || !has_labels(e)) return;
    if (s->frame > 0)
        snprintf(
            e->why, sizeof e->why,
            "a data file of LAMMPS holds one configuration: use --last, or choose one by --from "
            "and --until");
    if (!a.periodic)
        snprintf(e->why, sizeof e->why,
                 "a data file of LAMMPS has a box, and the run is in a sphere");
    if (*e->why) return;
    put_header(e, s, &a, !u->given ? "lj" : atomic ? "electron" : "real");
    const bool full = s->system->molecules;
    fprintf(e->out, "\nAtoms # %s\n\n", full ? "full" : charged ? "charge" : "atomic");
    for (int64_t i = 0; i < s->state->count && !ferror(e->out); i++) {
        const plugmc_species *species = plugmc_species_at(s->system, s->state->species[i]);
        double r[3];
        standard_position(&a, s, i, r);
        const char *name;
        fprintf(e->out, "%lld", (long long)s->state->number[i] + 1);
        if (full) fprintf(e->out, " %lld", (long long)residue_of(s, i, &name));
        fprintf(e->out, " %s", species->name);
        if (full || charged) fprintf(e->out, " %.17g", species->charge);
        fprintf(e->out, " %.17g %.17g %.17g\n", r[0], r[1], r[2]);
    }
}

const format lammps_format = {
    .name = "lammps", .endings = {".data", ".lmp", ".lammps"}, .put = put};
