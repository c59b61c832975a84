/* One GPU source at work: fuse.c puts it together, fuse_terms.c writes what a potential has. */
#ifndef PLUGMC_FUSION_H
#define PLUGMC_FUSION_H

#include "gpu/gpu.h"
#include "plugmc/body_facet.h"

/* A potential as the kernel at hand sees it: in float, or in double if the mover asks for it. */
typedef struct fused_term {
    const plugmc_term *term;
    const plugmc_plugin *plugin; /* of that precision; the text is with term->plugin */
    const void *instance;
    const plugmc_pair *pair;   /* NULL without the facet */
    const plugmc_field *field; /* NULL without the facet */
    const plugmc_body *body;   /* NULL without the facet */
    int index;                 /* K of namespace plugmc_pK: its place in system->terms */
} fused_term;

typedef struct fusion {
    FILE *out;
    const plugmc_system *system;
    const plugmc_gpu_source *kernel;
    bool in_double;
    fused_term *terms;
    int count;
    int places; /* pair terms that depend on places: pairs are then told by plugmc_separation_at */
} fusion;

void fuse_number(const fusion *f, double value);
void fuse_table(const fusion *f, const char *name, const double *values, int n);
void fuse_line(FILE *out, const char *file);
void fuse_defines(const fusion *f);
void fuse_system_defines(const fusion *f);
plugmc_list fuse_list_at(const void *at);
bool fuse_list_changes(const plugmc_system *system, const plugmc_term *term, const char *name);
void fuse_term(const fusion *f, const fused_term *t);
#endif
