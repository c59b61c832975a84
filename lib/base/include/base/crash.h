/* Whose code is running, and what is said if it crashes. */
#ifndef PLUGMC_CRASH_H
#define PLUGMC_CRASH_H

/* From here on a plugin that ends the program (exit) is named, and the code is EXIT_INTERNAL; and a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) in any thread ends the process with
 * EXIT_INTERNAL and a sentence that names the plugin and the callback. Handlers of others, such as a
 * sanitizer, stay. Called by the main thread. */
void crash_report(void);

/* In whose callback a thread is. */
typedef struct crash_record {
    const char *kind, *plugin, *callback; /* kind: "", or "potential " before its label */
} crash_record;

/* Notes that a callback of a plugin is being called: the plugin as in its section of the INI file
 * ("mover serial"), or its file; the callback as in plugmc/plugin.h. Both live until the next call.
 * Each thread has a record of its own; one without, as those that a plugin starts, is in the callback
 * of the main thread. Returns what was noted before. */
crash_record crash_calling(const char *plugin, const char *callback);
/* The same of a potential, by its label, for parts of the core that know no more of it. */
crash_record crash_calling_potential(const char *label, const char *callback);
/* Another callback of the same plugin, for whoever asks for several and knows nobody's name. */
void crash_calling_its(const char *callback);
/* In whose callback the main thread is, and how many calls and returns there were up to now: while that number stays,
 * it is the same call. From any thread. */
crash_record crash_of_main(unsigned long *calls);
/* The callback has returned. */
void crash_called(void);
/* It has returned to another one, from which the core had been called. */
void crash_called_within(crash_record outer);
#endif
