/* The INI file of `plugmc bench`: its sections [bench], their cases, and what is timed. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plugin/search.h"

static const plugmc_parameter bench_table[] = {
    PLUGMC_CHOICE_KEY(bench_section, time, "sweeps", "sweeps|total|orbitals",
                      "what is timed: sweeps of movers; energies and forces of whole "
                      "configurations; orbitals at the positions of the particles"),
    PLUGMC_TEXT_KEY(bench_section, vary, "",
                    "section.key that is varied, or several separated by commas"),
    PLUGMC_TEXT_KEY(bench_section, values, "",
                    "its values, separated by blanks; for several keys: cases separated by commas"),
    PLUGMC_TEXT_KEY(bench_section, which, "",
                    "labels of the movers or potentials that are timed; if empty, all "
                    "possible ones"),
    PLUGMC_INTEGER_KEY(bench_section, warmup, "100", 0, 1e9, "",
                       "sweeps or evaluations before timing"),
    PLUGMC_INTEGER_KEY(bench_section, sweeps, "100", 1, 1e9, "",
                       "sweeps or evaluations in one timing"),
    PLUGMC_INTEGER_KEY(bench_section, repeat, "11", 1, 1000, "",
                       "number of timings; the median is reported"),
    PLUGMC_REAL_KEY(
        bench_section, limit, "0", 0, 1e9, "seconds",
        "time limit of a case, which reduces the number of sweeps; a case is skipped if one "
        "sweep takes longer; 0: none"),
    PLUGMC_FLAG_KEY(bench_section, pairs, "no",
                    "also reports ordered pairs per second, N (N "
                    "- 1) in a sweep"),
    PLUGMC_FLAG_KEY(bench_section, profile, "no", "also reports the time in each GPU kernel"),
    PLUGMC_TEXT_KEY(bench_section, one_core, "",
                    "labels of those that are timed on one CPU core, separated by blanks"),
    PLUGMC_INTEGER_KEY(bench_section, places, "0", 0, 1e9, "",
                       "for time = orbitals: number of random positions per walker at which "
                       "the orbitals of the first species are evaluated; 0: the positions of "
                       "all particles"),
    PLUGMC_TEXT_KEY(bench_section, one_by_one, "",
                    "labels of potentials whose orbitals are evaluated for one particle of "
                    "each walker after the other"),
    PLUGMC_TEXT_KEY(bench_section, single, "",
                    "labels of potentials whose orbitals are evaluated in single precision "
                    "on the CPU, too"),
};

static const char *const facet_names[] = {"sweeps", "total", "orbitals"}; /* by TIME_* */

/* ---- Sections -------------------------------------------------------------------------------- */

static void drop_section(ini_file *ini, int index)
{
    memmove(&ini->sections[index], &ini->sections[index + 1],
            sizeof *ini->sections * (size_t)(ini->count - index - 1));
    ini->count--;
}

/* Kind of the sections that are timed. */
static const char *kind_of(const bench_section *bench)
{
    return bench->time == TIME_SWEEPS ? "mover" : "potential";
}

static bool has_role_measured(const ini_section *s)
{
    const ini_entry *role = ini_get(s, "role");
    return role && !strcmp(role->value, "measured");
}

/* The mover that stays beside a subject, without acting. */
static const char *beside(const benchmark *b, const subject *s)
{
    return b->section.time == TIME_SWEEPS && !s->counts ? b->counting : NULL;
}

/* Leaves one subject in the file, and what it needs: a mover all potentials that it samples, and where numbers change one that
 * changes them, as reservoirs and room for particles are refused without; a potential nothing else. Nothing is measured in a
 * benchmark, but movers may ask observables (local energies). */
static void keep_subject(ini_file *ini, const benchmark *b, const subject *s)
{
    const bench_section *bench = &b->section;
    const char *kind = kind_of(bench), *other = beside(b, s);
    for (int k = ini->count - 1; k >= 0; k--) {
        const ini_section *section = &ini->sections[k];
        const bool same = !strcmp(section->kind, kind),
                   potential = !strcmp(section->kind, "potential");
        const bool kept =
            !strcmp(section->label, s->label) || (other && !strcmp(section->label, other));
        if ((same && !kept) || (!same && potential && has_role_measured(section)) ||
            (bench->time != TIME_SWEEPS &&
             (!strcmp(section->kind, "mover") || !strcmp(section->kind, "observable"))))
            drop_section(ini, k);
    }
}

static ini_section *find_section(const ini_file *ini, const char *kind, const char *label)
{
    for (int k = 0; k < ini->count; k++)
        if (!strcmp(ini->sections[k].kind, kind) && !strcmp(ini->sections[k].label, label))
            return &ini->sections[k];
    return NULL;
}

/* Takes the section of the table out of the file, and all others [bench], which the configuration
 * does not know. */
static int take_bench_section(ini_file *ini, const char *label, bench_section *bench,
                              report *report)
{
    ini_section *section = find_section(ini, "bench", label);
    if (!section)
        return report_error(report, EXIT_INPUT, ini->path, 0,
                            "has no [bench%s%s] section, so it is not a benchmark",
                            *label ? " " : "", label);
    int code = parameters_fill(bench_table, PLUGMC_COUNT(bench_table), sizeof(double), bench,
                               ini->path, section, report);
    if (!code)
        code = parameters_unused(bench_table, PLUGMC_COUNT(bench_table), NULL, ini->path, section,
                                 report);
    for (int k = ini->count - 1; k >= 0; k--)
        if (!strcmp(ini->sections[k].kind, "bench")) drop_section(ini, k);
    return code;
}

static int read_file(const char *path, char **sets, int set_count, report *report, ini_file *ini)
{
    int code = ini_read(path, ini, report);
    for (int i = 0; i < set_count && !code; i++) code = ini_set(ini, sets[i], report);
    return code;
}

int bench_tables(const char *path, char **sets, int set_count, report *report, char **labels,
                 int room, int *count)
{
    ini_file ini = {0};
    int code = read_file(path, sets, set_count, report, &ini);
    *count = 0;
    for (int k = 0; k < ini.count && *count < room && !code; k++)
        if (!strcmp(ini.sections[k].kind, "bench"))
            labels[(*count)++] = checked(strdup(ini.sections[k].label));
    ini_free(&ini);
    if (!code && *count == 0)
        code = report_error(report, EXIT_INPUT, path, 0,
                            "has no [bench] section, so it is not a "
                            "benchmark");
    return code;
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static char *trimmed(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    for (char *end = text + strlen(text); end > text && (end[-1] == ' ' || end[-1] == '\t');)
        *--end = 0;
    return text;
}

/* The values of one case, separated by blanks. */
static int read_case(benchmark *b, char *text)
{
    bench_case *c = &b->cases[b->case_count];
    int count = 0;
    for (char *value; (value = strsep(&text, " \t"));)
        if (*value && count++ < b->key_count) c->value[count - 1] = value;
    if (!count) return EXIT_DONE;
    if (count != b->key_count)
        return report_error(b->report, EXIT_INPUT, b->path, 0,
                            "[%s] values: a case has %d values, but %d keys vary", b->name, count,
                            b->key_count);
    b->case_count++;
    return EXIT_DONE;
}

/* Keys and cases. The texts are cut up where they are, copies that live until the end. */
static int read_cases(benchmark *b)
{
    char *keys = checked(strdup(b->section.vary)), *values = checked(strdup(b->section.values)),
         *part;
    const char *between = strchr(keys, ',') ? "," : " \t";
    int code = EXIT_DONE;
    while ((part = strsep(&keys, ",")))
        if (*trimmed(part)) {
            if (b->key_count == MOST_KEYS)
                return report_error(b->report, EXIT_INPUT, b->path, 0,
                                    "[%s] vary: the limit is %d keys", b->name, MOST_KEYS);
            b->keys[b->key_count++] = trimmed(part);
        }
    if (b->key_count == 0) {
        b->case_count = 1;
        return EXIT_DONE;
    }
    while (!code && (part = strsep(&values, between))) {
        if (b->case_count < MOST_CASES)
            code = read_case(b, part);
        else if (*trimmed(part))
            code = report_error(b->report, EXIT_INPUT, b->path, 0,
                                "[%s] values: the limit is %d cases", b->name, MOST_CASES);
    }
    if (!code && !b->case_count)
        code = report_error(b->report, EXIT_INPUT, b->path, 0,
                            "[%s] vary = %s: there are no values", b->name, b->section.vary);
    return code;
}

/* ---- Subjects -------------------------------------------------------------------------------- */

static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = words; n && (at = strstr(at, word)); at += n)
        if ((at == words || strchr(" \t", at[-1])) && (!at[n] || strchr(" \t", at[n]))) return true;
    return false;
}

/* Every word of a list must be the label of a section that could be timed. */
static int check_labels(const benchmark *b, const ini_file *ini, const char *key, const char *words)
{
    char *copy = checked(strdup(words)), *rest = copy, *label;
    int code = EXIT_DONE;
    while ((label = strsep(&rest, " \t")) && !code)
        if (*label && !find_section(ini, kind_of(&b->section), label))
            code =
                report_error(b->report, EXIT_INPUT, b->path, 0, "[%s] %s = %s: there is no [%s %s]",
                             b->name, key, words, kind_of(&b->section), label);
    free(copy);
    return code;
}

/* Can this potential be timed? Its plugin is opened to see. */
static int has_facet(const benchmark *b, const ini_section *s, bool *yes)
{
    const ini_entry *name = ini_get(s, "plugin");
    loaded loaded;
    int code = plugin_load(name && *name->value ? name->value : s->label, PLUGMC_POTENTIAL, b->path,
                           s->line, &loaded, b->report);
    if (code) return code;
    const plugmc_potential *p = loaded.plugin->potential;
    *yes = b->section.time == TIME_TOTAL ? p->total != NULL
                                         : plugmc_orbitals_of(loaded.plugin) != NULL;
    plugin_unload(&loaded);
    return EXIT_DONE;
}

/* Whether a mover changes particle numbers. `auto` does not. */
static int find_whether_counts(const benchmark *b, const ini_section *s, bool *yes)
{
    const ini_entry *plugin = ini_get(s, "plugin");
    const char *name = plugin && *plugin->value ? plugin->value : s->label;
    loaded loaded;
    *yes = false;
    if (!strcmp(name, "auto")) return EXIT_DONE;
    const int code = plugin_load(name, PLUGMC_MOVER, b->path, s->line, &loaded, b->report);
    if (code) return code;
    *yes = loaded.plugin->mover->changes & PLUGMC_CHANGED_COUNT;
    plugin_unload(&loaded);
    return EXIT_DONE;
}

static int consider(benchmark *b, const ini_section *s)
{
    const bench_section *bench = &b->section;
    const bool named = has_word(bench->which, s->label);
    bool can = true, counts = false;
    if (strcmp(s->kind, kind_of(bench))) return EXIT_DONE;
    int code = bench->time == TIME_SWEEPS ? find_whether_counts(b, s, &counts) : EXIT_DONE;
    if (!code && counts && !b->counting) b->counting = checked(strdup(s->label));
    if (code || (*bench->which && !named)) return code;
    if (bench->time != TIME_SWEEPS) code = has_facet(b, s, &can);
    if (code) return code;
    if (!can && named)
        return report_error(b->report, EXIT_INPUT, b->path, s->line,
                            "[%s] has no facet '%s', which [%s] is to time", s->name,
                            facet_names[bench->time], b->name);
    if (!can) return EXIT_DONE;
    if (b->subject_count == MOST_SUBJECTS)
        return report_error(b->report, EXIT_INPUT, b->path, s->line,
                            "[%s] is one too many: at most %d %ss can be timed together", s->name,
                            MOST_SUBJECTS, kind_of(bench));
    b->subjects[b->subject_count++] = (subject){.label = checked(strdup(s->label)),
                                                .counts = counts,
                                                .one_core = has_word(bench->one_core, s->label),
                                                .one_by_one = has_word(bench->one_by_one, s->label),
                                                .single = has_word(bench->single, s->label)};
    return EXIT_DONE;
}

static int read_subjects(benchmark *b, const ini_file *ini)
{
    const bench_section *bench = &b->section;
    int code = check_labels(b, ini, "which", bench->which);
    if (!code) code = check_labels(b, ini, "one_core", bench->one_core);
    if (!code) code = check_labels(b, ini, "one_by_one", bench->one_by_one);
    if (!code) code = check_labels(b, ini, "single", bench->single);
    for (int k = 0; k < ini->count && !code; k++) code = consider(b, &ini->sections[k]);
    if (code || b->subject_count) return code;
    if (bench->time == TIME_SWEEPS)
        return report_error(b->report, EXIT_INPUT, b->path, 0, "there is no section [mover NAME]");
    return report_error(b->report, EXIT_INPUT, b->path, 0,
                        "[%s] time = %s: no [potential] of this file has that facet", b->name,
                        facet_names[bench->time]);
}

int bench_read(benchmark *b)
{
    ini_file ini = {0};
    int code = read_file(b->path, b->sets, b->set_count, b->report, &ini);
    if (!code) code = take_bench_section(&ini, b->table, &b->section, b->report);
    if (!code) code = read_cases(b);
    if (!code) code = read_subjects(b, &ini);
    ini_free(&ini);
    return code;
}

/* A potential that is timed alone is not sampled: no mover asks whether it could be. */
int bench_configure(const benchmark *b, const bench_case *c, const subject *s,
                    bench_section *section, config *config)
{
    char assignment[512];
    int code = read_file(b->path, b->sets, b->set_count, b->report, &config->ini);
    if (!code) keep_subject(&config->ini, b, s);
    if (!code && beside(b, s)) {
        snprintf(assignment, sizeof assignment, "mover %s.every=100000000000000", beside(b, s));
        code = ini_set(&config->ini, assignment, b->report);
    }
    for (int k = 0; k < b->key_count && !code; k++) {
        snprintf(assignment, sizeof assignment, "%s=%s", b->keys[k], c->value[k]);
        code = ini_set(&config->ini, assignment, b->report);
    }
    if (!code) code = take_bench_section(&config->ini, b->table, section, b->report);
    config->without_mover = b->section.time != TIME_SWEEPS;
    snprintf(assignment, sizeof assignment, "potential %s.role=measured", s->label);
    if (!code && config->without_mover) code = ini_set(&config->ini, assignment, b->report);
    if (!code && s->one_core) code = ini_set(&config->ini, "run.device=cpu", b->report);
    if (!code && s->one_core) code = ini_set(&config->ini, "run.threads=1", b->report);
    return code ? code : config_read(config, b->report);
}
