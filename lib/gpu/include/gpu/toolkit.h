/* Libraries of the CUDA Toolkit that plugins ask for by name: cufft, cublas, cusolver. */
#ifndef PLUGMC_GPU_TOOLKIT_H
#define PLUGMC_GPU_TOOLKIT_H

/* Opens lib<stem>.so.N, which stays open until the program ends. The first choice is the folder of NVRTC's own file
 * `nvrtc_path`, whose version suits the driver. Else it is the newest one in the loader's path or below
 * /usr/local/cuda*. NULL with a sentence in `why`. */
void *toolkit_library(const char *nvrtc_path, const char *stem, char why[512]);

/* Opens a library. A path is opened only if no untrusted user can have put the file there (base/trust.h). It is
 * opened under exactly this path, since $ORIGIN and profilers depend on it. A name without '/' is left to the loader
 * of the operating system. NULL with the reason. */
void *toolkit_open(const char *path, char why[512]);

/* Calls `open` for the files that match the pattern `name` in the folders of CUDA installations, the newest first.
 * Returns the first result that is not NULL. */
void *toolkit_search(const char *name, void *(*open)(const char *path, void *data), void *data);
#endif
