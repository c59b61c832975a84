/* The child's side of reading through a process: messages become calls of store.h again. See
 * store_apart.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/store_apart.h"
#include "base/bytes.h"
#include "base/report.h"

typedef struct server {
    store store;
    int socket;
    hid_t *opened; /* [count]: groups by their numbers */
    int64_t count, capacity;
} server;

static hid_t object_of(const server *v, int64_t number)
{
    return number >= 0 && number < v->count ? v->opened[number] : -1;
}

static void keep(server *v, hid_t object)
{
    if (v->count == v->capacity) {
        hid_t *more = realloc(v->opened, (size_t)(2 * v->capacity + 64) * sizeof *more);
        if (!more) {
            store_short(&v->store);
            return;
        }
        v->opened = more;
        v->capacity = 2 * v->capacity + 64;
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

static void *read_rows(store *s, hid_t parent, const char *name, const message *m, verdict *answer)
{
    void *data = store_get_rows(s, parent, name, (enum store_type)m->type, m->rank, m->first,
                                m->count, answer->shape);
    answer->data_bytes = store_size_of((enum store_type)m->type);
    for (int i = 0; i < m->rank && data; i++)
        answer->data_bytes *= i || m->count == STORE_ALL ? answer->shape[i] : m->count;
    return data;
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* What was asked for goes to *found, to be freed. */
static void carry_out(server *v, const message *m, const char *name, verdict *answer, void **found)
{
    store *s = &v->store;
    const hid_t object = object_of(v, m->object);
    const enum store_type type = (enum store_type)m->type;
    switch ((enum ask)m->what) {
    case ASK_HAS: answer->value = store_has(s, object, name); break;
    case ASK_ENTER: keep(v, store_enter(s, object, name)); break;
    case ASK_ATTRIBUTE: *found = read_attribute(s, object, name, type, answer); break;
    case ASK_LABEL: *found = read_text(store_get_label(s, object, name), answer); break;
    case ASK_DOCUMENT: *found = read_text(store_get_document(s, object, name), answer); break;
    case ASK_ROWS: *found = read_rows(s, object, name, m, answer); break;
    case TELL_LEAVE: leave(v, m->object); break;
    default: store_fail(s, "an unknown message (%d) to the process that reads it", m->what);
    }
}

static bool send_answer(server *v, verdict *answer, const void *data)
{
    answer->outcome = store_outcome(&v->store);
    if (v->store.failed || !data) answer->data_bytes = 0;
    return bytes_write(v->socket, answer, sizeof *answer) &&
           bytes_write(v->socket, data, answer->data_bytes);
}

/* False: the parent asks for nothing more. It asks for nothing after a failure unless it has forgiven that. */
static bool serve_one(server *v)
{
    message m;
    verdict answer = {0};
    void *found = NULL;
    if (!bytes_read(v->socket, &m, sizeof m)) return false;
    char *name = malloc(m.name_bytes);
    if (!name || !bytes_read(v->socket, name, m.name_bytes)) return false;
    if (!v->store.failed) carry_out(v, &m, name, &answer, &found);
    const bool answered = m.what == TELL_LEAVE || send_answer(v, &answer, found);
    if (m.what != TELL_LEAVE)
        store_forgive(&v->store); /* what is asked now, the parent asks in spite of that */
    free(found);
    free(name);
    return answered;
}

int store_serve_reader(int socket, const char *path)
{
    server v = {.socket = socket};
    store_open_path(&v.store, path);
    keep(&v, v.store.file);
    while (serve_one(&v)) continue;
    return EXIT_DONE;
}
