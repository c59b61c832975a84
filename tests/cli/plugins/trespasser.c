/* trespasser: leaves a trace of whoever loads it, in the folder that $TRESPASSER names. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_trace(void)
{
    char path[4096];
    const char *folder = getenv("TRESPASSER");
    if (!folder) return;
    snprintf(path, sizeof path, "%s/loaded-by-%u", folder, (unsigned)geteuid());
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}
