/* Fusion: one translation unit from the GPU source of a mover and those of all sampled potentials.
 *
 *     definitions fixed for the run      PLUGMC_DIMENSION, the mover's own, ...
 *     plugmc/device.h, plugmc/potential.h, plugmc/placed.h
 *     namespace plugmc_p0 { source of the first potential; its parameters as constants }
 *     namespace plugmc_p1 { ... }
 *     numbers of the box, of species, contact distances; lists of the potentials
 *     plugmc/fused.h: sums over the potentials
 *     the mover's source
 *
 * #line directives keep the author's file and line in every message of the compiler. Numbers are
 * written as hexadecimal floats, so that they are exact, and by value, so that they fold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "fusion.h"

/* #define NAME number, number, ... */
static void put_constants(const fusion *f, const char *name, const double *values, int n)
{
    fprintf(f->out, "#define %s ", name);
    for (int k = 0; k < n; k++) {
        fuse_number(f, values[k]);
        fputs(k + 1 < n ? ", " : "\n", f->out);
    }
}

/* The numbers of a box that nobody changes; the division is that of plugmc_images_of, in its precision. */
static void put_box(const fusion *f)
{
    const plugmc_box *box = &f->system->box;
    double over[3];
    for (int d = 0; d < 3; d++)
        over[d] = f->in_double ? 1 / box->length[d] : (double)(1 / (float)box->length[d]);
    put_constants(f, "PLUGMC_RADIUS", &box->radius, 1);
    put_constants(f, "PLUGMC_EDGES", box->length, 3);
    put_constants(f, "PLUGMC_INVERSE_EDGES", over, 3);
    put_constants(f, "PLUGMC_VECTORS", box->vector[0], 9);
    put_constants(f, "PLUGMC_INVERSES", box->inverse[0], 9);
}

/* The square is taken term by term as on the CPU: the largest square, not that of the largest. */
static double contact_square(const fusion *f, int a, int b)
{
    const plugmc_species *sa = plugmc_species_at(f->system, a),
                         *sb = plugmc_species_at(f->system, b);
    plugmc_particle pa = {.charge = sa->charge, .diameter = sa->diameter, .species = a};
    plugmc_particle pb = {.charge = sb->charge, .diameter = sb->diameter, .species = b};
    double largest = 0;
    for (int i = 0; i < f->count; i++) {
        const fused_term *t = &f->terms[i];
        if (!t->pair || !(t->pair->functions & PLUGMC_PAIR_CONTACT)) continue;
        const crash_record outer = crash_calling_potential(t->term->label, "contact");
        double contact = t->pair->contact(t->instance, &pa, &pb);
        crash_called_within(outer);
        double square =
            f->in_double ? contact * contact : (double)((float)contact * (float)contact);
        if (square > largest) largest = square;
    }
    return largest;
}

static void put_species(const fusion *f)
{
    int n = f->system->species_count;
    double *values = calloc((size_t)n * n + 1, sizeof *values);
    if (!values) {
        fputs("#error \"plugmc: out of memory\"\n", f->out);
        return;
    }
    for (int k = 0; k < n; k++) values[k] = plugmc_species_at(f->system, k)->charge;
    fuse_table(f, "plugmc_species_charge", values, n);
    for (int k = 0; k < n; k++) values[k] = plugmc_species_at(f->system, k)->diameter;
    fuse_table(f, "plugmc_species_diameter", values, n);
    for (int k = 0; k < n * n; k++) values[k] = contact_square(f, k / n, k % n);
    fuse_table(f, "plugmc_species_contact", values, n * n);
    free(values);
}

/* The lists of potentials that plugmc/fused.h goes through. */
static void put_lists_of_terms(const fusion *f)
{
    fputs("#define PLUGMC_FOR_ENERGIES(DO)", f->out);
    for (int i = 0, energy = 0; i < f->count; i++) {
        const fused_term *t = &f->terms[i];
        if (t->pair && t->pair->functions & PLUGMC_PAIR_ENERGY)
            fprintf(f->out, " DO(%d, %d, plugmc_p%d)", energy++, t->index, t->index);
    }
    fputs("\n#define PLUGMC_FOR_FIELDS(DO)", f->out);
    for (int i = 0; i < f->count; i++)
        if (f->terms[i].field)
            fprintf(f->out, " DO(%d, plugmc_p%d)", f->terms[i].index, f->terms[i].index);
    fputs("\n#define PLUGMC_FOR_BODIES(DO)", f->out);
    for (int i = 0, body = 0; i < f->count; i++)
        if (f->terms[i].body)
            fprintf(f->out, " DO(%d, %d, plugmc_p%d)", body++, f->terms[i].index,
                    f->terms[i].index);
    fputs("\n", f->out);
}

/* ---- All of it ---- */

/* The potentials asked for with a pair, a field or bodies. One whose text is missing must not be left out
 * silently: the compiler then says so. */
static int choose_terms(fusion *f)
{
    f->terms = calloc((size_t)f->system->term_count + 1, sizeof *f->terms);
    if (!f->terms) return -1;
    for (int i = 0; i < f->system->term_count; i++) {
        const plugmc_term *term = plugmc_term_at(f->system, i);
        const plugmc_plugin *plugin = f->in_double ? term->plugin : term->plugin_single;
        const plugmc_potential *potential = term->plugin->potential;
        int asked = term->sampled ? PLUGMC_FUSE_SAMPLED : PLUGMC_FUSE_MEASURED;
        if (!(f->kernel->fuse & asked) || !potential ||
            !(potential->pair || potential->field || plugmc_body_of(term->plugin)))
            continue;
        if (!term->plugin->source || !plugin || !plugin->potential) {
            fprintf(f->out,
                    "#error \"[potential %s] carries no GPU source: build it as "
                    "docs/plugin-guide.md says\"\n",
                    term->label);
            continue;
        }
        f->terms[f->count++] = (fused_term){
            .term = term,
            .plugin = plugin,
            .instance = f->in_double ? term->instance : term->instance_single,
            .pair = plugin->potential->pair,
            .field = plugin->potential->field,
            .body = plugmc_body_of(plugin),
            .index = i,
        };
        const plugmc_pair *pair = plugin->potential->pair;
        f->places += pair && pair->functions & PLUGMC_PAIR_POSITIONS;
    }
    return 0;
}

static void put_fusion(fusion *f)
{
    fuse_system_defines(f);
    fputs("#include \"plugmc/device.h\"\n#include \"plugmc/potential.h\"\n"
          "#include \"plugmc/functions.h\"\n#include \"plugmc/tally.h\"\n"
          "#include \"plugmc/placed.h\"\n",
          f->out);
    for (int i = 0; i < f->count; i++) fuse_term(f, &f->terms[i]);
    put_box(f);
    put_species(f);
    put_lists_of_terms(f);
    if (f->kernel->fuse & PLUGMC_FUSE_VARIATIONAL) fuse_variational_put(f->out, f->system);
    fputs("#include \"plugmc/fused.h\"\n", f->out);
}

char *fuse(const plugmc_system *system, const plugmc_gpu_source *kernel)
{
    char *text = NULL;
    size_t length = 0;
    fusion f = {.system = system, .kernel = kernel, .in_double = kernel->double_precision != 0};
    f.out = open_memstream(&text, &length);
    if (!f.out) return NULL;
    fuse_defines(&f);
    bool failed = kernel->fuse && choose_terms(&f) != 0;
    if (kernel->fuse && !failed) put_fusion(&f);
    if (!kernel->fuse) fputs("#include \"plugmc/device.h\"\n", f.out);
    fuse_line(f.out, kernel->name);
    fputs(kernel->source, f.out);
    failed |= ferror(f.out) != 0;
    if (fclose(f.out) || failed) {
        free(text);
        text = NULL;
    }
    free(f.terms);
    return text;
}

int fuse_tables(const plugmc_system *system, int in_double, int32_t *term, int32_t *parameter,
                changing_table *out)
{
    for (; *term < system->term_count; ++*term, *parameter = 0) {
        const plugmc_term *t = plugmc_term_at(system, *term);
        const plugmc_plugin *plugin = in_double ? t->plugin : t->plugin_single;
        const char *instance = in_double ? t->instance : t->instance_single;
        for (; plugin && *parameter < plugin->parameter_count; ++*parameter) {
            const plugmc_parameter *p = &plugin->parameters[*parameter];
            if (p->type != PLUGMC_TYPE_LIST || !fuse_list_changes(system, t, p->name)) continue;
            const plugmc_list list = fuse_list_at(instance + p->offset);
            if (!list.count) continue;
            snprintf(out->name, sizeof out->name, "plugmc_p%d_%s", *term, p->name);
            out->numbers = list.values;
            out->bytes = (size_t)list.count * (in_double ? sizeof(double) : sizeof(float));
            ++*parameter;
            return 1;
        }
    }
    return 0;
}
