/* Plugins with damaged headers and tables: bits turned over, bytes and words replaced, ends cut
 * off, by a generator with a fixed seed. Whatever the loader of the operating system makes of them,
 * the program says one sentence and ends with 4, or has not been touched and describes the plugin. One
 * in a thousand writes over memory that is in use here and was not in the child process that tried it:
 * that is a crash with its sentence and 9. */
#include "testing.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/report.h"

extern char **environ;

enum { MUTATIONS = 300, MOST_BYTES = 1 << 23 };

static char folder[] = "/tmp/plugmc-damaged-XXXXXX", plugin[64], said[64];
static unsigned char whole[MOST_BYTES], bytes[MOST_BYTES];
static size_t length;
static uint64_t seed = 20240613;

static uint64_t next(void) /* xorshift64 */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static int read_plugin(void **state)
{
    (void)state;
    umask(022);
    if (!mkdtemp(folder)) return -1;
    snprintf(plugin, sizeof plugin, "%s/hard_disk.so", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    FILE *f = fopen(TEST_PLUGINS "/hard_disk.so", "rb");
    if (!f) return -1;
    length = fread(whole, 1, sizeof whole, f);
    return fclose(f) || length == 0 || length == sizeof whole;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(plugin);
    unlink(said);
    return rmdir(folder);
}

/* The exit code of `plugmc info` for the first `n` bytes; -1 after a signal. */
static int info_of(const unsigned char *data, size_t n)
{
    char *arguments[] = {TEST_PROGRAM, "info", plugin, NULL};
    posix_spawn_file_actions_t files;
    pid_t child;
    int status;
    unlink(plugin);
    FILE *f = fopen(plugin, "wb");
    assert_true(f && fwrite(data, 1, n, f) == n && fclose(f) == 0);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(posix_spawn(&child, TEST_PROGRAM, &files, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int lines_said(void)
{
    int lines = 0;
    FILE *f = fopen(said, "r");
    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;) lines += c == '\n';
    fclose(f);
    return lines;
}

/* A place in the header, the table of parts, the dynamic section, the tables of symbols and
 * relocations (which follow the table of parts in the first part), or the last bytes (the table of
 * sections). */
static size_t place(void)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    memcpy(&head, whole, sizeof head);
    const size_t table = head.e_phoff + (size_t)head.e_phnum * sizeof part;
    size_t dynamic = 0, dynamic_bytes = 1, first_bytes = table + 1;
    for (int i = 0; i < head.e_phnum; i++) {
        memcpy(&part, whole + head.e_phoff + (size_t)i * sizeof part, sizeof part);
        if (part.p_type == PT_DYNAMIC) dynamic = part.p_offset, dynamic_bytes = part.p_filesz;
        if (part.p_type == PT_LOAD && part.p_offset == 0) first_bytes = part.p_filesz;
    }
    switch (next() % 5) {
    case 0: return next() % sizeof head;
    case 1: return head.e_phoff + next() % (table - head.e_phoff);
    case 2: return dynamic + next() % dynamic_bytes;
    case 3: return table + next() % (first_bytes - table);
    default: return length - 1 - next() % 2048;
    }
}

static void mutate(void)
{
    const size_t at = place(), word = at & ~(size_t)7;
    const uint64_t odd[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 40, length, next()};
    switch (next() % 3) {
    case 0: bytes[at] ^= (unsigned char)(1u << next() % 8); break;
    case 1: bytes[at] = (unsigned char)next(); break;
    default: memcpy(bytes + word, &odd[next() % 7], 8);
    }
}

static void assert_survives(size_t n, int mutation, int *refused)
{
    int code = info_of(bytes, n);
    if (code != EXIT_DONE && code != EXIT_PLUGIN && code != EXIT_INTERNAL)
        fail_msg("mutation %d (%zu of %zu bytes): exit code %d", mutation, n, length, code);
    if (lines_said() != (code != EXIT_DONE))
        fail_msg("mutation %d: exit code %d, but %d lines", mutation, code, lines_said());
    refused[code == EXIT_INTERNAL] += code != EXIT_DONE;
}

static void damaged_headers_end_with_a_sentence(void **state)
{
    (void)state;
    int refused[2] = {0}; /* and crashed */
    assert_int_equal(info_of(whole, length), EXIT_DONE);
    for (int m = 0; m < MUTATIONS; m++) {
        memcpy(bytes, whole, length);
        for (uint64_t k = next() % 3 + 1; k > 0; k--) mutate();
        assert_survives(length, m, refused);
    }
    printf("%d of %d damaged plugins were refused, %d crashed\n", refused[0], MUTATIONS,
           refused[1]);
    assert_true(refused[0] > MUTATIONS / 4 && refused[0] < MUTATIONS &&
                refused[1] <= MUTATIONS / 50);
}

static void files_cut_short_end_with_a_sentence(void **state)
{
    (void)state;
    int refused[2] = {0};
    memcpy(bytes, whole, length);
    for (int m = 0; m < 40; m++) assert_survives(next() % length, m, refused);
    assert_int_equal(refused[0], 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_headers_end_with_a_sentence),
        cmocka_unit_test(files_cut_short_end_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, read_plugin, remove_folder);
}
