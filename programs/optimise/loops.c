/* The table of loops, which is also where a killed optimisation goes on from. */
#include "optimise.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 10 }; /* before the numbers */

static double *copy(const double *from, int64_t count)
{
    double *to = checked(malloc((size_t)(count + 1) * sizeof *to));
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

void loops_append(history *h, const entry *e)
{
    h->entries = checked(realloc(h->entries, (size_t)(h->count + 1) * sizeof *h->entries));
    entry *to = &h->entries[h->count++];
    *to = *e;
    to->sampled = copy(e->sampled, h->numbers);
    to->next = copy(e->next, h->numbers);
}

void loops_free(history *h)
{
    for (int64_t i = 0; i < h->count; i++) free(h->entries[i].sampled), free(h->entries[i].next);
    free(h->entries);
}

static void write_row(FILE *out, const entry *e, int64_t numbers)
{
    const cost *c = &e->cost;
    fprintf(out, "%lld %.17g %.17g %.17g %.17g %.17g %.17g %lld %lld %lld", (long long)e->loop,
            c->energy, c->energy_error, c->variance, c->variance_error, c->value, c->error,
            (long long)e->level, (long long)e->good, (long long)e->idle);
    for (int64_t k = 0; k < numbers; k++) fprintf(out, " %.17g", e->sampled[k]);
    for (int64_t k = 0; k < numbers; k++) fprintf(out, " %.17g", e->next[k]);
    fputc('\n', out);
}

/* Whether a key of a section has variational parameters. */
static bool is_free(const variational_parameters *f, const char *section, const char *key)
{
    for (int p = 0; p < f->parts; p++) {
        const variational_part *part = &f->part[p];
        plugmc_variational_parameter number = {.size = sizeof number};
        if (strcmp(part->owner->section->section->name, section)) continue;
        for (int64_t k = 0; k < part->count; k++)
            if (!part->facet->number(part->owner->data, k, &number) && !strcmp(number.key, key))
                return true;
    }
    return false;
}

/* Of what the numbers belong to: all keys of the box, the species and the potentials but those of variational parameters, in any
 * order (FNV-1a of each). */
static uint64_t system_of(const variational_parameters *f, const ini_file *ini)
{
    uint64_t all = 0;
    for (int s = 0; s < ini->count; s++) {
        const ini_section *section = &ini->sections[s];
        if (strcmp(section->name, "box") && strncmp(section->name, "species ", 8) &&
            strncmp(section->name, "potential ", 10))
            continue;
        for (int k = 0; k < section->count; k++) {
            const char *words[] = {section->name, section->entries[k].key,
                                   section->entries[k].value};
            uint64_t hash = 0xcbf29ce484222325u;
            if (is_free(f, section->name, words[1])) continue;
            for (int w = 0; w < 3; w++)
                for (const char *c = words[w]; c == words[w] || c[-1]; c++)
                    hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
            all += hash;
        }
    }
    return all;
}

static void write_head(FILE *out, const variational_parameters *f, const choices *c,
                       const ini_file *ini)
{
    fprintf(out, "# system %016llx\n", (unsigned long long)system_of(f, ini));
    fprintf(out, "# plugmc optimise: %s, cost %g energy + %g variance, %lld samples a loop\n",
            c->method == LINEAR ? "linear method" : "stochastic reconfiguration",
            1 - c->variance_weight, c->variance_weight, (long long)c->samples);
    fprintf(
        out,
        "# Hartree. Columns: loop, energy, its error, variance, its error, cost, its error, "
        "level for the next loop, 1 unless the loop was worse than the one before, loops without a step that helps; then "
        "the %lld numbers that were sampled, and as many for the next loop:\n#",
        (long long)f->count);
    for (int64_t k = 0; k < f->count; k++) {
        char *name = variational_name(f, k);
        fprintf(out, " %s", name);
        free(name);
    }
    fputc('\n', out);
}

int replace_file(const char *path, void (*write)(FILE *, const void *what), const void *what,
                 report *report)
{
    char *part;
    checked(asprintf(&part, "%s.part", path) < 0 ? NULL : part);
    FILE *out = fopen(part, "w");
    if (out) write(out, what);
    int bad = !out || fflush(out) || ferror(out) || fsync(fileno(out)) ? errno : 0;
    if (out && fclose(out) && !bad) bad = errno;
    if (!bad && rename(part, path)) bad = errno;
    const int code =
        bad ? report_error(report, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", path, strerror(bad))
            : 0;
    if (bad) unlink(part);
    free(part);
    return code;
}

int keep_former(const char *path, report *report)
{
    char *kept = NULL;
    int number = 1, code = 0;
    if (access(path, F_OK)) return 0;
    do {
        free(kept);
        checked(asprintf(&kept, "%s.%d", path, number++) < 0 ? NULL : kept);
    } while (!access(kept, F_OK));
    if (rename(path, kept))
        code = report_error(report, EXIT_OUTPUT, NULL, 0, "cannot rename %s to %s: %s", path, kept,
                            strerror(errno));
    else
        report_warning(report, path, 0, "was there already and is now %s", kept);
    free(kept);
    return code;
}

typedef struct table {
    const history *h;
    const variational_parameters *f;
    const choices *c;
    const ini_file *ini;
} table;

static void write_table(FILE *out, const void *what)
{
    const table *t = what;
    write_head(out, t->f, t->c, t->ini);
    for (int64_t i = 0; i < t->h->count; i++) write_row(out, &t->h->entries[i], t->h->numbers);
}

int loops_write(const history *h, const variational_parameters *f, const choices *c,
                const ini_file *ini, const char *path, report *report)
{
    return replace_file(path, write_table, &(table){h, f, c, ini}, report);
}

/* ---- Reading ----------------------------------------------------------------------------------- */

/* A line of numbers; how many there are, or -1 if something else is there. */
static int64_t read_numbers(char *line, double *out, int64_t most)
{
    char *rest = line, *word, *end;
    int64_t n = 0;
    while ((word = strtok_r(rest, " \n", &rest))) {
        const double value = strtod(word, &end);
        if (*end) return -1;
        if (n < most) out[n] = value;
        n++;
    }
    return n;
}

/* What a loop of the table costs with the present weight of the variance; errors as if energy and variance had nothing
 * to do with each other, where that is not the weight of the table. */
static void cost_now(cost *now, const choices *c)
{
    const double energy = 1 - c->variance_weight, variance = c->variance_weight,
                 value = energy * now->energy + variance * now->variance;
    if (fabs(value - now->value) <= 1e-9 * (fabs(now->energy) + now->variance)) return;
    now->value = value;
    now->error = hypot(energy * now->energy_error, variance * now->variance_error);
}

/* A table of another system than this one's. */
static int check_system(const char *line, const variational_parameters *f, const ini_file *ini,
                        const char *path, int number, report *report)
{
    unsigned long long found;
    if (sscanf(line, "# system %llx", &found) != 1 || found == system_of(f, ini)) return 0;
    return report_error(report, EXIT_CHECKPOINT, path, number,
                        "its loops are of another system: [box], [species] or [potential] "
                        "has changed");
}

int loops_read(history *h, const variational_parameters *f, const choices *c, const ini_file *ini,
               const char *path, report *report)
{
    const int64_t columns = COLUMNS + 2 * f->count;
    double *v = checked(calloc((size_t)columns, sizeof *v));
    char *line = NULL;
    size_t size = 0;
    int code = 0, number = 0;
    FILE *in = fopen(path, "r");
    h->numbers = f->count;
    if (!in)
        code = report_error(report, EXIT_CHECKPOINT, NULL, 0, "cannot read %s: %s", path,
                            strerror(errno));
    while (!code && getline(&line, &size, in) >= 0) {
        number++;
        if (*line == '#') {
            code = check_system(line, f, ini, path, number, report);
            continue;
        }
        const int64_t found = read_numbers(line, v, columns);
        if (found != columns) {
            code = report_error(report, EXIT_CHECKPOINT, path, number,
                                found < 0 ? "a column is not a number"
                                          : "it has %lld columns, but %lld are expected for "
                                            "%lld parameters: does it belong to another wave "
                                            "function?",
                                (long long)found, (long long)columns, (long long)f->count);
            break;
        }
        entry e = {.loop = (int64_t)v[0],
                   .cost = {v[1], v[2], v[3], v[4], v[5], v[6], 1},
                   .level = (int64_t)v[7],
                   .good = (int64_t)v[8],
                   .idle = (int64_t)v[9],
                   .sampled = v + COLUMNS,
                   .next = v + COLUMNS + f->count};
        cost_now(&e.cost, c);
        loops_append(h, &e);
    }
    if (!code && !h->count)
        code = report_error(report, EXIT_CHECKPOINT, path, 0, "it contains no loop");
    if (in) fclose(in);
    free(line);
    free(v);
    return code;
}
