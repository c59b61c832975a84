/* Checks of movers: which ones a mover is put to, and each group of them in a child process. */
#include "movers.h"

#include <stdlib.h>
#include <string.h>

#include "input/ini.h"

/* ---- The kind of mover -------------------------------------------------------------------------- */

/* Whether it moves rigid molecules and nothing else: it moves molecules and keeps them rigid, or it has to be told which
 * molecules by a key of that name. */
static bool is_of_molecules(const plugmc_plugin *plugin)
{
    const uint32_t needs = plugin->mover->needs;
    if (!(needs & PLUGMC_KEEPS_RIGID) || !(plugin->mover->changes & PLUGMC_CHANGED_POSITION))
        return false;
    for (int32_t k = 0; k < plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
        if (!p->derived && p->type == PLUGMC_TYPE_TEXT && !p->fallback &&
            !strcmp(p->name, "molecule"))
            return true;
    }
    return needs & PLUGMC_KEEPS_MOLECULES;
}

static enum family family_of(const plugmc_plugin *plugin)
{
    const plugmc_mover *m = plugin->mover;
    const uint32_t c = m->changes;
    if (is_of_molecules(plugin)) return FAMILY_MOLECULES;
    if (c & PLUGMC_CHANGED_WALKER_WEIGHT) return FAMILY_DIFFUSION;
    if (m->driver && m->needs & PLUGMC_USES_ORBITALS) return FAMILY_WAVES;
    if (c & PLUGMC_CHANGED_WEIGHT) return FAMILY_WEIGHTS;
    if (c & PLUGMC_CHANGED_RUNG) return FAMILY_RUNGS;
    if (c & PLUGMC_CHANGED_BOX)
        return c & PLUGMC_CHANGED_COUNT ? FAMILY_SHARED_BOXES : FAMILY_BOXES;
    return c & PLUGMC_CHANGED_COUNT ? FAMILY_NUMBERS : FAMILY_POSITIONS;
}

static apart_work *laws_of(enum family family)
{
    switch (family) {
    case FAMILY_NUMBERS: return laws_of_numbers;
    case FAMILY_BOXES:
    case FAMILY_SHARED_BOXES: return laws_of_boxes;
    case FAMILY_RUNGS: return laws_of_rungs;
    case FAMILY_WEIGHTS: return laws_of_weights;
    case FAMILY_MOLECULES: return laws_of_molecules;
    case FAMILY_WAVES: return laws_of_waves;
    case FAMILY_DIFFUSION: return laws_of_diffusion;
    default: return laws_of_positions;
    }
}

/* ---- A system for it ---------------------------------------------------------------------------- */

/* Of soft, hard and free particles the one with this number. */
static setting setting_with(subject *s, bool ideal, int number)
{
    static const char *const potentials[] = {
        "[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 1.6\n",
        "[potential hard_sphere]\n"};
    static const char no_potential[] = "[potential expression]\nenergy = 0*r\ncutoff = 1.6\n";
    setting of = setting_new(s, 2, 6.5, 0.8);
    of.step = 1.2;
    setting_species(s, &of, 4, 4, ideal ? 0.001 : 1);
    /* a random start has energies that nobody samples, up to 10^17 kT */
    if (!ideal) snprintf(of.initial, sizeof of.initial, "state = lattice\n");
    if (!ideal) of.least_reach = REACH;
    setting_add(of.potentials, "%s", ideal && number == 0 ? no_potential : potentials[number]);
    return of;
}

/* The first that the mover takes. */
static setting setting_of_positions(subject *s, bool ideal)
{
    int *number = &s->known->potential[ideal];
    if (*number > 1)
        s->systems++; /* seeds are those of systems that are tried one after the other */
    if (*number) return setting_with(s, ideal, *number - 1);
    setting of = setting_with(s, ideal, 0);
    *number = 1;
    if (!subject_can_open(s, &of)) {
        of = setting_with(s, ideal, 1);
        *number = 2;
    }
    return of;
}

setting setting_of_family(subject *s, bool ideal)
{
    switch (s->family) {
    case FAMILY_NUMBERS: return setting_of_reservoir(s, 2, 2.2);
    case FAMILY_BOXES: return setting_of_pressure(s, 2, 4, ideal ? 0 : 0.6);
    case FAMILY_SHARED_BOXES: return setting_of_shared_boxes(s, 2);
    case FAMILY_RUNGS: return setting_of_rungs(s);
    case FAMILY_WEIGHTS: return setting_of_weights(s);
    case FAMILY_MOLECULES: return setting_of_molecules(s, ideal);
    case FAMILY_WAVES: return setting_of_atom(s, 2);
    case FAMILY_DIFFUSION: return setting_of_atom(s, 1);
    default: return setting_of_positions(s, ideal);
    }
}

/* ---- FILE.ini ----------------------------------------------------------------------------------- */

static const ini_section *find_section(const ini_file *ini, const char *kind, const char *label,
                                       int skip)
{
    for (int k = 0; k < ini->count; k++)
        if (!strcmp(ini->sections[k].kind, kind) &&
            (!label || !strcmp(ini->sections[k].label, label)) && skip-- == 0)
            return &ini->sections[k];
    return NULL;
}

static void name_species(subject *s, const ini_file *ini)
{
    static const char *const names[2] = {"a", "b"};
    for (int k = 0; k < 2; k++) {
        const ini_section *given = ini ? find_section(ini, "species", NULL, k) : NULL;
        snprintf(s->names[k], sizeof s->names[k], "%s", given ? given->label : names[k]);
    }
    if (!strcmp(s->names[0], s->names[1])) strcpy(s->names[1], "another");
}

/* Keys that have no default and are no names of species. */
static int check_required(const subject *s, report *r)
{
    for (int32_t k = 0; k < s->plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(s->plugin, k);
        if (p->derived || p->fallback || p->type == PLUGMC_TYPE_TEXT ||
            p->type == PLUGMC_TYPE_NUMBERS)
            continue;
        if (s->section && ini_get(s->section, p->name)) continue;
        return report_error(
            r, EXIT_INPUT, s->target->file, 0,
            "the mover '%s' needs a value of its key '%s' (%s): give it in a section [mover %s] "
            "of an INI file, plugmc validate %s FILE.ini",
            s->plugin->name, p->name, p->doc, s->target->label, s->target->name);
    }
    return 0;
}

/* ---- Groups of checks --------------------------------------------------------------------------- */

typedef struct group {
    const char *name;
    apart_work *work;
} group;

/* Edges of the systems are between 2 and 6.5. */
static void tell_lengths(const subject *s, findings *f)
{
    const char *key = NULL;
    const double longest = subject_length(s, &key);
    char check[96];
    snprintf(check, sizeof check, "%.60s = %g", key ? key : "", longest);
    if (longest > 0 && (longest < LEAST_REACH * 6.5 || longest > MOST_REACH * 2))
        check_not_covered(
            f, check,
            "in systems with edges of which it is less than %g or more than %g, and so reaches "
            "nobody or everybody, lengths of keys are scaled to %g of the edge",
            LEAST_REACH, MOST_REACH, REACH);
}

/* A mover with a configuration of its own that moves particles, and rigid molecules as well. */
static bool moves_molecules_too(const subject *s)
{
    return s->family == FAMILY_POSITIONS && s->mover->needs & PLUGMC_KEEPS_RIGID &&
           s->mover->changes & PLUGMC_CHANGED_ORIENTATION && !strcmp(s->device, "cpu");
}

static int make_groups(const target *t, findings *f, subject *s)
{
    const group groups[] = {{"laws", laws_of(s->family)},
                            {"company", s->family == FAMILY_POSITIONS ? laws_of_company : NULL},
                            {"molecules", moves_molecules_too(s) ? laws_of_molecules : NULL},
                            {"steps", checks_of_steps},
                            {"chains", checks_of_chains},
                            {"resuming", checks_of_resuming}};
    const int failed = findings_failed(f);
    tell_lengths(s, f);
    apart(t, f, "configurations", apart_patience(t), checks_of_configurations, s);
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
        s->systems = 100 * (int)(k + 1);
        if (findings_failed(f) > failed && k == 0) {
            check_not_covered(f, "all other checks",
                              "the mover does not get along with free particles; mend that first");
            return 0;
        }
        if (groups[k].work) apart(t, f, groups[k].name, apart_patience(t), groups[k].work, s);
    }
    return 0;
}

static void make_all(const target *t, findings *f, subject *s)
{
    const uint32_t needs = s->mover->needs;
    *s->known = (known){0};
    if (needs & PLUGMC_RUNS_ON_CPU && t->device != DEVICE_GPU) {
        s->device = "cpu";
        make_groups(t, f, s);
    } else if (!(needs & PLUGMC_RUNS_ON_CPU)) {
        check_not_covered(f, "on the CPU", "the mover does not run there");
    }
    if (needs & PLUGMC_RUNS_ON_GPU && !*t->why_no_gpu) {
        s->device = "gpu";
        *s->known = (known){0};
        make_groups(t, f, s);
    } else {
        check_not_covered(f, "on a GPU", "%s",
                          needs & PLUGMC_RUNS_ON_GPU ? t->why_no_gpu
                                                     : "the mover does not run there");
    }
}

int validate_mover(const target *t, findings *f)
{
    subject s = {.target = t,
                 .known = shared_new(sizeof(known)),
                 .findings = f,
                 .plugin = t->loaded.plugin,
                 .mover = t->loaded.plugin->mover,
                 .family = family_of(t->loaded.plugin)};
    ini_file ini = {0};
    report r = {0};
    const char *folder = getenv("TMPDIR");
    int code = t->file ? ini_read(t->file, &ini, &r) : 0;
    if (!code && t->file) s.section = find_section(&ini, "mover", t->label, 0);
    if (!code) code = check_required(&s, &r);
    name_species(&s, t->file ? &ini : NULL);
    snprintf(s.folder, sizeof s.folder, "%s/plugmc-validate-XXXXXX",
             folder && *folder ? folder : "/tmp");
    if (!code && !mkdtemp(s.folder))
        code = report_error(&r, EXIT_OUTPUT, NULL, 0, "no folder %s can be made", s.folder);
    if (!code) {
        make_all(t, f, &s);
        remove_folder(s.folder);
    }
    ini_free(&ini);
    return code;
}
