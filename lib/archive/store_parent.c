/* The parent's side of reading through a child process. See store_apart.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/store_apart.h"
#include "base/bytes.h"
#include "base/child.h"

typedef struct store_child {
    int socket;
    pid_t child;
    int64_t next; /* number of the next group */
    bool gone;    /* it no longer answers */
} store_child;

void store_open_path_apart(store *s, const char *path)
{
    if (!child_program) {
        store_open_path(s, path);
        return;
    }
    char *const arguments[] = {(char *)"plugmc", (char *)"read", (char *)path, NULL};
    *s = (store){.file = -1, .driver = H5I_INVALID_HID, .fd = -1, .reading = true};
    store_child *w = calloc(1, sizeof *w);
    if (!w) {
        store_short(s);
        return;
    }
    const int code = child_converse(&w->child, &w->socket, NULL, 0, arguments);
    if (!code) {
        s->apart = w;
        s->file = w->next++;
        return;
    }
    free(w);
    store_fail(s, "there is no child process for it: %s", strerror(code));
    s->error = code;
    s->memory_short = child_is_shortage(code);
}

/* ---- Asking --------------------------------------------------------------------------------- */

static message about(enum ask what, hid_t object)
{
    return (message){.what = (int32_t)what, .object = object};
}

/* If the child is gone, reader_close finds out why. */
static void lost(store *s)
{
    store_fail(s, "the process that reads it is gone");
    s->file = -1;
    s->apart->gone = true;
}

static void tell(store *s, message m, const char *name)
{
    if (s->failed) return;
    m.name_bytes = (uint32_t)strlen(name) + 1;
    if (!bytes_write(s->apart->socket, &m, sizeof m) ||
        !bytes_write(s->apart->socket, name, m.name_bytes))
        lost(s);
}

/* What the child answers; its data, to be freed, in *data if that is not NULL. */
static verdict ask(store *s, message m, const char *name, void **data)
{
    verdict v = {0};
    tell(s, m, name);
    if (s->failed) return v;
    if (!bytes_read(s->apart->socket, &v, sizeof v)) {
        lost(s);
        return (verdict){0};
    }
    if (v.outcome.failed) {
        store_fail(s, "%.*s", STORE_REASON - 1, v.outcome.reason);
        s->memory_short = v.outcome.memory_short;
        s->error = v.outcome.error;
        return v;
    }
    char *found = v.data_bytes ? malloc(v.data_bytes) : NULL;
    if (v.data_bytes && !found) {
        store_short(s);
    } else if (v.data_bytes && !bytes_read(s->apart->socket, found, v.data_bytes)) {
        lost(s);
        free(found);
        found = NULL;
    }
    *data = found;
    return v;
}

bool reader_has(store *s, hid_t parent, const char *path)
{
    void *none = NULL;
    return ask(s, about(ASK_HAS, parent), path, &none).value;
}

hid_t reader_enter(store *s, hid_t parent, const char *path)
{
    void *none = NULL;
    ask(s, about(ASK_ENTER, parent), path, &none);
    return s->failed ? -1 : s->apart->next++;
}

void reader_leave(store *s, hid_t object)
{
    if (object >= 0) tell(s, about(TELL_LEAVE, object), "");
}

void reader_attribute(store *s, hid_t object, const char *name, enum store_type type, void *value)
{
    void *found = NULL;
    message m = about(ASK_ATTRIBUTE, object);
    m.type = (int32_t)type;
    if (ask(s, m, name, &found).data_bytes && found) memcpy(value, found, store_size_of(type));
    free(found);
}

char *reader_text(store *s, enum ask what, hid_t object, const char *name)
{
    void *found = NULL;
    ask(s, about(what, object), name, &found);
    return found;
}

void *reader_rows(store *s, hid_t parent, const char *name, enum store_type type, int rank,
                  hsize_t first, hsize_t count, hsize_t *shape)
{
    void *found = NULL;
    message m = about(ASK_ROWS, parent);
    m.type = (int32_t)type;
    m.rank = rank;
    m.first = first;
    m.count = count;
    const verdict v = ask(s, m, name, &found);
    if (s->failed) return NULL;
    memcpy(shape, v.shape, (size_t)rank * sizeof *shape);
    if (!found && !(found = malloc(1)))
        store_short(s); /* an array without elements is not NULL either */
    return found;
}

int reader_close(store *s)
{
    store_child *w = s->apart;
    close(w->socket); /* the end of its work */
    const int status = child_wait(w->child);
    if (w->gone)
        child_tell_end(status, "reads", "it is damaged, or memory is short", s->reason,
                       sizeof s->reason);
    s->apart = NULL;
    free(w);
    return s->failed;
}
