/* What a piece of code writes to stderr, for tests of messages. */
#ifndef PLUGMC_MESSAGES_H
#define PLUGMC_MESSAGES_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct messages {
    int saved;
    FILE *file;
    char text[16384];
} messages;

static inline void messages_begin(messages *c)
{
    fflush(stderr);
    c->saved = dup(STDERR_FILENO);
    c->file = tmpfile();
    dup2(fileno(c->file), STDERR_FILENO);
}

static inline const char *messages_end(messages *c)
{
    fflush(stderr);
    dup2(c->saved, STDERR_FILENO);
    close(c->saved);
    rewind(c->file);
    c->text[fread(c->text, 1, sizeof c->text - 1, c->file)] = 0;
    fclose(c->file);
    return c->text;
}

/* The message must be there, and is shown if it is not. */
#define assert_says(text, expected)                                                                \
    do {                                                                                           \
        const char *said_text = (text), *said_expected = (expected);                               \
        if (!strstr(said_text, said_expected))                                                     \
            fail_msg("expected \"%s\" in:\n%s", said_expected, said_text);                         \
    } while (0)

#endif
