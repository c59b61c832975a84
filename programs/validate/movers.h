/* What the checks of movers share: the mover that is tried, and the systems that it is tried in. */
#ifndef PLUGMC_VALIDATE_MOVERS_H
#define PLUGMC_VALIDATE_MOVERS_H

#include "apart.h"
#include "movers_run.h"
#include "movers_statistics.h"

/* Kinds of movers, told from what the descriptor says that they change. Each has laws of its own. */
enum family {
    FAMILY_POSITIONS,
    FAMILY_NUMBERS,
    FAMILY_BOXES,
    FAMILY_SHARED_BOXES, /* boxes and numbers: walkers that exchange both */
    FAMILY_RUNGS,
    FAMILY_WEIGHTS,   /* of macrostates */
    FAMILY_MOLECULES, /* movers of rigid molecules alone */
    FAMILY_WAVES,     /* |Psi|^2 */
    FAMILY_DIFFUSION
};

/* What runs have shown, in memory that child processes share. */
typedef struct known {
    /* Of systems without and with an ideal gas: the potential that the mover takes, plus 1; 0: not tried. */
    int potential[2];
    /* 1 + whether it exchanges positions alone; 0: not tried. */
    int exchanges;
} known;

typedef struct subject {
    const target *target;
    known *known;
    findings *findings;
    const plugmc_plugin *plugin;
    const plugmc_mover *mover;
    enum family family;
    /* "cpu" or "gpu". */
    const char *device;
    /* The section of FILE.ini; NULL: there is none. */
    const ini_section *section;
    /* Names of two species: those of FILE.ini, so that keys that name species fit. */
    char names[2][64];
    /* A number of the next system, from which its seed follows. */
    int systems;
    /* A folder of our own for files of runs. */
    char folder[64];
} subject;

/* A system, and movers beside the one that is tried. */
typedef struct setting {
    int dimension;
    double edge, temperature, pressure;
    int walkers;
    int64_t equilibrate, seed, threads, first_walker;
    /* Step of moves whose step is a length, and of others, as a part of the largest possible one. 0: the default. */
    double step, part;
    /* Step of moves whose step is an angle, rad. 0: the default. */
    double angle;
    /* Steps are tuned to this acceptance. 0: they are not. */
    double target;
    /* Instead of a periodic box with this edge. */
    const char *box;
    /* The least part of the edge that lengths of keys may be; 0: LEAST_REACH. */
    double least_reach;
    /* The longest length of keys is this part of the edge. 0: what least_reach says. */
    double reach;
    /* Lines of [run], and whole sections. */
    char run[200], species[600], potentials[900], before[400], after[600];
    /* Keys of the mover that take precedence over those of FILE.ini; keys of [initial]. */
    char keys[200], initial[120];
} setting;

extern const char candidate[]; /* label of the mover that is tried */

/* A system without potentials and species, with the sizes of the tests. */
setting setting_new(subject *, int dimension, double edge, double temperature);
/* Two particles or more of both species, or of the first alone (b < 0). */
void setting_species(const subject *, setting *, int a, int b, double diameter);
/* Appends to a text of a setting. */
#define setting_add(text, ...) setting_append(text, sizeof(text), __VA_ARGS__)
void setting_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The field of this folder: a section [potential field]. */
void setting_field(setting *, double strength);
/* The INI file, malloc'ed. */
char *setting_text(const subject *, const setting *);
/* Positions [walkers][capacity][3] of this system after 300 sweeps of single displacements, so that each walker has the
 * law of the system whether or not the mover reaches all states. malloc'ed; NULL: there are none. */
double *setting_settled(const setting *);

/* Opens the system for a running check, with a shorter step if it is refused with the step that there is. Where the
 * mover or the core refuses it in any case, the check is left with the reason. false: it is not open. */
bool subject_open(subject *, setting *, run *);
bool subject_can_open(const subject *, setting *);
/* Sweeps. If that fails, the check has failed. */
bool subject_sweep(subject *, run *, uint64_t sweeps);
/* Whether a sweep is expensive: a trajectory of all particles, or visits to many empty cells. It is then tried with half
 * as many walkers and a quarter of the samples. */
bool subject_is_slow(const subject *, int dimension);
/* Whether the core can tune the step of a move as far as the box lets it. */
bool subject_is_tuned(const subject *);
/* Whether the mover has a key. */
const plugmc_parameter *subject_key(const subject *, const char *key);
/* Of keys that are lengths and no steps, such as a radius: the longest, and its key. 0: there is none. In systems of edges of
 * which it is less than LEAST_REACH or more than MOST_REACH it is taken as REACH of the edge; on the lattices of this program,
 * of eight particles in two dimensions, whatever is less than REACH reaches nobody. */
#define LEAST_REACH 0.15
#define MOST_REACH 0.5
#define REACH 0.4
double subject_length(const subject *, const char **key);
/* Whether a driver may be given a facet; movers without one get their energies from the core. */
bool subject_uses(const subject *, uint32_t facet);
bool subject_changes(const subject *, uint32_t what);

/* ---- Laws (movers_laws.c) ---------------------------------------------------------------------- */

enum { MOST_DIMS = 40 };

/* Numbers of one walker whose means are known. */
typedef struct law_test {
    const char *check, *compared;
    setting setting;
    int dims;
    double expected[MOST_DIMS];
    /* What each number is, for the sentence. NULL: bins of `what`. */
    const char *const *names;
    /* The numbers with names are probabilities, too. */
    bool named_shares;
    const char *what;
    /* What the last number is, if it is no bin. NULL: it is one. */
    const char *last;
    /* Upper ends of bins, if the numbers are probabilities of bins. */
    double ends[MOST_DIMS];
    /* Adds the numbers of a walker to out [dims], and 1 to *samples, or nothing if the walker has none. */
    void (*measure)(const struct law_test *, const snapshot_of_run *, int walker, double *out,
                    double *samples);
    /* On a ladder of two rungs: bins and expectations of the second rung. NULL: there is no ladder. */
    const struct law_test *second;
    /* Samples, and sweeps between two. */
    int samples, interval;
    /* Walkers that belong together: their mean is a unit. 0: each is one. -1: each of so many runs is a unit. */
    int together, runs;
    double parameters[8];
    /* The run begins in states that have the law. */
    bool settled;
    /* Otherwise: the positions [walkers][capacity][3] in which it begins, malloc'ed; NULL: those of the section [initial]. */
    double *(*begin)(const struct law_test *);
    /* What may be wrong; a sentence without a full stop. */
    const char *advice;
} law_test;

/* Advice where lengths of keys are more than half of the box. */
extern const char advice_wide[];
bool any_law_has_failed(const findings *);
/* Runs the system and compares. */
void law_try(subject *, law_test *);
struct law;
/* A law (laws.h) by its name and its keys, KEY=VALUE with blanks between them. */
struct law law_of(const char *name, const char *keys, ...) __attribute__((format(printf, 2, 3)));
/* Bins of a law, about equally probable, become the numbers of a test: the first bins - 1 of them. */
void law_bins(law_test *, const struct law *, int bins);
int law_bin(const law_test *, double value);
/* One sample of a value: its bin has one more. */
void law_count(const law_test *, double value, double *out, double *samples);
/* law_test.measure of the volume of a walker. */
void law_measure_volume(const law_test *, const snapshot_of_run *, int walker, double *out,
                        double *samples);
/* The test with a law by its name and keys, in so many bins. */
void law_try_in_bins(subject *, law_test *, struct law, int bins);
/* The test of two boxes that share four things without energies, and the volume `all`: every number is as likely as every other,
 * and so is every volume. */
void law_try_even(subject *, law_test *, bool volumes, double all);

law_test law_of_field(subject *, int dimension, double temperature, int bins);
law_test law_of_pair(subject *, int dimension, bool hard);

/* Groups of checks, each in a child process. */
int laws_of_positions(const target *, findings *, void *subject);
int laws_of_company(const target *, findings *, void *subject);
int laws_of_numbers(const target *, findings *, void *subject);
int laws_of_boxes(const target *, findings *, void *subject);
int laws_of_molecules(const target *, findings *, void *subject);
/* Of a mover of boxes that keeps molecules rigid. */
void laws_of_molecules_in_boxes(subject *);
int laws_of_rungs(const target *, findings *, void *subject);
int laws_of_weights(const target *, findings *, void *subject);
int laws_of_waves(const target *, findings *, void *subject);
int laws_of_diffusion(const target *, findings *, void *subject);
int checks_of_configurations(const target *, findings *, void *subject);
int checks_of_steps(const target *, findings *, void *subject);
int checks_of_chains(const target *, findings *, void *subject);
int checks_of_resuming(const target *, findings *, void *subject);

/* A system in which the mover can work, for checks that compare no laws. `ideal`: particles without forces, so that
 * nobody else is to blame. */
setting setting_of_family(subject *, bool ideal);
/* Systems for a law, with the companions that movers of a family need. */
setting setting_of_reservoir(subject *, int dimension, double edge);
setting setting_of_pressure(subject *, int dimension, int particles, double diameter);
void setting_beside_cells(setting *, double range);
setting setting_of_shared_boxes(subject *, int dimension);
setting setting_of_rungs(subject *);
setting setting_of_molecules(subject *, bool ideal);
setting setting_of_weights(subject *);
setting setting_of_atom(subject *, int electrons);
#endif
