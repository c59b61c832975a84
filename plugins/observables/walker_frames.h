/* walker_frames.h: edges of the boxes of walkers, for texts that look through cells; the same in C and on
 * the GPU. FRAMES_DIFFER (0 or 1) says whether walkers have their own. Where nobody changes boxes the one of
 * all walkers is a constant of the kernel. */
typedef struct walker_frame {
    double length[3]; /* edges of the box */
    double width[3];  /* of a cell */
} walker_frame;

typedef struct walker_frames {
    walker_frame same;
    const walker_frame *of; /* [walkers] */
} walker_frames;

PLUGMC_FN const walker_frame *frame_of(const walker_frames *f, uint32_t walker)
{
#if FRAMES_DIFFER
    return f->of + walker;
#else
    (void)walker;
    return &f->same;
#endif
}
