/* The parent's side of writing through a child process. See store_apart.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "archive/output.h"
#include "archive/store_apart.h"

typedef struct store_child {
    int socket;
    pid_t child;
    int64_t next; /* number of the next group or array */
    size_t *row;  /* [next]: elements of a row of an array that grows */
    int64_t row_room;
    bool told; /* the child has said why it failed */
    bool gone; /* it no longer answers */
} store_child;

/* ---- Sending -------------------------------------------------------------------------------- */

static bool send_all(int socket, const void *data, size_t bytes)
{
    for (const char *at = data; bytes;) {
        ssize_t n = send(socket, at, bytes, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n, bytes -= (size_t)n;
    }
    return true;
}

static void lost(store *s, const char *words)
{
    store_fail(s, "%s", words);
    s->apart->gone = true;
}

/* If the child is gone, store_close finds out why. */
static void send_message(store *s, message m, const char *name, const void *data)
{
    if (s->failed) return;
    m.name_bytes = name ? (uint32_t)strlen(name) + 1 : 0;
    const int socket = s->apart->socket;
    if (send_all(socket, &m, sizeof m) && send_all(socket, name, m.name_bytes) &&
        send_all(socket, data, m.data_bytes))
        return;
    lost(s, "the process that writes it is gone");
}

static size_t size_of(enum store_type type)
{
    static const size_t sizes[STORE_TYPES] = {
        [STORE_BYTE] = 1,  [STORE_INT] = sizeof(int), [STORE_INT32] = 4,
        [STORE_INT64] = 8, [STORE_UINT64] = 8,        [STORE_DOUBLE] = sizeof(double)};
    return sizes[type];
}

static message about(enum send what, hid_t object)
{
    return (message){.what = (int32_t)what, .object = object};
}

/* The number of what a message opens; `row` as in store_child. */
static hid_t take_number(store *s, size_t row)
{
    store_child *w = s->apart;
    if (s->failed) return -1;
    if (w->next == w->row_room) {
        size_t *more = realloc(w->row, (size_t)(2 * w->row_room + 64) * sizeof *more);
        if (!more) {
            store_short(s);
            return -1;
        }
        w->row = more;
        w->row_room = 2 * w->row_room + 64;
    }
    w->row[w->next] = row;
    return w->next++;
}

static void set_shape(message *m, int rank, const hsize_t *shape)
{
    m->rank = rank;
    for (int i = 0; i < rank; i++) m->shape[i] = shape[i];
}

void writer_send(store *s, enum send what, hid_t object, const char *name)
{
    if (object >= 0) send_message(s, about(what, object), name, NULL);
}

hid_t writer_enter(store *s, enum send what, hid_t parent, const char *name)
{
    writer_send(s, what, parent, name);
    return take_number(s, 0);
}

void writer_link(store *s, hid_t old, const char *name, hid_t new, const char *new_name)
{
    message m = about(SEND_LINK, old);
    m.other = new;
    m.data_bytes = strlen(new_name) + 1;
    send_message(s, m, name, new_name);
}

void writer_attribute(store *s, hid_t object, const char *name, enum store_type type, int count,
                      const void *values)
{
    message m = about(SEND_ATTRIBUTE, object);
    m.type = (int32_t)type;
    m.count = count;
    m.data_bytes = size_of(type) * (count < 0 ? 1 : (size_t)count);
    send_message(s, m, name, values);
}

void writer_labels(store *s, hid_t object, const char *name, int count, int width,
                   const void *texts)
{
    message m = about(SEND_LABELS, object);
    m.count = count;
    m.first = width;
    m.data_bytes = (size_t)count * (size_t)width;
    send_message(s, m, name, texts);
}

void writer_text(store *s, enum send what, hid_t object, const char *name, const char *text)
{
    message m = about(what, object);
    m.data_bytes = strlen(text) + 1;
    send_message(s, m, name, text);
}

void writer_array(store *s, hid_t parent, const char *name, enum store_type type, int rank,
                  const hsize_t *shape, const void *data)
{
    message m = about(SEND_ARRAY, parent);
    m.type = (int32_t)type;
    set_shape(&m, rank, shape);
    m.data_bytes = size_of(type);
    for (int i = 0; i < rank; i++) m.data_bytes *= shape[i];
    send_message(s, m, name, data);
}

hid_t writer_grow(store *s, hid_t parent, const char *name, enum store_type type, int rank,
                  const hsize_t *shape, hsize_t before)
{
    message m = about(SEND_GROW, parent);
    size_t row = 1;
    m.type = (int32_t)type;
    set_shape(&m, rank, shape);
    m.first = (int64_t)before;
    for (int i = 1; i < rank; i++) row *= shape[i];
    send_message(s, m, name, NULL);
    return take_number(s, row);
}

void writer_rows(store *s, hid_t array, enum store_type type, hsize_t first, hsize_t count,
                 const void *data)
{
    message m = about(SEND_ROWS, array);
    m.type = (int32_t)type;
    m.first = (int64_t)first;
    m.count = (int64_t)count;
    m.data_bytes = count * s->apart->row[array] * size_of(type);
    send_message(s, m, NULL, data);
}

/* ---- Beginning -------------------------------------------------------------------------------- */

static bool receive_all(int socket, void *data, size_t bytes)
{
    for (char *at = data; bytes;) {
        ssize_t n = recv(socket, at, bytes, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n, bytes -= (size_t)n;
    }
    return true;
}

/* Starts the child with the socket as its standard input, and `fd` and `below` (or nothing) as files 3 and 4. */
static void start(store *s, int fd, int below, char *const arguments[])
{
    int ends[2];
    store_child *w = calloc(1, sizeof *w);
    if (!w) {
        store_short(s);
        return;
    }
    int code = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? errno : 0;
    if (!code) {
        code = child_start(&w->child, (int[]){ends[1], -1, -1, fd, below}, 5, true, arguments);
        close(ends[1]);
        if (code) close(ends[0]);
    }
    if (code) {
        free(w);
        store_fail(s, "there is no child process for it: %s", strerror(code));
        s->error = code;
        s->memory_short = child_is_shortage(code);
        return;
    }
    w->socket = ends[0];
    s->apart = w;
    s->file = take_number(s, 0);
}

void store_open_apart(store *s, int fd)
{
    if (!child_program) {
        store_open(s, fd, STORE_FRESH);
        return;
    }
    *s = (store){.file = -1, .driver = H5I_INVALID_HID, .fd = fd};
    start(s, fd, -1, (char *const[]){(char *)"plugmc", (char *)"write", (char *)"fresh", NULL});
}

void store_open_over_apart(store *s, int fd, int below)
{
    if (!child_program) {
        store_open_over(s, fd, below);
        return;
    }
    *s = (store){.file = -1, .driver = H5I_INVALID_HID, .fd = fd};
    start(s, fd, below, (char *const[]){(char *)"plugmc", (char *)"write", (char *)"over", NULL});
}

void store_open_path_apart(store *s, const char *path)
{
    if (!child_program) {
        store_open_path(s, path);
        return;
    }
    *s = (store){.file = -1, .driver = H5I_INVALID_HID, .fd = -1, .reading = true};
    start(s, -1, -1, (char *const[]){(char *)"plugmc", (char *)"read", (char *)path, NULL});
}

/* ---- Asking --------------------------------------------------------------------------------- */

/* What the child answers; its data, to be freed, in *data if that is not NULL. */
static verdict ask(store *s, message m, const char *name, void **data)
{
    verdict v = {0};
    send_message(s, m, name, NULL);
    if (s->failed) return v;
    if (!receive_all(s->apart->socket, &v, sizeof v)) {
        lost(s, "the process that reads it is gone");
        return (verdict){0};
    }
    if (v.failed) {
        v.reason[STORE_REASON - 1] = 0;
        store_fail(s, "%s", v.reason);
        s->memory_short = v.memory_short;
        s->error = v.error;
        s->apart->told = true;
        return v;
    }
    char *room = v.data_bytes ? malloc(v.data_bytes) : NULL;
    if (v.data_bytes && !room) {
        store_short(s);
    } else if (v.data_bytes && !receive_all(s->apart->socket, room, v.data_bytes)) {
        lost(s, "the process that reads it is gone");
        free(room);
        room = NULL;
    }
    *data = room;
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
    return take_number(s, 0);
}

void reader_attribute(store *s, hid_t object, const char *name, enum store_type type, void *value)
{
    void *found = NULL;
    message m = about(ASK_ATTRIBUTE, object);
    m.type = (int32_t)type;
    if (ask(s, m, name, &found).data_bytes && found) memcpy(value, found, size_of(type));
    free(found);
}

char *reader_text(store *s, enum send what, hid_t object, const char *name)
{
    void *found = NULL;
    ask(s, about(what, object), name, &found);
    return found;
}

/* An array without elements is not NULL either. */
static void *take_array(store *s, message m, const char *name, hsize_t *shape)
{
    void *found = NULL;
    verdict v = ask(s, m, name, &found);
    if (s->failed) return NULL;
    for (int i = 0; i < m.rank; i++) shape[i] = v.shape[i];
    if (!found && !(found = malloc(1))) store_short(s);
    return found;
}

void *reader_array(store *s, hid_t parent, const char *name, enum store_type type, int rank,
                   hsize_t *shape)
{
    message m = about(ASK_ARRAY, parent);
    m.type = (int32_t)type;
    m.rank = rank;
    return take_array(s, m, name, shape);
}

void *reader_rows(store *s, hid_t parent, const char *name, enum store_type type, int rank,
                  hsize_t first, hsize_t count, hsize_t *shape)
{
    message m = about(ASK_ROWS, parent);
    m.type = (int32_t)type;
    m.rank = rank;
    m.first = (int64_t)first;
    m.count = (int64_t)count;
    return take_array(s, m, name, shape);
}

/* Whether it was the child that failed or this process that did not like what it was told. */
bool reader_forgive(store *s)
{
    store_child *w = s->apart;
    void *none = NULL;
    if (w->gone) return false;
    s->failed = w->told = false;
    s->reason[0] = 0;
    ask(s, about(ASK_FORGIVE, 0), NULL, &none);
    return !s->failed;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* Why the child has not answered. */
static void explain_end(store *s, int status)
{
    const char *damage =
        s->reading ? "it is damaged, or memory is short" : "as it does where memory is short";
    if (status != -1 && WIFSIGNALED(status))
        snprintf(s->reason, sizeof s->reason, "the HDF5 library crashes on it (%s): %s",
                 strsignal(WTERMSIG(status)), damage);
    else
        snprintf(s->reason, sizeof s->reason,
                 "the library of HDF5 gives up on it (exit code %d): %s",
                 status == -1 ? -1 : WEXITSTATUS(status), damage);
}

static touched receive_touched(const store_child *w, const verdict *v)
{
    touched t = {.bits = malloc(v->data_bytes ? v->data_bytes : 1), .bytes = v->data_bytes};
    if (v->value && t.bits && receive_all(w->socket, t.bits, t.bytes)) return t;
    free(t.bits);
    return (touched){.unknown = true};
}

int writer_close(store *s, touched *touched)
{
    store_child *w = s->apart;
    verdict v = {0};
    const bool known = w->told || (s->failed && !w->gone); /* the reason is ours, not the child's */
    if (!s->failed) send_message(s, about(SEND_CLOSE, 0), NULL, NULL);
    bool answered = !known && receive_all(w->socket, &v, sizeof v);
    *touched = receive_touched(w, &v);
    close(w->socket); /* the end of its work if it has not been told */
    int status = child_wait(w->child);
    if (answered && v.failed) {
        v.reason[STORE_REASON - 1] = 0;
        memcpy(s->reason, v.reason, sizeof s->reason);
        s->memory_short = v.memory_short;
        s->error = v.error;
    } else if (!answered && !known) {
        explain_end(s, status);
    }
    s->failed = s->failed || !answered || v.failed;
    s->apart = NULL;
    free(w->row);
    free(w);
    return s->failed;
}
