/* The core's sections, read and checked: what must hold between their keys, which config_keys.c lists. Sizes of box and
 * particles are checked against each other where the system is built. */
#include "input/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "input/former_keys.h"
#include "input/molecule_places.h"
#include "input/reservoir_keys.h"

/* ---- Reading --------------------------------------------------------------------------------- */

static void check_sections(config *, report *);
static void read_run(config *, report *);
static void read_units(config *, report *);
static void read_initial(config *, report *);
static void read_species(config *, report *);
static void read_molecules(config *, report *);
static void check_counts(const config *, report *);
static void read_plugins(config *, report *);

/* One section of the core into its struct. */
static void read_section(config *c, ini_section *s, const plugmc_parameter *table, int count,
                         void *instance, report *r)
{
    parameters_fill(table, count, sizeof(real), instance, c->ini.path, s, r);
    if (s) former_keys_warn(&c->ini, s, r);
    if (s) parameters_unused(table, count, NULL, c->ini.path, s, r);
}

int config_read(config *c, report *r)
{
    int before = r->errors;
    check_sections(c, r);
    read_run(c, r);
    ini_section *box = ini_find(&c->ini, "box");
    if (box) read_section(c, box, box_table, box_count, &c->box, r);
    read_units(c, r);
    read_species(c, r);
    read_molecules(c, r);
    read_initial(c, r);
    if (ini_find(&c->ini, "ladder"))
        read_section(c, ini_find(&c->ini, "ladder"), ladder_table, ladder_count, &c->ladder, r);
    check_counts(c, r);
    read_plugins(c, r);
    return r->errors > before ? r->code : 0;
}

static const section_kind *find_kind(const char *name)
{
    for (int i = 0; i < section_kind_count; i++)
        if (strcmp(section_kinds[i].name, name) == 0) return &section_kinds[i];
    return NULL;
}

static int count_kind(const config *c, const char *kind)
{
    int count = 0;
    for (int i = 0; i < c->ini.count; i++) count += strcmp(c->ini.sections[i].kind, kind) == 0;
    return count;
}

/* Labels name datasets, columns and files, so they are words. */
static bool is_word(const char *label)
{
    for (const unsigned char *s = (const unsigned char *)label; *s; s++)
        if (*s < 0x80 && !isalnum(*s) && !strchr("_-+.", *s)) return false;
    return strcmp(label, ".") != 0 && strcmp(label, "..") != 0;
}

static void unknown_section(const config *c, const ini_section *s, report *r)
{
    const char *names[section_kind_count];
    for (int i = 0; i < section_kind_count; i++) names[i] = section_kinds[i].name;
    if (!strcmp(s->name, "scan") || !strcmp(s->name, "twists")) {
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "a file with a section [%s] is a study of several runs: use plugmc scan",
                     s->name);
        return;
    }
    const char *nearest = nearest_name(s->kind, names, section_kind_count);
    if (!nearest) {
        char kinds[256] = "";
        for (int i = 0; i < section_kind_count; i++) {
            size_t used = strlen(kinds);
            snprintf(kinds + used, sizeof kinds - used, "%s[%s%s]", used ? ", " : "",
                     section_kinds[i].name, section_kinds[i].labelled ? " NAME" : "");
        }
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "unknown section [%s]; there are %s", s->name, kinds);
        return;
    }
    report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                 "unknown section [%s]; did you mean [%s%s]?", s->name, nearest,
                 find_kind(nearest)->labelled ? " ..." : "");
}

static void check_section(const config *c, const ini_section *s, report *r)
{
    const section_kind *kind = find_kind(s->kind);
    const ini_section *first = ini_find(&c->ini, s->kind);
    if (!kind)
        unknown_section(c, s, r);
    else if (!kind->labelled && *s->label)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[%s] must not have a name: write [%s]", s->name, s->kind);
    else if (kind->labelled && !*s->label)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[%s] needs a name: write [%s NAME]", s->name, s->kind);
    else if (!is_word(s->label))
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[%s] '%s' is not a valid name: use letters, digits, '_', '-', '+' and "
                     "'.'%s",
                     s->name, s->label, kind->plugin ? "; a path goes into the key 'plugin'" : "");
    else if (kind->most == 1 && s != first)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[%s] is a second [%s]: a run has only one, and [%s] is in line %d", s->name,
                     s->kind, first->name, first->line);
}

static void check_sections(config *c, report *r)
{
    for (int i = 0; i < c->ini.count; i++) check_section(c, &c->ini.sections[i], r);
    for (int i = 0; i < section_kind_count; i++) {
        const section_kind *kind = &section_kinds[i];
        int count = count_kind(c, kind->name);
        if (kind->plugin == PLUGMC_MOVER && c->without_mover) continue;
        if (count < kind->least)
            report_error(r, EXIT_INPUT, c->ini.path, 0, "there is no section [%s%s]%s", kind->name,
                         kind->labelled ? " NAME" : "",
                         kind->plugin == PLUGMC_POTENTIAL
                             ? "; an ideal gas has one, too: hard cores with [species] diameter = 0"
                             : "");
        else if (kind->labelled && kind->most > 1 && count > kind->most)
            report_error(r, EXIT_INPUT, c->ini.path, 0,
                         "there are %d sections [%s NAME]: the limit is %d", count, kind->name,
                         kind->most);
    }
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* dir/sim.ini writes dir/sim.h5, and so does a run resumed from dir/sim.h5. */
static const char *default_output(const char *path)
{
    char *output = NULL;
    size_t length = strlen(path);
    if (ends_in(path, ".h5")) return keep_text(path);
    if (ends_in(path, ".ini")) length -= strlen(".ini");
    if (asprintf(&output, "%.*s.h5", (int)length, path) < 0) checked(NULL);
    const char *kept = keep_text(output);
    free(output);
    return kept;
}

static void read_run(config *c, report *r)
{
    ini_section *s = ini_find(&c->ini, "run");
    if (!s) return;
    read_section(c, s, run_table, run_count, &c->run, r);
    const char *read = c->ini.archive ? c->ini.archive : c->ini.path;
    if (!c->run.output || !*c->run.output) c->run.output = default_output(read);

    const char *const keys[] = {"output", "csv", "log"}, *const files[] = {c->run.output,
                                                                           c->run.csv, c->run.log};
    for (int i = 0; i < 3; i++)
        if (files[i] && ends_in(files[i], ".ini"))
            report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                         "[run] %s = %s: this name would be read as an INI file", keys[i],
                         files[i]);
    if (c->run.csv && strcmp(c->run.csv, c->run.output) == 0)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[run] output and csv are both '%s'", c->run.csv);
    else if (c->run.csv && strcmp(c->run.csv, read) == 0 && !ends_in(c->run.csv, ".ini"))
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[run] csv = %s: this is the input file", c->run.csv);
    if (c->run.log && *c->run.log &&
        (!strcmp(c->run.log, c->run.output) || !strcmp(c->run.log, c->run.csv)))
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[run] log = %s: this is also another output of the run", c->run.log);
}

static void read_units(config *c, report *r)
{
    const int before = r->errors;
    ini_section *s = ini_find(&c->ini, "units");
    c->units = units_reduced();
    if (!s) return;
    read_section(c, s, units_table, units_count, &c->units_section, r);
    if (r->errors == before) c->units = units_of(&c->units_section);
}

static void read_species(config *c, report *r)
{
    c->species_count = 0;
    c->species = checked(calloc((size_t)c->ini.count + 1, sizeof *c->species));
    c->species_names = checked(calloc((size_t)c->ini.count + 1, sizeof *c->species_names));
    for (int i = 0; i < c->ini.count; i++) {
        ini_section *s = &c->ini.sections[i];
        if (strcmp(s->kind, "species") != 0) continue;
        c->species_names[c->species_count] = s->label;
        read_section(c, s, species_table, species_count, &c->species[c->species_count++], r);
    }
}

/* Whether a word is among those of a text. */
static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = text; at && *at; at += strcspn(at, " \t")) {
        at += strspn(at, " \t");
        if (!strncmp(at, word, n) && strchr(" \t", at[n])) return true;
    }
    return false;
}

/* Whether a section says what its reservoir is. */
static bool has_reservoir(const config *c, const ini_section *s)
{
    bool has = is_mu_of(c->ladder.vary, s->label) || is_mu_of(c->ladder.vary_2, s->label);
    for (int k = 0; k < RESERVOIR_KEYS; k++) has |= ini_get(s, reservoir_keys[k]) != NULL;
    return has;
}

/* Whether the sites of a molecule, at least two, are species of the run. What is wrong is told where molecules are made. */
static bool has_sites(const config *c, const char *sites)
{
    int count = 0;
    for (const char *at = sites; at && *(at += strspn(at, " \t")); at += strcspn(at, " \t")) {
        const size_t length = strcspn(at, " \t");
        bool known = false;
        for (int s = 0; s < c->species_count; s++)
            known |=
                strlen(c->species_names[s]) == length && !strncmp(c->species_names[s], at, length);
        if (!known) return false;
        count++;
    }
    return count > 1;
}

/* A species without a `count` is one of molecules alone. With a reservoir, which fills the box, a run begins without any. */
static void check_count(const config *c, const ini_section *s, report *r)
{
    if (ini_get(s, "count") || has_reservoir(c, s)) return;
    /* a molecule without all its sites may be what the species is for */
    for (int k = 0; k < c->molecule_count; k++)
        if (has_word(c->molecules[k].sites, s->label) || !has_sites(c, c->molecules[k].sites))
            return;
    report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                 "[%s] key 'count' is missing: number of particles in each walker", s->name);
}

/* Molecules begin with none where a reservoir fills the box, or with as many as a file has. */
static void check_molecules(const config *c, const ini_section *s, int32_t k, report *r)
{
    const bool of_file = c->initial.state == INITIAL_FILE && c->molecules[k].max_count > 0;
    if (ini_get(s, "count") || has_reservoir(c, s) || of_file) return;
    report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                 "[%s] key 'count' is missing: number of molecules in each walker, which have no "
                 "reservoir that would fill the box",
                 s->name);
}

/* After all sections that say where numbers come from. */
static void check_counts(const config *c, report *r)
{
    int32_t molecules = 0;
    for (int i = 0; i < c->ini.count; i++) {
        const ini_section *s = &c->ini.sections[i];
        if (!strcmp(s->kind, "species")) check_count(c, s, r);
        if (!strcmp(s->kind, "molecule")) check_molecules(c, s, molecules++, r);
    }
}

static void read_molecules(config *c, report *r)
{
    c->molecule_count = 0;
    c->molecules = checked(calloc((size_t)c->ini.count + 1, sizeof *c->molecules));
    c->molecule_names = checked(calloc((size_t)c->ini.count + 1, sizeof *c->molecule_names));
    for (int i = 0; i < c->ini.count; i++) {
        ini_section *s = &c->ini.sections[i];
        if (strcmp(s->kind, "molecule") != 0) continue;
        c->molecule_names[c->molecule_count] = s->label;
        molecule_places_from_file(&c->ini, s, &c->units, r);
        read_section(c, s, molecule_table, molecule_count, &c->molecules[c->molecule_count++], r);
    }
}

static void read_initial(config *c, report *r)
{
    ini_section *s = ini_find(&c->ini, "initial");
    read_section(c, s, initial_table, initial_count, &c->initial, r);
    if (!c->initial.file) return;
    bool from_file = c->initial.state == INITIAL_FILE, named = *c->initial.file != 0;
    if (from_file && !named)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[initial] state = file: key 'file' must name it");
    if (!from_file && named && ini_get(s, "file"))
        report_error(r, EXIT_INPUT, c->ini.path, ini_get(s, "file")->line,
                     "[initial] file = %s: this key needs state = file", c->initial.file);
}

static void read_plugins(config *c, report *r)
{
    c->plugin_count = 0;
    c->plugins = checked(calloc((size_t)c->ini.count + 1, sizeof *c->plugins));
    for (int i = 0; i < c->ini.count; i++) {
        ini_section *s = &c->ini.sections[i];
        const section_kind *kind = find_kind(s->kind);
        if (!kind || !kind->plugin) continue;
        plugin_section *p = &c->plugins[c->plugin_count++];
        parameters_fill(kind->table, *kind->count, sizeof(real), p, c->ini.path, s, r);
        p->section = s;
        p->kind = kind->plugin;
        p->sampled = p->kind == PLUGMC_POTENTIAL && p->sampled == ROLE_SAMPLED;
        ini_entry *plugin = ini_get(s, "plugin");
        if (!p->plugin || !*p->plugin)
            p->plugin = s->label;
        else if (strchr(p->plugin, '/') && plugin)
            p->plugin = keep_text(parameters_path(s, plugin));
    }
}

/* ---- Echo ------------------------------------------------------------------------------------ */

static void echo_section(FILE *f, const char *name, const plugmc_parameter *table, int count,
                         const void *instance, const ini_section *s)
{
    fprintf(f, "[%s]\n", name);
    parameters_echo(f, table, count, sizeof(real), instance, s);
    fputs("\n", f);
}

void config_echo(FILE *f, const config *c)
{
    int species = 0, molecules = 0;
    echo_section(f, "run", run_table, run_count, &c->run, ini_find(&c->ini, "run"));
    echo_section(f, "box", box_table, box_count, &c->box, ini_find(&c->ini, "box"));
    for (int i = 0; i < c->ini.count; i++) {
        const ini_section *s = &c->ini.sections[i];
        if (strcmp(s->kind, "species") == 0)
            echo_section(f, s->name, species_table, species_count, &c->species[species++], s);
    }
    for (int i = 0; i < c->ini.count; i++) {
        const ini_section *s = &c->ini.sections[i];
        if (strcmp(s->kind, "molecule") == 0)
            echo_section(f, s->name, molecule_table, molecule_count, &c->molecules[molecules++], s);
    }
    echo_section(f, "initial", initial_table, initial_count, &c->initial,
                 ini_find(&c->ini, "initial"));
    if (ini_find(&c->ini, "units"))
        echo_section(f, "units", units_table, units_count, &c->units_section,
                     ini_find(&c->ini, "units"));
    if (ini_find(&c->ini, "ladder"))
        echo_section(f, "ladder", ladder_table, ladder_count, &c->ladder,
                     ini_find(&c->ini, "ladder"));
}

void plugin_section_echo(FILE *f, const plugin_section *p)
{
    const section_kind *kind = find_kind(p->section->kind);
    plugin_section written = *p;
    written.sampled = p->sampled ? ROLE_SAMPLED : ROLE_MEASURED;
    fprintf(f, "[%s]\n", p->section->name);
    parameters_echo(f, kind->table, *kind->count, sizeof(real), &written, p->section);
}

void config_free(config *c)
{
    free(c->species);
    free(c->species_names);
    free(c->molecules);
    free(c->molecule_names);
    free(c->plugins);
    ini_free(&c->ini);
    *c = (config){0};
}

static int line_in(const ini_section *section, const char *key)
{
    const ini_entry *entry = section ? ini_get(section, key) : NULL;
    return entry && entry->line ? entry->line : section ? section->line : 0;
}

int config_line(const config *config, const char *section, const char *key)
{
    return line_in(ini_find(&config->ini, section), key);
}

/* In the n-th section of a kind. */
static int line_in_nth(const config *config, const char *kind, int32_t n, const char *key)
{
    for (int i = 0; i < config->ini.count; i++) {
        const ini_section *section = &config->ini.sections[i];
        if (!strcmp(section->kind, kind) && n-- == 0) return line_in(section, key);
    }
    return 0;
}

int config_line_of_species(const config *config, int32_t s, const char *key)
{
    return line_in_nth(config, "species", s, key);
}

int config_line_of_molecule(const config *config, int32_t k, const char *key)
{
    return line_in_nth(config, "molecule", k, key);
}
