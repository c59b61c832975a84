/* All plugins of a run are first loaded and configured in one child process, with the parameters of the run, by the code
 * that does it here afterwards. So a plugin that crashes, calls exit, does not return or takes all memory meanwhile ends
 * in a sentence, and in this process nothing has happened: no lock or file is left, and a host program goes on.
 *
 * The child, `plugmc rehearse plugins SOCKET ""`, has the INI file as this process has read it. It tells which section it
 * comes to, and which files it has found good: these are not rehearsed again. Messages of plugins are not heard: they say the
 * same here. */
#ifndef PLUGMC_APART_H
#define PLUGMC_APART_H

#include <stdbool.h>

#include "engine/engine.h"

/* 0, or the exit code of what it has said. *tried: the plugins have been configured there, or refuse to be, as they will
 * here; or there is no program to start. Otherwise it ended while it was loading them: then each has to be loaded by
 * itself in a child (plugin/loader.h), which tells more. Called a second time after that, with `loaded`, it gives them more
 * time, and is the last word. */
int apart_try(engine *, bool loaded, bool *tried);

/* ---- In the child --------------------------------------------------------------------------------------------------- */

/* Reads from the socket, does what is asked for, and tells. Returns an exit code. */
int apart_serve(int socket);

/* Processor time, in seconds, for a plugin to check its parameters; files that they name give it more. */
enum { APART_SECONDS = 30 };

/* What it tells, as lines: a letter and a text. They do nothing in other processes. */
enum {
    APART_LIMIT = 'm',      /* bytes of memory that it may take */
    APART_LOADS = 'l',      /* number of a plugin's section */
    APART_CONFIGURES = 'c', /* the same */
    APART_LOADED = 'L',     /* path of a plugin */
    APART_CHECKS = 'o', /* the core has called `configure` of all and looks at what came of it */
    APART_READS = 'f',  /* path of a file that was good; the plugin that reads it comes next */
    APART_READER = 'p',
    APART_SHORT = 's', /* line of the INI file, and what was said there: that memory is short */
    APART_END = 'e'    /* the exit code */
};
void apart_tell(int letter, long long number);
void apart_loaded(const loaded *);
/* A file is rehearsed for a plugin, as by rehearsal.h, in this process or its child. */
int apart_rehearse(const char *path, const char *plugin, char *reason);
#endif
