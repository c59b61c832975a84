/* Whose code is running, and what is said if it crashes. */
#ifndef PLUGMC_CRASH_H
#define PLUGMC_CRASH_H

/* From here on a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) in any thread ends the process with
 * EXIT_INTERNAL and a sentence that names the plugin and the callback. Handlers of others, such as a
 * sanitizer, stay. */
void crash_report(void);

/* Notes that a callback of a plugin is being called: the plugin as in its section of the INI file
 * ("mover serial"), or its file; the callback as in plugmc/plugin.h. Both live until the next call.
 * It is one record for all threads: those of a plugin work while its callback runs. */
void crash_calling(const char *plugin, const char *callback);
/* The callback has returned. */
void crash_called(void);
#endif
