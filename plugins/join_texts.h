/* join_texts: one GPU source from several files, which PLUGMC_EMBED has put into a plugin. */
#ifndef PLUGMC_JOIN_TEXTS_H
#define PLUGMC_JOIN_TEXTS_H

#include <string.h>

#include <plugmc/everything.h>

/* The parts, NULL after the last one, one after the other, in memory of the host. Without memory
 * NULL, and the host has been told. */
static inline char *join_texts(const plugmc_host *host, const char *const parts[])
{
    size_t bytes = 1;
    for (int p = 0; parts[p]; p++) bytes += strlen(parts[p]);
    char *text = host->allocate(host->context, bytes); /* zeroed */
    for (int p = 0; parts[p] && text; p++) strcat(text, parts[p]);
    if (!text) host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for a GPU source");
    return text;
}

#endif
