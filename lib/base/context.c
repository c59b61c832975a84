/* Whom a message is about, and what the codes of callbacks mean. */
#include "base/context.h"

#include "base/crash.h"

enum exit_code context_exit_code_of(int code)
{
    switch (code) {
    case PLUGMC_ERROR_INPUT: return EXIT_INPUT;
    case PLUGMC_ERROR_MEMORY: return EXIT_MEMORY;
    case PLUGMC_ERROR_DEVICE: return EXIT_DEVICE;
    default: return EXIT_INTERNAL;
    }
}

int context_plugin_code_of(int code)
{
    return code == EXIT_INPUT    ? PLUGMC_ERROR_INPUT
           : code == EXIT_MEMORY ? PLUGMC_ERROR_MEMORY
                                 : PLUGMC_ERROR_STATE;
}

void context_failed(plugmc_context *context)
{
    context->failed = true;
    if (context->any_failed) *context->any_failed = true;
}

void context_calling(const plugmc_context *context, const char *callback)
{
    crash_calling(context->section, callback);
}

int context_exit_code(plugmc_context *context, int code, const char *doing)
{
    crash_called();
    if (code == PLUGMC_OK) return EXIT_DONE;
    const bool told = context->failed || (context->any_failed && *context->any_failed);
    if (!told && code == PLUGMC_ERROR_MEMORY)
        return report_error(context->report, EXIT_MEMORY, context->file, context->line,
                            "[%s] there is not enough memory for %s", context->section, doing);
    if (!told)
        return report_error(context->report, context_exit_code_of(code), context->file,
                            context->line, "[%s] the plugin failed (code %d) while %s",
                            context->section, code, doing);
    return context_exit_code_of(code);
}
