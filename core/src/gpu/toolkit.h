/* Libraries of the CUDA Toolkit that plugins ask for by name: cufft, cublas, cusolver. */
#ifndef PLUGMC_GPU_TOOLKIT_H
#define PLUGMC_GPU_TOOLKIT_H

/* Opens lib<stem>.so.N, kept open until the program ends: beside NVRTC's own file `nvrtc_path`, whose
 * version suits the driver, else the newest in the loader's path or below /usr/local/cuda*. NULL with
 * a sentence in `why`. */
void *toolkit_library(const char *nvrtc_path, const char *stem, char why[512]);

/* Tries the files `name` (a pattern) in the folders of CUDA installations, the newest first, until
 * `open` gives something else than NULL, which is returned. */
void *toolkit_search(const char *name, void *(*open)(const char *path, void *data), void *data);
#endif
