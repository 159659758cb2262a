// What the programs of this folder use of CUDA's runtime, over the driver API, for machines without CUDA's toolkit: host-part.awk makes
// their host parts, g++ compiles them against this, and their kernels come from the kept PTX whose path is KEPT_PTX.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>

#define CUDART_VERSION 13000
#define CUDART_CB
#define __global__
#define __device__
#define __host__
#define __noinline__
#define __cluster_dims__(...)
#define __align__(n) alignas(n)

// ---- the driver API, as NVIDIA's manual describes it

typedef uint64_t CUdeviceptr;
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
extern "C" {
int cuInit(unsigned);
int cuGetErrorString(int, const char **);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuCtxSynchronize();
int cuCtxGetStreamPriorityRange(int *, int *);
int cuDeviceGetAttribute(int *, int, int);
int cuModuleLoad(void **, const char *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetGlobal_v2(CUdeviceptr *, size_t *, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t, void **, void **);
int cuLaunchKernelEx(const void *, void *, void **, void **);
int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t, void **);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int, size_t);
int cuMemAlloc_v2(CUdeviceptr *, size_t);
int cuMemAllocPitch_v2(CUdeviceptr *, size_t *, size_t, size_t, unsigned);
int cuMemAllocAsync(CUdeviceptr *, size_t, cudaStream_t);
int cuMemFree_v2(CUdeviceptr);
int cuMemFreeAsync(CUdeviceptr, cudaStream_t);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);
int cuMemGetInfo_v2(size_t *, size_t *);
int cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
int cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
int cuMemcpyAsync(CUdeviceptr, CUdeviceptr, size_t, cudaStream_t);
int cuMemcpyHtoDAsync_v2(CUdeviceptr, const void *, size_t, cudaStream_t);
int cuMemcpyDtoHAsync_v2(void *, CUdeviceptr, size_t, cudaStream_t);
int cuMemcpy2DUnaligned_v2(const void *);
int cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
int cuMemsetD8Async(CUdeviceptr, unsigned char, size_t, cudaStream_t);
int cuMemsetD2D8_v2(CUdeviceptr, size_t, unsigned char, size_t, size_t);
int cuPointerGetAttribute(void *, int, CUdeviceptr);
int cuStreamCreate(cudaStream_t *, unsigned);
int cuStreamCreateWithPriority(cudaStream_t *, unsigned, int);
int cuStreamDestroy_v2(cudaStream_t);
int cuStreamQuery(cudaStream_t);
int cuStreamSynchronize(cudaStream_t);
int cuStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
int cuStreamAddCallback(cudaStream_t, void (*)(cudaStream_t, int, void *), void *, unsigned);
int cuEventCreate(cudaEvent_t *, unsigned);
int cuEventDestroy_v2(cudaEvent_t);
int cuEventQuery(cudaEvent_t);
int cuEventRecord(cudaEvent_t, cudaStream_t);
int cuEventSynchronize(cudaEvent_t);
int cuEventElapsedTime_v2(float *, cudaEvent_t, cudaEvent_t);
}

// ---- types

typedef int cudaError_t; // the driver's numbers, which are the runtime's too
enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorAssert = 710,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0 };
enum { cudaMemoryTypeDevice = 2, cudaDevAttrMultiProcessorCount = 16 };
struct cudaPointerAttributes { int type; };

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(16) uint4 { unsigned x, y, z, w; };

// ---- the module and the last error

inline cudaError_t lastError = cudaSuccess;

inline cudaError_t keep(int error) {
  if (error != 0) lastError = error;
  return error;
}
inline cudaError_t cudaGetLastError() {
  cudaError_t error = lastError;
  lastError = cudaSuccess;
  return error;
}
inline const char *cudaGetErrorString(cudaError_t error) {
  const char *text = "unknown error";
  cuGetErrorString(error, &text);
  return text;
}

// The context is made and the kept PTX loaded when something first needs them.
inline void *theModule() {
  static void *module = [] {
    void *context = nullptr, *loaded = nullptr;
    int error = cuInit(0);
    if (!error) error = cuDevicePrimaryCtxRetain(&context, 0);
    if (!error) error = cuCtxSetCurrent(context);
    if (!error) error = cuModuleLoad(&loaded, KEPT_PTX);
    if (error) {
      std::printf("FAIL " KEPT_PTX ": %s\n", cudaGetErrorString(error));
      std::exit(1);
    }
    return loaded;
  }();
  return module;
}
template <typename F, typename... A>
cudaError_t driver(F *function, A... arguments) {
  theModule();
  return keep(function(arguments...));
}

// ---- kernels

// A kernel's stub has the name that the kernel has in the PTX: both compilers mangle alike. -rdynamic lets dladdr see it.
inline void *functionOf(const void *stub) {
  static std::map<const void *, void *> found;
  void *&function = found[stub];
  Dl_info stubs;
  if (!function && dladdr(stub, &stubs) && stubs.dli_sname) driver(cuModuleGetFunction, &function, theModule(), stubs.dli_sname);
  return function;
}

struct Configuration {
  dim3 grid, block;
  unsigned shared;
  cudaStream_t stream;
  Configuration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
      : grid(grid), block(block), shared((unsigned)shared), stream(stream) {}
};
template <typename... P>
auto launch(void (*kernel)(P...), Configuration c) {
  return [=](P... values) {
    void *parameters[] = {(void *)&values..., nullptr};
    driver(cuLaunchKernel, functionOf((void *)kernel), c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.shared, c.stream,
           (void **)parameters, (void **)nullptr);
  };
}
inline cudaError_t cudaLaunchCooperativeKernel(void *stub, dim3 grid, dim3 block, void **parameters, size_t shared, cudaStream_t stream) {
  return driver(cuLaunchCooperativeKernel, functionOf(stub), grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared, stream,
                parameters);
}
struct cudaLaunchAttribute { // CUlaunchAttribute
  int id, padding;
  union {
    dim3 clusterDim;
    char room[64];
  } val;
  cudaLaunchAttribute() : id(0), padding(0), val{} {}
};
enum { cudaLaunchAttributeClusterDimension = 4 };
struct cudaLaunchConfig_t { // CUlaunchConfig
  dim3 gridDim, blockDim;
  unsigned dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
template <typename... P, typename... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A... values) {
  return [=](P... parameters) {
    void *all[] = {(void *)&parameters..., nullptr};
    return driver(cuLaunchKernelEx, (const void *)config, functionOf((void *)kernel), (void **)all, (void **)nullptr);
  }(values...);
}
template <typename F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, F *kernel, int threads, size_t shared) {
  return driver(cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks, functionOf((void *)kernel), threads, shared);
}

// ---- variables

#define SYMBOL(name) static const struct { const char *symbol; } name = {#name};
template <typename S>
CUdeviceptr addressOf(const S &variable) {
  CUdeviceptr address = 0;
  driver(cuModuleGetGlobal_v2, &address, (size_t *)nullptr, theModule(), variable.symbol);
  return address;
}
template <typename S>
cudaError_t cudaMemcpyToSymbol(const S &to, const void *from, size_t bytes) {
  return driver(cuMemcpyHtoD_v2, addressOf(to), from, bytes);
}
template <typename S>
cudaError_t cudaMemcpyFromSymbol(void *to, const S &from, size_t bytes) {
  return driver(cuMemcpyDtoH_v2, to, addressOf(from), bytes);
}

// ---- memory

template <typename T>
cudaError_t cudaMalloc(T **made, size_t bytes) {
  return driver(cuMemAlloc_v2, (CUdeviceptr *)made, bytes);
}
template <typename T>
cudaError_t cudaMallocPitch(T **made, size_t *pitch, size_t width, size_t height) {
  return driver(cuMemAllocPitch_v2, (CUdeviceptr *)made, pitch, width, height, 4u);
}
template <typename T>
cudaError_t cudaMallocAsync(T **made, size_t bytes, cudaStream_t stream) {
  return driver(cuMemAllocAsync, (CUdeviceptr *)made, bytes, stream);
}
template <typename T>
cudaError_t cudaHostAlloc(T **made, size_t bytes, unsigned flags) {
  return driver(cuMemHostAlloc, (void **)made, bytes, flags);
}
template <typename T>
cudaError_t cudaMallocHost(T **made, size_t bytes) {
  return cudaHostAlloc(made, bytes, cudaHostAllocDefault);
}
inline cudaError_t cudaFree(void *p) { return driver(cuMemFree_v2, (CUdeviceptr)p); }
inline cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) { return driver(cuMemFreeAsync, (CUdeviceptr)p, stream); }
inline cudaError_t cudaFreeHost(void *p) { return driver(cuMemFreeHost, p); }
inline cudaError_t cudaMemGetInfo(size_t *free, size_t *total) { return driver(cuMemGetInfo_v2, free, total); }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice ? driver(cuMemcpyHtoD_v2, (CUdeviceptr)to, from, bytes)
                                        : driver(cuMemcpyDtoH_v2, to, (CUdeviceptr)from, bytes);
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return kind == cudaMemcpyHostToDevice ? driver(cuMemcpyHtoDAsync_v2, (CUdeviceptr)to, from, bytes, stream)
                                        : driver(cuMemcpyDtoHAsync_v2, to, (CUdeviceptr)from, bytes, stream);
}
inline cudaError_t cudaMemcpy2D(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width, size_t height, cudaMemcpyKind kind) {
  struct Side {
    size_t x, y;
    int type; // 1 host, 2 device
    const void *host;
    CUdeviceptr device;
    void *array;
    size_t pitch;
  };
  struct { // CUDA_MEMCPY2D
    Side from, to;
    size_t width, height;
  } copy = {};
  bool up = kind == cudaMemcpyHostToDevice;
  copy.from = {0, 0, up ? 1 : 2, from, (CUdeviceptr)from, nullptr, fromPitch};
  copy.to = {0, 0, up ? 2 : 1, to, (CUdeviceptr)to, nullptr, toPitch};
  copy.width = width;
  copy.height = height;
  return driver(cuMemcpy2DUnaligned_v2, (const void *)&copy);
}
inline cudaError_t cudaMemset(void *p, int value, size_t bytes) { return driver(cuMemsetD8_v2, (CUdeviceptr)p, (unsigned char)value, bytes); }
inline cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream) {
  return driver(cuMemsetD8Async, (CUdeviceptr)p, (unsigned char)value, bytes, stream);
}
inline cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
  return driver(cuMemsetD2D8_v2, (CUdeviceptr)p, pitch, (unsigned char)value, width, height);
}
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *result, const void *p) {
  return driver(cuPointerGetAttribute, (void *)&result->type, 2, (CUdeviceptr)p);
}

// ---- the device, streams and events

inline cudaError_t cudaDeviceSynchronize() { return driver(cuCtxSynchronize); }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0; }
inline cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device) { return driver(cuDeviceGetAttribute, value, attribute, device); }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { return driver(cuCtxGetStreamPriorityRange, least, greatest); }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *made, unsigned flags) { return driver(cuStreamCreate, made, flags); }
inline cudaError_t cudaStreamCreate(cudaStream_t *made) { return cudaStreamCreateWithFlags(made, 0); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *made, unsigned flags, int priority) {
  return driver(cuStreamCreateWithPriority, made, flags, priority);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return driver(cuStreamDestroy_v2, stream); }
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return cuStreamQuery(stream); }
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return driver(cuStreamSynchronize, stream); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) { return driver(cuStreamWaitEvent, stream, event, flags); }
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, void (*call)(cudaStream_t, cudaError_t, void *), void *data, unsigned flags) {
  return driver(cuStreamAddCallback, stream, call, data, flags);
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *made, unsigned flags) { return driver(cuEventCreate, made, flags); }
inline cudaError_t cudaEventCreate(cudaEvent_t *made) { return cudaEventCreateWithFlags(made, 0); }
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return driver(cuEventDestroy_v2, event); }
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return cuEventQuery(event); }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return driver(cuEventRecord, event, stream); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) { return driver(cuEventSynchronize, event); }
inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) { return driver(cuEventElapsedTime_v2, milliseconds, from, to); }

#include "graphs.h"
#include "textures.h"
