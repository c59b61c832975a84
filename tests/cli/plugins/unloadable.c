/* unloadable: what $LOADING says comes to pass when it is loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

static volatile int zero;

__attribute__((constructor)) static void misbehave(void)
{
    const char *what = getenv("LOADING");
    if (!what) return;
    if (!strcmp(what, "leaves")) {
        puts("all is well"); /* as a child may be thought to say */
        exit(0);
    }
    if (!strcmp(what, "fails")) exit(3);
    if (!strcmp(what, "aborts")) abort();
    while (!strcmp(what, "loops") && !zero) {}
}

PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "unloadable", .summary = "", .reference = "")
