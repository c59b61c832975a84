/* What a plugin says of a text for the GPU, checked before it is compiled. */
#include "gpu/gpu_source.h"

enum { MOST_DEFINES = 1000 };

bool check_gpu_source(const plugmc_gpu_source *text, sentence why)
{
    int defines = 0;
    if (!text->name || !*text->name) return why_not(why, "a GPU source has no name");
    if (!text->source) return why_not(why, "GPU source '%.80s' is empty", text->name);
    if (text->fuse & ~(PLUGMC_FUSE_SAMPLED | PLUGMC_FUSE_MEASURED | PLUGMC_FUSE_VARIATIONAL))
        return why_not(why,
                       "GPU source '%.80s' requests potentials of an unknown kind (fuse "
                       "= %d)",
                       text->name, text->fuse);
    if (text->fuse & PLUGMC_FUSE_VARIATIONAL &&
        !(text->fuse & PLUGMC_FUSE_SAMPLED && text->double_precision))
        return why_not(
            why,
            "GPU source '%.80s' requests variational parameters, but not sampled potentials "
            "in double precision",
            text->name);
    while (text->defines && text->defines[defines])
        if (++defines > MOST_DEFINES)
            return why_not(why, "the list of definitions of GPU source '%.80s' has no end",
                           text->name);
    return true;
}
