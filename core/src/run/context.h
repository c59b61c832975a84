/* The plugmc_context that plugins hand back to the core: whom a message is about, and what is
 * released when the run ends. One for each plugin instance. */
#ifndef PLUGMC_RUN_CONTEXT_H
#define PLUGMC_RUN_CONTEXT_H

#include "config/ini.h"
#include "gpu/gpu.h"
#include "plugmc/plugin.h"
#include "report.h"
#include "run/view.h"

struct simulation;

struct plugmc_context {
    report *report;
    gpu *gpu;         /* NULL on the CPU */
    const char *file; /* of the INI, and line of the plugin's section */
    int line;
    const char *section;     /* "potential NAME" */
    const ini_section *keys; /* of that section; NULL: messages know its line alone */
    const char *plugin;      /* path of its file */
    void **allocations;
    int allocation_count;
    int failed;             /* the callback has said why it fails */
    int tried;              /* it is only tried whether it can: nobody hears why not */
    struct simulation *sim; /* the run; NULL outside of one */
    view_stage stage;       /* what plugmc_host.view has made last */
};

/* A host for an instance; gpu and system may be filled in later. */
plugmc_host context_host(plugmc_context *, const plugmc_system *);
void context_release(plugmc_context *);
/* Before a callback of its plugin is called, named as in plugmc/plugin.h, for the case of a crash;
 * context_exit_code ends it, or crash_called where a callback has no code. */
void context_calling(const plugmc_context *, const char *callback);
/* The exit code for a callback's code; reports a sentence if the plugin failed without one. */
int context_exit_code(plugmc_context *, int code, const char *doing);
#endif
