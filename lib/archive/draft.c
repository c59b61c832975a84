/* What is to be written, and sending it to the process that writes it. See draft.h. */
#include "archive/draft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/child.h"

struct draft_piece {
    const void *data;
    size_t bytes, place; /* place: bytes of the text before it */
    bool own;
};

/* ---- Entries ---------------------------------------------------------------------------------- */

/* `count` elements of `size` bytes in *array, enlarged if there is no room for them. */
static bool reserve(draft *d, void *array, size_t count, size_t *capacity, size_t size)
{
    void *old;
    if (d->memory_short || count <= *capacity) return !d->memory_short;
    memcpy(&old, array, sizeof old);
    void *more = realloc(old, 2 * count * size);
    d->memory_short = !more;
    if (!more) return false;
    memcpy(array, &more, sizeof more);
    *capacity = 2 * count;
    return true;
}

static void put(draft *d, const void *data, size_t bytes)
{
    if (!bytes || !reserve(d, &d->text, d->bytes + bytes, &d->capacity, 1)) return;
    memcpy(d->text + d->bytes, data, bytes);
    d->bytes += bytes;
}

static void add_piece(draft *d, const void *data, size_t bytes, bool own)
{
    if (!reserve(d, &d->pieces, d->piece_count + 1, &d->piece_capacity, sizeof *d->pieces)) return;
    d->pieces[d->piece_count++] = (struct draft_piece){data, bytes, d->bytes, own};
}

static void begin(draft *d, draft_entry e, const char *name)
{
    e.name_bytes = (uint32_t)strlen(name) + 1;
    put(d, &e, sizeof e);
    put(d, name, e.name_bytes);
    d->entries++;
}

/* With data that are small. */
static void add(draft *d, draft_entry e, const char *name, const void *data)
{
    begin(d, e, name);
    put(d, data, e.bytes);
}

/* Of the rows behind `before`. */
static draft_entry of_numbers(enum draft_kind kind, enum store_type type, int rank,
                              const hsize_t *shape, hsize_t before)
{
    draft_entry e = {.kind = (int32_t)kind, .type = (int32_t)type, .rank = rank, .before = before};
    e.bytes = store_size_of(type);
    for (int d = 0; d < rank; d++) {
        e.shape[d] = shape[d];
        e.bytes *= d ? shape[d] : shape[d] - before;
    }
    return e;
}

/* Memory of the draft for the data of an entry. */
static void *begin_new(draft *d, draft_entry e, const char *name)
{
    void *data = d->memory_short ? NULL : malloc(e.bytes + 1);
    if (!data) d->memory_short = true;
    begin(d, e, name);
    add_piece(d, data, e.bytes, true);
    if (!d->memory_short) return data;
    free(data);
    return NULL;
}

/* ---- What is written -------------------------------------------------------------------------- */

void draft_enter(draft *d, const char *name)
{
    add(d, (draft_entry){.kind = DRAFT_ENTER}, name, NULL);
}

void draft_leave(draft *d) { add(d, (draft_entry){.kind = DRAFT_LEAVE}, "", NULL); }

void draft_number(draft *d, const char *name, enum store_type type, const void *value)
{
    add(d, of_numbers(DRAFT_NUMBERS, type, 0, NULL, 0), name, value);
}

void draft_numbers(draft *d, const char *name, enum store_type type, int count, const void *values)
{
    add(d, of_numbers(DRAFT_NUMBERS, type, 1, (hsize_t[]){(hsize_t)count}, 0), name, values);
}

void draft_integer(draft *d, const char *name, int64_t value)
{
    draft_number(d, name, STORE_INT64, &value);
}

void draft_real(draft *d, const char *name, double value)
{
    draft_number(d, name, STORE_DOUBLE, &value);
}

void draft_label(draft *d, const char *name, const char *text)
{
    if (!text) text = "";
    add(d, (draft_entry){.kind = DRAFT_LABELS, .bytes = strlen(text) + 1}, name, text);
}

static draft_entry of_texts(enum draft_kind kind, size_t count, size_t width)
{
    return (draft_entry){
        .kind = (int32_t)kind, .rank = 1, .shape = {count}, .bytes = count * width};
}

void draft_labels(draft *d, const char *name, int count, int width, const void *texts)
{
    add(d, of_texts(DRAFT_LABELS, (size_t)count, (size_t)width), name, texts);
}

void draft_text(draft *d, const char *name, const char *text)
{
    if (!text) text = "";
    add(d, (draft_entry){.kind = DRAFT_TEXTS, .bytes = strlen(text) + 1}, name, text);
}

void draft_texts(draft *d, const char *name, int64_t count, size_t width, const void *texts)
{
    add(d, of_texts(DRAFT_TEXTS, (size_t)count, width), name, texts);
}

void draft_array(draft *d, const char *name, enum store_type type, int rank, const hsize_t *shape,
                 const void *data)
{
    const draft_entry e = of_numbers(DRAFT_ARRAY, type, rank, shape, 0);
    begin(d, e, name);
    draft_piece(d, data, e.bytes);
}

void *draft_new_array(draft *d, const char *name, enum store_type type, int rank,
                      const hsize_t *shape)
{
    return begin_new(d, of_numbers(DRAFT_ARRAY, type, rank, shape, 0), name);
}

void draft_rows(draft *d, const char *name, enum store_type type, int rank, const hsize_t *shape,
                hsize_t before)
{
    begin(d, of_numbers(DRAFT_ROWS, type, rank, shape, before), name);
}

void draft_piece(draft *d, const void *data, size_t bytes) { add_piece(d, data, bytes, false); }

void *draft_new_rows(draft *d, const char *name, enum store_type type, int rank,
                     const hsize_t *shape, hsize_t before)
{
    return begin_new(d, of_numbers(DRAFT_ROWS, type, rank, shape, before), name);
}

void draft_link(draft *d, const char *path, const char *name)
{
    add(d, (draft_entry){.kind = DRAFT_LINK, .bytes = strlen(path) + 1}, name, path);
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static void fail(outcome *end, int error, const char *what, const char *why)
{
    end->failed = true;
    end->error = error;
    end->memory_short = child_is_shortage(error);
    snprintf(end->reason, sizeof end->reason, "%s%s", what, why);
}

/* Part k of what is sent, of 2 piece_count + 2: the number of entries, then a stretch of text and a piece in turn. */
static const void *part(const draft *d, size_t k, size_t *bytes)
{
    const size_t p = (k - 1) / 2;
    if (k == 0) {
        *bytes = sizeof d->entries;
        return &d->entries;
    }
    if (k % 2 == 0) {
        *bytes = d->pieces[p].bytes;
        return d->pieces[p].data;
    }
    const size_t from = p ? d->pieces[p - 1].place : 0;
    *bytes = (p < d->piece_count ? d->pieces[p].place : d->bytes) - from;
    return d->text + from;
}

static size_t parts(const draft *d) { return 2 * d->piece_count + 2; }

/* A child that has given up takes nothing more, and has answered. */
static void write_apart(const draft *d, int fd, int grown, outcome *end)
{
    char *const arguments[] = {(char *)"plugmc", (char *)"write",
                               (char *)(grown < 0 ? "new" : "grown"), NULL};
    pid_t child;
    int socket;
    const int code = child_converse(&child, &socket, (int[]){fd, grown}, 2, arguments);
    if (code) {
        fail(end, code, "there is no child process for it: ", strerror(code));
        return;
    }
    bool good = true;
    for (size_t k = 0, bytes; k < parts(d) && good; k++) {
        const void *data = part(d, k, &bytes);
        good = bytes_write(socket, data, bytes);
    }
    const bool answered = bytes_read(socket, end, sizeof *end);
    end->reason[sizeof end->reason - 1] = 0;
    close(socket);
    const int status = child_wait(child);
    if (answered) return;
    *end = (outcome){.failed = true};
    child_tell_end(status, "writes", "memory may be short", end->reason, sizeof end->reason);
}

/* A draft that is read in this process. */
typedef struct cursor {
    const draft *draft;
    size_t part, done; /* done: bytes of the part */
} cursor;

static ssize_t read_on(void *cookie, char *to, size_t most)
{
    cursor *c = cookie;
    for (size_t bytes; c->part < parts(c->draft); c->part++, c->done = 0) {
        const char *data = part(c->draft, c->part, &bytes);
        if (bytes == c->done) continue;
        const size_t n = bytes - c->done < most ? bytes - c->done : most;
        memcpy(to, data + c->done, n);
        c->done += n;
        return (ssize_t)n;
    }
    return 0;
}

/* Where no other process is to be had, for want of descriptors perhaps. */
static void write_here(const draft *d, int fd, int grown, outcome *end)
{
    cursor c = {.draft = d};
    FILE *in = fopencookie(&c, "r", (cookie_io_functions_t){.read = read_on});
    if (!in) {
        fail(end, errno, "", strerror(errno));
        return;
    }
    draft_carry_out(in, fd, grown, true, end);
    fclose(in);
}

void draft_write(draft *d, int fd, int grown, outcome *end)
{
    *end = (outcome){0};
    if (d->memory_short)
        fail(end, 0, "there is not enough memory", "");
    else if (child_program)
        write_apart(d, fd, grown, end);
    else
        write_here(d, fd, grown, end);
    end->memory_short |= d->memory_short;
    for (size_t k = 0; k < d->piece_count; k++)
        if (d->pieces[k].own) free((void *)d->pieces[k].data);
    free(d->pieces), free(d->text);
    *d = (draft){0};
}
