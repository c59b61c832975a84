/* Systems in which movers are tried, as INI files. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/own_folder.h"
#include "movers.h"

const char candidate[] = "candidate";

/* ---- Settings ---------------------------------------------------------------------------------- */

void setting_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* Steps whose unit is no length are tuned from their default, and may be short. */
static bool has_other_steps(const plugmc_mover *m)
{
    for (int32_t k = 0; k < m->move_count; k++)
        if (m->moves[k].step_unit && *m->moves[k].step_unit &&
            strcmp(m->moves[k].step_unit, "length"))
            return true;
    return false;
}

bool subject_is_slow(const subject *s, int dimension)
{
    const bool cells = s->mover->driver && s->mover->needs & PLUGMC_NEEDS_FINITE_RANGE;
    return has_other_steps(s->mover) || (cells && dimension == 3);
}

/* Movers whose sweep is a number of trial moves make fewer of them. */
static void limit_trials(const subject *s, setting *of)
{
    const plugmc_parameter *p = subject_key(s, "trials");
    if (p && p->type == PLUGMC_TYPE_INTEGER && p->minimum <= 1 && p->fallback &&
        atof(p->fallback) > 8)
        snprintf(of->keys, sizeof of->keys, "trials = 8\n");
}

setting setting_new(subject *s, int dimension, double edge, double temperature)
{
    setting of = {.dimension = dimension,
                  .edge = edge,
                  .temperature = temperature,
                  .walkers = 128 / (subject_is_slow(s, dimension) ? 2 : 1),
                  .equilibrate = has_other_steps(s->mover) ? 400 : 200,
                  .seed = 7000 + 13 * ++s->systems + 100000 * s->target->seed,
                  .threads = 1,
                  .step = 0.3 * edge,
                  .part = 0.5};
    limit_trials(s, &of);
    return of;
}

void setting_species(const subject *s, setting *to, int a, int b, double diameter)
{
    const int counts[2] = {a, b};
    for (int k = 0; k < 2; k++)
        if (counts[k] >= 0)
            setting_add(to->species, "[species %s]\ncount = %d\ndiameter = %g\n", s->names[k],
                        counts[k], diameter);
}

/* The folder of this program's own potentials, in a build tree or an installation. */
static const char *folder_of_fields(void)
{
    static const char *const beside[] = {"plugins/validate/.", "../lib/plugmc/validate/.", NULL};
    static char *folder;
    if (!folder) folder = own_place(beside);
    return folder ? folder : PLUGMC_VALIDATE_FOLDER;
}

void setting_field(setting *to, double strength)
{
    setting_add(to->potentials, "[potential field]\nplugin = %s/lopsided_field.so\nstrength = %g\n",
                folder_of_fields(), strength);
}

/* ---- The section of the mover ------------------------------------------------------------------ */

const plugmc_parameter *subject_key(const subject *s, const char *key)
{
    for (int32_t k = 0; key && k < s->plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(s->plugin, k);
        if (!p->derived && !strcmp(p->name, key)) return p;
    }
    return NULL;
}

bool subject_is_tuned(const subject *s)
{
    for (int k = 0; k < s->mover->move_count; k++)
        if (s->mover->moves[k].step_unit && subject_key(s, s->mover->moves[k].target_key) &&
            !s->mover->moves[k].limit)
            return true;
    return false;
}

static bool is_key_of(const char *text, const char *key)
{
    const size_t n = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (!strncmp(line, key, n) && (line[n] == ' ' || line[n] == '=')) return true;
    }
    return false;
}

/* Steps that suit the system, instead of what the file says or the default, and not tuned unless that is asked for. */
static void add_steps(const subject *s, const setting *of, char *keys, size_t size)
{
    for (int32_t k = 0; k < s->mover->move_count; k++) {
        const plugmc_move *m = &s->mover->moves[k];
        const plugmc_parameter *p = m->step_unit ? subject_key(s, m->step_key) : NULL;
        if (!p) continue;
        const bool length = !strcmp(m->step_unit, "length");
        const double most = m->largest > 0 && isfinite(m->largest) ? m->largest : 1;
        double step = length                         ? of->step
                      : !strcmp(m->step_unit, "rad") ? of->angle
                      : !*m->step_unit               ? of->part * fmin(most, 1)
                                                     : 0;
        if (!(step > 0)) continue;
        step = fmax(p->minimum, fmin(p->maximum, step));
        if (!is_key_of(keys, p->name)) setting_append(keys, size, "%s = %.9g\n", p->name, step);
        if (subject_key(s, m->target_key) && !is_key_of(keys, m->target_key))
            setting_append(keys, size, "%s = %g\n", m->target_key, of->target);
    }
}

/* ---- Lengths of keys ---------------------------------------------------------------------------- */

static bool is_step(const plugmc_mover *m, const char *key)
{
    for (int32_t k = 0; k < m->move_count; k++)
        if (m->moves[k].step_key && !strcmp(m->moves[k].step_key, key)) return true;
    return false;
}

/* What FILE.ini or the default says of a key that is a length and no step, such as a radius; 0: it is none. */
static double length_of_key(const subject *s, const plugmc_parameter *p)
{
    const ini_entry *given = s->section ? ini_get(s->section, p->name) : NULL;
    const char *text = given ? given->value : p->fallback;
    char *end;
    if (p->derived || p->type != PLUGMC_TYPE_REAL || strcmp(p->unit, "length") ||
        is_step(s->mover, p->name))
        return 0;
    const double value = text ? strtod(text, &end) : 0;
    return text && !*end && value > 0 && isfinite(value) ? value : 0;
}

double subject_length(const subject *s, const char **key)
{
    double longest = 0;
    for (int32_t k = 0; k < s->plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(s->plugin, k);
        const double value = length_of_key(s, p);
        if (value > longest) longest = value, *key = p->name;
    }
    return longest;
}

/* A radius that reaches nobody, or everybody, tells nothing about what depends on who is near. It is then another part of
 * the edge, and other lengths of keys with it. 1: it stays, or it cannot be another one. */
static double factor_of_lengths(const subject *s, const setting *of)
{
    const char *key;
    const double longest = subject_length(s, &key),
                 least = of->least_reach > 0 ? of->least_reach : LEAST_REACH;
    if (!(longest > 0) || of->box ||
        (of->reach == 0 && longest >= least * of->edge && longest <= MOST_REACH * of->edge))
        return 1;
    const double factor = (of->reach > 0 ? of->reach : REACH) * of->edge / longest;
    for (int32_t k = 0; k < s->plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(s->plugin, k);
        const double value = factor * length_of_key(s, p);
        if (value > 0 && (value < p->minimum || value > p->maximum)) return 1;
    }
    return factor;
}

static void add_lengths(const subject *s, const setting *of, char *keys, size_t size)
{
    const double factor = factor_of_lengths(s, of);
    for (int32_t k = 0; k < s->plugin->parameter_count && factor != 1; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(s->plugin, k);
        const double value = factor * length_of_key(s, p);
        if (value > 0 && !is_key_of(keys, p->name))
            setting_append(keys, size, "%s = %.9g\n", p->name, value);
    }
}

static void add_file_keys(const subject *s, char *keys, size_t size)
{
    for (int k = 0; s->section && k < s->section->count; k++) {
        const ini_entry *e = &s->section->entries[k];
        if (strcmp(e->key, "plugin") && strcmp(e->key, "every") && !is_key_of(keys, e->key))
            setting_append(keys, size, "%s = %s\n", e->key, e->value);
    }
}

/* Required keys that are texts are names of species, one after the other. */
static void add_required(const subject *s, char *keys, size_t size)
{
    int texts = 0;
    for (int32_t k = 0; k < s->plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(s->plugin, k);
        if (p->derived || p->fallback || p->type != PLUGMC_TYPE_TEXT) continue;
        if (!is_key_of(keys, p->name))
            setting_append(keys, size, "%s = %s\n", p->name, s->names[texts < 1 ? 0 : 1]);
        texts++;
    }
}

/* Its section, between those of the movers beside it. */
static void put_movers(FILE *out, const subject *s, const setting *of)
{
    char keys[2000] = "";
    setting_append(keys, sizeof keys, "%s", of->keys);
    add_steps(s, of, keys, sizeof keys);
    add_lengths(s, of, keys, sizeof keys);
    add_file_keys(s, keys, sizeof keys);
    add_required(s, keys, sizeof keys);
    fprintf(out, "%s[mover %s]\nplugin = %s\n%s%s", of->before, candidate, s->target->loaded.path,
            keys, of->after);
}

static void put_system(FILE *out, const char *device, const setting *of)
{
    fprintf(
        out,
        "[run]\ntemperature = %.9g\nsweeps = 100000\nequilibrate = %lld\nseed = %lld\nwalkers = %d\n"
        "threads = %lld\nfirst_walker = %lld\ndevice = %s\n%s",
        of->temperature, (long long)of->equilibrate, (long long)of->seed, of->walkers,
        (long long)of->threads, (long long)of->first_walker, device, of->run);
    if (of->pressure > 0) fprintf(out, "pressure = %.9g\n", of->pressure);
    if (of->box)
        fprintf(out, "[box]\n%s", of->box);
    else
        fprintf(out, "[box]\ndimension = %d\nlx = %.9g\n", of->dimension, of->edge);
    fprintf(out, "%s[initial]\n%s%s", of->species, *of->initial ? of->initial : "state = random\n",
            of->potentials);
}

char *setting_text(const subject *s, const setting *of)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = checked(open_memstream(&text, &length));
    put_system(out, s->device, of);
    put_movers(out, s, of);
    if (fclose(out)) checked(NULL);
    return text;
}

double *setting_settled(const setting *of)
{
    char *text = NULL;
    size_t length = 0;
    double *positions = NULL;
    run r;
    snapshot_of_run now;
    FILE *out = checked(open_memstream(&text, &length));
    put_system(out, "cpu", of); /* as fast there, and no kernels are compiled */
    fprintf(out, "[mover serial]\nstep = %.9g\n", of->step);
    if (fclose(out)) checked(NULL);
    if (!run_open(&r, text) && !run_sweep(&r, 300) && !run_look(&r, &now)) {
        const size_t bytes = 3 * sizeof(double) * (size_t)(now.walkers * now.capacity);
        positions = checked(malloc(bytes + 1));
        memcpy(positions, now.positions, bytes);
    }
    run_close(&r);
    free(text);
    return positions;
}

/* ---- Runs for a check -------------------------------------------------------------------------- */

bool subject_uses(const subject *s, uint32_t facet)
{
    return !s->mover->driver || (s->mover->needs & facet);
}

bool subject_changes(const subject *s, uint32_t what) { return (s->mover->changes & what) != 0; }

/* The sentence of a run, of the section that its author knows. */
static const char *reason(const subject *s, const run *r)
{
    static char words[1400];
    static const char ours[] = "[mover candidate]";
    const char *at = strstr(r->error, ours);
    if (!r->error[0]) return "no reason is given";
    if (!at) return r->error;
    snprintf(words, sizeof words, "%.*s[mover %s]%s", (int)(at - r->error), r->error,
             s->target->label, at + strlen(ours));
    return words;
}

/* Some movers cannot make steps as long as others. */
static int open_with_shorter_steps(const subject *s, setting *of, run *r)
{
    const double step = of->step;
    for (int attempt = 0;; attempt++, of->step *= 0.5) {
        char *text = setting_text(s, of);
        const int code = run_open(r, text);
        free(text);
        if (code != EXIT_INPUT || attempt == 5) {
            if (code) of->step = step;
            return code;
        }
        run_close(r);
    }
}

bool subject_can_open(const subject *s, setting *of)
{
    run r;
    const int code = open_with_shorter_steps(s, of, &r);
    run_close(&r);
    return !code;
}

/* With the box, in which lengths of keys may be too long. */
static void leave_refused(subject *s, const setting *of, const run *r)
{
    if (of->box)
        check_leave(s->findings, "this system is refused: %s", reason(s, r));
    else
        check_leave(s->findings, "this system is refused (%d dimensions, edges of %g): %s",
                    of->dimension, of->edge, reason(s, r));
}

bool subject_open(subject *s, setting *of, run *r)
{
    const int code = open_with_shorter_steps(s, of, r);
    if (!code) return true;
    if (code == EXIT_INPUT || code == EXIT_DEVICE)
        leave_refused(s, of, r);
    else
        check_fail(s->findings, "the run does not begin: %s", reason(s, r));
    run_close(r);
    return false;
}

bool subject_sweep(subject *s, run *r, uint64_t sweeps)
{
    const int code = run_sweep(r, sweeps);
    if (!code) return true;
    if (code == EXIT_INPUT || code == EXIT_DEVICE)
        check_leave(s->findings, "this system is refused: %s", reason(s, r));
    check_fail(s->findings, "the run of a system in which the mover is all that is tried fails: %s",
               reason(s, r));
    return false;
}
