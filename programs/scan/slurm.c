/* See slurm.h. */
#include "slurm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *absolute(const char *path)
{
    char *whole = realpath(path, NULL);
    return whole ? whole : checked(strdup(path));
}

/* As a word of the shell. */
static void print_word(const char *word)
{
    putchar('\'');
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    putchar('\'');
}

/* One line of a comment, whatever the name is. */
static void print_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    for (const char *c = slash ? slash + 1 : path; *c; c++)
        putchar((unsigned char)*c < ' ' ? '?' : *c);
}

void slurm_print(const study *s, const char *program)
{
    char *plugmc = absolute(program), *ini = absolute(s->path);
    bool gpu = false;
    for (int64_t k = 0; k < s->point_count; k++) gpu |= s->points[k].wants_gpu;
    fputs("#!/bin/bash\n# The points of ", stdout);
    print_name(s->path);
    fputs(
        ", one a task. The same script again goes on with what is not finished;\n"
        "# the last line makes the tables, when all tasks have ended. Times and devices are to be\n"
        "# edited.\n",
        stdout);
    printf("#SBATCH --job-name=plugmc\n#SBATCH --array=0-%" PRId64 "\n", s->point_count - 1);
    fputs("#SBATCH --time=24:00:00\n"
          "#SBATCH --signal=B:TERM@120\n",
          stdout);
    if (gpu)
        fputs("#SBATCH --gpus=1\n", stdout);
    else
        fputs("#SBATCH --cpus-per-task=1\n", stdout);
    if (!gpu) fputs("export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}\n", stdout);
    fputs("exec ", stdout);
    print_word(plugmc);
    fputs(" scan ", stdout);
    print_word(ini);
    fputs(" --job \"$SLURM_ARRAY_TASK_ID\"\n# ", stdout);
    print_word(plugmc);
    fputs(" scan ", stdout);
    print_word(ini);
    fputs(" --table\n", stdout);
    free(plugmc), free(ini);
}
