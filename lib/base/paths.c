/* Names of files: what they are relative to. See paths.h. */
#include "base/paths.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report.h"

char *path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return checked(strdup(""));
    return checked(strndup(path, slash == path ? 1 : (size_t)(slash - path)));
}

char *path_join(const char *folder, const char *name)
{
    char *joined;
    if (!*folder || !*name || *name == '/') return checked(strdup(name));
    const bool root = strcmp(folder, "/") == 0;
    if (asprintf(&joined, "%s%s%s", folder, root ? "" : "/", name) < 0) checked(NULL);
    return joined;
}

/* With links and dots resolved, as far as the path exists; the rest may be a file to come. */
static char *absolute(const char *path)
{
    char *whole = realpath(*path ? path : ".", NULL);
    if (whole) return whole;
    char *folder = path_folder(path), *real = realpath(*folder ? folder : ".", NULL);
    const char *slash = strrchr(path, '/');
    if (real) {
        whole = path_join(real, slash ? slash + 1 : path);
    } else {
        char *here = getcwd(NULL, 0);
        whole = path_join(here ? here : "", path);
        free(here);
    }
    free(folder);
    free(real);
    return whole;
}

char *path_beside(const char *folder, const char *path)
{
    if (!*path) return checked(strdup(""));
    char *base = absolute(folder), *whole = absolute(path), *out = whole;
    size_t length = strcmp(base, "/") == 0 ? 0 : strlen(base);
    if (strncmp(whole, base, length) == 0 && whole[length] == '/' && whole[length + 1]) {
        const char *rest = whole + length + 1;
        const bool bare = strchr(path, '/') && !strchr(rest, '/');
        if (asprintf(&out, "%s%s", bare ? "./" : "", rest) < 0) checked(NULL);
        free(whole);
    }
    free(base);
    return out;
}

bool path_is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool path_will_be_same_file(const char *one, const char *other)
{
    if (path_is_same_file(one, other)) return true;
    char *a = absolute(one), *b = absolute(other);
    const bool same = !strcmp(a, b);
    free(a);
    free(b);
    return same;
}
