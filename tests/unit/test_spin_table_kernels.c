/* The GPU source of expansions in determinants (plugins/determinants/spin_table.cu) on the host: compiled by a C++ compiler
 * with a few threads that meet at barriers as those of a block do, against spin_table.c. Needs c++; skipped without. */
#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "testing.h"

#include "../../plugins/determinants/spin_table.h"

enum {
    UP = 5,
    ORBITALS = 10,
    PITCH = 16,
    NUMBERS = 2 * PITCH,
    TERMS = 40,
    WALKERS = 2,
    THREADS = 4
};

#define SOURCES TEST_DATA "/../../plugins/determinants/"

/* What CUDA has and a host has not: a block of THREADS threads. */
static const char prelude[] =
    "#include <cmath>\n#include <cstdint>\n#include <pthread.h>\n#include <thread>\n#include <vector>\n"
    "using std::sqrt; using std::fabs; using std::log; using std::fmax; using std::fmin;\n"
    "#define PLUGMC_FN static inline\n#define __shared__ static\n"
    "struct place { uint32_t x; };\nstatic thread_local place threadIdx, blockIdx;\n"
    "static pthread_barrier_t barrier;\n"
    "static void __syncthreads() { pthread_barrier_wait(&barrier); }\n"
    "#define SUM_THREADS 4\n"
    "#include \"" SOURCES "complex_numbers.cu\"\n"
    "#include \"" SOURCES "number_operators.cu\"\n";

static const char minors[] =
    "#define NUMBER double\n#define NUMBER_OF(x) ((double)(x))\n#define MAGNITUDE(a) fabs(a)\n"
    "#define NAMED(f) f##_real\n"
    "#include \"" SOURCES "minors.h\"\n"
    "#undef NUMBER\n#undef NUMBER_OF\n#undef MAGNITUDE\n#undef NAMED\n"
    "#define NUMBER vmc_complex\n#define NUMBER_OF(x) of((double)(x), 0, vmc_complex())\n"
    "#define MAGNITUDE(a) sqrt(square_of(a))\n#define NAMED(f) f##_complex\n"
    "#include \"" SOURCES "minors.h\"\n"
    "#include \"" SOURCES "spin_table.cu\"\n";

/* Kernels: what they do in all threads of a block. */
static const char kernels[] =
    "template <class F> static void block(F f) {\n"
    "    pthread_barrier_init(&barrier, 0, SUM_THREADS);\n"
    "    std::vector<std::thread> all;\n"
    "    for (uint32_t k = 0; k < SUM_THREADS; k++)\n"
    "        all.emplace_back([=] { threadIdx.x = k; f(); });\n"
    "    for (auto &one : all) one.join();\n"
    "    pthread_barrier_destroy(&barrier);\n"
    "}\n"
    "template <class T> static void anew(const sum_task *t, int w, const double *values) {\n"
    "    block([=] {\n"
    "        sum_task here = *t;\n"
    "        here.walker = w;\n"
    "        blockIdx.x = 0;\n"
    "        sum_anew<T>(here, values);\n"
    "    });\n"
    "}\n"
    "template <class T> static void rows(const sum_task *t, int w, int length, double *out) {\n"
    "    block([=] { find_rows(walker_of<T>(t, w), (T *)out, length); });\n"
    "}\n"
    "template <class T> static void weigh(const sum_task *t, int w, const double *others) {\n"
    "    block([=] { find_weights(walker_of<T>(t, w), (const T *)others); });\n"
    "}\n"
    "template <class T> static void move(const sum_task *t, int w, int e, const double *values, int accept,\n"
    "                                    double *ratio) {\n"
    "    block([=] {\n"
    "        const sum_walker<T> s = walker_of<T>(t, w);\n"
    "        T q;\n"
    "        const T found = sum_ratio(s, e, values, &q);\n"
    "        if (threadIdx.x == 0) *(T *)ratio = found;\n"
    "        __syncthreads();\n"
    "        if (accept) sum_accept(s, e, values, q);\n"
    "    });\n"
    "}\n"
    "extern \"C\" void run_anew(const sum_task *t, int z, int w, const double *v) {\n"
    "    z ? anew<vmc_complex>(t, w, v) : anew<double>(t, w, v);\n"
    "}\n"
    "template <class T> static void copy(const sum_task *t, int from, int to) {\n"
    "    block([=] { copy_walker(walker_of<T>(t, from), walker_of<T>(t, to)); });\n"
    "}\n"
    "extern \"C\" void run_copy(const sum_task *t, int z, int from, int to) {\n"
    "    z ? copy<vmc_complex>(t, from, to) : copy<double>(t, from, to);\n"
    "}\n"
    "extern \"C\" void run_rows(const sum_task *t, int z, int w, int length, double *out) {\n"
    "    z ? rows<vmc_complex>(t, w, length, out) : rows<double>(t, w, length, out);\n"
    "}\n"
    "extern \"C\" void run_weigh(const sum_task *t, int z, int w, const double *others) {\n"
    "    z ? weigh<vmc_complex>(t, w, others) : weigh<double>(t, w, others);\n"
    "}\n"
    "extern \"C\" void run_move(const sum_task *t, int z, int w, int e, const double *v, int accept,\n"
    "                         double *ratio) {\n"
    "    z ? move<vmc_complex>(t, w, e, v, accept, ratio) : move<double>(t, w, e, v, accept, ratio);\n"
    "}\n";

static void (*run_anew)(const sum_task *, int, int, const double *);
static void (*run_copy)(const sum_task *, int, int, int);
static void (*run_rows)(const sum_task *, int, int, int, double *);
static void (*run_weigh)(const sum_task *, int, int, const double *);
static void (*run_move)(const sum_task *, int, int, int, const double *, int, double *);

static char folder[] = "/tmp/plugmc-test-XXXXXX";

/* The task's header, but for its number of threads. */
static void put_task(FILE *out)
{
    char line[512];
    FILE *in = fopen(SOURCES "spin_table_task.h", "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in))
        if (!strstr(line, "SUM_THREADS =")) fputs(line, out);
    fclose(in);
}

static int compile_kernels(void **state)
{
    (void)state;
    char path[64], command[512];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/kernels", folder);
    FILE *out = fopen(path, "w");
    fputs(prelude, out);
    put_task(out);
    fputs(minors, out);
    fputs(kernels, out);
    assert_int_equal(fclose(out), 0);
    snprintf(command, sizeof command,
             "c++ -x c++ -std=c++17 -O1 -ffp-contract=off -shared -fPIC -pthread -o %s.so %s", path,
             path);
    assert_int_equal(system(command), 0);
    strcat(path, ".so");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    *(void **)&run_anew = dlsym(library, "run_anew");
    *(void **)&run_weigh = dlsym(library, "run_weigh");
    *(void **)&run_move = dlsym(library, "run_move");
    *(void **)&run_rows = dlsym(library, "run_rows");
    *(void **)&run_copy = dlsym(library, "run_copy");
    return run_copy && run_rows && run_anew && run_weigh && run_move ? 0 : -1;
}

static int remove_kernels(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

/* ---- Expansions ---------------------------------------------------------------------------------- */

typedef struct subject {
    expansion e;
    int is_complex;
    double coefficients[TERMS], imaginary[TERMS];
    int32_t of[2][TERMS], column[ORBITALS], occupied[2][TERMS][UP];
    double values[2][UP * NUMBERS];
    slater spin[2];
    void *memory;
    sum_task task[2];
    int32_t begin[2][TERMS + 1], term[2][TERMS];
} subject;

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

static int smaller(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* The first UP orbitals with up to all of them replaced. */
static void occupy(int32_t *to, int u, uint64_t *state)
{
    int used[ORBITALS] = {0}, n = 0;
    for (int i = 0; i < UP; i++) used[i] = 1;
    for (int k = 0; u && k < 1 + u % 5; k++) {
        int hole, particle;
        do hole = (int)((uniform(state) + 0.5) * UP);
        while (!used[hole]);
        do particle = UP + (int)((uniform(state) + 0.5) * (ORBITALS - UP));
        while (used[particle]);
        used[hole] = 0;
        used[particle] = 1;
    }
    for (int32_t o = 0; o < ORBITALS; o++)
        if (used[o]) to[n++] = o;
    qsort(to, UP, sizeof *to, smaller);
}

/* Memory of a task: walkers by walkers, as on a device. */
static void make_task(subject *s, int spin)
{
    const expansion_spin *set = &s->e.spin[spin];
    const size_t n = UP, m = ORBITALS - UP, det = (size_t)set->determinants, number = 16;
    int32_t next = 0;
    for (int32_t u = 0; u < set->determinants; u++) {
        s->begin[spin][u] = next;
        for (int32_t k = 0; k < TERMS; k++)
            if (s->of[spin][k] == u) s->term[spin][next++] = k;
    }
    s->begin[spin][set->determinants] = next;
    int32_t *partner = calloc(TERMS, sizeof *partner);
    for (int k = 0; k < TERMS; k++) partner[k] = s->of[1 - spin][s->term[spin][k]];
    s->task[spin] = (sum_task){.n = UP,
                               .m = ORBITALS - UP,
                               .determinants = set->determinants,
                               .stride = set->degree,
                               .pitch = PITCH,
                               .column = s->column,
                               .occupied = set->occupied,
                               .begin = s->begin[spin],
                               .term = s->term[spin],
                               .partner = partner,
                               .coefficients = s->coefficients,
                               .imaginary = s->e.imaginary,
                               .chosen = calloc(WALKERS, 4),
                               .order = calloc(WALKERS * 2 * ORBITALS, 4),
                               .degree = calloc(WALKERS * det, 4),
                               .sign = calloc(WALKERS * det, 4),
                               .places = calloc(WALKERS * det * 2 * (size_t)set->degree, 4),
                               .inverse = calloc(WALKERS * n * n, number),
                               .table = calloc(WALKERS * n * m, number),
                               .values = calloc(WALKERS * n * (n + m), number),
                               .minors = calloc(WALKERS * det, number),
                               .weights = calloc(WALKERS * det, number),
                               .work = calloc(WALKERS * SUM_WORK(n, m), number),
                               .sum = calloc(WALKERS, number),
                               .ln_reference = calloc(WALKERS, 8)};
}

static void begin(subject *s, int is_complex, uint64_t *state)
{
    *s = (subject){.is_complex = is_complex};
    for (int o = 0; o < ORBITALS; o++) s->column[o] = o + (o > 6); /* one that does not occur */
    for (int k = 0; k < TERMS; k++) s->coefficients[k] = k ? uniform(state) : 1;
    for (int k = 1; k < TERMS && is_complex; k++) s->imaginary[k] = uniform(state);
    s->e = (expansion){.terms = TERMS,
                       .coefficients = s->coefficients,
                       .imaginary = is_complex ? s->imaginary : NULL};
    for (int spin = 0; spin < 2; spin++) {
        for (int u = 0; u < TERMS; u++) {
            occupy(s->occupied[spin][u], u, state);
            s->of[spin][u] = spin ? u : u % 25;
        }
        s->e.spin[spin] = (expansion_spin){.electrons = UP,
                                           .orbitals = ORBITALS,
                                           .determinants = spin ? TERMS : 25,
                                           .degree = UP,
                                           .column = s->column,
                                           .occupied = s->occupied[spin][0]};
        s->e.of[spin] = s->of[spin];
        for (int i = 0; i < UP * NUMBERS; i++) s->values[spin][i] = uniform(state);
    }
    for (int spin = 0; spin < 2; spin++) make_task(s, spin);
    s->memory = aligned_alloc(64, spin_tables_bytes(&s->e, PITCH, is_complex, 1));
    spin_tables_prepare(s->spin, s->memory, &s->e, PITCH, is_complex, 1);
}

static void end(subject *s)
{
    for (int spin = 0; spin < 2; spin++) {
        sum_task *t = &s->task[spin];
        free((void *)t->partner), free(t->chosen), free(t->order), free(t->degree), free(t->sign);
        free(t->places), free(t->inverse), free(t->table), free(t->values), free(t->minors);
        free(t->weights), free(t->work), free(t->sum), free(t->ln_reference);
    }
    free(s->memory);
}

static double complex number_at(const subject *s, const double *from, int64_t k)
{
    return s->is_complex ? from[2 * k] + I * from[2 * k + 1] : from[k];
}

static const double *minors_there(const subject *s, int spin, int w)
{
    return s->task[spin].minors +
           (size_t)(w * s->task[spin].determinants * (s->is_complex ? 2 : 1));
}

/* Determinants of both are the same. References may differ where two of them are the largest but for rounding. */
static void same_tables(const subject *s, int spin, int w)
{
    const spin_table *t = s->spin[spin].sum;
    const double *there = minors_there(s, spin, w);
    const double complex unit = number_at(s, there, t->chosen);
    assert_close(s->task[spin].ln_reference[w] + 2 * log(cabs(unit)), t->reference.ln_square, 1e-9,
                 1e-9);
    for (int u = 0; u < t->set->determinants; u++) {
        const double complex here = number_at(s, t->minors, u);
        assert_close(cabs(number_at(s, there, u) / unit - here), 0, 0, 1e-8 * (1 + cabs(here)));
        assert_true(cabs(number_at(s, there, u)) <= 100);
    }
}

static void anew(subject *s, int w)
{
    for (int spin = 0; spin < 2; spin++) {
        assert_true(slater_invert(&s->spin[spin], s->values[spin], NULL));
        run_anew(&s->task[spin], s->is_complex, w, s->values[spin]);
        same_tables(s, spin, w);
    }
    assert_true(slater_settle(s->spin));
}

/* A move of electron e: looked at by both, and made if the ratio is larger than `least`. */
static void try_move(subject *s, int spin, int w, int e, const double *there, double least,
                     int64_t *accepted)
{
    double ratio[2];
    slater *one = &s->spin[spin];
    slater_begin(one, e, 1);
    const double complex q = slater_ratio(one, e, there);
    const int accept = cabs(q) > least;
    run_move(&s->task[spin], s->is_complex, w, e, there, accept, ratio);
    assert_close(cabs(number_at(s, ratio, 0) - q), 0, 0, 1e-8 * (1 + cabs(q)));
    if (accept) slater_accept(one, e, there);
    slater_end(one);
    if (accept) same_tables(s, spin, w);
    *accepted += accept;
}

/* Rows over all orbitals, for local energies. */
static void same_rows(subject *s, int spin, int w)
{
    spin_table *t = s->spin[spin].sum;
    const int64_t length = slater_length(&s->spin[spin]), count = UP * length;
    double *out = malloc(2 * (size_t)count * sizeof *out);
    const double *rows = spin_table_rows(t);
    for (int64_t i = 0; i < 2 * count; i++) out[i] = NAN;
    run_weigh(&s->task[spin], s->is_complex, w, minors_there(s, 1 - spin, w));
    run_rows(&s->task[spin], s->is_complex, w, (int)length, out);
    for (int64_t i = 0; i < count; i++)
        assert_close(cabs(number_at(s, out, i) - number_at(s, rows, i)), 0, 0,
                     1e-8 * (1 + cabs(number_at(s, rows, i))));
    free(out);
}

static void kernels_make_the_tables_of_the_host(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        subject s;
        uint64_t random = 9;
        int64_t accepted = 0;
        double there[NUMBERS];
        const int w = 1; /* and not walker 0 */
        begin(&s, is_complex, &random);
        anew(&s, w);
        for (int k = 0; k < 20; k++)
            for (int spin = 0; spin < 2; spin++) {
                run_weigh(&s.task[spin], is_complex, w, minors_there(&s, 1 - spin, w));
                for (int e = 0; e < UP; e++) {
                    for (int i = 0; i < NUMBERS; i++) there[i] = uniform(&random);
                    try_move(&s, spin, w, e, there, 0.3, &accepted);
                }
            }
        for (int spin = 0; spin < 2; spin++) {
            same_rows(&s, spin, w);
            run_copy(&s.task[spin], is_complex, w, 0);
            same_tables(&s, spin, 0);
        }
        for (int spin = 0; spin < 2; spin++) same_rows(&s, spin, 0);
        printf("%d accepted, %d references\n", (int)accepted,
               (int)(s.spin[0].sum->exchanges + s.spin[1].sum->exchanges));
        assert_in_range(accepted, 60, 190);
        end(&s);
    }
}

/* A reference that becomes zero, exactly and nearly, while others do not; and matrices made anew there. */
static void a_reference_that_vanishes_is_replaced_as_on_the_host(void **state)
{
    (void)state;
    static const double nearness[] = {0, 1e-12, 1e-6};
    for (int is_complex = 0; is_complex < 2; is_complex++)
        for (int k = 0; k < 3; k++) {
            subject s;
            uint64_t random = 21 + (uint64_t)k;
            int64_t accepted = 0;
            double there[NUMBERS];
            const int parts = is_complex ? 2 : 1;
            begin(&s, is_complex, &random);
            anew(&s, 0);
            run_weigh(&s.task[0], is_complex, 0, minors_there(&s, 1, 0));
            for (int i = 0; i < NUMBERS; i++) there[i] = uniform(&random);
            for (int i = 0; i < UP * parts; i++) /* those of electron 2 in the first determinant */
                there[i] = s.values[0][2 * parts * PITCH + i] + nearness[k] * there[i];
            const int64_t before = s.spin[0].sum->exchanges;
            try_move(&s, 0, 0, 0, there, 1e-3, &accepted);
            assert_int_equal(accepted, 1);
            assert_true(s.spin[0].sum->exchanges > before && s.task[0].chosen[0] > 0);
            memcpy(s.values[0], there, (size_t)(parts * PITCH) * sizeof *there);
            anew(&s, 0);
            assert_true(s.spin[0].sum->chosen > 0);
            end(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_make_the_tables_of_the_host),
        cmocka_unit_test(a_reference_that_vanishes_is_replaced_as_on_the_host)};
    if (system("c++ --version >/dev/null 2>&1") != 0) {
        printf("skipped: there is no c++\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, compile_kernels, remove_kernels) != 0;
}
