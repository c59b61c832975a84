/* NVIDIA's run-time compiler: finding it, and compiling a fused source for one architecture.
 *
 * No header of CUDA or of the C library is ever included (they cost more time than the kernel):
 * the few of ours travel inside the program and are given to NVRTC by name. */
#include "gpu/nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/cache.h"
#include "base/sha256.h"
#include "gpu/toolkit.h"

PLUGMC_EMBED(plugmc_text_device, PLUGMC_INCLUDE_PATH "/device.h");
PLUGMC_EMBED(plugmc_text_box, PLUGMC_INCLUDE_PATH "/box.h");
PLUGMC_EMBED(plugmc_text_orientation, PLUGMC_INCLUDE_PATH "/orientation.h");
PLUGMC_EMBED(plugmc_text_molecule, PLUGMC_INCLUDE_PATH "/molecule.h");
PLUGMC_EMBED(plugmc_text_potential, PLUGMC_INCLUDE_PATH "/potential.h");
PLUGMC_EMBED(plugmc_text_pair, PLUGMC_INCLUDE_PATH "/pair.h");
PLUGMC_EMBED(plugmc_text_field, PLUGMC_INCLUDE_PATH "/field.h");
PLUGMC_EMBED(plugmc_text_variational, PLUGMC_INCLUDE_PATH "/variational.h");
PLUGMC_EMBED(plugmc_text_functions, PLUGMC_INCLUDE_PATH "/functions.h");
PLUGMC_EMBED(plugmc_text_tally, PLUGMC_INCLUDE_PATH "/tally.h");
PLUGMC_EMBED(plugmc_text_near, PLUGMC_INCLUDE_PATH "/near.h");
PLUGMC_EMBED(plugmc_text_trial, PLUGMC_INCLUDE_PATH "/trial.h");
PLUGMC_EMBED(plugmc_text_proposal, PLUGMC_INCLUDE_PATH "/proposal.h");
PLUGMC_EMBED(plugmc_text_placed, PLUGMC_INCLUDE_PATH "/placed.h");
PLUGMC_EMBED(plugmc_text_body, PLUGMC_INCLUDE_PATH "/body.h");
PLUGMC_EMBED(plugmc_text_fused, PLUGMC_INCLUDE_PATH "/fused.h");

enum { HEADERS = 16 };
static const char *const header_names[HEADERS] = {
    "plugmc/device.h",      "plugmc/box.h",      "plugmc/potential.h", "plugmc/functions.h",
    "plugmc/tally.h",       "plugmc/pair.h",     "plugmc/field.h",     "plugmc/variational.h",
    "plugmc/trial.h",       "plugmc/proposal.h", "plugmc/near.h",      "plugmc/fused.h",
    "plugmc/orientation.h", "plugmc/placed.h",   "plugmc/body.h",      "plugmc/molecule.h"};
static const char *const header_texts[HEADERS] = {
    plugmc_text_device,      plugmc_text_box,      plugmc_text_potential, plugmc_text_functions,
    plugmc_text_tally,       plugmc_text_pair,     plugmc_text_field,     plugmc_text_variational,
    plugmc_text_trial,       plugmc_text_proposal, plugmc_text_near,      plugmc_text_fused,
    plugmc_text_orientation, plugmc_text_placed,   plugmc_text_body,      plugmc_text_molecule};

const int gpu_architectures[GPU_ARCHITECTURES] = {75, 80, 90, 100, 120};

/* ---- Finding the library ---- */

/* NVRTC's sonames: one a major version since 12, one for all of 11.2 to 11.8. */
static const struct {
    int major;
    const char *name;
} libraries[] = {{14, "libnvrtc.so.14"},
                 {13, "libnvrtc.so.13"},
                 {12, "libnvrtc.so.12"},
                 {11, "libnvrtc.so.11.2"}};

static bool list_architectures(nvrtc *n)
{
    if (n->api.architecture_count(&n->architecture_count) || n->architecture_count < 1)
        return false;
    n->architectures = calloc((size_t)n->architecture_count, sizeof *n->architectures);
    return n->architectures && n->api.architectures(n->architectures) == 0;
}

/* NULL with a reason, or the library at `path`. */
static nvrtc *open_library(const char *path, char why[512])
{
    Dl_info info;
    char reason[512];
    void *library = toolkit_open(path, reason);
    if (!library) {
        snprintf(why, 512, "NVRTC cannot be opened: %.400s", reason);
        return NULL;
    }
    nvrtc *n = calloc(1, sizeof *n);
    const char *missing = n ? compiler_resolve(library, &n->api) : "memory";
    if (missing) {
        snprintf(why, 512, "'%.300s' is not NVRTC 11.2 or newer: it has no %s", path, missing);
    } else if (n->api.version(&n->major, &n->minor) || !list_architectures(n)) {
        snprintf(why, 512, "'%.300s' does not list the architectures that it compiles for", path);
    } else {
        void *address;
        memcpy(&address, &n->api.version, sizeof address);
        snprintf(n->path, sizeof n->path, "%s",
                 dladdr(address, &info) && info.dli_fname ? info.dli_fname : path);
        return n;
    }
    nvrtc_close(n);
    dlclose(library);
    return NULL;
}

static void *open_found(const char *path, void *why) { return open_library(path, why); }

nvrtc *nvrtc_open_up_to(int major, char why[512])
{
    const char *own = getenv("PLUGMC_NVRTC");
    char found[512] = "";
    if (own && *own) return open_library(own, why);
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (libraries[i].major > major) continue;
        nvrtc *n = open_library(libraries[i].name, why);
        if (!n) n = toolkit_search(libraries[i].name, open_found, found);
        if (n) return n;
    }
    if (*found)
        snprintf(why, 512, "%s", found);
    else
        snprintf(
            why, 512,
            "no NVRTC (libnvrtc.so.11.2 to .%d) in the loader's path or below "
            "/usr/local/cuda*; install CUDA's NVRTC package or set PLUGMC_NVRTC to the library",
            major < libraries[0].major ? major : libraries[0].major);
    return NULL;
}

nvrtc *nvrtc_open(char why[512]) { return nvrtc_open_up_to(libraries[0].major, why); }

static void free_early_texts(nvrtc *);

void nvrtc_close(nvrtc *n)
{
    if (n) free_early_texts(n);
    if (n) free(n->architectures);
    free(n); /* the library stays: it does not survive being unloaded and loaded again */
}

void nvrtc_version(const nvrtc *n, int *major, int *minor)
{
    *major = n->major;
    *minor = n->minor;
}

const char *nvrtc_path(const nvrtc *n) { return n->path; }

/* ---- Options and key ---- */

enum { OPTIONS = 6 };
typedef struct options {
    char architecture[32];
    const char *list[OPTIONS];
    int count;
    bool ptx; /* the GPU is newer than the compiler: its driver has to finish the work */
} options;

enum arithmetic arithmetic_of(const plugmc_gpu_source *text, bool fast_math)
{
    if (fast_math) return ARITHMETIC_FAST;
    return PLUGMC_HAS(text, contract) && text->contract ? ARITHMETIC_CONTRACTED : ARITHMETIC_EXACT;
}

/* The architecture itself, or the nearest older one, as PTX. 0 if there is none. */
static int nearest_architecture(const nvrtc *n, int architecture)
{
    int best = 0;
    for (int i = 0; i < n->architecture_count; i++)
        if (n->architectures[i] <= architecture && n->architectures[i] > best)
            best = n->architectures[i];
    return best;
}

/* Functions of a text are compiled in several threads. Their number is fixed, and larger than that
 * of the functions: what is compiled together changes the order of instructions, and machine code
 * shall not depend on the processors of a host. */
enum { SPLITS_SINCE = 13 }; /* the first NVRTC with which this was compared on a GPU */

static bool choose_options(const nvrtc *n, int architecture, enum arithmetic arithmetic, options *o)
{
    static const char *const how[] = {[ARITHMETIC_EXACT] = "--fmad=false",
                                      [ARITHMETIC_FAST] = "--use_fast_math",
                                      [ARITHMETIC_CONTRACTED] = "--fmad=true"};
    int nearest = nearest_architecture(n, architecture);
    if (!nearest) return false;
    o->ptx = nearest != architecture;
    snprintf(o->architecture, sizeof o->architecture, "-arch=%s_%d", o->ptx ? "compute" : "sm",
             nearest);
    const char *list[OPTIONS] = {o->architecture,           "--std=c++17",   "-default-device",
                                 "-Drestrict=__restrict__", how[arithmetic], "--split-compile=64"};
    memcpy(o->list, list, sizeof list);
    o->count = n->major >= SPLITS_SINCE ? OPTIONS : OPTIONS - 1;
    return true;
}

static void add_text(sha256 *s, const char *text)
{
    uint64_t bytes = strlen(text);
    sha256_add(s, &bytes, sizeof bytes);
    sha256_add(s, text, bytes);
}

static cache_key key_of(const nvrtc *n, const char *fused, int architecture, const options *o)
{
    cache_key key;
    sha256 s;
    memset(&key, 0, sizeof key);
    memcpy(key.magic, CACHE_MAGIC, sizeof key.magic);
    key.abi = PLUGMC_ABI_MAJOR << 16 | PLUGMC_ABI_MINOR;
    key.compiler_major = (uint32_t)n->major;
    key.compiler_minor = (uint32_t)n->minor;
    key.architecture = (uint32_t)architecture;
    sha256_start(&s);
    add_text(&s, fused);
    for (int i = 0; i < HEADERS; i++) add_text(&s, header_texts[i]);
    for (int i = 0; i < o->count; i++) add_text(&s, o->list[i]);
    sha256_finish(&s, key.digest);
    return key;
}

/* ---- Errors of the compiler ---- */

/* The first "FILE(LINE): error: SENTENCE" of a log. */
typedef struct first_error {
    char file[512], sentence[512];
    int line;
    const char *at; /* its line in the log */
} first_error;

static bool find_error(const char *log, first_error *e)
{
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        int length = (int)strcspn(line, "\n");
        const char *colon = memmem(line, (size_t)length, "): ", 3);
        const char *error = memmem(line, (size_t)length, "error", 5);
        if (!colon || !error || error < colon) continue;
        const char *open = colon;
        while (open > line && *open != '(') open--;
        const char *sentence = memchr(error, ':', (size_t)(line + length - error));
        if (open == line || !sentence) continue;
        sentence += strspn(sentence, ": ");
        snprintf(e->file, sizeof e->file, "%.*s", (int)(open - line), line);
        snprintf(e->sentence, sizeof e->sentence, "%.*s", (int)(line + length - sentence),
                 sentence);
        e->line = atoi(open + 1);
        e->at = line;
        return true;
    }
    return false;
}

/* Bytes of the first `lines` lines. */
static int head_of(const char *text, int lines)
{
    const char *end = text;
    for (; lines > 0 && *end; lines--) {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    return (int)(end - text);
}

/* The fused source with the whole log behind it, for whoever has to find the error. */
static bool keep_source(const char *folder, const cache_key *key, const char *fused,
                        const char *log, char path[CACHE_PATH])
{
    char name[CACHE_NAME];
    cache_name(key, name);
    snprintf(path, CACHE_PATH, "%s/%s.failed.cu", folder, name);
    FILE *file = fopen(path, "we");
    if (!file) return false;
    int failed =
        fprintf(file, "%s\n#if 0 /* what the compiler said */\n%s\n#endif\n", fused, log) < 0;
    return !fclose(file) && !failed;
}

static int compiler_log(report *r, const char *name, const options *o, const char *folder,
                        const cache_key *key, const char *fused, const char *log)
{
    enum { SHOWN = 12 }; /* lines: the first error and a little of what follows from it */
    char path[CACHE_PATH], kept[CACHE_PATH + 64] = "";
    first_error e = {.at = log};
    bool found = find_error(log, &e);
    if (folder && keep_source(folder, key, fused, log, path))
        snprintf(kept, sizeof kept, "\nThe fused source with the whole log: %s", path);
    return report_error(r, EXIT_DEVICE, found ? e.file : NULL, found ? e.line : 0,
                        "%s (compiling GPU source '%s' for %s)\n%.*s%s",
                        found ? e.sentence : "NVRTC reports an error", name,
                        o->architecture + strlen("-arch="), head_of(e.at, SHOWN), e.at, kept);
}

/* ---- Compilation ---- */

static char *log_of(const nvrtc *n, compiler_program program)
{
    size_t bytes = 0;
    if (n->api.log_bytes(program, &bytes)) bytes = 0;
    char *log = calloc(1, bytes + 1);
    if (log && bytes) n->api.log(program, log);
    return log;
}

static compiler_result take_image(const nvrtc *n, compiler_program program, bool ptx, char **image,
                                  size_t *bytes)
{
    compiler_result result =
        ptx ? n->api.ptx_bytes(program, bytes) : n->api.cubin_bytes(program, bytes);
    if (result) return result;
    *image = calloc(1, *bytes + 1);
    if (!*image) return 1; /* NVRTC_ERROR_OUT_OF_MEMORY */
    return ptx ? n->api.ptx(program, *image) : n->api.cubin(program, *image);
}

static compiler_result make_image(const nvrtc *n, compiler_program *program, const char *fused,
                                  const char *name, const options *o, char **image, size_t *bytes)
{
    compiler_result result =
        n->api.create(program, fused, name, HEADERS, header_texts, header_names);
    if (!result) result = n->api.compile(*program, o->count, o->list);
    return result ? result : take_image(n, *program, o->ptx, image, bytes);
}

static int compile_text(nvrtc *n, const char *fused, const char *name, const options *o,
                        const char *folder, const cache_key *key, char **image, size_t *bytes,
                        report *r)
{
    compiler_program program = NULL;
    const compiler_result result = make_image(n, &program, fused, name, o, image, bytes);
    int code = 0;
    char *log = result == COMPILER_ERROR_COMPILATION ? log_of(n, program) : NULL;
    if (log)
        code = compiler_log(r, name, o, folder, key, fused, log);
    else if (result)
        code = report_error(r, EXIT_DEVICE, NULL, 0, "NVRTC %d.%d fails on GPU source '%s': %s",
                            n->major, n->minor, name, n->api.error_text(result));
    free(log);
    if (program) n->api.destroy(&program);
    return code;
}

/* ---- Compiled before they are asked for ---- */

/* Where a version of NVRTC compiles one text after another, whatever threads ask, nothing is lost. */
typedef struct early_text {
    const nvrtc *compiler;
    cache_key key;
    options options;
    char *fused, *name, *image;
    size_t bytes;
    pthread_t thread;
    struct early_text *next;
} early_text;

static void *compile_early(void *of)
{
    early_text *t = of;
    compiler_program program = NULL;
    if (make_image(t->compiler, &program, t->fused, t->name, &t->options, &t->image, &t->bytes)) {
        free(t->image);
        t->image = NULL;
    }
    if (program) t->compiler->api.destroy(&program);
    return NULL;
}

static void free_early(early_text *t)
{
    free(t->fused), free(t->name), free(t->image);
    free(t);
}

/* What nobody has asked for is kept all the same, or the next run would compile it again. */
static void free_early_texts(nvrtc *n)
{
    char why[512];
    const char *folder = n->early ? cache_folder(why) : NULL;
    for (early_text *next, *t = n->early; t; t = next) {
        next = t->next;
        pthread_join(t->thread, NULL);
        if (folder && t->image) cache_store(folder, &t->key, t->image, t->bytes, CACHE_CAP);
        free_early(t);
    }
}

static early_text **find_early(nvrtc *n, const cache_key *key)
{
    early_text **at = &n->early;
    while (*at && memcmp(&(*at)->key, key, sizeof *key)) at = &(*at)->next;
    return at;
}

/* Signals are for the main thread. */
static bool start_early(early_text *t)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = !pthread_create(&t->thread, NULL, compile_early, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static bool is_cached(const cache_key *key)
{
    char why[512];
    void *image;
    size_t bytes;
    const char *folder = cache_folder(why);
    if (!folder || !cache_load(folder, key, &image, &bytes)) return false;
    free(image);
    return true;
}

void compile_ahead(nvrtc *n, char *fused, const char *name, int architecture,
                   enum arithmetic arithmetic)
{
    early_text *t = calloc(1, sizeof *t);
    if (!t) {
        free(fused);
        return;
    }
    *t = (early_text){.compiler = n, .fused = fused, .name = strdup(name), .next = n->early};
    if (t->name && n->early_count < sysconf(_SC_NPROCESSORS_ONLN) &&
        choose_options(n, architecture, arithmetic, &t->options)) {
        t->key = key_of(n, fused, architecture, &t->options);
        if (!*find_early(n, &t->key) && !is_cached(&t->key) && start_early(t)) {
            n->early = t;
            n->early_count++;
            return;
        }
    }
    free_early(t);
}

/* The image of a text when its thread has ended; NULL: there is no such text, or it could not be compiled. */
static char *take_early(nvrtc *n, const cache_key *key, size_t *bytes)
{
    early_text **at = find_early(n, key), *t = *at;
    if (!t) return NULL;
    pthread_join(t->thread, NULL);
    char *image = t->image;
    *bytes = t->bytes;
    t->image = NULL;
    *at = t->next;
    free_early(t);
    return image;
}

bool nvrtc_compiles_for(const nvrtc *n, int architecture)
{
    compiler_program program = NULL;
    options o;
    char *image = NULL;
    size_t bytes = 0;
    if (!choose_options(n, architecture, ARITHMETIC_EXACT, &o) || o.ptx) return false;
    compiler_result result =
        n->api.create(&program, "extern \"C\" __global__ void k(int *x) { x[threadIdx.x] = 1; }",
                      "small.cu", 0, NULL, NULL);
    if (!result) result = n->api.compile(program, o.count, o.list);
    if (!result) result = take_image(n, program, false, &image, &bytes);
    if (program) n->api.destroy(&program);
    free(image);
    return result == 0 && bytes > 0;
}

/* Said once: every run would compile again. */
static void warn_uncached(nvrtc *n, report *r, const char *why)
{
    if (!n->warned) report_warning(r, NULL, 0, "compiled kernels are not kept: %s", why);
    n->warned = true;
}

int compile(nvrtc *n, const char *fused, const char *name, int architecture,
            enum arithmetic arithmetic, void **cubin, size_t *bytes, report *r)
{
    options o;
    char why[512], *image = NULL;
    if (!choose_options(n, architecture, arithmetic, &o))
        return report_error(r, EXIT_DEVICE, NULL, 0,
                            "NVRTC %d.%d ('%s') compiles for sm_%d and newer, but sm_%d is needed; "
                            "set PLUGMC_NVRTC to an older one",
                            n->major, n->minor, n->path, n->architectures[0], architecture);
    cache_key key = key_of(n, fused, architecture, &o);
    const char *folder = cache_folder(why);
    if (folder && cache_load(folder, &key, cubin, bytes)) return 0;
    if (!folder) warn_uncached(n, r, why);

    image = take_early(n, &key, bytes);
    int code = image ? 0 : compile_text(n, fused, name, &o, folder, &key, &image, bytes, r);
    if (code) {
        free(image);
        return code;
    }
    int stored = folder ? cache_store(folder, &key, image, *bytes, CACHE_CAP) : 0;
    if (stored) {
        snprintf(why, sizeof why, "'%.300s' cannot be written: %s", folder, strerror(stored));
        warn_uncached(n, r, why);
    }
    *cubin = image;
    return 0;
}
