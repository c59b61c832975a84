/* Libraries of the CUDA Toolkit that plugins ask for by name: cufft, cublas, cusolver. */
#ifndef PLUGMC_GPU_TOOLKIT_H
#define PLUGMC_GPU_TOOLKIT_H

/* Opens lib<stem>.so.N, kept open until the program ends: beside NVRTC's own file `nvrtc_path`,
 * whose version suits the driver, else the newest in the loader's path or below /usr/local/cuda*.
 * NULL with a sentence in `why`. */
void *toolkit_library(const char *nvrtc_path, const char *stem, char why[512]);

/* A library by its path, if nobody who is not trusted can have put it there (plugin/trust.h), under
 * the very name that is given, which $ORIGIN and profilers go by; or by a name without '/', which
 * is for the loader of the operating system to find. NULL with the reason. */
void *toolkit_open(const char *path, char why[512]);

/* Tries the files `name` (a pattern) in the folders of CUDA installations, the newest first, until
 * `open` gives something else than NULL, which is returned. */
void *toolkit_search(const char *name, void *(*open)(const char *path, void *data), void *data);
#endif
