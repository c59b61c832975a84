/* The child's side of writing through a process: messages become calls of store.h again. See
 * store_apart.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/store_apart.h"
#include "base/report.h"

typedef struct server {
    store store;
    int socket;
    hid_t *opened; /* [count]: groups and arrays by their numbers */
    int64_t count, room;
} server;

static bool receive_all(int socket, void *data, size_t bytes)
{
    for (char *at = data; bytes;) {
        ssize_t n = read(socket, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n, bytes -= (size_t)n;
    }
    return true;
}

/* What memory is too short for has to be taken from the socket nevertheless. */
static bool pass_over(int socket, size_t bytes)
{
    char piece[4096];
    for (size_t n; bytes; bytes -= n) {
        n = bytes < sizeof piece ? bytes : sizeof piece;
        if (!receive_all(socket, piece, n)) return false;
    }
    return true;
}

/* NULL, with the store failed, if memory is short; *there is false if the parent is gone. */
static char *receive_new(server *v, size_t bytes, bool *there)
{
    char *data = malloc(bytes ? bytes : 1);
    if (!data) store_short(&v->store);
    *there = *there && (data ? receive_all(v->socket, data, bytes) : pass_over(v->socket, bytes));
    return data;
}

static hid_t object_of(const server *v, int64_t number)
{
    return number >= 0 && number < v->count ? v->opened[number] : -1;
}

static void keep(server *v, hid_t object)
{
    if (v->count == v->room) {
        hid_t *more = realloc(v->opened, (size_t)(2 * v->room + 64) * sizeof *more);
        if (!more) {
            store_short(&v->store);
            return;
        }
        v->opened = more;
        v->room = 2 * v->room + 64;
    }
    v->opened[v->count++] = object;
}

static void leave(server *v, int64_t number)
{
    hid_t object = object_of(v, number);
    if (object < 0) return;
    H5Oclose(object);
    v->opened[number] = -1;
}

/* ---- What is read --------------------------------------------------------------------------- */

static void *read_attribute(store *s, hid_t object, const char *name, enum store_type type,
                            verdict *answer)
{
    void *value = calloc(1, sizeof(uint64_t)); /* the largest of them */
    if (!value) store_short(s);
    store_get_attribute(s, object, name, type, value);
    answer->data_bytes = sizeof(uint64_t);
    return value;
}

static void *read_text(char *text, verdict *answer)
{
    answer->data_bytes = text ? strlen(text) + 1 : 0;
    return text;
}

/* All of it, or the rows that the message asks for. */
static void *read_array(store *s, hid_t parent, const char *name, const message *m, verdict *answer)
{
    const enum store_type type = (enum store_type)m->type;
    const hsize_t first = (hsize_t)m->first, count = (hsize_t)m->count;
    const bool rows = m->what == ASK_ROWS;
    hsize_t shape[STORE_RANK] = {0};
    void *data = rows ? store_get_rows(s, parent, name, type, m->rank, first, count, shape)
                      : store_get_array(s, parent, name, type, m->rank, shape);
    answer->data_bytes = H5Tget_size(store_native(type));
    for (int i = 0; i < m->rank; i++) {
        answer->shape[i] = shape[i];
        answer->data_bytes *= rows && i == 0 ? count : shape[i];
    }
    return data;
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* What was asked for goes to *found, to be freed. */
static void carry_out(server *v, const message *m, const char *name, const void *data,
                      verdict *answer, void **found)
{
    store *s = &v->store;
    const hid_t object = object_of(v, m->object);
    const enum store_type type = (enum store_type)m->type;
    hsize_t shape[STORE_RANK];
    for (int i = 0; i < STORE_RANK; i++) shape[i] = m->shape[i];
    switch ((enum send)m->what) {
    case SEND_GROUP: keep(v, store_group(s, object, name)); break;
    case SEND_OPEN_ARRAY: keep(v, store_open_array(s, object, name)); break;
    case SEND_LEAVE: leave(v, m->object); break;
    case SEND_REMOVE: store_remove(s, object, name); break;
    case SEND_LINK: store_link(s, object, name, object_of(v, m->other), data); break;
    case SEND_ATTRIBUTE:
        if (m->count < 0)
            store_attribute(s, object, name, type, data);
        else
            store_attributes(s, object, name, type, (int)m->count, data);
        break;
    case SEND_LABELS: store_labels(s, object, name, (int)m->count, (int)m->first, data); break;
    case SEND_LABEL: store_label(s, object, name, data); break;
    case SEND_DOCUMENT: store_document(s, object, name, data); break;
    case SEND_ARRAY: store_array(s, object, name, type, m->rank, shape, data); break;
    case SEND_GROW:
        keep(v, store_grow(s, object, name, type, m->rank, shape, (hsize_t)m->first));
        break;
    case SEND_ROWS: store_rows(s, object, type, (hsize_t)m->first, (hsize_t)m->count, data); break;
    case ASK_HAS: answer->value = store_has(s, object, name); break;
    case ASK_ENTER: keep(v, store_enter(s, object, name)); break;
    case ASK_ATTRIBUTE: *found = read_attribute(s, object, name, type, answer); break;
    case ASK_LABEL: *found = read_text(store_get_label(s, object, name), answer); break;
    case ASK_DOCUMENT: *found = read_text(store_get_document(s, object, name), answer); break;
    case ASK_ARRAY:
    case ASK_ROWS: *found = read_array(s, object, name, m, answer); break;
    default: store_fail(s, "an unknown message (%d) to the process that writes it", m->what);
    }
}

static bool send_all(int socket, const void *data, size_t bytes)
{
    for (const char *at = data; bytes;) {
        ssize_t n = write(socket, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n, bytes -= (size_t)n;
    }
    return true;
}

static bool send_answer(server *v, verdict *answer, const void *data)
{
    const store *s = &v->store;
    answer->failed = s->failed;
    answer->memory_short = s->memory_short;
    answer->error = s->error;
    memcpy(answer->reason, s->reason, sizeof answer->reason);
    if (s->failed || !data) answer->data_bytes = 0;
    return send_all(v->socket, answer, sizeof *answer) &&
           send_all(v->socket, data, answer->data_bytes);
}

/* Once something has failed nothing more is asked of HDF5, which may not bear it. */
static bool serve_one(server *v)
{
    message m;
    bool there = receive_all(v->socket, &m, sizeof m);
    if (!there) _exit(EXIT_INTERNAL); /* the parent is gone, or does not want the file any more */
    if (m.what == SEND_CLOSE) return false;
    char *name = receive_new(v, m.name_bytes, &there);
    char *data = receive_new(v, m.data_bytes, &there);
    if (!there) _exit(EXIT_INTERNAL);
    verdict answer = {0};
    void *found = NULL;
    if (m.what == ASK_FORGIVE)
        store_forgive(&v->store);
    else if (!v->store.failed)
        carry_out(v, &m, name, data, &answer, &found);
    if (m.what > SEND_CLOSE && !send_answer(v, &answer, found)) _exit(EXIT_INTERNAL);
    free(found);
    free(name);
    free(data);
    return true;
}

/* From the file that is open (or could not be opened) to its end. */
static int serve(server *v)
{
    verdict answer = {0};
    touched touched = {0};
    keep(v, v->store.file);
    while (serve_one(v)) continue;
    if (!v->store.failed) store_close_telling(&v->store, &touched);
    if (v->store.error) /* the cause of whatever else went wrong */
        snprintf(v->store.reason, sizeof v->store.reason, "%s", strerror(v->store.error));
    answer.value = !touched.unknown;
    answer.data_bytes = touched.bytes;
    const bool sent = send_answer(v, &answer, touched.bits);
    touched_free(&touched);
    return sent ? EXIT_DONE : EXIT_INTERNAL;
}

int store_serve(int socket, int fd)
{
    server v = {.socket = socket};
    store_open(&v.store, fd, STORE_FRESH);
    return serve(&v);
}

int store_serve_over(int socket, int fd, int below)
{
    server v = {.socket = socket};
    store_open_over(&v.store, fd, below);
    return serve(&v);
}

int store_serve_reader(int socket, const char *path)
{
    server v = {.socket = socket};
    store_open_path(&v.store, path);
    return serve(&v);
}
