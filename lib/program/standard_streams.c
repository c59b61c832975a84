#include "program/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/report.h"

void standard_streams_begin(void)
{
    for (int stream = 0; stream < 3; stream++)
        if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) /* open takes the lowest number */
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int standard_streams_end(int code)
{
    const int before = ferror(stdout);
    errno = 0;
    if (before) fputc('\n', stdout); /* the reason is forgotten: once more */
    if (!fflush(stdout) && !before) return code;
    fprintf(stderr, "cannot write to the standard output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return code ? code : EXIT_OUTPUT;
}
