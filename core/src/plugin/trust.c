/* Who may change a file, or put another in its place. */
#include "plugin/trust.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

/* Code of others must not run with the user's rights, so nobody else may be able to change it;
 * nor to put another file in its place, which is why its folder counts as well. */
static bool check_owner(const char *path, const struct stat *status, sentence why)
{
    if (status->st_uid != 0 && status->st_uid != geteuid()) {
        const struct passwd *owner = getpwuid(status->st_uid);
        return why_not(why,
                       "%s belongs to user %s (%u): a plugin and its folder must belong to you "
                       "(%u) or to root",
                       path, owner ? owner->pw_name : "unknown", (unsigned)status->st_uid,
                       (unsigned)geteuid());
    }
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return why_not(why, "%s can be changed by others (mode %04o): run chmod go-w '%s'", path,
                       (unsigned)status->st_mode & 07777u, path);
    return true;
}

static bool check_folder(const char *file, sentence why)
{
    struct stat status;
    const char *slash = strrchr(file, '/');
    char *folder = checked(slash ? strndup(file, slash == file ? 1 : (size_t)(slash - file))
                                 : strdup("."));
    bool good = stat(folder, &status) == 0
                    ? check_owner(folder, &status, why)
                    : why_not(why, "%s cannot be opened: %s", folder, strerror(errno));
    free(folder);
    return good;
}

/* The file, its folder, and where they are links, the folder that they lead to. */
bool check_file(const char *path, sentence why)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return why_not(why, "%s cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode)) return why_not(why, "%s is not a regular file", path);
    if (!check_owner(path, &status, why) || !check_folder(path, why)) return false;
    char *full = realpath(path, NULL);
    if (!full) return why_not(why, "%s cannot be opened: %s", path, strerror(errno));
    bool good = check_folder(full, why);
    free(full);
    return good;
}
