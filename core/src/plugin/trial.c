#include "plugin/trial.h"

#include "base/rehearsal.h"

bool survives_loading(const char *path, bool *shortage, sentence why)
{
    char reason[REHEARSAL_REASON];
    int code = rehearse("load", path, "", EXIT_PLUGIN, NULL, reason);
    /* short of memory, which this process will be, too, or not */
    *shortage = code == EXIT_MEMORY && reason[0];
    return !code || (code == EXIT_MEMORY && !reason[0]) || why_not(why, "%s: %s", path, reason);
}
