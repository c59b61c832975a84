/* One check of the file and of its folder, as ssh makes it of keys. See trust.h. */
#include "base/trust.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/regular_file.h"
#include "base/report.h"

enum { NOBODY = 65534 }; /* what the kernel shows for an owner whom a container does not know */

/* ---- Groups that the user trusts ------------------------------------------------------------- */

static bool group_is_named(gid_t group)
{
    const char *variable = getenv("PLUGMC_TRUST_GROUP");
    char *copy = checked(strdup(variable ? variable : "")), *rest = copy, *word;
    bool found = false;
    while (!found && (word = strsep(&rest, ":"))) {
        const struct group *named = *word ? getgrnam(word) : NULL;
        found = named && named->gr_gid == group;
    }
    free(copy);
    return found;
}

/* A group of its own for each user, as many systems make them: it lets nobody in but the owner. */
static bool group_is_private(const struct passwd *user, gid_t group)
{
    const struct group *g = user && user->pw_gid == group ? getgrgid(group) : NULL;
    bool alone = g && strcmp(g->gr_name, user->pw_name) == 0;
    for (char **member = alone ? g->gr_mem : NULL; member && *member; member++)
        alone = alone && strcmp(*member, user->pw_name) == 0;
    return alone;
}

static bool is_member_of_named(const struct passwd *user)
{
    enum { MOST_GROUPS = 1024 };
    gid_t groups[MOST_GROUPS];
    int count = MOST_GROUPS;
    bool found = false;
    if (!user || !getenv("PLUGMC_TRUST_GROUP")) return false;
    if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0) count = MOST_GROUPS;
    for (int i = 0; i < count && !found; i++) found = group_is_named(groups[i]);
    return found;
}

/* ---- The check ------------------------------------------------------------------------------- */

static bool is_on_a_mount_to_read(const char *path)
{
    struct statvfs mount;
    return statvfs(path, &mount) == 0 && mount.f_flag & ST_RDONLY;
}

/* Whether nobody can change it but who is trusted. */
static bool is_trusted(const char *path, const struct stat *s, sentence why)
{
    const uid_t owner = s->st_uid;
    const unsigned mode = (unsigned)s->st_mode & 07777u;
    const struct passwd *user = getpwuid(owner);
    if (owner != 0 && owner != geteuid() && !is_member_of_named(user) &&
        !(owner == NOBODY && is_on_a_mount_to_read(path)))
        return why_not(why,
                       "%s belongs to user %s (%u): what is loaded, and its folder, must belong to "
                       "you (%u), to root, or to a member of a group that you trust with your "
                       "account and name in PLUGMC_TRUST_GROUP",
                       path, user ? user->pw_name : "unknown", (unsigned)owner,
                       (unsigned)geteuid());
    if (!(mode & S_IWOTH) &&
        (!(mode & S_IWGRP) || group_is_private(user, s->st_gid) || group_is_named(s->st_gid)))
        return true;
    if (mode & S_ISVTX)
        return why_not(why,
                       "others can put files into %s (mode %04o): move it to a folder of yours",
                       path, mode);
    const struct group *group = mode & S_IWOTH ? NULL : getgrgid(s->st_gid);
    return why_not(why, "%s can be changed by others (mode %04o): run chmod go-w '%s'%s%s%s", path,
                   mode, path, group ? ", or set PLUGMC_TRUST_GROUP=" : "",
                   group ? group->gr_name : "",
                   group ? " if you trust every member of that group with your account" : "");
}

static bool open_trusted(const char *path, trusted *out, sentence why)
{
    struct stat file, folder;
    const char *reason;
    out->path = realpath(path, NULL);
    if (!out->path) return why_not(why, "%s cannot be opened: %s", path, strerror(errno));
    out->file = open_regular(out->path, &reason);
    if (out->file < 0) return why_not(why, "%s cannot be opened: %s", path, reason);
    char *around = path_folder(out->path);
    const bool good = fstat(out->file, &file) == 0 && stat(around, &folder) == 0
                          ? is_trusted(path, &file, why) && is_trusted(around, &folder, why)
                          : why_not(why, "%s cannot be opened: %s", path, strerror(errno));
    free(around);
    return good;
}

bool trusted_open(const char *path, trusted *out, sentence why)
{
    *out = (trusted){.file = -1};
    const bool good = open_trusted(path, out, why);
    if (!good) trusted_close(out);
    return good;
}

void trusted_close(trusted *t)
{
    if (t->file >= 0) close(t->file);
    free(t->path);
    *t = (trusted){.file = -1};
}

bool trusted_unchanged(const trusted *t)
{
    struct stat opened, named;
    return fstat(t->file, &opened) == 0 && stat(t->path, &named) == 0 &&
           file_is_unchanged(&opened, &named);
}
