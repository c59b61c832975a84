/* What a plugin says of a text for the GPU, checked before it is compiled. */
#include "gpu/kernel_text.h"

enum { MOST_DEFINES = 1000 };

bool check_kernel_text(const plugmc_kernel_text *text, sentence why)
{
    int defines = 0;
    if (!text->name || !*text->name) return why_not(why, "a kernel text has no name");
    if (!text->text) return why_not(why, "kernel text '%.80s' is empty", text->name);
    if (text->fuse & ~(PLUGMC_FUSE_SAMPLED | PLUGMC_FUSE_MEASURED | PLUGMC_FUSE_FREE))
        return why_not(why, "kernel text '%.80s' asks for potentials of no kind (fuse = %d)",
                       text->name, text->fuse);
    if (text->fuse & PLUGMC_FUSE_FREE &&
        !(text->fuse & PLUGMC_FUSE_SAMPLED && text->double_precision))
        return why_not(why,
                       "kernel text '%.80s' asks for free numbers, but not for sampled potentials "
                       "in double precision",
                       text->name);
    while (text->defines && text->defines[defines])
        if (++defines > MOST_DEFINES)
            return why_not(why, "the list of definitions of kernel text '%.80s' has no end",
                           text->name);
    return true;
}
