/* See rehearsal_child.h. */
#include "archive/rehearsal_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/parts.h"
#include "archive/replacement.h"
#include "archive/averages.h"
#include "base/bytes.h"

static int judge(const store *s, enum exit_code damaged, char reason[REHEARSAL_REASON])
{
    snprintf(reason, REHEARSAL_REASON, "%s", s->failed ? s->reason : "");
    if (!s->failed) return EXIT_DONE;
    return s->memory_short ? EXIT_MEMORY : damaged;
}

int rehearse_checkpoint(const char *path, char reason[REHEARSAL_REASON])
{
    store s;
    output_data data = {0};
    const int fd = store_open_path(&s, path);
    if (!s.failed) checkpoint_read(&s, &data);
    store_close(&s);
    if (fd >= 0) close(fd);
    return judge(&s, EXIT_CHECKPOINT, reason);
}

int rehearse_positions(const char *path, const char *detail, int out, char reason[REHEARSAL_REASON])
{
    store s = {0};
    file_frame frame;
    long long which = -1;
    int most = 1;
    size_t bytes = 0;
    if (sscanf(detail, "%d %lld", &most, &which) != 2) return EXIT_INTERNAL;
    h5md_read(&s, path, most, which, &frame);
    if (s.failed) return judge(&s, EXIT_INPUT, reason);
    void *packed = frame_pack(&frame, &bytes);
    if (!packed) store_short(&s);
    if (s.failed) return judge(&s, EXIT_INPUT, reason);
    return bytes_write(out, packed, bytes) ? EXIT_DONE : EXIT_INTERNAL;
}
