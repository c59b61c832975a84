/* The output file of a small run with everything in it, and its trajectory as H5MD, as bytes. */
#ifndef PLUGMC_FUZZ_OUTPUT_FILE_H
#define PLUGMC_FUZZ_OUTPUT_FILE_H

#include "fuzz.h"

#include <unistd.h>

#include "archive/averages.h"
#include "archive/output.h"
#include "archive/trajectory.h"

enum { PARTICLES = 3, WALKERS = 2, BINS = 4, SAMPLES = 6 };

static uint8_t *sound;
static size_t sound_bytes;

/* Where its trajectory is. malloc'ed. */
static inline char *h5md_beside(const char *path)
{
    const output_trajectory t = {.format = TRAJECTORY_OF_H5MD, .base = trajectory_base(path)};
    char *found = trajectory_path(&t, 0, WALKERS);
    free(t.base);
    if (!found) abort();
    return found;
}

static inline void write_sound_file(const char *path)
{
    static const plugmc_species species[] = {{"plus", 1, 1.0, 1.0, 1}, {"minus", 2, 0.5, -0.5, 1}};
    static const int64_t first[] = {0, 1, 3};
    static double bins[BINS] = {0.5, 1.5, 2.5, 3.5}, values[BINS], errors[BINS];
    static double positions[WALKERS][PARTICLES][3];
    static bool converged[BINS];
    uint64_t key[4] = {1, 2, 3, 4};
    const plugmc_system system = {.size = sizeof system,
                                  .particles = PARTICLES,
                                  .walkers = WALKERS,
                                  .species_count = 2,
                                  .species = species,
                                  .species_size = sizeof species[0],
                                  .first = first,
                                  .seed = {7},
                                  .box = {.domain = PLUGMC_DOMAIN_PERIODIC,
                                          .dimension = 3,
                                          .length = {10, 11, 12},
                                          .volume = 1320}};
    quantity_record quantities[2] = {
        {.observable = "energy",
         .name = "total",
         .unit = "kT",
         .doc = "d",
         .length = 1,
         .walkers = WALKERS,
         .period = 1,
         .samples = SAMPLES,
         .capacity = SAMPLES * WALKERS},
        {.observable = "gr",
         .name = "g",
         .unit = "",
         .doc = "d",
         .length = BINS,
         .axes = {.rank = 1, .shape = {BINS}, .names = {(char *)"r"}, .values = {bins}},
         .walkers = WALKERS,
         .period = 2}};
    derived_record derived[2] = {{.observable = "gr",
                                  .name = "contact",
                                  .unit = "1",
                                  .doc = "d",
                                  .value = 1.25,
                                  .error = 0.5,
                                  .valid = true},
                                 {.observable = "gr",
                                  .name = "array",
                                  .unit = "",
                                  .doc = "d",
                                  .valid = true,
                                  .length = BINS,
                                  .axes = {.rank = 2,
                                           .shape = {1, BINS},
                                           .names = {(char *)"", (char *)"r"},
                                           .values = {NULL, bins}},
                                  .values = values,
                                  .errors = errors,
                                  .each_converged = converged}};
    frame frames[1] = {{.sweep = 8, .positions = malloc(sizeof positions)}};
    const blob blobs[1] = {{(char *)"cells", key, sizeof key}};
    plugmc_counts counts[2] = {{100, 40}, {90, 30}};
    double steps[2] = {0.3, 0.2};
    move_record moves[1] = {
        {(char *)"cells", (char *)"displacement", (char *)"", (char *)"length", 2, counts, steps}};
    quantities[0].series = calloc(SAMPLES * WALKERS, sizeof(double));
    if (!frames[0].positions || !quantities[0].series ||
        block_average_init(&quantities[1].blocks, BINS))
        abort();
    for (int i = 0; i < SAMPLES * WALKERS; i++) quantities[0].series[i] = 0.25 * (i % 5);
    double *x = positions[0][0];
    for (int i = 0; i < WALKERS * PARTICLES * 3; i++) x[i] = 0.5 * i;
    for (int i = 0; i < 3; i++) block_average_add(&quantities[1].blocks, bins);
    memcpy(frames[0].positions, positions, sizeof positions);
    output_data data = {.system = &system,
                        .origin.effective_ini = "[run]\nsweeps = 8\n",
                        .origin.user_ini = "[run]\nsweeps = 8\n",
                        .origin.provenance = "version: 0.1.0\n",
                        .quantities = quantities,
                        .quantity_count = 2,
                        .equilibrate = 2,
                        .derived = derived,
                        .derived_count = 2,
                        .trajectory = {.wanted = true,
                                       .format = TRAJECTORY_OF_H5MD,
                                       .run = "0123456789abcdef0123456789abcdef",
                                       .frames = frames,
                                       .frame_count = 1,
                                       .note = "every sweep"},
                        .sweep = 8,
                        .positions = positions[0][0],
                        .blobs = blobs,
                        .blob_count = 1,
                        .moves = moves,
                        .move_count = 1};
    report r = {0};
    if (averages_find(&data) || output_write(path, true, &data, &r)) abort();
    data.trajectory.frames = NULL; /* not from the heap */
    trajectory_free(&data.trajectory);
    for (int i = 0; i < data.quantity_count; i++) averages_free(&data.quantities[i]);
    free(quantities[0].series);
    block_average_free(&quantities[1].blocks);
}

static inline void read_sound(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END)) abort();
    sound_bytes = (size_t)ftell(f);
    rewind(f);
    sound = malloc(sound_bytes);
    if (!sound || fread(sound, 1, sound_bytes, f) != sound_bytes) abort();
    fclose(f);
}

/* A file of the run: it is made once; then it is as it was again. */
static inline const char *fresh_file(bool of_trajectory)
{
    if (!sound) {
        const char *output = fuzz_file();
        char *trajectory = h5md_beside(output);
        write_sound_file(output);
        read_sound(of_trajectory ? trajectory : output);
        unlink(trajectory);
        free(trajectory);
    }
    return fuzz_write(sound, sound_bytes);
}

#endif
