/* A bench with rigid molecules, and its energies. Include after testing.h. */
#ifndef PLUGMC_TEST_MOLECULES_H
#define PLUGMC_TEST_MOLECULES_H

#include "movers.h"

#include "energy/groups.h"
#include "energy/whole.h"
#include "forces.h"
#include "initial/initial.h"
#include "system/molecule_kinds.h"

/* One kind of molecule, as in [molecule NAME]. */
typedef struct kind_of_test {
    const char *sites;
    int64_t count;
    double places[12]; /* of up to four sites */
    int numbers;
    int64_t max_count; /* 0: the number does not change */
} kind_of_test;

/* A species: its name, the particles of it that are in no molecule, its charge. */
typedef struct species_of_test {
    const char *name;
    int64_t free;
    double charge;
} species_of_test;

/* Adds species and molecules to a bench in a periodic box. */
static inline void bench_molecules(bench *b, const species_of_test *species, int count,
                                   const kind_of_test *kinds, int kind_count)
{
    static const char *const names[] = {"m0", "m1", "m2", "m3"};
    const char *species_names[BENCH_SPECIES];
    molecule_section sections[4];
    species_section of_species[BENCH_SPECIES] = {{0}};
    int64_t sites[BENCH_SPECIES] = {0}, room[BENCH_SPECIES] = {0};
    report report = {0};
    config config = {.ini.path = "test.ini",
                     .species_count = count,
                     .species_names = species_names,
                     .species = of_species,
                     .molecule_count = kind_count,
                     .molecules = sections,
                     .molecule_names = (const char **)names};
    for (int s = 0; s < count; s++) species_names[s] = species[s].name;
    for (int k = 0; k < kind_count; k++)
        sections[k] = (molecule_section){.sites = kinds[k].sites,
                                         .places = {kinds[k].places, kinds[k].numbers},
                                         .count = kinds[k].count,
                                         .max_count = kinds[k].max_count};
    b->system.species_count = count;
    assert_int_equal(molecule_kinds_read(&config, &b->system, sites, room, &report), 0);
    b->system.species_count = 0;
    for (int s = 0; s < count; s++)
        bench_species(b, species[s].name, species[s].free + sites[s], 0, species[s].charge);
    assert_int_equal(molecule_kinds_number(&b->system, &report), 0);
    b->system.bodies = 1;
}

/* The configuration of walker 0 becomes this one, in the box of the bench. */
static inline void molecules_fill(bench *b, hamiltonian *h, const double *positions,
                                  const plugmc_orientation *orientations)
{
    const int64_t *counts = numbers_of(&b->system);
    assert_int_equal(
        configuration_fill(&h->walkers[0].now, &b->system.box, counts, positions, orientations), 0);
    h->stale = false;
    h->walkers[0].known = false;
    assert_int_equal(hamiltonian_start_totals(h, &b->host), PLUGMC_OK);
}

/* Energies [terms] of a walker as it is, summed from scratch; totals of their own apart, in total [terms]. */
static inline void molecules_energies(const bench *b, hamiltonian *h, double *parts, double *total)
{
    configuration *now = &h->walkers[0].now;
    double *x = bench_positions(b);
    for (int64_t i = 0; i < b->system.particles; i++) configuration_place(now, i, &x[3 * i]);
    assert_false(whole_energy(h, now, parts));
    const plugmc_view view = {
        .size = sizeof view, .positions = x, .box = &now->box, .count = now->counts, .walkers = 1};
    for (int t = 0; t < b->system.term_count; t++) {
        const plugmc_total *of = b->terms[t].plugin->potential->total;
        total[t] = 0;
        if (!of) continue;
        const plugmc_total_request request = {
            .size = sizeof request, .view = &view, .energy = &total[t]};
        assert_int_equal(of->energy(b->terms[t].instance, &request), PLUGMC_OK);
    }
    free(x);
}

/* The sum of both. */
static inline double molecules_energy(const bench *b, hamiltonian *h)
{
    double parts[BENCH_TERMS], total[BENCH_TERMS], sum = 0;
    molecules_energies(b, h, parts, total);
    for (int t = 0; t < b->system.term_count; t++) sum += parts[t] + total[t];
    return sum;
}

static inline void molecules_end(bench *b)
{
    molecule_kinds_free(&b->system);
    bench_end(b);
}

#endif
