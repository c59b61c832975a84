/* See files.h. */
#include "files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/lock.h"
#include "archive/replacement.h"
#include "base/report.h"

static bool has_text(const char *path, const char *text)
{
    const size_t length = strlen(text);
    FILE *in = fopen(path, "rb");
    char *there = checked(malloc(length + 1));
    const bool same =
        in && fread(there, 1, length + 1, in) == length && !memcmp(there, text, length);
    if (in) fclose(in);
    free(there);
    return same;
}

int files_write_text(const char *path, const char *text, char why[FILES_WHY])
{
    replacement file;
    char identity[IDENTITY_SIZE];
    if (has_text(path, text)) return EXIT_DONE;
    identity_make(identity);
    int code = replacement_begin(&file, path, identity, REPLACES_ANY);
    if (!code) {
        size_t left = strlen(text);
        while (left && !code) {
            const ssize_t n = write(file.fd, text, left);
            if (n < 0 && errno != EINTR) code = errno;
            if (n > 0) text += n, left -= (size_t)n;
        }
        if (code)
            replacement_abandon(&file);
        else
            code = replacement_finish(&file);
    }
    if (!code) return EXIT_DONE;
    snprintf(why, FILES_WHY, "%s", replacement_words(code));
    return code == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}

int files_make_folder(const char *path, char why[FILES_WHY])
{
    char *copy = checked(strdup(path));
    int code = 0;
    for (char *slash = copy; !code && (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        if (mkdir(copy, 0777) && errno != EEXIST) code = errno;
        *slash = '/';
    }
    if (!code && mkdir(copy, 0777) && errno != EEXIST) code = errno;
    struct stat info;
    if (!code && !stat(copy, &info) && !S_ISDIR(info.st_mode)) code = ENOTDIR;
    free(copy);
    if (!code) return EXIT_DONE;
    snprintf(why, FILES_WHY, "%s", strerror(code));
    return EXIT_OUTPUT;
}
