/* The output file: what is written is read back, a resumed run's file equals an undisturbed one's,
 * failures of the disk leave the last file as it was, damaged files are refused. */
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/output.h"
#include "archive/trajectory.h"
#include "archive/trajectory_resume.h"
#include "archive/averages.h"

enum { PARTICLES = 5, WALKERS = 2, BINS = 7, RUNGS = 3 };

static char folder[] = "/tmp/plugmc-test-output-XXXXXX";

/* ---- A run ---------------------------------------------------------------------------------- */

static const plugmc_species two_species[] = {{"plus", 2, 1.0, 1.0}, {"minus", 3, 0.5, -2.0 / 3}};
static const int64_t first_of_species[] = {0, 2, 5};

static plugmc_system make_system(int dimension, int domain)
{
    return (plugmc_system){.temperature = 1,
                           .rungs = 1,
                           .size = sizeof(plugmc_system),
                           .box = {.domain = domain,
                                   .dimension = dimension,
                                   .length = {10, 11, dimension == 2 ? 1 : 12},
                                   .radius = 5,
                                   .volume = 1320},
                           .particles = PARTICLES,
                           .walkers = WALKERS,
                           .species_count = 2,
                           .species = two_species,
                           .species_size = sizeof(plugmc_species),
                           .term_size = sizeof(plugmc_term),
                           .first = first_of_species,
                           .seed = {0xfedcba9876543210u}};
}

/* A stand-in for a simulation: numbers that depend on the sweep alone. */
static double number(uint64_t sweep, int i)
{
    uint64_t z = (sweep * 1000003 + (uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 31)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 29)) >> 11) * 0x1p-53;
}

typedef struct run {
    plugmc_system system;
    quantity_record quantities[3];
    derived_record derived[2];
    double values[BINS], errors[BINS];
    bool converged[BINS];
    frame frames[64];
    blob blobs[2];
    double positions[WALKERS][PARTICLES][3];
    plugmc_counts counts[2][RUNGS];
    double steps[2][RUNGS];
    move_record moves[2];
    uint64_t key[4];
    unsigned char empty;
    output_data data;
} run;

static void start(run *r, int dimension, int domain)
{
    static double bins[BINS] = {0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5};
    memset(r, 0, sizeof *r);
    r->system = make_system(dimension, domain);
    r->quantities[0] = (quantity_record){.observable = "energy",
                                         .name = "total",
                                         .unit = "kT",
                                         .doc = "energy of a walker",
                                         .length = 1,
                                         .walkers = WALKERS,
                                         .period = 1};
    r->quantities[1] = (quantity_record){.observable = "a/b, %",
                                         .name = "..",
                                         .unit = "",
                                         .doc = "an awkward name",
                                         .length = 1,
                                         .walkers = WALKERS,
                                         .period = 3};
    r->quantities[2] =
        (quantity_record){.observable = "gr",
                          .name = "g",
                          .unit = "",
                          .doc = "pair correlation",
                          .length = BINS,
                          .walkers = WALKERS,
                          .axes = {.rank = 1, .shape = {BINS}, .names = {"r"}, .values = {bins}},
                          .period = 2};
    assert_int_equal(block_average_init(&r->quantities[2].blocks, BINS), 0);
    r->derived[0] = (derived_record){"gr", "contact", "1",  "value at contact",
                                     1.25, 0.5,       true, .converged = true};
    r->derived[1] = (derived_record){
        "gr",
        "g of means",
        "",
        "derived array",
        0,
        0,
        true,
        BINS, /* in two dimensions */
        {.rank = 2, .shape = {1, BINS}, .names = {"", "r"}, .values = {NULL, bins}},
        r->values,
        r->errors,
        .each_converged = r->converged};
    for (int i = 0; i < BINS; i++)
        r->values[i] = 1 + i, r->errors[i] = 0.1 * i, r->converged[i] = i % 2;
    r->steps[0][0] = 0.3;
    r->moves[0] =
        (move_record){"cells", "displacement", "there", "length", RUNGS, r->counts[0], r->steps[0]};
    r->moves[0].tunings = calloc(2, sizeof(tuning_record));
    r->moves[0].tunings[0] = (tuning_record){5, 0, 0.25, 0.2};
    r->moves[0].tunings[1] = (tuning_record){10, RUNGS - 1, 0.75, 0.3};
    r->moves[0].tuning_count = 2;
    r->moves[1] = (move_record){"swap", "swap", "", NULL, 1, r->counts[1], r->steps[1]};
    r->blobs[0] = (blob){"cells, shift", r->key, sizeof r->key};
    r->blobs[1] = (blob){"nothing", &r->empty, 0};
    r->data = (output_data){.system = &r->system,
                            .origin.effective_ini = "[run]\nsweeps = 100 ; sim.ini:2\n",
                            .origin.user_ini = "[run]\nsweeps = 100\n",
                            .origin.provenance = "version: 0.1.0\n",
                            .quantities = r->quantities,
                            .quantity_count = 3,
                            .equilibrate = 10,
                            .derived = r->derived,
                            .derived_count = 2,
                            .trajectory = {.wanted = true,
                                           .format = TRAJECTORY_OF_H5MD,
                                           .run = "0123456789abcdef0123456789abcdef",
                                           .frames = r->frames,
                                           .note = "every 4th sweep"},
                            .positions = r->positions[0][0],
                            .blobs = r->blobs,
                            .blob_count = 2,
                            .moves = r->moves,
                            .move_count = 2};
    assert_int_equal(averages_find(&r->data), 0);
}

static void finish(run *r)
{
    for (int i = 0; i < 3; i++) {
        free(r->quantities[i].series);
        block_average_free(&r->quantities[i].blocks);
        averages_free(&r->quantities[i]);
    }
    for (int f = 0; f < r->data.trajectory.frame_count; f++) free(r->frames[f].positions);
    r->data.trajectory.frame_count = 0;
    r->data.trajectory.frames = NULL; /* they are of the run */
    trajectory_free(&r->data.trajectory);
    free(r->moves[0].tunings);
}

static void sample_scalar(quantity_record *q, uint64_t sweep)
{
    if ((q->samples + 1) * WALKERS > q->capacity) {
        q->capacity = 2 * q->capacity + 4 * WALKERS;
        q->series = realloc(q->series, (size_t)q->capacity * sizeof(double));
    }
    for (int w = 0; w < WALKERS; w++) q->series[q->samples * WALKERS + w] = number(sweep, 100 + w);
    q->samples++;
}

static void sweep_to(run *r, uint64_t last)
{
    while (r->data.sweep < last) {
        uint64_t sweep = ++r->data.sweep;
        double *x = r->positions[0][0];
        for (int i = 0; i < WALKERS * PARTICLES * 3; i++) x[i] = 10 * number(sweep, i);
        for (int i = 0; i < 4; i++) r->key[i] = sweep * (uint64_t)(i + 1);
        r->data.seconds += 0.01;
        speed_add(&r->data.speed, sweep, r->data.seconds, false);
        if (sweep <= r->data.equilibrate) continue;
        uint64_t production = sweep - r->data.equilibrate;
        for (int k = 0; k < RUNGS; k++) {
            r->counts[0][k].trials += 10;
            r->counts[0][k].accepted += sweep % 10;
        }
        if (production % 1 == 0) sample_scalar(&r->quantities[0], sweep);
        if (production % 3 == 0) sample_scalar(&r->quantities[1], sweep);
        if (production % 2 == 0) {
            double g[BINS];
            for (int i = 0; i < BINS; i++) g[i] = number(sweep, 200 + i);
            block_average_add(&r->quantities[2].blocks, g);
        }
        if (production % 4 == 0) {
            frame *f = &r->frames[r->data.trajectory.frame_count++];
            f->sweep = sweep;
            f->positions = malloc(sizeof r->positions);
            memcpy(f->positions, r->positions, sizeof r->positions);
        }
    }
    assert_int_equal(averages_find(&r->data), 0);
}

/* Valid for the next 63 calls. */
static const char *in_folder(const char *name)
{
    static char paths[64][256];
    static int next;
    char *path = paths[next++ % 64];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int count_temporary_files(const char *where)
{
    int count = 0;
    DIR *d = opendir(where);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) count += strstr(e->d_name, ".tmp-") != NULL;
    closedir(d);
    return count;
}

static int prepare_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- Catching what is reported: stderr to a file -------------------------------------------- */

static char said[4096];

static int listen_begin(void)
{
    fflush(stderr);
    char path[64];
    snprintf(path, sizeof path, "%s/stderr", folder);
    int keep = dup(2), to = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(to, 2);
    close(to);
    return keep;
}

static void listen_end(int keep)
{
    fflush(stderr);
    lseek(2, 0, SEEK_SET);
    ssize_t n = read(2, said, sizeof said - 1);
    said[n < 0 ? 0 : n] = '\0';
    dup2(keep, 2);
    close(keep);
}

#define HEARD(call)                                                                                \
    ({                                                                                             \
        int keep_ = listen_begin();                                                                \
        __typeof__(call) result_ = (call);                                                         \
        listen_end(keep_);                                                                         \
        result_;                                                                                   \
    })

static void assert_said(const char *words)
{
    if (!strstr(said, words)) fail_msg("'%s' is not in: %s", words, said);
    char *end = strchr(said, '\n');
    if (!end || end[1]) fail_msg("not one line: %s", said);
}

/* ---- Comparisons ---------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static bool same_axes(const axes *a, const axes *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++)
        same = a->shape[d] == b->shape[d] && same_text(a->names[d], b->names[d]) &&
               !a->values[d] == !b->values[d] &&
               (!a->values[d] ||
                !memcmp(a->values[d], b->values[d], (size_t)a->shape[d] * sizeof(double)));
    return same;
}

static bool same_tunings(const move_record *p, const move_record *q)
{
    bool same = p->tuning_count == q->tuning_count;
    for (int64_t k = 0; same && k < p->tuning_count; k++) {
        const tuning_record *t = &p->tunings[k], *u = &q->tunings[k];
        same = t->sweep == u->sweep && t->rung == u->rung && t->acceptance == u->acceptance &&
               t->step == u->step;
    }
    return same;
}

static bool same_speed(const speed_record *a, const speed_record *b)
{
    return a->count == b->count &&
           !memcmp(a->sweep, b->sweep, (size_t)a->count * sizeof *a->sweep) &&
           !memcmp(a->seconds, b->seconds, (size_t)a->count * sizeof *a->seconds);
}

static bool same_data(const output_data *a, const output_data *b)
{
    bool same = same_text(a->origin.effective_ini, b->origin.effective_ini) &&
                same_text(a->origin.user_ini, b->origin.user_ini) &&
                same_text(a->origin.provenance, b->origin.provenance) &&
                a->quantity_count == b->quantity_count && a->derived_count == b->derived_count &&
                a->equilibrate == b->equilibrate &&
                a->trajectory.written == b->trajectory.written && a->sweep == b->sweep &&
                a->move_count == b->move_count && a->seconds == b->seconds &&
                same_speed(&a->speed, &b->speed) && a->finished == b->finished &&
                a->blob_count == b->blob_count &&
                memcmp(a->positions, b->positions, WALKERS * PARTICLES * 3 * sizeof(double)) == 0;
    for (int i = 0; same && i < a->quantity_count; i++) {
        const quantity_record *p = &a->quantities[i], *q = &b->quantities[i];
        same = same_text(p->observable, q->observable) && same_text(p->name, q->name) &&
               same_text(p->unit, q->unit) && same_text(p->doc, q->doc) &&
               same_axes(&p->axes, &q->axes) && p->length == q->length && p->period == q->period;
        if (same && p->length == 1)
            same = p->samples == q->samples &&
                   (p->samples == 0 || memcmp(p->series, q->series,
                                              (size_t)p->samples * WALKERS * sizeof(double)) == 0);
        else if (same)
            same = p->blocks.per_block == q->blocks.per_block &&
                   p->blocks.blocks == q->blocks.blocks && p->blocks.in_last == q->blocks.in_last &&
                   memcmp(p->blocks.sums, q->blocks.sums, 129 * BINS * sizeof(double)) == 0;
    }
    for (int i = 0; same && i < a->move_count; i++) {
        const move_record *p = &a->moves[i], *q = &b->moves[i];
        same = same_text(p->mover, q->mover) && same_text(p->name, q->name) &&
               same_text(p->doc, q->doc) && !p->step_unit == !q->step_unit &&
               (!p->step_unit || same_text(p->step_unit, q->step_unit)) && p->rungs == q->rungs &&
               memcmp(p->counts, q->counts, (size_t)p->rungs * sizeof *p->counts) == 0 &&
               memcmp(p->steps, q->steps, (size_t)p->rungs * sizeof *p->steps) == 0 &&
               same_tunings(p, q);
    }
    for (int i = 0; same && i < a->derived_count; i++) {
        const derived_record *p = &a->derived[i], *q = &b->derived[i];
        same = same_text(p->observable, q->observable) && same_text(p->name, q->name) &&
               same_text(p->unit, q->unit) && same_text(p->doc, q->doc) && p->value == q->value &&
               p->error == q->error && p->valid == q->valid && p->length == q->length;
        if (same && p->length > 1)
            same = same_axes(&p->axes, &q->axes) &&
                   memcmp(p->values, q->values, BINS * sizeof(double)) == 0 &&
                   memcmp(p->errors, q->errors, BINS * sizeof(double)) == 0;
    }
    for (int i = 0; same && i < a->blob_count; i++)
        same = same_text(a->blobs[i].name, b->blobs[i].name) &&
               a->blobs[i].bytes == b->blobs[i].bytes &&
               (a->blobs[i].bytes == 0 ||
                memcmp(a->blobs[i].data, b->blobs[i].data, a->blobs[i].bytes) == 0);
    return same;
}

static void assert_reads_back(const char *path, const output_data *expected)
{
    report r = {0};
    output_data found = {0};
    assert_int_equal(output_read(path, &found, &r), EXIT_DONE);
    assert_int_equal(found.walkers, WALKERS);
    assert_int_equal(found.particles, PARTICLES);
    assert_true(same_data(expected, &found));
    output_free(&found);
}

/* ---- Reading back --------------------------------------------------------------------------- */

static void assert_all_reads_back(const char *path, int format)
{
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    a.data.trajectory.format = format;
    assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE); /* before any sample */
    assert_reads_back(path, &a.data);
    for (uint64_t sweep = 7; sweep < 150; sweep += 31) {
        sweep_to(&a, sweep);
        a.data.finished = sweep > 120;
        a.derived[0].value = (double)sweep;
        a.values[2] = (double)sweep;
        a.steps[0][1] = 1.0 / (double)sweep;
        a.blobs[0].bytes = sweep == 69 ? 0 : sweep == 100 ? 8 : sizeof a.key;
        assert_int_equal(output_write(path, false, &a.data, &r), EXIT_DONE);
        assert_int_equal(a.data.trajectory.frame_count, 0);
        assert_int_equal(a.data.trajectory.written, sweep < 14 ? 0 : (sweep - 10) / 4);
        assert_reads_back(path, &a.data);
    }
    char *ini;
    assert_int_equal(output_read_ini(path, &ini, &r), EXIT_DONE);
    assert_string_equal(ini, a.data.origin.user_ini);
    free(ini);
    assert_int_equal(r.errors, 0);
    assert_int_equal(count_temporary_files(folder), 0);
    finish(&a);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    assert_all_reads_back(in_folder("gsd.h5"), TRAJECTORY_OF_GSD);
    assert_all_reads_back(in_folder("h5md.h5"), TRAJECTORY_OF_H5MD);
}

/* A dataset below plugmc/observables; its length. */
static int read_numbers(const char *path, const char *name, double out[64])
{
    char full[128];
    snprintf(full, sizeof full, "plugmc/observables/%s", name);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT),
          set = H5Dopen2(file, full, H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    const hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(space);
    assert_true(count <= 64);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    return (int)count;
}

static void autocorrelations_are_written_and_grow(void **state)
{
    (void)state;
    const char *path = in_folder("correlation.h5");
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    for (uint64_t sweep = 40; sweep <= 80;
         sweep += 40) { /* 30 and 70 samples, independent: up to lag 3, then 5 */
        double value[64], lag[64];
        autocorrelation expected;
        sweep_to(&a, sweep);
        assert_int_equal(output_write(path, sweep == 40, &a.data, &r), EXIT_DONE);
        assert_int_equal(autocorrelation_make(&expected, a.quantities[0].series,
                                              a.quantities[0].samples, WALKERS),
                         0);
        assert_int_equal(expected.count, sweep == 40 ? 4 : 6);
        assert_int_equal(read_numbers(path, "energy/total/autocorrelation", value), expected.count);
        assert_int_equal(read_numbers(path, "energy/total/autocorrelation_lag", lag),
                         expected.count);
        for (int i = 0; i < expected.count; i++)
            assert_true(value[i] == expected.value[i] && lag[i] == (double)expected.lag[i]);
        autocorrelation_free(&expected);
    }
    finish(&a);
}

static int64_t read_contact(const char *path, const char *name)
{
    int64_t value = -1;
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t number =
        H5Aopen_by_name(file, "plugmc/observables/gr/contact", name, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Aread(number, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(number);
    H5Fclose(file);
    return value;
}

/* Of a derived number, a derived array and an array: 11 samples are too few for any error, 35 are not. */
static void errors_that_are_lower_bounds_are_told_apart(void **state)
{
    (void)state;
    const char *path = in_folder("bounds.h5");
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    for (int enough = 0; enough < 2; enough++) {
        double value[64];
        sweep_to(&a, enough ? 120 : 32);
        a.derived[0].converged = enough;
        assert_int_equal(output_write(path, !enough, &a.data, &r), EXIT_DONE);
        assert_int_equal(read_contact(path, "converged"), enough);
        assert_int_equal(read_numbers(path, "gr/g of means/converged", value), BINS);
        for (int i = 0; i < BINS; i++) assert_true(value[i] == i % 2);
        assert_int_equal(read_numbers(path, "gr/g/converged", value), BINS);
        for (int i = 0; i < BINS; i++) assert_true(value[i] == enough);
    }
    finish(&a);
}

static int open_descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(all);
    while (readdir(all)) count++;
    closedir(all);
    return count;
}

static void a_resumed_run_has_the_file_of_one_never_stopped(void **state)
{
    (void)state;
    const int descriptors = open_descriptors();
    const char *whole = in_folder("whole.h5"), *resumed = in_folder("resumed.h5");
    report r = {0};
    run a, b, c;
    start(&a, 2, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 140);
    assert_int_equal(output_write(whole, true, &a.data, &r), EXIT_DONE);

    start(&b, 2, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&b, 5); /* within the equilibration */
    assert_int_equal(output_write(resumed, true, &b.data, &r), EXIT_DONE);
    sweep_to(&b, 63);
    assert_int_equal(output_write(resumed, false, &b.data, &r), EXIT_DONE);
    sweep_to(&b, 80); /* lost */
    finish(&b);

    start(&c, 2, PLUGMC_DOMAIN_PERIODIC);
    assert_int_equal(output_read(resumed, &c.data, &r), EXIT_DONE);
    assert_int_equal(c.data.sweep, 63);
    assert_ptr_equal(c.data.quantities, c.quantities);
    memcpy(c.positions, c.data.positions, sizeof c.positions);
    memcpy(c.key, c.data.blobs[0].data, sizeof c.key);
    free((void *)c.data.positions);
    for (int i = 0; i < c.data.blob_count; i++) {
        free(c.data.blobs[i].name);
        free(c.data.blobs[i].data);
    }
    free((void *)c.data.blobs);
    c.data.positions = c.positions[0][0];
    c.data.blobs = c.blobs;
    c.data.seconds += 12345; /* the only thing that may differ */
    sweep_to(&c, 100);
    assert_int_equal(output_write(resumed, false, &c.data, &r), EXIT_DONE);
    sweep_to(&c, 140);
    assert_int_equal(output_write(resumed, false, &c.data, &r), EXIT_DONE);
    assert_int_equal(r.errors, 0);
    assert_int_equal(open_descriptors(), descriptors);
    finish(&a);
    finish(&c);

    char command[1200];
    if (system("command -v h5diff > /dev/null")) {
        printf("SKIPPED: h5diff is not installed\n");
        skip();
    }
    snprintf(command, sizeof command,
             "h5diff --exclude-path /plugmc/volatile --exclude-path /parameters/identity "
             "--exclude-path /parameters/trajectory %s %s > %s && h5diff %.*s.h5md %.*s.h5md >> %s",
             whole, resumed, in_folder("differences"), (int)strlen(whole) - 3, whole,
             (int)strlen(resumed) - 3, resumed, in_folder("differences"));
    assert_int_equal(system(command), 0);
    struct stat info;
    assert_int_equal(stat(in_folder("differences"), &info), 0);
    assert_int_equal(info.st_size, 0); /* nothing that could not be compared either */
    snprintf(command, sizeof command, "h5diff %s %s > /dev/null", whole, resumed);
    assert_int_not_equal(system(command), 0);
}

static void a_checkpoint_of_another_run_is_refused(void **state)
{
    (void)state;
    const char *path = in_folder("other.h5");
    report r = {0};
    run a, b;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 30);
    assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
    start(&b, 3, PLUGMC_DOMAIN_PERIODIC);
    b.system.particles = 6;
    assert_int_equal(HEARD(output_read(path, &b.data, &r)), EXIT_CHECKPOINT);
    assert_said("it has 2 walkers of 5 particles, the run has 2 of 6");
    b.system.particles = PARTICLES;
    b.quantities[0].name = "other";
    assert_int_equal(HEARD(output_read(path, &b.data, &r)), EXIT_CHECKPOINT);
    assert_said("no 'other' of observable 'energy'");
    b.quantities[0].name = "total";
    b.quantities[0].walkers = 1; /* as of walkers with weights: a column, and not one a walker */
    assert_int_equal(HEARD(output_read(path, &b.data, &r)), EXIT_CHECKPOINT);
    assert_said("no 'total' of observable 'energy' of that length, period and number of walkers");
    b.quantities[0].walkers = WALKERS;
    b.data.quantity_count = 2;
    assert_int_equal(HEARD(output_read(path, &b.data, &r)), EXIT_CHECKPOINT);
    assert_said("it has 3 observed quantities, the run has 2");
    finish(&a);
    finish(&b);
}

static void a_missing_file_is_not_replaced(void **state)
{
    (void)state;
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    assert_int_equal(HEARD(output_write(in_folder("gone.h5"), false, &a.data, &r)), EXIT_OUTPUT);
    assert_said("the file from the last checkpoint is gone");
    assert_int_equal(output_write(in_folder("gone.h5"), true, &a.data, &r), EXIT_DONE);
    finish(&a);
}

/* Files of trajectories that are gone begin anew, and those of others are left as they are. */
static void trajectories_are_of_their_run(void **state)
{
    (void)state;
    for (int format = TRAJECTORY_OF_GSD; format <= TRAJECTORY_OF_H5MD; format++) {
        const char *path = in_folder(format ? "theirs.h5" : "ours.h5");
        report r = {0};
        lost_frames lost;
        char why[OUTPUT_WHY];
        run a, b;
        start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
        a.data.trajectory.format = format;
        sweep_to(&a, 30);
        assert_int_equal(output_try(path, true, &a.data, &lost, why), EXIT_DONE);
        assert_int_equal(a.data.trajectory.written, 5);
        assert_int_equal(lost.count, 0);
        for (int w = 0; w < (format ? 1 : WALKERS); w++) {
            char *file = trajectory_path(&a.data.trajectory, w, WALKERS);
            assert_int_equal(unlink(file), 0);
            free(file);
        }
        sweep_to(&a, 40);
        assert_int_equal(output_try(path, false, &a.data, &lost, why), EXIT_DONE);
        assert_int_equal(lost.count, 5);
        assert_true(lost.from == 14 && lost.until == 30);
        assert_int_equal(a.data.trajectory.written, 2);
        assert_true(a.data.trajectory.from == 34 && a.data.trajectory.until == 38);

        start(&b, 3, PLUGMC_DOMAIN_PERIODIC);
        b.data.trajectory.format = format;
        strcpy(b.data.trajectory.run, "another0another0another0another0");
        b.data.trajectory.base = trajectory_base(path);
        char *base;
        assert_int_equal(trajectory_move_aside(&b.data, "", &base, why), EXIT_DONE);
        assert_false(trajectory_find(&a.data.trajectory, path, WALKERS));
        trajectory_put_back(&b.data, base);
        assert_true(trajectory_find(&a.data.trajectory, path, WALKERS));
        free(base);
        b.data.trajectory.written = 2;
        assert_int_equal(HEARD(trajectory_take_up(&b.data, path, &r)), EXIT_OUTPUT);
        assert_said("it is not the trajectory of this run");
        a.data.trajectory.written = 1; /* as if it had been killed before the checkpoint */
        gsd_trajectory_close(&a.data.trajectory);
        assert_int_equal(trajectory_take_up(&a.data, path, &r), EXIT_DONE);
        assert_int_equal(output_try(path, false, &a.data, &lost, why), EXIT_DONE);
        a.data.trajectory.written = 2; /* as if the second one were lost */
        assert_int_equal(HEARD(trajectory_take_up(&a.data, path, &r)), EXIT_DONE);
        assert_said("has the first 1 of 2 frames alone");
        finish(&a);
        finish(&b);
    }
}

static void two_quantities_of_one_name_are_refused(void **state)
{
    (void)state;
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    a.derived[0].name = "g";
    assert_int_equal(HEARD(output_write(in_folder("two.h5"), true, &a.data, &r)), EXIT_INTERNAL);
    assert_said("observable 'gr' gives two quantities named 'g'");
    finish(&a);
}

static void touch(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static void the_holder_of_the_lock_removes_what_dead_runs_left(void **state)
{
    (void)state;
    report r = {0};
    char identity[IDENTITY_SIZE], path[300];
    output_lock lock;
    identity_make(identity);
    const char *const strays[] = {"stale.h5.tmp-12345",
                                  "stale.h5.tmp-0123456789abcdef0123456789abcdef"};
    const char *const others[] = {"stale.h5.tmp-", "stale.h5.tmp-file", "other.h5.tmp-12345",
                                  "stale.h5"};
    for (int i = 0; i < 2; i++) touch(in_folder(strays[i]));
    for (int i = 0; i < 4; i++) touch(in_folder(others[i]));
    assert_int_equal(mkdir(in_folder("stale.h5.tmp-777"), 0700), 0);
    assert_int_equal(output_lock_take(&lock, in_folder("stale.h5"), identity, &r), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(access(in_folder(strays[i]), F_OK), -1);
    for (int i = 0; i < 4; i++) assert_int_equal(access(in_folder(others[i]), F_OK), 0);
    assert_int_equal(access(in_folder("stale.h5.tmp-777"), F_OK), 0);
    for (int i = 0; i < 4; i++) unlink(in_folder(others[i]));
    rmdir(in_folder("stale.h5.tmp-777"));
    snprintf(path, sizeof path, "%s", lock.path);
    assert_int_equal(access(path, F_OK), 0);
    output_lock_release(&lock);
    assert_int_equal(access(path, F_OK), -1);
}

static void one_run_at_a_time_has_the_lock(void **state)
{
    (void)state;
    report r = {0};
    char identity[2][IDENTITY_SIZE], who[64];
    output_lock first, second;
    for (int i = 0; i < 2; i++) identity_make(identity[i]);
    assert_string_not_equal(identity[0], identity[1]);
    assert_int_equal(strspn(identity[0], "0123456789abcdef"), 32);
    assert_int_equal(output_lock_take(&first, in_folder("locked.h5"), identity[0], &r), 0);
    assert_int_equal(HEARD(output_lock_take(&second, in_folder("locked.h5"), identity[1], &r)),
                     EXIT_OUTPUT);
    snprintf(who, sizeof who, "another plugmc is writing it (process %d on ", (int)getpid());
    assert_said(who);
    output_lock_release(&first);
    assert_int_equal(output_lock_take(&second, in_folder("locked.h5"), identity[1], &r), 0);
    output_lock_release(&second);
    assert_int_equal(symlink("elsewhere", in_folder("locked.h5.lock")), 0);
    assert_int_equal(HEARD(output_lock_take(&second, in_folder("locked.h5"), identity[1], &r)),
                     EXIT_OUTPUT);
    assert_said("its lock file");
    unlink(in_folder("locked.h5.lock"));
}

/* Locks may be missing: who writes still sees that somebody else has. */
static void a_file_of_another_run_is_not_replaced(void **state)
{
    (void)state;
    const char *path = in_folder("shared.h5");
    report r = {0};
    run a, b, c;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    start(&c, 3, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 30);
    assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
    assert_int_equal(HEARD(output_write(path, true, &c.data, &r)), EXIT_OUTPUT); /* is there */
    assert_said("another program has written this file in the meantime");
    start(&b, 3, PLUGMC_DOMAIN_PERIODIC);
    b.data.positions = NULL; /* those of the file are new */
    b.data.blobs = NULL;
    b.data.blob_count = 0;
    assert_int_equal(output_read(path, &b.data, &r), EXIT_DONE);
    assert_int_equal(output_write(path, false, &b.data, &r), EXIT_DONE); /* resumes it */
    sweep_to(&a, 60);
    assert_int_equal(HEARD(output_write(path, false, &a.data, &r)), EXIT_OUTPUT);
    assert_said("another run has written this file in the meantime "
                "(the file is not that from the last checkpoint)");
    assert_true(output_is_intact(path, &b.data));
    assert_false(output_is_intact(path, &a.data));
    assert_int_equal(count_temporary_files(folder), 0);
    for (int i = 0; i < b.data.blob_count; i++) {
        free(b.data.blobs[i].name);
        free(b.data.blobs[i].data);
    }
    free((void *)b.data.blobs);
    free((void *)b.data.positions);
    finish(&a);
    finish(&b);
    finish(&c);
}

static void a_link_is_followed(void **state)
{
    (void)state;
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    assert_int_equal(output_write(in_folder("real.h5"), true, &a.data, &r), EXIT_DONE);
    assert_int_equal(symlink("real.h5", in_folder("link.h5")), 0);
    sweep_to(&a, 30);
    assert_int_equal(output_write(in_folder("link.h5"), false, &a.data, &r), EXIT_DONE);
    assert_reads_back(in_folder("real.h5"), &a.data);
    struct stat info;
    assert_int_equal(lstat(in_folder("link.h5"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    finish(&a);
}

/* ---- Places where nothing can be written ---------------------------------------------------- */

static void probe_refuses_what_cannot_be_written(void **state)
{
    (void)state;
    report r = {0};
    const char *path = in_folder("probe.h5");
    assert_int_equal(output_probe(path, NULL, &r), EXIT_DONE);
    assert_int_equal(access(path, F_OK), -1); /* nothing is left behind */
    fclose(fopen(path, "w"));
    assert_int_equal(output_probe(path, NULL, &r), EXIT_DONE);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 0);
    assert_int_equal(HEARD(output_probe(in_folder("no/such.h5"), "[run] output", &r)), EXIT_OUTPUT);
    assert_said("No such file or directory");
    assert_said("; [run] output names another place");
    assert_int_equal(HEARD(output_probe(folder, NULL, &r)), EXIT_OUTPUT);
    assert_said("it is a folder");
    assert_int_equal(HEARD(output_probe("/dev/null", NULL, &r)), EXIT_OUTPUT);
    assert_said("not a regular file");
    assert_int_equal(HEARD(output_probe("/proc/out.h5", NULL, &r)), EXIT_OUTPUT);
    assert_int_equal(HEARD(output_probe("", NULL, &r)), EXIT_OUTPUT);
    assert_int_equal(count_temporary_files(folder), 0);
}

static void writing_says_why_it_cannot(void **state)
{
    (void)state;
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    assert_int_equal(HEARD(output_write(in_folder("no/out.h5"), true, &a.data, &r)), EXIT_OUTPUT);
    assert_said("No such file or directory (nothing was changed)");
    assert_int_equal(mkdir(in_folder("out.d"), 0700), 0);
    assert_int_equal(HEARD(output_write(in_folder("out.d"), true, &a.data, &r)), EXIT_OUTPUT);
    assert_said("Is a directory");
    assert_int_equal(HEARD(output_csv(in_folder("out.d"), &a.data, &r)), EXIT_OUTPUT);
    assert_said("Is a directory");
    if (geteuid() != 0) { /* root may write anywhere */
        assert_int_equal(chmod(in_folder("out.d"), 0500), 0);
        assert_int_equal(HEARD(output_write(in_folder("out.d/x"), true, &a.data, &r)), EXIT_OUTPUT);
        assert_said("Permission denied");
    }
    assert_int_equal(count_temporary_files(folder), 0);
    finish(&a);
}

/* The call fails for `reason` and leaves file and data alone; repeated with room it succeeds. */
static void check_failure_is_harmless(run *a, const char *path, const char *reason)
{
    report r = {0};
    const int64_t frames = a->data.trajectory.frame_count + a->data.trajectory.written;
    assert_int_equal(HEARD(output_write(path, false, &a->data, &r)), EXIT_OUTPUT);
    assert_said(reason);
    assert_said("the file from the last checkpoint is intact");
    assert_int_equal(a->data.trajectory.frame_count + a->data.trajectory.written, frames);
}

/* Limits on the size of a file from nothing to nearly enough: HDF5 fails in different places. */
static void a_limit_on_file_size_leaves_the_last_file(void **state)
{
    (void)state;
    const char *path = in_folder("limit.h5");
    report r = {0};
    run a, old;
    struct rlimit no_limit, limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &no_limit);
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    start(&old, 3, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 60);
    sweep_to(&old, 60);
    assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
    old.data.trajectory.written = a.data.trajectory.written;
    sweep_to(&a, 150);
    static double large[60000];
    a.quantities[0].doc = "energy of a walker";
    a.blobs[1] = (blob){"large", large, sizeof large};
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    int attempts = 0;
    for (rlim_t most = 1; most < (rlim_t)info.st_size + sizeof large; most = most * 9 / 8 + 1) {
        limit = no_limit;
        limit.rlim_cur = most < 4096 ? 4096 : most; /* what is said needs some room, too */
        setrlimit(RLIMIT_FSIZE, &limit);
        check_failure_is_harmless(&a, path, "File too large");
        setrlimit(RLIMIT_FSIZE, &no_limit);
        attempts++;
    }
    printf("%d limits\n", attempts);
    assert_reads_back(path, &old.data);
    assert_int_equal(count_temporary_files(folder), 0);
    assert_int_equal(output_write(path, false, &a.data, &r), EXIT_DONE);
    assert_reads_back(path, &a.data);

    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = HEARD(output_write(in_folder("fresh.h5"), true, &a.data, &r));
    setrlimit(RLIMIT_FSIZE, &no_limit);
    assert_int_equal(code, EXIT_OUTPUT);
    assert_said("File too large (nothing was changed)");
    assert_int_equal(access(in_folder("fresh.h5"), F_OK), -1);
    assert_int_equal(count_temporary_files(folder), 0);
    finish(&a);
    finish(&old);
}

static void a_full_disk_leaves_the_last_file(void **state)
{
    (void)state;
    char disk[128], path[160];
    snprintf(disk, sizeof disk, "%s", in_folder("disk"));
    snprintf(path, sizeof path, "%s/out.h5", disk);
    assert_int_equal(mkdir(disk, 0700), 0);
    if (mount("none", disk, "tmpfs", 0, "size=1m")) {
        printf("SKIPPED: a small tmpfs cannot be mounted here: %s\n", strerror(errno));
        skip();
    }
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 40);
    int code = output_write(path, true, &a.data, &r);
    run old = a;
    old.data.quantities = old.quantities;
    static double large[120000];
    a.blobs[1] = (blob){"large", large, sizeof large};
    int keep = listen_begin();
    int full = output_write(path, false, &a.data, &r);
    listen_end(keep);
    output_data found = {0};
    int back = output_read(path, &found, &r);
    int left = count_temporary_files(disk);
    old.data.blobs = old.blobs;
    bool same = back == EXIT_DONE && same_data(&old.data, &found);
    a.blobs[1].bytes = 8;
    int again = output_write(path, false, &a.data, &r);
    umount(disk);
    assert_int_equal(code, EXIT_DONE);
    assert_int_equal(full, EXIT_OUTPUT);
    assert_said("No space left on device (the file from the last checkpoint is intact");
    assert_true(same);
    assert_int_equal(left, 0);
    assert_int_equal(again, EXIT_DONE);
    output_free(&found);
    finish(&a);
}

/* ---- Damaged files -------------------------------------------------------------------------- */

static char *slurp(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*bytes + 1);
    assert_int_equal(fread(text, 1, *bytes, f), *bytes);
    text[*bytes] = '\0';
    fclose(f);
    return text;
}

/* What the tests look at of the last frame; `species` may be NULL. */
static int last_frame(const char *path, int most, int *walkers, int64_t *count, double **positions,
                      int32_t **species, double edges[3][3], report *r)
{
    file_frame f;
    const int code = h5md_read_frame(path, most, -1, &f, r);
    *positions = NULL;
    if (species) *species = NULL;
    if (code) return code;
    *walkers = f.walkers;
    *count = f.count;
    *positions = f.positions;
    f.positions = NULL;
    if (species) {
        *species = f.species;
        f.species = NULL;
    }
    memset(edges, 0, sizeof f.box[0]);
    if (f.boxes) memcpy(edges, f.box[0], sizeof f.box[0]);
    frame_free(&f);
    return code;
}

static void spill(const char *path, const char *text, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    assert_int_equal(fclose(f), 0);
}

/* 1 if refused with one sentence, 0 if read and identical. */
static int refused_or_identical(const char *path, const output_data *expected)
{
    report r = {0};
    output_data found = {0};
    int code = HEARD(output_read(path, &found, &r));
    if (code) {
        assert_int_equal(code, EXIT_CHECKPOINT);
        assert_said("cannot read");
        return 1;
    }
    assert_true(same_data(expected, &found));
    output_free(&found);
    return 0;
}

/* The same for the last frame of the trajectory, at sweep `last`. */
static int frame_refused_or_identical(const char *path, uint64_t last)
{
    report r = {0};
    int64_t count;
    int walkers;
    double *x, edges[3][3];
    int32_t *species;
    int code = HEARD(last_frame(path, 1, &walkers, &count, &x, &species, edges, &r));
    if (code) {
        assert_int_equal(code, EXIT_INPUT);
        assert_said("cannot read positions from");
        return 1;
    }
    assert_int_equal(count, PARTICLES);
    for (int i = 0; i < 3 * PARTICLES; i++) assert_true(x[i] == 10 * number(last, i));
    for (int i = 0; i < PARTICLES; i++) assert_int_equal(species[i], i >= 2);
    assert_true(edges[0][0] == 10 && edges[1][1] == 11 && edges[2][2] == 12);
    free(x);
    free(species);
    return 0;
}

/* A checkpoint, or (`expected` NULL) a trajectory whose last frame is from sweep 58. */
static int one_refused_or_identical(const char *path, const output_data *expected)
{
    return expected ? refused_or_identical(path, expected) : frame_refused_or_identical(path, 58);
}

static void assert_refused_where_damaged(const char *path, const char *damaged,
                                         const output_data *expected, int least)
{
    size_t bytes;
    char *text = slurp(path, &bytes);
    for (size_t i = 0; i < 20; i++) {
        spill(damaged, text, bytes * i / 20);
        assert_int_equal(one_refused_or_identical(damaged, expected), 1);
    }
    spill(damaged, text, bytes - 1);
    assert_int_equal(one_refused_or_identical(damaged, expected), 1);
    int refused = 0;
    uint64_t seed = 1;
    for (int i = 0; i < 3000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t at = i < 600 ? (size_t)i : (size_t)(seed >> 20) % bytes;
        char flip = (char)(1 << (i % 8));
        text[at] ^= flip;
        spill(damaged, text, bytes);
        refused += one_refused_or_identical(damaged, expected);
        text[at] ^= flip;
    }
    printf("%d of 3000 flipped bits refused\n", refused);
    assert_true(refused > least);
    for (int i = 0; i < 100; i++) { /* a sector of zeros */
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)(seed >> 20) % (bytes - 512);
        char keep[512];
        memcpy(keep, text + at, 512);
        memset(text + at, 0, 512);
        spill(damaged, text, bytes);
        one_refused_or_identical(damaged, expected);
        memcpy(text + at, keep, 512);
    }
    free(text);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    const char *path = in_folder("sound.h5");
    char damaged[256];
    snprintf(damaged, sizeof damaged, "%s", in_folder("damaged.h5"));
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 60);
    assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
    char *trajectory = trajectory_path(&a.data.trajectory, 0, WALKERS);
    assert_refused_where_damaged(path, damaged, &a.data, 500);
    assert_refused_where_damaged(trajectory, damaged, NULL, 100);
    free(trajectory);
    finish(&a);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    report r = {0};
    output_data found = {0};
    const char *path = in_folder("foreign.h5");
    assert_int_equal(HEARD(output_read(path, &found, &r)), EXIT_CHECKPOINT);
    assert_said("No such file or directory");
    assert_int_equal(HEARD(output_read(folder, &found, &r)), EXIT_CHECKPOINT);
    assert_said("it is a folder");
    spill(path, "", 0);
    assert_int_equal(HEARD(output_read(path, &found, &r)), EXIT_CHECKPOINT);
    assert_said("it is empty");
    spill(path, "[run]\nsweeps = 3\n", 17);
    assert_int_equal(HEARD(output_read(path, &found, &r)), EXIT_CHECKPOINT);
    assert_said("it is not an HDF5 file");
    char *ini;
    assert_int_equal(HEARD(output_read_ini(path, &ini, &r)), EXIT_CHECKPOINT);
    assert_null(ini);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    assert_int_equal(HEARD(output_read(path, &found, &r)), EXIT_CHECKPOINT);
    assert_said("it has no checkpoint of plugmc");
}

static void change_number(const char *path, const char *object, const char *name, int64_t value)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t group = H5Gopen2(file, object, H5P_DEFAULT);
    hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(attribute);
    H5Gclose(group);
    H5Fclose(file);
}

static void other_formats_are_refused(void **state)
{
    (void)state;
    const char *path = in_folder("format.h5");
    report r = {0};
    output_data found = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 60);
    assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
    change_number(path, "plugmc", "format", 2); /* of the release before */
    assert_int_equal(HEARD(output_read(path, &found, &r)), EXIT_CHECKPOINT);
    assert_said("its checkpoint has format 2, this plugmc reads formats 3 and 4");
    change_number(path, "plugmc", "format", 7);
    assert_int_equal(HEARD(output_read(path, &found, &r)), EXIT_CHECKPOINT);
    assert_said("its checkpoint has format 7, this plugmc reads formats 3 and 4");
    change_number(path, "plugmc", "format", 4);
    assert_reads_back(path, &a.data);
    finish(&a);
}

/* However long a run is, there are no more points than fit, in order, over all of it. */
static void the_speed_of_a_long_run_is_thinned(void **state)
{
    (void)state;
    speed_record p = {0};
    for (uint64_t sweep = 0; sweep < 200000; sweep++) {
        const double seconds = 0.01 * (double)sweep;
        speed_add(&p, sweep, seconds, sweep % 1000 == 0);
        assert_in_range(p.count, 1, SPEED_POINTS);
        assert_true(p.sweep[p.count - 1] <= sweep && p.seconds[p.count - 1] <= seconds);
    }
    assert_in_range(p.count, 100, SPEED_POINTS);
    for (int k = 1; k < p.count; k++)
        assert_true(p.sweep[k] > p.sweep[k - 1] && p.seconds[k] - p.seconds[k - 1] < 60);
    assert_true(p.seconds[p.count - 1] > 1900);
    speed_go_back(&p, 100000);
    assert_true(p.sweep[p.count - 1] <= 100000 && p.sweep[p.count - 1] > 90000);
}

/* A file may say anything: it is not drawn. */
static void histories_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static run a;
    report r = {0};
    output_data found = {0};
    const char *path = in_folder("histories.h5");
    start(&a, 2, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 20);
    tuning_record *t = a.moves[0].tunings;
    const tuning_record good = t[1],
                        bad[] = {{4, 0, 0.5, 0.1},      /* before the one before */
                                 {10, RUNGS, 0.5, 0.1}, /* no such rung */
                                 {10, -1, 0.5, 0.1},     {10, 0, 1.5, 0.1}, {10, 0, NAN, 0.1},
                                 {10, 0, 0.5, INFINITY}, {10, 0, 0.5, -1}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        t[1] = bad[k];
        unlink(path);
        assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
        assert_int_equal(HEARD(output_read(path, &found, &r)), EXIT_CHECKPOINT);
        assert_said("its history of steps makes no sense");
    }
    t[1] = good;
    const double seconds[] = {NAN, INFINITY, -1, 0};
    const double last = a.data.speed.seconds[1];
    assert_true(a.data.speed.count > 1);
    for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++) {
        a.data.speed.seconds[1] = seconds[k];
        unlink(path);
        assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
        assert_int_equal(HEARD(output_read(path, &found, &r)), EXIT_CHECKPOINT);
        assert_said("what it says of its speed makes no sense");
    }
    a.data.speed.seconds[1] = last;
    unlink(path);
    assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
    assert_reads_back(path, &a.data);
    a.data.speed.count = 0; /* a file of an earlier version */
    unlink(path);
    assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
    assert_reads_back(path, &a.data);
    finish(&a);
}

/* ---- Positions from H5MD files -------------------------------------------------------------- */

static void the_last_frame_is_read(void **state)
{
    (void)state;
    const char *path = in_folder("frames.h5"), *frames = in_folder("frames.h5md");
    for (int dimension = 2; dimension <= 3; dimension++) {
        report r = {0};
        run a;
        if (dimension == 3) unlink(path), unlink(frames); /* a fresh file replaces none */
        start(&a, dimension, dimension == 2 ? PLUGMC_DOMAIN_PERIODIC : PLUGMC_DOMAIN_SPHERE);
        assert_int_equal(output_write(path, true, &a.data, &r), EXIT_DONE);
        int64_t count;
        int walkers;
        double *x, edges[3][3];
        int32_t *species;
        assert_int_equal(last_frame(path, 1, &walkers, &count, &x, NULL, edges, &r), EXIT_DONE);
        for (int i = 0; i < 3 * PARTICLES; i++) assert_true(x[i] == 0); /* as at the beginning */
        free(x);
        sweep_to(&a, 33); /* frames at 14, 18, ... 30 */
        assert_int_equal(output_write(path, false, &a.data, &r), EXIT_DONE);
        sweep_to(&a, 42);
        assert_int_equal(output_write(path, false, &a.data, &r), EXIT_DONE);
        assert_int_equal(last_frame(frames, 1, &walkers, &count, &x, &species, edges, &r),
                         EXIT_DONE);
        assert_int_equal(walkers, 1);
        assert_int_equal(count, PARTICLES);
        for (int i = 0; i < 3 * PARTICLES; i++) assert_true(x[i] == 10 * number(42, i));
        for (int i = 0; i < PARTICLES; i++) assert_int_equal(species[i], i >= 2);
        for (int i = 0; i < 9; i++)
            assert_true(edges[i / 3][i % 3] == (i % 4 ? 0 : a.system.box.length[i / 3]));
        free(x);
        free(species);
        assert_int_equal(last_frame(frames, 9, &walkers, &count, &x, NULL, edges, &r), EXIT_DONE);
        assert_int_equal(walkers, WALKERS);
        for (int i = 0; i < 3 * PARTICLES * WALKERS; i++) assert_true(x[i] == 10 * number(42, i));
        free(x);
        finish(&a);
    }
}

static void an_oblique_box_is_written_as_its_vectors(void **state)
{
    (void)state;
    static const double vector[3][3] = {{10, 0, 0}, {2, 9, 0}, {-1, 3, 8}};
    const char *path = in_folder("oblique.h5"), *frames = in_folder("oblique.h5md");
    report r = {0};
    run a;
    int64_t count;
    int walkers;
    double *x, edges[3][3];
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    a.system.box.oblique = 1;
    memcpy(a.system.box.vector, vector, sizeof vector);
    for (uint64_t last = 18; last < 40; last += 12) { /* what is there grows */
        sweep_to(&a, last);
        assert_int_equal(output_write(path, last == 18, &a.data, &r), EXIT_DONE);
    }
    assert_int_equal(last_frame(frames, 1, &walkers, &count, &x, NULL, edges, &r), EXIT_DONE);
    assert_memory_equal(edges, vector, sizeof edges);
    free(x);
    finish(&a);
}

static void put_foreign(hid_t group, const char *name, hid_t type, int rank, const hsize_t *shape,
                        const float *data)
{
    hid_t space = H5Screate_simple(rank, shape, NULL), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = H5Dcreate2(group, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
}

static void files_of_other_programs_are_read(void **state)
{
    (void)state;
    const char *path = in_folder("foreign-frames.h5");
    const float x[2][3][2] = {{{0, 0}, {0, 0}, {0, 0}}, {{1, 2}, {3, 4}, {5, 6}}};
    const float box[2][2] = {{7, 0}, {0, 8}}, skew[2][2] = {{7, 1}, {0, 8}}, kinds[3] = {4, 5, 4};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_foreign(file, "particles/all/position/value", H5T_IEEE_F32BE, 3, (hsize_t[]){2, 3, 2},
                x[0][0]);
    put_foreign(file, "particles/all/box/edges", H5T_IEEE_F32BE, 2, (hsize_t[]){2, 2}, box[0]);
    put_foreign(file, "particles/all/species", H5T_STD_I8LE, 1, (hsize_t[]){3}, kinds);
    H5Fclose(file);
    report r = {0};
    int64_t count;
    int walkers;
    double *found, edges[3][3];
    int32_t *species;
    assert_int_equal(last_frame(path, 1, &walkers, &count, &found, &species, edges, &r), EXIT_DONE);
    assert_int_equal(count, 3);
    const double expected[9] = {1, 2, 0, 3, 4, 0, 5, 6, 0};
    for (int i = 0; i < 9; i++) assert_true(found[i] == expected[i]);
    for (int i = 0; i < 3; i++) assert_int_equal(species[i], (int)kinds[i]);
    assert_true(edges[0][0] == 7 && edges[1][1] == 8 && edges[2][2] == 1);
    free(found);
    free(species);

    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, "particles/all/box/edges", H5P_DEFAULT);
    put_foreign(file, "particles/all/box/edges", H5T_IEEE_F32LE, 2, (hsize_t[]){2, 2}, skew[0]);
    H5Fclose(file);
    assert_int_equal(last_frame(path, 1, &walkers, &count, &found, NULL, edges, &r), EXIT_DONE);
    assert_true(edges[0][0] == 7 && edges[0][1] == 1 && edges[1][0] == 0 && edges[1][1] == 8);
    free(found);
    file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(file, "particles/second", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    assert_int_equal(HEARD(last_frame(path, 1, &walkers, &count, &found, NULL, edges, &r)),
                     EXIT_INPUT);
    assert_said("it has 2 groups below 'particles'");
    assert_int_equal(HEARD(last_frame(folder, 1, &walkers, &count, &found, NULL, edges, &r)),
                     EXIT_INPUT);
    assert_said("it is a folder");
}

/* ---- The table ------------------------------------------------------------------------------ */

static void the_table_has_a_row_where_anything_was_sampled(void **state)
{
    (void)state;
    const char *path = in_folder("table.csv");
    report r = {0};
    run a;
    start(&a, 3, PLUGMC_DOMAIN_PERIODIC);
    sweep_to(&a, 14);
    a.quantities[0].period = 2; /* as if sampled at every second sweep */
    assert_int_equal(output_csv(path, &a.data, &r), EXIT_DONE);
    size_t bytes;
    char *text = slurp(path, &bytes), expected[1000];
    double m[4];
    for (int k = 0; k < 4; k++)
        m[k] = (a.quantities[0].series[2 * k] + a.quantities[0].series[2 * k + 1]) / 2;
    double n = (a.quantities[1].series[0] + a.quantities[1].series[1]) / 2;
    snprintf(expected, sizeof expected,
             "sweep,energy.total,\"a/b, %%...\"\n12,%.17g,\n13,,%.17g\n14,%.17g,\n16,%.17g,\n"
             "18,%.17g,\n",
             m[0], n, m[1], m[2], m[3]);
    assert_string_equal(text, expected);
    free(text);
    assert_int_equal(count_temporary_files(folder), 0);

    struct rlimit no_limit, limit;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &no_limit);
    sweep_to(&a, 200);
    limit = no_limit;
    limit.rlim_cur = 3000;
    setrlimit(RLIMIT_FSIZE, &limit);
    int code = HEARD(output_csv(path, &a.data, &r));
    setrlimit(RLIMIT_FSIZE, &no_limit);
    assert_int_equal(code, EXIT_OUTPUT);
    assert_said("File too large");
    text = slurp(path, &bytes);
    assert_string_equal(text, expected);
    free(text);
    assert_int_equal(count_temporary_files(folder), 0);
    finish(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(autocorrelations_are_written_and_grow),
        cmocka_unit_test(errors_that_are_lower_bounds_are_told_apart),
        cmocka_unit_test(a_resumed_run_has_the_file_of_one_never_stopped),
        cmocka_unit_test(a_checkpoint_of_another_run_is_refused),
        cmocka_unit_test(trajectories_are_of_their_run),
        cmocka_unit_test(a_missing_file_is_not_replaced),
        cmocka_unit_test(two_quantities_of_one_name_are_refused),
        cmocka_unit_test(the_holder_of_the_lock_removes_what_dead_runs_left),
        cmocka_unit_test(one_run_at_a_time_has_the_lock),
        cmocka_unit_test(a_file_of_another_run_is_not_replaced),
        cmocka_unit_test(a_link_is_followed),
        cmocka_unit_test(probe_refuses_what_cannot_be_written),
        cmocka_unit_test(writing_says_why_it_cannot),
        cmocka_unit_test(a_limit_on_file_size_leaves_the_last_file),
        cmocka_unit_test(a_full_disk_leaves_the_last_file),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(the_speed_of_a_long_run_is_thinned),
        cmocka_unit_test(histories_that_make_no_sense_are_refused),
        cmocka_unit_test(the_last_frame_is_read),
        cmocka_unit_test(an_oblique_box_is_written_as_its_vectors),
        cmocka_unit_test(files_of_other_programs_are_read),
        cmocka_unit_test(the_table_has_a_row_where_anything_was_sampled)};
    return cmocka_run_group_tests(tests, prepare_folder, remove_folder) != 0;
}
