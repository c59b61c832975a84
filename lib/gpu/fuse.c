/* Fusion: one translation unit from a mover's device text and the texts of all sampled potentials.
 *
 *     definitions fixed for the run      PLUGMC_DIMENSION, box edges, the mover's own, ...
 *     plugmc/device.h, plugmc/potential.h
 *     namespace plugmc_p0 { text of the first potential; its parameters as constants }
 *     namespace plugmc_p1 { ... }
 *     species, contact distances, sums over the potentials (plugmc/fused.h)
 *     the mover's text
 *
 * #line directives keep the author's file and line in every message of the compiler. Numbers are
 * written as hexadecimal floats, so that they are exact, and by value, so that they fold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "fusion.h"

/* m.NAME[d] of plugmc_images, as statements. */
static void put_images_of(const fusion *f, const char *name, const double m[3])
{
    for (int d = 0; d < 3; d++) {
        fprintf(f->out, "    m.%s[%d] = ", name, d);
        fuse_number(f, m[d]);
        fputs(";\n", f->out);
    }
}

/* The minimum image is plugmc/box.h's: in a box that nobody changes its numbers are constants. */
static void put_separated(const fusion *f)
{
    const plugmc_box *box = &f->system->box;
    const bool periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    fputs("PLUGMC_FN plugmc_images plugmc_images_of_walker(const plugmc_box *boxes, int w)\n"
          "{\n    plugmc_images m = {};\n",
          f->out);
    if (f->system->changes & PLUGMC_CHANGED_BOX) {
        fputs("    plugmc_images_of(boxes + w, 1, &m);\n", f->out);
    } else if (periodic) {
        double over[3]; /* the division of plugmc_images_of, in its precision */
        for (int d = 0; d < 3; d++)
            over[d] = f->in_double ? 1 / box->length[d] : (double)(1 / (float)box->length[d]);
        put_images_of(f, "length", box->length);
        put_images_of(f, "inverse_length", over);
        for (int d = 0; d < 3 && box->oblique; d++) {
            put_images_of(f, (const char *[]){"vector[0]", "vector[1]", "vector[2]"}[d],
                          box->vector[d]);
            put_images_of(f, (const char *[]){"inverse[0]", "inverse[1]", "inverse[2]"}[d],
                          box->inverse[d]);
        }
    }
    fprintf(
        f->out,
        "    return m;\n}\n"
        "PLUGMC_FN plugmc_separation plugmc_separated(real x, real y, real z, plugmc_images m)\n"
        "{\n    return plugmc_separate(x, y, z, &m, %s);\n}\n"
        "#if !PLUGMC_BOX_CHANGES\n"
        "PLUGMC_FN plugmc_separation plugmc_separated(real x, real y, real z)\n"
        "{\n    return plugmc_separated(x, y, z, plugmc_images_of_walker(0, 0));\n}\n"
        "#endif\n",
        !periodic      ? "PLUGMC_IMAGES_NONE"
        : box->oblique ? "PLUGMC_IMAGES_OBLIQUE"
                       : "PLUGMC_IMAGES_RECTANGULAR");
}

static void put_constants(const fusion *f, const char *name, const double values[3])
{
    fprintf(f->out, "static constexpr real %s[3] = {", name);
    for (int d = 0; d < 3; d++) {
        fuse_number(f, values[d]);
        fputs(d < 2 ? ", " : "};\n", f->out);
    }
}

static void put_box(const fusion *f)
{
    double over[3];
    for (int d = 0; d < 3; d++)
        over[d] = f->in_double ? 1 / f->system->box.length[d]
                               : (double)(1 / (float)f->system->box.length[d]);
    fputs("#if !PLUGMC_BOX_CHANGES\n", f->out);
    put_constants(f, "plugmc_edge", f->system->box.length);
    put_constants(f, "plugmc_inverse_edge", over);
    fputs("#endif\nstatic constexpr real plugmc_radius = ", f->out);
    fuse_number(f, f->system->box.radius);
    fputs(";\n", f->out);
    put_separated(f);
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
    fprintf(f->out,
            "PLUGMC_FN plugmc_site plugmc_site_of_species(int species)\n{\n"
            "    plugmc_site a;\n"
            "    a.charge = plugmc_species_charge(species);\n"
            "    a.diameter = plugmc_species_diameter(species);\n"
            "    a.species = PLUGMC_SPECIES == 1 ? 0 : species;\n"
            "    return a;\n}\n"
            "PLUGMC_FN real plugmc_contact_square(int a, int b)\n{\n"
            "    return plugmc_species_contact(a * %d + b);\n}\n",
            n);
}

/* What the functions of pairs take, and what they ask a potential. */
static const char *pair_type(const fusion *f)
{
    return f->places ? "plugmc_placed" : "plugmc_separation";
}

/* One line for each term with an energy; @ stands for its index in plugmc_sums, # for its
 * namespace, $ for its place in the system. */
static void put_for_energies(const fusion *f, const char *line)
{
    for (int i = 0, energy = 0; i < f->count; i++) {
        const fused_term *t = &f->terms[i];
        if (!t->pair || !(t->pair->functions & PLUGMC_PAIR_ENERGY)) continue;
        for (const char *c = line; *c; c++) {
            if (*c == '@')
                fprintf(f->out, "%d", energy);
            else if (*c == '#')
                fprintf(f->out, "plugmc_p%d", t->index);
            else if (*c == '$')
                fprintf(f->out, "%d", t->index);
            else
                fputc(*c, f->out);
        }
        energy++;
    }
}

/* Sums of many pairs: partial sums in real are emptied into these now and then. */
static void put_double_sums(const fusion *f)
{
    fputs("typedef struct plugmc_double_sums {\n"
          "    double term[PLUGMC_ENERGY_TERMS > 0 ? PLUGMC_ENERGY_TERMS : 1];\n} "
          "plugmc_double_sums;\n"
          "PLUGMC_FN void plugmc_sums_empty(plugmc_sums *from, plugmc_double_sums *to)\n{\n",
          f->out);
    put_for_energies(f, "    to->term[@] += (double)from->term[@];\n    from->term[@] = 0;\n");
    fputs(
        "}\nPLUGMC_FN double plugmc_double_sums_total(const plugmc_double_sums *s, plugmc_site a)\n"
        "{\n    double total = 0;\n",
        f->out);
    put_for_energies(f, "    const #::parameters p@ = #::plugmc_parameters();\n"
                        "    total += s->term[@] * (double)#::plugmc_probe_factor(&p@, a);\n");
    fputs("    return total;\n}\n"
          "PLUGMC_FN void plugmc_double_sums_by_term(const plugmc_double_sums *s, plugmc_site a, "
          "double *energy)\n{\n",
          f->out);
    put_for_energies(f, "    const #::parameters p@ = #::plugmc_parameters();\n"
                        "    energy[$] += s->term[@] * (double)#::plugmc_probe_factor(&p@, a);\n");
    fputs("}\n", f->out);
}

static void put_derivatives(const fusion *f)
{
    fprintf(f->out,
            "PLUGMC_FN void plugmc_pair_derivatives(%s r, plugmc_site a, plugmc_site b, "
            "real *energy, real *first, real *second)\n{\n    *energy = *first = *second = 0;\n",
            pair_type(f));
    put_for_energies(f, "    const #::parameters p@ = #::plugmc_parameters();\n"
                        "    const real f@ = #::plugmc_probe_factor(&p@, a);\n"
                        "    real u@, v@;\n    #::plugmc_pair_slopes(&p@, r, a, b, &u@, &v@);\n"
                        "    *energy += f@ * #::PLUGMC_PAIR_TERM(&p@, r, a, b);\n"
                        "    *first += f@ * u@;\n    *second += f@ * v@;\n");
    fprintf(f->out,
            "}\nPLUGMC_FN void plugmc_pair_derivatives_weighted(%s r, plugmc_site a, "
            "plugmc_site b, const double *multipliers, real *energy, real *first, real *second)\n"
            "{\n    *energy = *first = *second = 0;\n",
            pair_type(f));
    put_for_energies(
        f, "    const #::parameters p@ = #::plugmc_parameters();\n"
           "    if (multipliers[$] != 0) { /* else it may be infinite */\n"
           "        const real f@ = #::plugmc_probe_factor(&p@, a) * (real)multipliers[$];\n"
           "        real u@, v@;\n        #::plugmc_pair_slopes(&p@, r, a, b, &u@, &v@);\n"
           "        *energy += f@ * #::PLUGMC_PAIR_TERM(&p@, r, a, b);\n"
           "        *first += f@ * u@;\n        *second += f@ * v@;\n    }\n");
    fputs(
        "}\nPLUGMC_FN void plugmc_placed_derivatives(plugmc_placed r, plugmc_site a, plugmc_site b, "
        "real gradient[3], real *laplacian)\n{\n"
        "    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;\n",
        f->out);
    if (f->places)
        put_for_energies(
            f, "    const #::parameters p@ = #::plugmc_parameters();\n    real g@[3], l@;\n"
               "    #::plugmc_placed_slopes(&p@, r.at, r, a, b, g@, &l@);\n"
               "    for (int d = 0; d < 3; d++) gradient[d] += g@[d];\n    *laplacian += l@;\n");
    fputs("}\n", f->out);
}

/* Separations alone are not enough for some potential: a text that gives them is told by the compiler. */
static void forbid_separations(const fusion *f)
{
    fputs("PLUGMC_FN void plugmc_sums_add_energy(plugmc_sums *, plugmc_separation, plugmc_site, "
          "plugmc_site) = delete;\n"
          "PLUGMC_FN void plugmc_sums_add_change(plugmc_sums *, plugmc_separation, "
          "plugmc_separation, plugmc_site, plugmc_site) = delete;\n"
          "PLUGMC_FN void plugmc_pair_derivatives(plugmc_separation, plugmc_site, plugmc_site, "
          "real *, real *, real *) = delete;\n"
          "PLUGMC_FN void plugmc_pair_derivatives_weighted(plugmc_separation, plugmc_site, "
          "plugmc_site, const double *, real *, real *, real *) = delete;\n",
          f->out);
}

static void put_sums(const fusion *f)
{
    fputs("struct plugmc_placed : plugmc_separation {\n    plugmc_position at;\n};\n"
          "PLUGMC_FN plugmc_placed plugmc_place(real x, real y, real z, plugmc_separation s)\n{\n"
          "    plugmc_placed r;\n    (plugmc_separation &)r = s;\n    r.at.x = x;\n"
          "    r.at.y = y;\n    r.at.z = z;\n    return r;\n}\n",
          f->out);
    fprintf(f->out, "#define PLUGMC_PAIR_TERM(p, r, a, b) %s\n",
            f->places ? "plugmc_placed_term(p, (r).at, r, a, b)" : "plugmc_pair_term(p, r, a, b)");
    fputs("typedef struct plugmc_sums {\n"
          "    real term[PLUGMC_ENERGY_TERMS > 0 ? PLUGMC_ENERGY_TERMS : 1];\n} plugmc_sums;\n"
          "PLUGMC_FN void plugmc_sums_clear(plugmc_sums *s)\n{\n    *s = plugmc_sums();\n}\n",
          f->out);
    fprintf(f->out,
            "PLUGMC_FN void plugmc_sums_add_energy(plugmc_sums *s, %s r, "
            "plugmc_site a, plugmc_site b)\n{\n",
            pair_type(f));
    put_for_energies(f, "    const #::parameters p@ = #::plugmc_parameters();\n"
                        "    s->term[@] += #::PLUGMC_PAIR_TERM(&p@, r, a, b);\n");
    fprintf(f->out,
            "}\nPLUGMC_FN void plugmc_sums_add_change(plugmc_sums *s, %s from, "
            "%s to, plugmc_site a, plugmc_site b)\n{\n",
            pair_type(f), pair_type(f));
    put_for_energies(
        f,
        f->places
            ? "    const #::parameters p@ = #::plugmc_parameters();\n"
              "    s->term[@] += #::plugmc_placed_difference(&p@, from.at, from, to.at, to, a, b);\n"
            : "    const #::parameters p@ = #::plugmc_parameters();\n"
              "    s->term[@] += #::plugmc_pair_difference(&p@, from, to, a, b);\n");
    fputs("}\nPLUGMC_FN real plugmc_sums_total(const plugmc_sums *s, plugmc_site a)\n{\n"
          "    real total = 0;\n",
          f->out);
    put_for_energies(f, "    const #::parameters p@ = #::plugmc_parameters();\n"
                        "    total += s->term[@] * #::plugmc_probe_factor(&p@, a);\n");
    fputs(
        "    return total;\n}\nPLUGMC_FN real plugmc_sums_weighted(const plugmc_sums *s, plugmc_site "
        "a, const double *multipliers)\n{\n    real total = 0;\n",
        f->out);
    put_for_energies(f, "    const #::parameters p@ = #::plugmc_parameters();\n"
                        "    if (multipliers[$] != 0) /* else it may be infinite */\n"
                        "        total += s->term[@] * #::plugmc_probe_factor(&p@, a) * "
                        "(real)multipliers[$];\n");
    fputs("    return total;\n}\n", f->out);
    put_double_sums(f);
    put_derivatives(f);
    if (f->places) forbid_separations(f);
}

/* One line for each term with a field; @ stands for its place in the system, # for its namespace. */
static void put_for_fields(const fusion *f, const char *line)
{
    for (int i = 0; i < f->count; i++) {
        if (!f->terms[i].field) continue;
        for (const char *c = line; *c; c++) {
            if (*c == '#')
                fprintf(f->out, "plugmc_p%d", f->terms[i].index);
            else if (*c == '@')
                fprintf(f->out, "%d", f->terms[i].index);
            else
                fputc(*c, f->out);
        }
    }
}

#define FIELD_PARAMETERS "    const #::parameters p@ = #::plugmc_parameters();\n"

static void put_fields(const fusion *f)
{
    fputs("PLUGMC_FN real plugmc_fields(plugmc_position r, plugmc_site a, int *outside)\n{\n"
          "    real total = 0;\n",
          f->out);
    put_for_fields(f, FIELD_PARAMETERS "    total += #::plugmc_field_term(&p@, r, a, outside);\n");
    fputs("    return total;\n}\n"
          "PLUGMC_FN real plugmc_fields_weighted(plugmc_position r, plugmc_site a, int *outside, "
          "const double *multipliers)\n{\n    real total = 0;\n",
          f->out);
    put_for_fields(f, FIELD_PARAMETERS
                   "    const real u@ = #::plugmc_field_term(&p@, r, a, outside);\n"
                   "    if (multipliers[@] != 0) total += u@ * (real)multipliers[@];\n");
    fputs("    return total;\n}\n"
          "PLUGMC_FN void plugmc_fields_by_term(plugmc_position r, plugmc_site a, int *outside, "
          "double *energy)\n{\n",
          f->out);
    put_for_fields(f, FIELD_PARAMETERS
                   "    energy[@] += (double)#::plugmc_field_term(&p@, r, a, outside);\n");
    fputs("}\nPLUGMC_FN void plugmc_fields_derivatives(plugmc_position r, plugmc_site a, "
          "real gradient[3], real *laplacian)\n{\n"
          "    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;\n",
          f->out);
    put_for_fields(f, FIELD_PARAMETERS
                   "    real g@[3], l@;\n    #::plugmc_field_slopes(&p@, r, a, g@, &l@);\n"
                   "    gradient[0] += g@[0];\n    gradient[1] += g@[1];\n"
                   "    gradient[2] += g@[2];\n    *laplacian += l@;\n");
    fputs("}\nPLUGMC_FN void plugmc_fields_derivatives_weighted(plugmc_position r, plugmc_site a, "
          "const double *multipliers, real gradient[3], real *laplacian)\n{\n"
          "    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;\n",
          f->out);
    put_for_fields(f, FIELD_PARAMETERS
                   "    real g@[3], l@;\n    #::plugmc_field_slopes(&p@, r, a, g@, &l@);\n"
                   "    const real m@ = (real)multipliers[@];\n    if (m@ != 0) {\n"
                   "        gradient[0] += m@ * g@[0];\n        gradient[1] += m@ * g@[1];\n"
                   "        gradient[2] += m@ * g@[2];\n        *laplacian += m@ * l@;\n    }\n");
    fputs("}\n", f->out);
}

/* ---- All of it ---- */

/* The potentials asked for with a pair or a field. One whose text is missing must not be left out
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
        if (!(f->kernel->fuse & asked) || !potential || !(potential->pair || potential->field))
            continue;
        if (!term->plugin->text || !plugin || !plugin->potential) {
            fprintf(f->out,
                    "#error \"[potential %s] carries no device text: build it as "
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
            .index = i,
        };
        const plugmc_pair *pair = plugin->potential->pair;
        f->places += pair && pair->functions & PLUGMC_PAIR_PLACES;
    }
    return 0;
}

static void put_fusion(fusion *f)
{
    fuse_system_defines(f);
    fputs("#include \"plugmc/device.h\"\n#include \"plugmc/potential.h\"\n"
          "#include \"plugmc/functions.h\"\n#include \"plugmc/tally.h\"\n",
          f->out);
    for (int i = 0; i < f->count; i++) fuse_term(f, &f->terms[i]);
    put_box(f);
    put_species(f);
    put_sums(f);
    put_fields(f);
    if (f->kernel->fuse & PLUGMC_FUSE_FREE) fuse_free_put(f->out, f->system);
}

char *fuse(const plugmc_system *system, const plugmc_kernel_text *kernel)
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
    fputs(kernel->text, f.out);
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
