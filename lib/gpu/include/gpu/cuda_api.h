/* The part of the CUDA driver API and of NVRTC that plugmc uses, declared here so that neither
 * CUDA headers nor CUDA libraries are needed to build or to start the program. Facts of the public
 * API of CUDA 11.4 and later; cuda_check.c compares them with <cuda.h> and <nvrtc.h> where a build
 * has those. Functions are found by name when the libraries are opened. */
#ifndef PLUGMC_CUDA_API_H
#define PLUGMC_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int driver_result;
typedef int driver_device;
typedef unsigned long long driver_pointer;
typedef struct driver_context_handle *driver_context;
typedef struct driver_stream_handle *driver_stream;
typedef struct driver_module_handle *driver_module;
typedef struct driver_function_handle *driver_function;
typedef struct driver_graph_handle *driver_graph;
typedef struct driver_graph_exec_handle *driver_graph_exec;
typedef struct driver_event_handle *driver_event;

enum {
    DRIVER_SUCCESS = 0,
    DRIVER_ERROR_OUT_OF_MEMORY = 2,
    DRIVER_ERROR_NO_DEVICE = 100,
    DRIVER_ERROR_NOT_FOUND = 500,
    DRIVER_ERROR_ILLEGAL_ADDRESS = 700,
    DRIVER_ERROR_LAUNCH_RESOURCES = 701,
    DRIVER_ERROR_LAUNCH_FAILED = 719
};

enum { /* of cuDeviceGetAttribute */
       DRIVER_MULTIPROCESSORS = 16,
       DRIVER_CAPABILITY_MAJOR = 75,
       DRIVER_CAPABILITY_MINOR = 76,
       DRIVER_SHARED_PER_BLOCK_OPTIN = 97
};

enum {
    DRIVER_STREAM_NON_BLOCKING = 1,     /* of cuStreamCreate */
    DRIVER_CAPTURE_THREAD_LOCAL = 1,    /* of cuStreamBeginCapture */
    DRIVER_FUNCTION_DYNAMIC_SHARED = 8, /* of cuFuncSetAttribute */
    DRIVER_FUNCTION_SHARED = 1          /* of cuFuncGetAttribute: static shared bytes */
};

/* Memory of this process for another one of the same machine, which opens it. */
enum { DRIVER_SHARED_LAZY_PEER = 1 };
typedef struct driver_shared {
    char reserved[64];
} driver_shared;

/* X(our name, exported name with the suffix of its ABI, arguments) */
#define DRIVER_FUNCTIONS(X)                                                                        \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(version, "cuDriverGetVersion", (int *version))                                               \
    X(error_name, "cuGetErrorName", (driver_result, const char **text))                            \
    X(error_text, "cuGetErrorString", (driver_result, const char **text))                          \
    X(device_count, "cuDeviceGetCount", (int *count))                                              \
    X(device_get, "cuDeviceGet", (driver_device *, int index))                                     \
    X(device_name, "cuDeviceGetName", (char *name, int length, driver_device))                     \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, driver_device))        \
    X(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, driver_device))                       \
    X(device_uuid, "cuDeviceGetUuid", (unsigned char *uuid, driver_device))                        \
    X(context_retain, "cuDevicePrimaryCtxRetain", (driver_context *, driver_device))               \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (driver_device))                            \
    X(context_set, "cuCtxSetCurrent", (driver_context))                                            \
    X(context_now, "cuCtxGetCurrent", (driver_context *))                                          \
    X(stream_create, "cuStreamCreate", (driver_stream *, unsigned flags))                          \
    X(stream_destroy, "cuStreamDestroy_v2", (driver_stream))                                       \
    X(stream_synchronize, "cuStreamSynchronize", (driver_stream))                                  \
    X(stream_wait, "cuStreamWaitEvent", (driver_stream, driver_event, unsigned flags))             \
    X(memory_info, "cuMemGetInfo_v2", (size_t * free, size_t * total))                             \
    X(allocate, "cuMemAlloc_v2", (driver_pointer *, size_t bytes))                                 \
    X(release, "cuMemFree_v2", (driver_pointer))                                                   \
    X(pin, "cuMemAllocHost_v2", (void **, size_t bytes))                                           \
    X(unpin, "cuMemFreeHost", (void *))                                                            \
    X(upload, "cuMemcpyHtoDAsync_v2",                                                              \
      (driver_pointer to, const void *from, size_t bytes, driver_stream))                          \
    X(download, "cuMemcpyDtoHAsync_v2",                                                            \
      (void *to, driver_pointer from, size_t bytes, driver_stream))                                \
    X(copy, "cuMemcpyDtoDAsync_v2",                                                                \
      (driver_pointer to, driver_pointer from, size_t bytes, driver_stream))                       \
    X(share, "cuIpcGetMemHandle", (driver_shared *, driver_pointer))                               \
    X(open_shared, "cuIpcOpenMemHandle_v2", (driver_pointer *, driver_shared, unsigned flags))     \
    X(close_shared, "cuIpcCloseMemHandle", (driver_pointer))                                       \
    X(fill, "cuMemsetD8Async", (driver_pointer, unsigned char, size_t bytes, driver_stream))       \
    X(module_load, "cuModuleLoadData", (driver_module *, const void *image))                       \
    X(module_unload, "cuModuleUnload", (driver_module))                                            \
    X(module_function, "cuModuleGetFunction",                                                      \
      (driver_function *, driver_module, const char *name))                                        \
    X(module_variable, "cuModuleGetGlobal_v2",                                                     \
      (driver_pointer * at, size_t * bytes, driver_module, const char *name))                      \
    X(function_set, "cuFuncSetAttribute", (driver_function, int attribute, int value))             \
    X(function_get, "cuFuncGetAttribute", (int *value, int attribute, driver_function))            \
    X(launch, "cuLaunchKernel",                                                                    \
      (driver_function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,           \
       unsigned bz, unsigned dynamic_shared, driver_stream, void **arguments, void **extra))       \
    X(capture_begin, "cuStreamBeginCapture_v2", (driver_stream, int mode))                         \
    X(capture_end, "cuStreamEndCapture", (driver_stream, driver_graph *))                          \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",                                            \
      (driver_graph_exec *, driver_graph, unsigned long long flags))                               \
    X(graph_destroy, "cuGraphDestroy", (driver_graph))                                             \
    X(graph_exec_destroy, "cuGraphExecDestroy", (driver_graph_exec))                               \
    X(graph_launch, "cuGraphLaunch", (driver_graph_exec, driver_stream))                           \
    X(event_create, "cuEventCreate", (driver_event *, unsigned flags))                             \
    X(event_destroy, "cuEventDestroy_v2", (driver_event))                                          \
    X(event_record, "cuEventRecord", (driver_event, driver_stream))                                \
    X(event_synchronize, "cuEventSynchronize", (driver_event))                                     \
    X(event_elapsed, "cuEventElapsedTime", (float *milliseconds, driver_event, driver_event))

typedef int compiler_result; /* nvrtcResult; 0 is success */
typedef struct compiler_program_handle *compiler_program;
enum { COMPILER_ERROR_COMPILATION = 6 };

#define COMPILER_FUNCTIONS(X)                                                                      \
    X(version, "nvrtcVersion", (int *major, int *minor))                                           \
    X(architecture_count, "nvrtcGetNumSupportedArchs", (int *count))                               \
    X(architectures, "nvrtcGetSupportedArchs", (int *list))                                        \
    X(create, "nvrtcCreateProgram",                                                                \
      (compiler_program *, const char *text, const char *name, int headers,                        \
       const char *const *header_texts, const char *const *header_names))                          \
    X(destroy, "nvrtcDestroyProgram", (compiler_program *))                                        \
    X(compile, "nvrtcCompileProgram", (compiler_program, int options, const char *const *list))    \
    X(log_bytes, "nvrtcGetProgramLogSize", (compiler_program, size_t * bytes))                     \
    X(log, "nvrtcGetProgramLog", (compiler_program, char *log))                                    \
    X(cubin_bytes, "nvrtcGetCUBINSize", (compiler_program, size_t * bytes))                        \
    X(cubin, "nvrtcGetCUBIN", (compiler_program, char *cubin))                                     \
    X(ptx_bytes, "nvrtcGetPTXSize", (compiler_program, size_t * bytes))                            \
    X(ptx, "nvrtcGetPTX", (compiler_program, char *ptx))

#define CUDA_API_FIELD(field, symbol, arguments) int(*field) arguments;
/* CUlaunchAttribute and CUlaunchConfig of cuLaunchKernelEx. */
typedef struct driver_launch_attribute {
    int id; /* DRIVER_LAUNCH_PROGRAMMATIC */
    int padding;
    union {
        char bytes[64];
        int flag;
    } value;
} driver_launch_attribute;
typedef struct driver_launch_config {
    unsigned gx, gy, gz, bx, by, bz, dynamic_shared;
    driver_stream stream;
    driver_launch_attribute *attributes;
    unsigned attribute_count;
} driver_launch_config;
enum { DRIVER_LAUNCH_PROGRAMMATIC = 6 }; /* programmatic stream serialization */

typedef struct driver_api {
    DRIVER_FUNCTIONS(CUDA_API_FIELD)
    /* cuLaunchKernelEx, since CUDA 11.8; NULL in older drivers */
    int (*launch_extended)(const driver_launch_config *, driver_function, void **arguments,
                           void **extra);
} driver_api;
typedef struct compiler_api {
    COMPILER_FUNCTIONS(CUDA_API_FIELD)
    const char *(*error_text)(compiler_result);
} compiler_api;
#undef CUDA_API_FIELD

/* Fill the tables from an opened library; NULL, or the name of the first missing function. */
const char *driver_resolve(void *library, driver_api *);
const char *compiler_resolve(void *library, compiler_api *);
#endif
