/* The plugmc_context that plugins hand back to the core: whom a message is about, and what is
 * released when the run ends. One for each plugin instance. */
#ifndef PLUGMC_BASE_CONTEXT_H
#define PLUGMC_BASE_CONTEXT_H

#include "base/report.h"
#include "plugmc/everything.h"

struct plugmc_context {
    report *report;
    struct gpu *gpu;  /* NULL on the CPU */
    const char *file; /* of the INI, and line of the plugin's section */
    int line;
    const char *section; /* "potential NAME" */
    const char *plugin;  /* path of its file */
    void **allocations;
    int allocation_count;
    /* The plugin, or the core for it, has said why it fails. */
    bool failed;
    /* It is only tried whether it can: nobody hears why not. */
    bool tried;
    /* Shared by all instances of a run, since a mover may fail by what a potential has said; NULL: nobody else is there. */
    bool *any_failed;
    /* Of whoever provides the services behind plugmc_host: */
    const struct ini_section *keys; /* of its section; NULL: messages know its line alone */
    struct engine *engine;          /* the run; NULL outside of one */
    struct view_stage *stage;       /* what plugmc_host.view has made last */
};

/* It has been said why the callback at hand fails. */
void context_failed(plugmc_context *);
/* Before a callback of its plugin is called, named as in plugmc/plugin.h, for the case of a crash;
 * context_exit_code ends it, or crash_called where a callback has no code. */
void context_calling(const plugmc_context *, const char *callback);
/* The exit code of a callback's code, and the other way round. */
enum exit_code context_exit_code_of(int code);
int context_plugin_code_of(int exit_code);
/* The exit code for a callback's code; reports a sentence if the plugin failed without one. */
int context_exit_code(plugmc_context *, int code, const char *doing);
#endif
