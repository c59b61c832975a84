/* standalone FILE|FOLDER...: gives files to a fuzzing program that was built without libFuzzer. */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static int files;

static void give_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat s;
    if (!f || fstat(fileno(f), &s)) {
        perror(path);
        exit(2);
    }
    uint8_t *data = malloc((size_t)s.st_size + 1);
    if (!data || fread(data, 1, (size_t)s.st_size, f) != (size_t)s.st_size) exit(2);
    fclose(f);
    LLVMFuzzerTestOneInput(data, (size_t)s.st_size);
    free(data);
    files++;
}

static void give(const char *path)
{
    struct stat s;
    if (stat(path, &s) || !S_ISDIR(s.st_mode)) {
        give_file(path);
        return;
    }
    struct dirent **entries;
    const int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') give(inside);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
}

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++) give(paths[i]);
    printf("%d files\n", files);
    return files == 0; /* without any nothing was tested */
}
