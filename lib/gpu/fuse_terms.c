/* Numbers, and the texts and parameters of potentials, as parts of a fused kernel. See fuse.c. */
#include "fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers ---- */

/* A finite number, exact in the precision of the kernel. */
void fuse_number(const fusion *f, double value)
{
    if (f->in_double)
        fprintf(f->out, "(%a)", value);
    else
        fprintf(f->out, "(%af)", (double)(float)value);
}

/* Any value of a parameter: cutoffs may be infinite. */
static void put_real(const fusion *f, double value)
{
    if (isfinite(value))
        fuse_number(f, value);
    else if (f->in_double)
        fprintf(f->out, "__longlong_as_double(0x%s)",
                isnan(value) ? "7ff8000000000000"
                : value > 0  ? "7ff0000000000000"
                             : "fff0000000000000");
    else
        fprintf(f->out, "__int_as_float(0x%s)",
                isnan(value) ? "7fc00000"
                : value > 0  ? "7f800000"
                             : "ff800000");
}

/* PLUGMC_FN real NAME(int k): values[k]. A constant if all are equal, a choice without memory
 * access if they are few (lanes of a warp ask for different k), else a table. */
void fuse_table(const fusion *f, const char *name, const double *values, int n)
{
    enum { FEW = 4 };
    int distinct = 0;
    for (int k = 1; k < n; k++) distinct += values[k] != values[0];
    if (distinct && n > FEW) {
        fprintf(f->out, "static __device__ const real %s_table[%d] = {", name, n);
        for (int k = 0; k < n; k++) {
            fuse_number(f, values[k]);
            fputs(k + 1 < n ? ", " : "};\n", f->out);
        }
        fprintf(f->out, "PLUGMC_FN real %s(int k) { return %s_table[k]; }\n", name, name);
        return;
    }
    fprintf(f->out, "PLUGMC_FN real %s(int k)\n{\n    return ", name);
    for (int k = 0; distinct && k < n - 1; k++) {
        fprintf(f->out, "k == %d ? ", k);
        fuse_number(f, values[k]);
        fputs(" : ", f->out);
    }
    fuse_number(f, values[distinct ? n - 1 : 0]);
    fputs(";\n}\n", f->out);
}

/* ---- Parts of the text ---- */

/* The compiler counts lines of `file` from here. */
void fuse_line(FILE *out, const char *file)
{
    fputs("#line 1 \"", out);
    for (; *file; file++) {
        if (*file == '"' || *file == '\\') fputc('\\', out);
        fputc(*file, out);
    }
    fputs("\"\n", out);
}

void fuse_defines(const fusion *f)
{
    fprintf(f->out, "#define PLUGMC_REAL %s\n", f->in_double ? "double" : "float");
    if (f->system && f->system->seed.first_walker)
        fprintf(f->out, "#define PLUGMC_FIRST_WALKER %u\n", f->system->seed.first_walker);
    if (PLUGMC_HAS(f->kernel, contract) && f->kernel->contract)
        fputs("#define PLUGMC_CONTRACTED 1\n",
              f->out); /* another text: another entry of the cache */
    for (const char *const *d = f->kernel->defines; d && *d; d++) {
        const char *equals = strchr(*d, '=');
        int length = equals ? (int)(equals - *d) : (int)strlen(*d);
        fprintf(f->out, "#define %.*s %s\n", length, *d, equals ? equals + 1 : "1");
    }
}

void fuse_system_defines(const fusion *f)
{
    const plugmc_system *s = f->system;
    int energies = 0, contacts = 0, fields = 0, bodies = 0, body_energies = 0;
    for (int i = 0; i < f->count; i++) {
        const fused_term *t = &f->terms[i];
        energies += t->pair && t->pair->functions & PLUGMC_PAIR_ENERGY;
        contacts |= t->pair && t->pair->functions & PLUGMC_PAIR_CONTACT;
        fields += t->field != NULL;
        bodies += t->body != NULL;
        body_energies += t->body && t->body->functions & PLUGMC_BODY_ENERGY;
    }
    const struct {
        const char *name;
        int value;
    } defines[] = {
        {"PLUGMC_FUSED", 1}, /* the version of plugmc/fused.h */
        {"PLUGMC_DIMENSION", s->box.dimension},
        {"PLUGMC_PERIODIC", s->box.domain == PLUGMC_DOMAIN_PERIODIC},
        {"PLUGMC_OBLIQUE", s->box.oblique},
        {"PLUGMC_IN_SPHERE", s->box.domain == PLUGMC_DOMAIN_SPHERE},
        {"PLUGMC_SPECIES", s->species_count},
        {"PLUGMC_ENERGY_TERMS", energies},
        {"PLUGMC_CONTACTS", contacts},
        {"PLUGMC_FIELDS", fields},
        {"PLUGMC_BODIES", bodies},
        {"PLUGMC_BODY_ENERGIES", body_energies},
        {"PLUGMC_POSITION_DEPENDENT", f->places},
        {"PLUGMC_BOX_CHANGES", (s->changes & PLUGMC_CHANGED_BOX) != 0},
        {"PLUGMC_TERMS", s->term_count},
        {"PLUGMC_WEIGHTED", s->weighted},
    };
    for (size_t i = 0; i < sizeof defines / sizeof defines[0]; i++)
        fprintf(f->out, "#define %s %d\n", defines[i].name, defines[i].value);
    fprintf(f->out, "#define PLUGMC_KT (%a)\n#define PLUGMC_OVER_KT (%a)\n", s->temperature,
            1 / s->temperature);
}

/* A list becomes a constant table of the namespace, so that it may be indexed by what a thread
 * computes; an empty one is a null pointer. */
plugmc_list fuse_list_at(const void *at)
{
    plugmc_list list; /* the same size in both precisions */
    memcpy(&list, at, sizeof list);
    return list;
}

/* Whether the numbers of a list change while the run goes on, without another text. */
bool fuse_list_changes(const plugmc_system *system, const plugmc_term *term, const char *name)
{
    const plugmc_potential *potential = term->plugin->potential;
    const plugmc_variational *facet = potential && (potential->pair || potential->field)
                                          ? plugmc_variational_of(term->plugin)
                                          : NULL;
    if (!system->parameters_change || !term->sampled || !facet || !facet->tables) return false;
    for (const char *const *table = facet->tables; *table; table++)
        if (!strcmp(*table, name)) return true;
    return false;
}

static void put_lists(const fusion *f, const fused_term *t)
{
    for (int i = 0; i < t->plugin->parameter_count; i++) {
        const plugmc_parameter *p = &t->plugin->parameters[i];
        if (p->type != PLUGMC_TYPE_LIST) continue;
        plugmc_list list = fuse_list_at((const char *)t->instance + p->offset);
        if (!list.count) continue;
        if (fuse_list_changes(f->system, t->term, p->name)) { /* C linkage: the driver finds it */
            fprintf(f->out, "extern \"C\" {\n__device__ real plugmc_p%d_%s[%d];\n}\n", t->index,
                    p->name, list.count);
            continue;
        }
        fprintf(f->out, "static __device__ const real plugmc_list_%s[%d] = {", p->name, list.count);
        for (int k = 0; k < list.count; k++) {
            put_real(f,
                     f->in_double ? list.values[k] : ((const float *)(const void *)list.values)[k]);
            fputs(k + 1 < list.count ? (k % 8 == 7 ? ",\n" : ", ") : "};\n", f->out);
        }
    }
}

static void put_parameter(const fusion *f, const plugmc_parameter *p, const fused_term *t)
{
    const char *at = (const char *)t->instance + p->offset;
    int64_t integer;
    int32_t small;
    switch (p->type) {
    case PLUGMC_TYPE_REAL:
        fprintf(f->out, "    p.%s = ", p->name);
        put_real(f, f->in_double ? *(const double *)at : *(const float *)at);
        fputs(";\n", f->out);
        break;
    case PLUGMC_TYPE_INTEGER: /* unsigned, since -2^63 has no literal */
        memcpy(&integer, at, sizeof integer);
        fprintf(f->out, "    p.%s = (int64_t)%lluULL;\n", p->name, (unsigned long long)integer);
        break;
    case PLUGMC_TYPE_FLAG:
    case PLUGMC_TYPE_CHOICE:
        memcpy(&small, at, sizeof small);
        fprintf(f->out, "    p.%s = %d;\n", p->name, (int)small);
        break;
    case PLUGMC_TYPE_LIST:
        if (!fuse_list_at(at).count) break; /* cleared already */
        fprintf(f->out, "    p.%s.values = ", p->name);
        if (fuse_list_changes(f->system, t->term, p->name))
            fprintf(f->out, "plugmc_p%d_%s", t->index, p->name);
        else
            fprintf(f->out, "plugmc_list_%s", p->name);
        fprintf(f->out, ";\n    p.%s.count = %d;\n", p->name, fuse_list_at(at).count);
        break;
    default: /* a text means nothing on the device */ break;
    }
}

/* What configure has written, of the precision of the kernel. */
static void put_texts(const fusion *f, const fused_term *t)
{
    for (int i = 0; i < t->plugin->parameter_count; i++) {
        const plugmc_parameter *p = &t->plugin->parameters[i];
        const char *text = NULL;
        if (p->type != PLUGMC_TYPE_TEXT || !p->derived) continue;
        memcpy(&text, (const char *)t->instance + p->offset, sizeof text);
        if (text) fputs(text, f->out);
    }
}

void fuse_term(const fusion *f, const fused_term *t)
{
    fprintf(f->out, "namespace plugmc_p%d { /* [potential %s] */\n", t->index, t->term->label);
    const plugmc_plugin *author = t->term->plugin;
    fuse_line(f->out, author->source_name ? author->source_name : t->term->label);
    fwrite(author->source, 1, (size_t)(author->source_end - author->source), f->out);
    fputs("\n", f->out);
    fuse_line(f->out, "fused by plugmc");
    fputs(
        "#undef PLUGMC_PAIR\n#undef PLUGMC_FIELD\n#undef PLUGMC_VARIATIONAL\n#undef PLUGMC_BODY\n",
        f->out);
    put_texts(f, t);
    put_lists(f, t);
    fputs("PLUGMC_FN parameters plugmc_parameters()\n{\n    parameters p = {};\n", f->out);
    for (int i = 0; i < t->plugin->parameter_count; i++)
        put_parameter(f, &t->plugin->parameters[i], t);
    fputs("    return p;\n}\n}\n", f->out);
}
