/* The parent's side of writing through a child process. See store_apart.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/child.h"
#include "output/store_apart.h"

typedef struct store_writer {
    int socket;
    pid_t child;
    int64_t next;    /* number of the next group or array */
    size_t *row;     /* [next]: elements of a row of an array that grows */
    int64_t row_room;
} store_writer;

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

/* If the child is gone, store_close finds out why. */
static void send_message(store *s, message m, const char *name, const void *data)
{
    if (s->failed) return;
    m.name_bytes = name ? (uint32_t)strlen(name) + 1 : 0;
    const int socket = s->writer->socket;
    if (send_all(socket, &m, sizeof m) && send_all(socket, name, m.name_bytes) &&
        send_all(socket, data, m.data_bytes))
        return;
    store_fail(s, "the process that writes it is gone");
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

/* The number of what a message opens; `row` as in store_writer. */
static hid_t take_number(store *s, size_t row)
{
    store_writer *w = s->writer;
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
    m.data_bytes = count * s->writer->row[array] * size_of(type);
    send_message(s, m, NULL, data);
}

/* ---- Beginning and end ---------------------------------------------------------------------- */

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

void store_open_apart(store *s, int fd, enum store_mode mode)
{
    int ends[2];
    if (!child_program) {
        store_open(s, fd, mode);
        return;
    }
    *s = (store){.file = -1, .driver = H5I_INVALID_HID, .fd = fd};
    store_writer *w = calloc(1, sizeof *w);
    if (!w) {
        store_short(s);
        return;
    }
    char *const arguments[] = {(char *)"plugmc", (char *)"write",
                               (char *)(mode == STORE_FRESH ? "fresh" : "change"), NULL};
    int code = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? errno : 0;
    if (!code) {
        code = child_start(&w->child, (int[]){ends[1], -1, -1, fd}, 4, true, arguments);
        close(ends[1]);
        if (code) close(ends[0]);
    }
    if (code) {
        free(w);
        store_fail(s, "there is no child process that writes it: %s", strerror(code));
        s->memory_short = code == ENOMEM || code == EAGAIN;
        return;
    }
    w->socket = ends[0];
    s->writer = w;
    s->file = take_number(s, 0);
}

/* Why the child has not answered. */
static void explain_end(store *s, int status)
{
    if (status != -1 && WIFSIGNALED(status))
        snprintf(s->reason, sizeof s->reason,
                 "the library of HDF5 breaks down (%s), as it does where memory is short",
                 strsignal(WTERMSIG(status)));
    else
        snprintf(s->reason, sizeof s->reason,
                 "the library of HDF5 gives up (exit code %d), as it does where memory is short",
                 status == -1 ? -1 : WEXITSTATUS(status));
}

int writer_close(store *s)
{
    store_writer *w = s->writer;
    verdict v = {0};
    const bool ours = s->failed && s->memory_short; /* not what became of the child */
    if (!s->failed) send_message(s, about(SEND_CLOSE, 0), NULL, NULL);
    bool answered = !ours && receive_all(w->socket, &v, sizeof v);
    close(w->socket); /* the end of its work if it has not been told */
    int status = child_wait(w->child);
    if (answered && v.failed) {
        v.reason[STORE_REASON - 1] = 0;
        memcpy(s->reason, v.reason, sizeof s->reason);
        s->memory_short = v.memory_short;
        s->error = v.error;
    } else if (!answered && !ours) {
        explain_end(s, status);
    }
    s->failed = s->failed || !answered || v.failed;
    s->writer = NULL;
    free(w->row);
    free(w);
    return s->failed;
}
