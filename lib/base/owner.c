/* Owners, groups and modes: whom a file can be changed by. */
#include "owner.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/report.h"

static bool owner_is_trusted(int file, uid_t owner);
static bool group_is_trusted(uid_t owner, gid_t group);
static bool refuse_owner(const char *path, const struct stat *, sentence why);
static bool refuse_mode(const char *path, const struct stat *, sentence why);

bool check_owner(int file, const char *path, const struct stat *status, sentence why)
{
    const mode_t mode = status->st_mode;
    if (!owner_is_trusted(file, status->st_uid)) return refuse_owner(path, status, why);
    if (S_ISLNK(mode) || (S_ISDIR(mode) && mode & S_ISVTX)) return true;
    if (mode & S_IWOTH) return refuse_mode(path, status, why);
    return !(mode & S_IWGRP) || group_is_trusted(status->st_uid, status->st_gid) ||
           refuse_mode(path, status, why);
}

/* ---- Sentences ------------------------------------------------------------------------------- */

static bool refuse_owner(const char *path, const struct stat *status, sentence why)
{
    const struct passwd *owner = getpwuid(status->st_uid);
    return why_not(why,
                   "%s belongs to user %s (%u): what is loaded, and every folder on the way to it, "
                   "must belong to you (%u), to root, or to a member of a group that you trust "
                   "with "
                   "your account and name in PLUGMC_TRUST_GROUP",
                   path, owner ? owner->pw_name : "unknown", (unsigned)status->st_uid,
                   (unsigned)geteuid());
}

static bool refuse_mode(const char *path, const struct stat *status, sentence why)
{
    const struct group *group = getgrgid(status->st_gid);
    const unsigned mode = (unsigned)status->st_mode & 07777u;
    if (status->st_mode & S_IWOTH || !group)
        return why_not(why, "%s can be changed by others (mode %04o): run chmod go-w '%s'", path,
                       mode, path);
    return why_not(why,
                   "%s can be changed by others (mode %04o): run chmod go-w '%s', or set "
                   "PLUGMC_TRUST_GROUP=%s if you trust every member of that group with your "
                   "account",
                   path, mode, path, group->gr_name);
}

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
static bool group_is_private(uid_t owner, gid_t group)
{
    const struct passwd *user = getpwuid(owner);
    if (!user || user->pw_gid != group) return false;
    char *name = checked(strdup(user->pw_name));
    const struct group *g = getgrgid(group);
    bool alone = g && strcmp(g->gr_name, name) == 0;
    for (char **member = alone ? g->gr_mem : NULL; member && *member; member++)
        alone = alone && strcmp(*member, name) == 0;
    free(name);
    return alone;
}

static bool group_is_trusted(uid_t owner, gid_t group)
{
    return group_is_named(group) || group_is_private(owner, group);
}

/* ---- Owners ---------------------------------------------------------------------------------- */

static bool is_member_of_named(uid_t owner)
{
    enum { MOST_GROUPS = 1024 };
    gid_t groups[MOST_GROUPS];
    int count = MOST_GROUPS;
    if (!getenv("PLUGMC_TRUST_GROUP")) return false;
    const struct passwd *user = getpwuid(owner);
    if (!user) return false;
    char *name = checked(strdup(user->pw_name));
    bool found = false;
    if (getgrouplist(name, user->pw_gid, groups, &count) < 0) count = MOST_GROUPS;
    for (int i = 0; i < count && !found; i++) found = group_is_named(groups[i]);
    free(name);
    return found;
}

/* What the kernel shows for an owner whom the user namespace does not know. */
static uid_t unmapped_owner(void)
{
    unsigned id = 65534;
    FILE *f = fopen("/proc/sys/kernel/overflowuid", "re");
    if (f && fscanf(f, "%u", &id) != 1) id = 65534;
    if (f) fclose(f);
    return (uid_t)id;
}

static bool owner_is_trusted(int file, uid_t owner)
{
    struct statvfs mount;
    if (owner == 0 || owner == geteuid() || is_member_of_named(owner)) return true;
    return owner == unmapped_owner() && fstatvfs(file, &mount) == 0 && mount.f_flag & ST_RDONLY;
}
