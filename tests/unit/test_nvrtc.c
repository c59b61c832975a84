/* The kernel compiler and its cache: finding NVRTC, hits, damaged and foreign files, several
 * writers, the folder's rights and size. Needs NVRTC, no GPU. */
#include "testing.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "compiling.h"
#include "gpu/cache.h"
#include "base/sha256.h"
#include "gpu/toolkit.h"

static const char small_text[] =
    "extern \"C\" __global__ void k(float *x) { x[threadIdx.x] *= 2.0f; }\n";

/* Every test begins with an empty cache. */
static int empty_cache(void **state)
{
    (void)state;
    remove_folder(folder);
    unsetenv("XDG_CACHE_HOME");
    return mkdir(folder, 0700) || setenv("PLUGMC_CACHE_DIR", folder, 1);
}

/* Compiles the text for sm_<architecture>; the image is freed by the caller. */
static char *build(const char *text, int architecture, size_t *bytes)
{
    report r = {0};
    void *image = NULL;
    assert_int_equal(compile(compiler, text, "small.cu", architecture, false, &image, bytes, &r),
                     0);
    assert_int_equal(r.errors + r.warnings, 0);
    return image;
}

/* The only file of the cache; its inode changes whenever it is written anew. */
static ino_t only_file(char path[1024])
{
    struct stat s = {0};
    int files = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(path, 1024, "%s/%s", folder, e->d_name);
            files++;
        }
    closedir(d);
    assert_int_equal(files, 1);
    assert_int_equal(stat(path, &s), 0);
    return s.st_ino;
}

static void sha256_agrees_with_fips_180_4(void **state)
{
    (void)state;
    static const struct {
        const char *text, *digest;
    } known[] = {{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                 {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                 {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint8_t digest[32];
        char hex[65];
        sha256_of(known[i].text, strlen(known[i].text), digest);
        for (int k = 0; k < 32; k++) sprintf(hex + 2 * k, "%02x", digest[k]);
        assert_string_equal(hex, known[i].digest);
    }
}

static void a_library_that_is_not_there_gives_a_reason(void **state)
{
    (void)state;
    char why[512] = "";
    setenv("PLUGMC_NVRTC", "/nowhere/libnvrtc.so", 1);
    assert_null(nvrtc_open(why));
    assert_non_null(strstr(why, "/nowhere/libnvrtc.so"));
    setenv("PLUGMC_NVRTC", "libm.so.6", 1); /* a library, but another one */
    assert_null(nvrtc_open(why));
    assert_non_null(strstr(why, "is not NVRTC"));
    unsetenv("PLUGMC_NVRTC");
    assert_null(nvrtc_open_up_to(10, why));
    assert_non_null(strstr(why, "PLUGMC_NVRTC"));
}

static void the_library_named_in_the_environment_is_taken(void **state)
{
    (void)state;
    char why[512];
    setenv("PLUGMC_NVRTC", nvrtc_path(compiler), 1);
    nvrtc *n = nvrtc_open(why);
    unsetenv("PLUGMC_NVRTC");
    assert_non_null(n);
    int major, minor;
    nvrtc_version(n, &major, &minor);
    assert_int_equal(major, compiler->major);
    assert_true(nvrtc_compiles_for(n, 90));
    nvrtc_close(n);
}

/* A shared object under another name in the folder. */
static void copy_library(const char *name)
{
    char command[1024];
    snprintf(command, sizeof command, "cp '%s/hard_disk.so' '%s/%s'", TEST_PLUGINS, folder, name);
    assert_int_equal(system(command), 0);
}

static void of_libraries_beside_the_compiler_the_newest_is_taken(void **state)
{
    char why[512] = "", compiler_path[512];
    struct link_map *found = NULL;
    (void)state;
    copy_library("libnewest.so.9");
    copy_library("libnewest.so.12");
    copy_library("libnewest.so.12.1");
    snprintf(compiler_path, sizeof compiler_path, "%s/libnvrtc.so.12", folder);
    void *library = toolkit_library(compiler_path, "newest", why);
    if (!library) fail_msg("%s", why);
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &found), 0);
    assert_string_equal(strrchr(found->l_name, '/') + 1, "libnewest.so.12.1");
    dlclose(library);
    assert_null(toolkit_library(compiler_path, "nothing", why));
    assert_non_null(strstr(why, "libnothing of the CUDA Toolkit is neither beside NVRTC"));
}

/* A text is begun twice, and one that cannot be compiled once. */
static void what_is_compiled_ahead_is_what_is_asked_for(void **state)
{
    static const char wrong[] = "extern \"C\" __global__ void k(float *x) { x = nothing; }\n";
    char why[512], path[1024];
    size_t bytes, ahead;
    char *image = build(small_text, 80, &bytes);
    assert_int_equal(empty_cache(state), 0);
    nvrtc *n = nvrtc_open(why), *own = compiler;
    assert_non_null(n);
    compile_ahead(n, strdup(small_text), "small.cu", 80, ARITHMETIC_EXACT);
    compile_ahead(n, strdup(small_text), "small.cu", 80, ARITHMETIC_EXACT);
    assert_int_equal(n->early_count, 1);
    n->early_count = 0; /* there may be one processor */
    compile_ahead(n, strdup(wrong), "small.cu", 80, ARITHMETIC_EXACT);
    compiler = n;
    char *second = build(small_text, 80, &ahead);
    compiler = own;
    assert_int_equal(bytes, ahead);
    assert_memory_equal(image, second, bytes);
    only_file(path);
    n->early_count = 0;
    compile_ahead(n, strdup(small_text), "small.cu", 80, ARITHMETIC_EXACT);
    assert_int_equal(n->early_count, 0); /* the cache has it */
    report r = {.quiet = true};
    void *none = NULL;
    assert_non_null(n->early);
    assert_int_not_equal(compile(n, wrong, "small.cu", 80, ARITHMETIC_EXACT, &none, &ahead, &r), 0);
    assert_int_equal(r.errors, 1);
    assert_null(n->early);
    nvrtc_close(n);
    free(image), free(second);
}

static void what_nobody_asks_for_is_kept(void **state)
{
    char why[512], path[1024];
    assert_int_equal(empty_cache(state), 0);
    nvrtc *n = nvrtc_open(why);
    assert_non_null(n);
    compile_ahead(n, strdup(small_text), "small.cu", 80, ARITHMETIC_EXACT);
    nvrtc_close(n);
    only_file(path);
    n = nvrtc_open(why);
    assert_non_null(n);
    compile_ahead(n, strdup(small_text), "small.cu", 80, ARITHMETIC_EXACT);
    assert_int_equal(n->early_count, 0);
    nvrtc_close(n);
}

static void a_gpu_newer_than_the_compiler_gets_ptx(void **state)
{
    (void)state;
    size_t bytes;
    char *image = build(small_text, 990, &bytes);
    assert_non_null(strstr(image, ".version"));
    free(image);
}

static void a_gpu_older_than_the_compiler_is_refused(void **state)
{
    (void)state;
    report r = {0};
    void *image = NULL;
    size_t bytes;
    capture c = capture_begin();
    int code = compile(compiler, small_text, "small.cu", 20, false, &image, &bytes, &r);
    char *said = capture_end(&c);
    assert_int_equal(code, EXIT_DEVICE);
    assert_non_null(strstr(said, "sm_20 is needed"));
    free(said);
}

static void the_second_time_comes_from_the_cache(void **state)
{
    (void)state;
    char path[1024];
    size_t first_bytes, second_bytes;
    char *first = build(small_text, 90, &first_bytes);
    ino_t written = only_file(path);
    char *second = build(small_text, 90, &second_bytes);
    assert_int_equal(only_file(path), written);
    assert_int_equal(first_bytes, second_bytes);
    assert_memory_equal(first, second, first_bytes);
    struct stat s;
    stat(path, &s);
    assert_int_equal(s.st_mode & 0777, 0600);
    free(first);
    free(second);
}

static void another_text_or_architecture_is_another_file(void **state)
{
    (void)state;
    size_t bytes;
    int files;
    free(build(small_text, 90, &bytes));
    free(build(small_text, 80, &bytes));
    free(build("extern \"C\" __global__ void k(float *x) { x[threadIdx.x] *= 3.0f; }\n", 90,
               &bytes));
    cache_size(folder, &files);
    assert_int_equal(files, 3);
}

/* Changes the file, and expects that the kernel is compiled again and the file made good. */
static void assert_recompiled_after(void (*damage)(const char *path, off_t bytes))
{
    char path[1024];
    size_t bytes, again;
    char *good = build(small_text, 90, &bytes);
    ino_t written = only_file(path);
    struct stat s;
    stat(path, &s);
    damage(path, s.st_size);
    char *image = build(small_text, 90, &again);
    assert_int_not_equal(only_file(path), written);
    assert_int_equal(bytes, again);
    assert_memory_equal(good, image, bytes);
    free(good);
    free(image);
}

static void invert_byte(const char *path, off_t at)
{
    uint8_t byte;
    int file = open(path, O_RDWR);
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0xff;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static void damage_last_byte(const char *path, off_t bytes) { invert_byte(path, bytes - 1); }
static void damage_architecture(const char *path, off_t bytes)
{
    (void)bytes;
    invert_byte(path, offsetof(cache_key, architecture));
}
static void damage_length(const char *path, off_t bytes)
{
    (void)bytes;
    invert_byte(path, sizeof(cache_key) + 7); /* highest byte of the image's size */
}
static void cut_in_half(const char *path, off_t bytes)
{
    assert_int_equal(truncate(path, bytes / 2), 0);
}
static void empty_file(const char *path, off_t bytes)
{
    (void)bytes;
    assert_int_equal(truncate(path, 0), 0);
}

static void a_damaged_file_is_compiled_again(void **state)
{
    assert_recompiled_after(damage_last_byte);
    empty_cache(state);
    assert_recompiled_after(damage_length);
    empty_cache(state);
    assert_recompiled_after(cut_in_half);
    empty_cache(state);
    assert_recompiled_after(empty_file);
}

static void a_file_with_the_key_of_another_kernel_is_compiled_again(void **state)
{
    (void)state;
    assert_recompiled_after(damage_architecture);
}

static void several_processes_may_write_the_same_kernel(void **state)
{
    (void)state;
    enum { WRITERS = 2, ROUNDS = 20 };
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i]) continue;
        cache_key key = {.magic = CACHE_MAGIC, .architecture = 90};
        char image[4096];
        memset(image, 'a' + i, sizeof image);
        int bad = 0;
        for (int round = 0; round < ROUNDS && !bad; round++) {
            void *read = NULL;
            size_t bytes = 0;
            bad |= cache_store(folder, &key, image, sizeof image, CACHE_CAP) != 0;
            bad |= !cache_load(folder, &key, &read, &bytes) || bytes != sizeof image;
            /* one writer's image or the other's, never a mixture */
            for (size_t b = 1; !bad && b < bytes; b++) bad = ((char *)read)[b] != ((char *)read)[0];
            free(read);
        }
        void *cubin = NULL;
        size_t bytes = 0;
        report r = {0};
        bad |= compile(compiler, small_text, "small.cu", 90, false, &cubin, &bytes, &r) != 0;
        _exit(bad);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    int files;
    cache_size(folder, &files);
    assert_int_equal(files, 2); /* no temporary file is left */
}

static void the_file_used_longest_ago_is_deleted_first(void **state)
{
    (void)state;
    char image[1000] = {0};
    cache_key keys[4] = {0};
    void *read = NULL;
    size_t bytes;
    int files;
    for (int i = 0; i < 4; i++) {
        const struct timespec apart = {0, 20000000};
        keys[i].architecture = (uint32_t)i;
        if (i == 3) { /* the oldest is used once more */
            assert_true(cache_load(folder, &keys[0], &read, &bytes));
            free(read);
            nanosleep(&apart, NULL);
        }
        assert_int_equal(
            cache_store(folder, &keys[i], image, sizeof image, i < 3 ? CACHE_CAP : 2500), 0);
        nanosleep(&apart, NULL);
    }
    assert_true(cache_size(folder, &files) <= 2500);
    assert_int_equal(files, 2);
    assert_true(cache_load(folder, &keys[0], &read, &bytes));
    free(read);
    assert_false(cache_load(folder, &keys[1], &read, &bytes));
    assert_false(cache_load(folder, &keys[2], &read, &bytes));
    assert_true(cache_load(folder, &keys[3], &read, &bytes));
    free(read);
}

static void files_of_others_in_the_folder_are_never_deleted(void **state)
{
    (void)state;
    char path[1024], image[100] = {0};
    cache_key key = {0};
    int files;
    snprintf(path, sizeof path, "%s/thesis.tex", folder);
    FILE *f = fopen(path, "w");
    fprintf(f, "%1000d", 1);
    fclose(f);
    assert_int_equal(cache_store(folder, &key, image, sizeof image, 10), 0);
    assert_int_equal(access(path, F_OK), 0);
    cache_size(folder, &files);
    assert_int_equal(files, 0);
}

static void the_folder_is_chosen_and_made_private(void **state)
{
    (void)state;
    char why[512] = "", expected[1024];
    struct stat s;
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("PLUGMC_CACHE_DIR");
    setenv("HOME", folder, 1);
    snprintf(expected, sizeof expected, "%s/.cache/plugmc", folder);
    assert_string_equal(cache_folder(why), expected);
    assert_int_equal(stat(expected, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
    snprintf(expected, sizeof expected, "%s/xdg", folder);
    setenv("XDG_CACHE_HOME", expected, 1);
    snprintf(expected, sizeof expected, "%s/xdg/plugmc", folder);
    assert_string_equal(cache_folder(why), expected);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_null(cache_folder(why));
    assert_non_null(strstr(why, "HOME"));
    if (home) setenv("HOME", home, 1);
    free(home);
}

static void a_folder_that_others_can_write_to_is_refused(void **state)
{
    (void)state;
    char why[512] = "";
    static const mode_t modes[] = {0777, 01777, 0770};
    for (int i = 0; i < 3; i++) {
        chmod(folder, modes[i]);
        assert_null(cache_folder(why));
        assert_non_null(strstr(why, "others may write to it (chmod go-w)"));
        assert_non_null(strstr(why, "PLUGMC_CACHE_DIR"));
    }
    chmod(folder, 0700);

    /* root can give its folder away; everyone else finds one of root's */
    if (geteuid() == 0)
        assert_int_equal(chown(folder, 12345, 12345), 0);
    else
        setenv("PLUGMC_CACHE_DIR", "/usr", 1);
    assert_null(cache_folder(why));
    assert_non_null(strstr(why, geteuid() == 0 ? "another user" : "Permission denied"));
    if (geteuid() == 0) assert_int_equal(chown(folder, 0, 0), 0);
}

static void without_a_folder_kernels_are_compiled_with_one_warning(void **state)
{
    (void)state;
    report r = {0};
    char why[512];
    nvrtc *n = nvrtc_open(why);
    assert_non_null(n);
    setenv("PLUGMC_CACHE_DIR", "/proc/nothing/here", 1);
    capture c = capture_begin();
    for (int i = 0; i < 2; i++) {
        void *image = NULL;
        size_t bytes;
        assert_int_equal(compile(n, small_text, "small.cu", 90, false, &image, &bytes, &r), 0);
        free(image);
    }
    char *said = capture_end(&c);
    assert_int_equal(r.errors, 0);
    assert_int_equal(r.warnings, 1);
    assert_non_null(strstr(said, "/proc/nothing/here"));
    free(said);
    nvrtc_close(n);
}

#define TEST(name) cmocka_unit_test_setup(name, empty_cache)
COMPILER_TEST_MAIN(
    TEST(sha256_agrees_with_fips_180_4), TEST(a_library_that_is_not_there_gives_a_reason),
    TEST(the_library_named_in_the_environment_is_taken),
    TEST(of_libraries_beside_the_compiler_the_newest_is_taken),
    TEST(what_is_compiled_ahead_is_what_is_asked_for), TEST(a_gpu_newer_than_the_compiler_gets_ptx),
    TEST(what_nobody_asks_for_is_kept), TEST(a_gpu_older_than_the_compiler_is_refused),
    TEST(the_second_time_comes_from_the_cache), TEST(another_text_or_architecture_is_another_file),
    TEST(a_damaged_file_is_compiled_again),
    TEST(a_file_with_the_key_of_another_kernel_is_compiled_again),
    TEST(several_processes_may_write_the_same_kernel),
    TEST(the_file_used_longest_ago_is_deleted_first),
    TEST(files_of_others_in_the_folder_are_never_deleted),
    TEST(the_folder_is_chosen_and_made_private), TEST(a_folder_that_others_can_write_to_is_refused),
    TEST(without_a_folder_kernels_are_compiled_with_one_warning))
