/* `plugmc list`, `plugmc info` and `plugmc manual`: what plugins and keys there are, for people.
 * All of it is read from the tables that the INI reader works with, so it cannot disagree with
 * the program.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/beside.h"
#include "cli.h"
#include "input/config.h"
#include "plugin/loader.h"
#include "plugin/search.h"
#include "base/report.h"
#include "engine/fitting.h"
#include "engine/listing.h"
#include "plugin/descriptor.h"

/* ---- Plugins in words ------------------------------------------------------------------------ */

typedef struct trait {
    uint32_t bit;
    const char *words;
} trait;

static const trait pair_traits[] = {
    {PLUGMC_PAIR_ENERGY, "energy"},
    {PLUGMC_PAIR_CONTACT, "hard core"},
    {PLUGMC_PAIR_CHANGE, "change between two separations"},
    {PLUGMC_PAIR_FACTOR, "factor of the test particle"},
    {PLUGMC_PAIR_DERIVATIVE, "first and second derivative"},
    {PLUGMC_PAIR_POSITIONS, "depends on positions, not only on separations"},
};

static const trait mover_traits[] = {
    {PLUGMC_USES_PAIR, "supports pair energies"},
    {PLUGMC_USES_FIELD, "supports fields"},
    {PLUGMC_USES_TOTAL, "supports many-body terms"},
    {PLUGMC_USES_ORBITALS, "supports orbitals"},
    {PLUGMC_NEEDS_FINITE_RANGE, "needs potentials of finite range"},
    {PLUGMC_NEEDS_PERIODIC, "needs a periodic box"},
    {PLUGMC_NEEDS_RECTANGULAR, "needs a rectangular box"},
    {PLUGMC_NEEDS_FORCES, "needs forces: potentials with derivatives and without hard cores"},
    {PLUGMC_USES_POSITIONS, "supports pair energies that depend on positions"},
    {PLUGMC_RUNS_ON_CPU, "runs on the CPU"},
    {PLUGMC_RUNS_ON_GPU, "runs on the GPU"},
};

static void print_pair(FILE *f, const char *lead, const plugmc_pair *pair)
{
    const char *between = "";
    fprintf(f, "%spair: ", lead);
    for (int i = 0; i < PLUGMC_COUNT(pair_traits); i++) {
        if (!((uint32_t)pair->functions & pair_traits[i].bit)) continue;
        fprintf(f, "%s%s", between, pair_traits[i].words);
        between = ", ";
    }
    fputs("\n", f);
}

static const char *where(int on_device) { return on_device ? "CPU and GPU" : "CPU only"; }

static void print_potential(FILE *f, const char *lead, const plugmc_plugin *d)
{
    const plugmc_potential *p = d->potential;
    if (p->pair) print_pair(f, lead, p->pair);
    if (p->field)
        fprintf(f, "%sfield: energy of one particle at its position%s\n", lead,
                p->field->functions & PLUGMC_FIELD_DERIVATIVE ? ", first and second derivative"
                                                              : "");
    if (p->total)
        fprintf(f, "%stotal: energy of the whole configuration%s (%s)\n", lead,
                p->total->change ? ", and its change for one moved particle" : "",
                where(p->total->on_device));
    if (plugmc_body_of(d))
        fprintf(f, "%sbodies: pairs of particles with orientations%s%s%s\n", lead,
                plugmc_body_of(d)->functions & PLUGMC_BODY_OVERLAP ? ", overlap" : "",
                plugmc_body_of(d)->functions & PLUGMC_BODY_ENERGY ? ", energy" : "",
                plugmc_body_of(d)->functions & PLUGMC_BODY_PATH ? ", free path" : "");
    if (plugmc_orbitals_of(d))
        fprintf(f, "%sorbitals: values, gradients and Laplacians (%s)\n", lead,
                where(plugmc_orbitals_of(d)->on_device));
    if (plugmc_variational_of(d))
        fprintf(f, "%svariational parameters: can be optimised (plugmc optimise)\n", lead);
    if ((p->pair || p->field) && d->source)
        fprintf(f, "%sis compiled into the GPU kernels of movers\n", lead);
}

static void print_mover(FILE *f, const char *lead, const plugmc_plugin *d)
{
    if (d->mover->good_for) fprintf(f, "%sgood for %s\n", lead, d->mover->good_for);
    for (int i = 0; i < PLUGMC_COUNT(mover_traits); i++)
        if (needs_of(d->mover) & mover_traits[i].bit)
            fprintf(f, "%s%s\n", lead, mover_traits[i].words);
    for (int32_t k = 0; k < d->mover->move_count; k++) {
        const plugmc_move *move = &d->mover->moves[k];
        fprintf(f, "%smove %s: %s", lead, move->name, move->doc);
        if (move->step_unit && move->target_key)
            fprintf(f, "; its size (%s) can be tuned during equilibration", move->step_unit);
        fprintf(f, "\n");
    }
}

static void print_observable(FILE *f, const char *lead, const plugmc_plugin *d)
{
    const plugmc_observable *o = d->observable;
    fprintf(f, "%smeasures on: %s\n", lead, where(o->on_device));
    if (PLUGMC_HAS(o, depends_on) && o->depends_on)
        fprintf(f, "%scannot be reweighted%s\n", lead,
                o->depends_on == PLUGMC_ON_MULTIPLIERS
                    ? " to other temperatures: 1/kT and couplings are in each sample"
                    : ": it describes how walkers move through the ladder");
    if (o->derived) fprintf(f, "%shas results derived from its averages, with errors\n", lead);
    if (o->quantity && !o->writes_trajectory && !listing_entry(o, 0))
        fprintf(f, "%sits quantities depend on the run\n", lead);
    if (o->writes_trajectory) fprintf(f, "%swrites positions into the trajectory\n", lead);
}

static const char *kind_words(const plugmc_listing *l)
{
    return l->derived ? l->array ? "derived array" : "derived" : l->array ? "array" : "measured";
}

/* All that an observable can give: name, kind, unit, meaning; as text or as Markdown rows. */
static void print_listing(const plugmc_plugin *d, bool markdown)
{
    const plugmc_listing *l;
    int width[2] = {8, 4}; /* of the heads */
    if (!d->observable || !listing_entry(d->observable, 0)) return;
    for (int i = 0; (l = listing_entry(d->observable, i)); i++) {
        if ((int)strlen(l->name) > width[0]) width[0] = (int)strlen(l->name);
        if ((int)strlen(l->unit) > width[1]) width[1] = (int)strlen(l->unit);
    }
    if (markdown)
        puts("| quantity | kind | unit | meaning |\n|---|---|---|---|");
    else
        printf("\nQuantities (<word>: depends on the run):\n  %-*s  %-13s  %-*s  meaning\n",
               width[0], "quantity", "kind", width[1], "unit");
    for (int i = 0; (l = listing_entry(d->observable, i)); i++)
        printf(markdown ? "| `%-*s` | %s | %-*s | %s |\n" : "  %-*s  %-13s  %-*s  %s\n",
               markdown ? 0 : width[0], l->name, kind_words(l), markdown ? 0 : width[1], l->unit,
               l->doc);
    if (markdown) puts("");
}

/* One line a trait, each with `lead` in front. */
static void print_traits(FILE *f, const char *lead, const plugmc_plugin *d)
{
    static void (*const print[])(FILE *, const char *,
                                 const plugmc_plugin *) = {[PLUGMC_POTENTIAL] = print_potential,
                                                           [PLUGMC_MOVER] = print_mover,
                                                           [PLUGMC_OBSERVABLE] = print_observable};
    print[d->kind](f, lead, d);
}

static const char *or_empty(const char *text) { return text ? text : ""; }

static bool writes_trajectory(const plugmc_plugin *d)
{
    return d->kind == PLUGMC_OBSERVABLE && d->observable->writes_trajectory;
}

static bool has_own_keys(const plugmc_plugin *d)
{
    for (int i = 0; i < d->parameter_count; i++)
        if (!d->parameters[i].derived) return true;
    return false;
}

static bool has_keys(const plugmc_plugin *d) { return has_own_keys(d) || writes_trajectory(d); }

static void describe_keys(const plugmc_plugin *d, int manual)
{
    if (has_own_keys(d)) parameters_describe(stdout, d->parameters, d->parameter_count, manual);
    if (writes_trajectory(d))
        parameters_describe(stdout, trajectory_table, trajectory_count, manual);
}

static void print_ini_block(const plugmc_plugin *d, const char *section)
{
    if (writes_trajectory(d) && !has_own_keys(d))
        parameters_ini_block(stdout, section, trajectory_table, trajectory_count);
    else
        parameters_ini_block(stdout, section, d->parameters, d->parameter_count);
}

/* ---- Command lines --------------------------------------------------------------------------- */

static bool wants_help(int argc, char **argv, const char *usage)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--help") != 0 && strcmp(argv[i], "-h") != 0) continue;
        fputs(usage, stdout);
        return true;
    }
    return false;
}

/* ---- list ------------------------------------------------------------------------------------ */

/* Every plugin in the search path that opens; the sentences of those that do not. */
typedef struct collection {
    plugin_names found;
    loaded *plugins; /* [found.count]; plugin is NULL where it did not open */
    char **failures; /* [found.count]; NULL where it did */
} collection;

static collection collect(void)
{
    collection c = {.found = plugin_list(0)};
    c.plugins = checked(calloc((size_t)c.found.count + 1, sizeof *c.plugins));
    c.failures = checked(calloc((size_t)c.found.count + 1, sizeof *c.failures));
    for (int i = 0; i < c.found.count; i++) {
        char why[1024];
        if (!plugin_open(c.found.paths[i], 0, &c.plugins[i], why, sizeof why))
            c.failures[i] = checked(strdup(why));
    }
    return c;
}

static void report_failures(const collection *c, report *r)
{
    for (int i = 0; i < c->found.count; i++)
        if (c->failures[i])
            report_error(r, EXIT_PLUGIN, NULL, 0, "plugin '%s': %s", c->found.names[i],
                         c->failures[i]);
}

static void free_collection(collection *c)
{
    for (int i = 0; i < c->found.count; i++) {
        plugin_unload(&c->plugins[i]);
        free(c->failures[i]);
    }
    free(c->plugins);
    free(c->failures);
    plugin_names_free(&c->found);
}

/* The same file under another name, by a link. */
static bool is_alias(const collection *c, int i)
{
    const loaded *own = &c->plugins[i];
    if (strcmp(own->plugin->name, c->found.names[i]) == 0) return false;
    for (int k = 0; k < c->found.count; k++)
        if (strcmp(c->found.names[k], own->plugin->name) == 0 &&
            c->plugins[k].handle == own->handle)
            return true;
    return false;
}

static void list_kind(const collection *c, int kind)
{
    int width = 0;
    printf("%ss\n", plugin_kind_name(kind));
    for (int i = 0; i < c->found.count; i++)
        if ((int)strlen(c->found.names[i]) > width) width = (int)strlen(c->found.names[i]);
    for (int i = 0; i < c->found.count; i++) {
        const plugmc_plugin *d = c->plugins[i].plugin;
        if (!d || d->kind != kind) continue;
        if (is_alias(c, i))
            printf("  %-*s  the same as %s\n", width, c->found.names[i], d->name);
        else
            printf("  %-*s  %s\n", width, c->found.names[i], or_empty(d->summary));
    }
}

/* "potentials" or "potential" as PLUGMC_POTENTIAL; 0 if it is none. */
static int kind_of_word(const char *word)
{
    for (int kind = PLUGMC_POTENTIAL; kind <= PLUGMC_OBSERVABLE; kind++) {
        size_t length = strlen(plugin_kind_name(kind));
        if (strncmp(word, plugin_kind_name(kind), length) == 0 &&
            (word[length] == 0 || strcmp(word + length, "s") == 0))
            return kind;
    }
    return 0;
}

int command_list(int argc, char **argv)
{
    static const char usage[] =
        "usage: plugmc list [potentials|movers|observables]\n"
        "\n"
        "Lists the plugins in the search path: the folders of $PLUGMC_PLUGIN_PATH, the folder plugins\n"
        "next to the program, and the installed one. All of them are loaded; unusable ones are listed\n"
        "at the end, with exit code 4.\n";
    report r = {0};
    if (wants_help(argc, argv, usage)) return r.code;
    int wanted = argc == 1 ? kind_of_word(argv[0]) : 0;
    if (argc > 1 || (argc == 1 && wanted == 0)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    collection c = collect();
    for (int kind = PLUGMC_POTENTIAL; kind <= PLUGMC_OBSERVABLE; kind++)
        if (wanted == 0 || wanted == kind) list_kind(&c, kind);
    fputs("searched ", stdout);
    plugin_path_print(stdout);
    fputs("\n", stdout);
    fflush(stdout);
    report_failures(&c, &r);
    free_collection(&c);
    return r.code;
}

/* ---- info ------------------------------------------------------------------------------------ */

static const section_kind *find_section(const char *name)
{
    for (int i = 0; i < section_kind_count; i++)
        if (strcmp(section_kinds[i].name, name) == 0) return &section_kinds[i];
    return NULL;
}

static void print_section_info(const section_kind *s)
{
    char *header = NULL;
    if (asprintf(&header, "%s%s", s->name, s->labelled ? " NAME" : "") < 0) checked(NULL);
    printf("[%s]: %s\n\n", header, s->summary);
    parameters_describe(stdout, s->table, *s->count, 0);
    if (s->plugin)
        printf("\nThe other keys are the plugin's own: plugmc list %ss, plugmc info NAME\n",
               s->name);
    fputs("\n", stdout);
    parameters_ini_block(stdout, header, s->table, *s->count);
    free(header);
}

static void print_keys_of_core(int kind)
{
    const section_kind *s = find_section(plugin_kind_name(kind));
    for (int i = 0; i < *s->count; i++) printf("%s%s", i ? ", " : "", s->table[i].name);
}

static void print_plugin_info(const loaded *l)
{
    const plugmc_plugin *d = l->plugin;
    bool by_path = strchr(l->name, '/') != NULL;
    char *section = NULL;
    if (asprintf(&section, "%s %s", plugin_kind_name(d->kind), by_path ? d->name : l->name) < 0)
        checked(NULL);

    printf("%s (%s): %s\n", d->name, plugin_kind_name(d->kind), or_empty(d->summary));
    if (*or_empty(d->reference)) printf("paper: %s\n", d->reference);
    printf("file: %s, hash %s, ABI %d.%d\n\n", l->path, l->hash, d->abi_major, d->abi_minor);
    print_traits(stdout, "  ", d);
    print_listing(d, false);
    printf("\n%s of [%s], besides those of the core (", has_keys(d) ? "Keys" : "No keys", section);
    print_keys_of_core(d->kind);
    printf("; see plugmc info %s)%s\n", plugin_kind_name(d->kind), has_keys(d) ? ":" : ".");
    if (has_keys(d)) describe_keys(d, 0);
    fputs("\n", stdout);
    print_ini_block(d, section);
    if (by_path) printf("plugin = %s\n", l->name);
    free(section);
}

/* Sections of studies are those of a program beside this one. */
static bool is_of_studies(const char *name)
{
    return !strcmp(name, "scan") || !strcmp(name, "twists");
}

/* Of [scan] or [twists], or of both for the manual: does not come back unless it fails. */
static int keys_of_studies(const char *of)
{
    char keys[] = "--keys", section[16], *words[] = {keys, section};
    snprintf(section, sizeof section, "%s", of);
    return beside_run("scan", 2, words);
}

/* Of a name that no plugin has: the section that it may be meant for; NULL: none. */
static const char *section_near(const char *name)
{
    const char *names[section_kind_count];
    char *path = strchr(name, '/') ? NULL : find_plugin(name);
    const bool there = path || strchr(name, '/');
    free(path);
    for (int i = 0; i < section_kind_count; i++) names[i] = section_kinds[i].name;
    return there ? NULL : nearest_name(name, names, section_kind_count);
}

/* No plugin: engine/mover_choice.c. */
static int explain_choice(void)
{
    puts(
        "auto (mover): the mover of single particles that says to be the fastest of those that fit the\n"
        "potentials, the box, the ladder, the other movers and the device\n"
        "\n"
        "The first line of a run says which mover it is, and the output file has its name. plugmc check\n"
        "prints what every mover would give, and why others do not fit. docs/usage.md says more.\n"
        "\n"
        "Keys of [mover auto], besides `every`: those that all these movers share\n"
        "  step               largest displacement of a trial move, length\n"
        "  target_acceptance  acceptance that the step is tuned to during equilibration; 0: fixed step\n"
        "\n"
        "To paste into an INI file:\n"
        "[mover auto]\n"
        "step = 0.1\n"
        "target_acceptance = 0.4");
    return EXIT_DONE;
}

int command_info(int argc, char **argv)
{
    static const char usage[] =
        "usage: plugmc info NAME\n"
        "       plugmc info potential|mover|observable NAME\n"
        "\n"
        "Describes a plugin (by name, or by the path of its .so) or a section of the INI file:\n"
        "run, units, box, species, initial, ladder, potential, mover or observable; scan or twists of a\n"
        "study. The last part is a block to paste into an INI file.\n";
    report r = {0};
    if (wants_help(argc, argv, usage)) return r.code;
    const int kind = argc == 2 ? kind_of_word(argv[0]) : 0;
    if (argc != 1 && !kind) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[argc - 1];
    const section_kind *section = kind ? NULL : find_section(name);
    const char *near = kind || section ? NULL : section_near(name);
    loaded plugin;
    if ((!kind || kind == PLUGMC_MOVER) && !strcmp(name, "auto")) return explain_choice();
    if (!kind && is_of_studies(name)) return keys_of_studies(name);
    if (section) {
        print_section_info(section);
    } else if (near) {
        report_error(&r, EXIT_PLUGIN, NULL, 0,
                     "there is no plugin and no section '%s'; did you mean '%s'?", name, near);
    } else if (plugin_load(name, kind, NULL, 0, &plugin, &r) == 0) {
        print_plugin_info(&plugin);
        plugin_unload(&plugin);
    }
    return r.code;
}

/* ---- manual ---------------------------------------------------------------------------------- */

/* With a capital letter, but g(r) stays what it is. */
static void print_sentence(const char *text)
{
    bool word = islower((unsigned char)text[0]) && isalpha((unsigned char)text[1]);
    printf("%c%s.\n\n", word ? toupper((unsigned char)text[0]) : text[0], text + 1);
}

static void manual_section(const section_kind *s)
{
    printf("### [%s%s]\n\n", s->name, s->labelled ? " NAME" : "");
    print_sentence(s->summary);
    parameters_describe(stdout, s->table, *s->count, 1);
    fputs("\n", stdout);
}

static void manual_plugin(const collection *c, int i)
{
    const plugmc_plugin *d = c->plugins[i].plugin;
    char *section = NULL;
    if (asprintf(&section, "%s %s", plugin_kind_name(d->kind), c->found.names[i]) < 0)
        checked(NULL);
    printf("### %s\n\n", c->found.names[i]);
    if (*or_empty(d->summary)) print_sentence(d->summary);
    if (*or_empty(d->reference)) printf("Paper: %s.\n\n", d->reference);
    for (int k = 0; k < c->found.count; k++)
        if (k != i && c->plugins[k].handle == c->plugins[i].handle && is_alias(c, k))
            printf("Also known as `%s`.\n\n", c->found.names[k]);
    print_traits(stdout, "- ", d);
    fputs("\n", stdout);
    print_listing(d, true);
    if (has_keys(d)) {
        describe_keys(d, 1);
        fputs("\n", stdout);
    }
    fputs("```ini\n", stdout);
    print_ini_block(d, section);
    fputs("```\n\n", stdout);
    free(section);
}

static void manual_kind(const collection *c, const section_kind *s)
{
    printf("## Plugins: %ss\n\nKeys that the core reads in each of these sections:\n\n", s->name);
    manual_section(s);
    for (int i = 0; i < c->found.count; i++) {
        const plugmc_plugin *d = c->plugins[i].plugin;
        if (d && d->kind == s->plugin && !is_alias(c, i)) manual_plugin(c, i);
    }
}

int command_manual(int argc, char **argv)
{
    static const char usage[] =
        "usage: plugmc manual\n\n"
        "Writes the reference of the INI file (docs/ini-reference.md) from the tables of the core,\n"
        "of all plugins in the search path and of plugmc scan.\n";
    static const char head[] =
        "# Reference of the INI file\n"
        "\n"
        "Generated by `plugmc manual` from the tables with which the program reads INI files; do not\n"
        "edit.\n"
        "\n"
        "A section begins with `[kind]` or `[kind NAME]`, a key is `key = value`. Lines that begin\n"
        "with `;` or `#` are comments; in a line, a comment begins with a blank and `;`. Lines may have\n"
        "any length, and a list of numbers must be on one line. Names of sections and keys have at most\n"
        "49 bytes, and lines must not be indented. Unknown or repeated sections and keys are errors.\n"
        "\n"
        "Numbers are written as in C (`0.5`, `1e-3`), real numbers also as fractions (`1/3`), integers\n"
        "also as `1e6`. Flags are `yes` or `no`. Lengths are in a unit of your choice, the same\n"
        "everywhere, and energies in units of kT, unless [units] names other units.\n"
        "\n"
        "Any key can be set on the command line: `--set run.sweeps=1000`, `--set \"mover\n"
        "NAME.key=value\"`; NAME may be omitted if there is only one section of that kind.\n"
        "\n"
        "## Sections of the core\n"
        "\n";
    report r = {0};
    if (wants_help(argc, argv, usage)) return r.code;
    if (argc != 0) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    collection c = collect();
    fputs(head, stdout);
    for (int i = 0; i < section_kind_count; i++)
        if (!section_kinds[i].plugin) manual_section(&section_kinds[i]);
    for (int i = 0; i < section_kind_count; i++)
        if (section_kinds[i].plugin) manual_kind(&c, &section_kinds[i]);
    fflush(stdout);
    report_failures(&c, &r);
    free_collection(&c);
    return r.code ? r.code : keys_of_studies("manual");
}
