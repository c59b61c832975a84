/* See logs.h. */
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/report.h"

static const char ending[] = "plugmc scan: exit code ";

/* A file system without locks has none: there the lock on the output file is what is left. */
int log_open(const char *path)
{
    const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0 || !flock(log, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK) return log;
    close(log);
    errno = EWOULDBLOCK;
    return -1;
}

bool log_is_held(const char *path)
{
    const int log = open(path, O_RDONLY | O_CLOEXEC);
    if (log < 0) return false;
    const bool held = flock(log, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    close(log);
    return held;
}

void log_end(int log, int code) { dprintf(log, "%s%d\n", ending, code); }

/* The last lines of the file, a text; NULL if it cannot be read. */
static char *read_end(const char *path)
{
    enum { SOME = 4096 };
    const int log = open(path, O_RDONLY | O_CLOEXEC);
    if (log < 0) return NULL;
    char *text = checked(calloc(SOME + 1, 1));
    const off_t size = lseek(log, 0, SEEK_END);
    if (pread(log, text, SOME, size > SOME ? size - SOME : 0) < 0) text[0] = 0;
    close(log);
    return text;
}

/* The last line that is not empty, cut off what is before it; NULL: there is none. */
static char *last_line(char *text)
{
    char *end = text + strlen(text);
    while (end > text && end[-1] == '\n') *--end = 0;
    char *line = strrchr(text, '\n');
    return line ? line + 1 : *text ? text : NULL;
}

int log_last_code(const char *path)
{
    char *text = read_end(path), *line = text ? last_line(text) : NULL;
    const size_t length = strlen(ending);
    const int code = line && !strncmp(line, ending, length) ? atoi(line + length) : -1;
    free(text);
    return code;
}

char *log_last_words(const char *path)
{
    char *text = read_end(path), *line = text ? last_line(text) : NULL;
    if (line && !strncmp(line, ending, strlen(ending))) {
        *line = 0;
        line = last_line(text);
    }
    char *words = NULL;
    if (line && strstr(line, ".rescued-")) /* its last word, after the table: where it is */
        checked(asprintf(&words, "its output cannot be written there, and is in %s instead", line) <
                        0
                    ? NULL
                    : line);
    else if (line)
        words = checked(strdup(line));
    free(text);
    return words;
}
