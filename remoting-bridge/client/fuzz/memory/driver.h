/* The part of the driver's interface that the fuzzer uses: structures, and functions that main.c looks up by name. */
#ifndef MEMORY_DRIVER_H
#define MEMORY_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t ptr;
typedef void *handle;

/* CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER, which has the contexts in place of the reserved fields; other declarations of cuda.h. */
struct copy3d {
  size_t src_x, src_y, src_z, src_lod;
  unsigned src_type;
  const void *src_host;
  ptr src_device;
  handle src_array, src_context;
  size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod;
  unsigned dst_type;
  void *dst_host;
  ptr dst_device;
  handle dst_array, dst_context;
  size_t dst_pitch, dst_height;
  size_t width, height, depth;
};
struct copy2d {
  size_t src_x, src_y;
  unsigned src_type;
  const void *src_host;
  ptr src_device;
  handle src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  unsigned dst_type;
  void *dst_host;
  ptr dst_device;
  handle dst_array;
  size_t dst_pitch;
  size_t width, height;
};
struct array3d {
  size_t width, height, depth;
  unsigned format, channels, flags;
};
/* CUipcMemHandle, CUipcEventHandle. */
struct ipc_handle {
  char bytes[64];
};
enum { HOST = 1, DEVICE = 2, ARRAY = 3, UNIFIED = 4 };
enum { NOT_READY = 600 };

/* The functions that the fuzzer calls, by the names that the driver exports. */
#define FUNCTIONS(F)                                                                                                          \
  F(cuInit, (unsigned))                                                                                                       \
  F(cuDeviceGet, (int *, int))                                                                                                \
  F(cuDeviceGetCount, (int *))                                                                                                \
  F(cuDeviceCanAccessPeer, (int *, int, int))                                                                                 \
  F(cuDeviceGetAttribute, (int *, int, int))                                                                                  \
  F(cuDevicePrimaryCtxRetain, (handle *, int))                                                                                \
  F(cuCtxSetCurrent, (handle))                                                                                                \
  F(cuCtxEnablePeerAccess, (handle, unsigned))                                                                                \
  F(cuCtxSynchronize, (void))                                                                                                 \
  F(cuModuleLoadData, (handle *, const void *))                                                                               \
  F(cuModuleGetFunction, (handle *, handle, const char *))                                                                    \
  F(cuModuleGetGlobal_v2, (ptr *, size_t *, handle, const char *))                                                            \
  F(cuStreamCreate, (handle *, unsigned))                                                                                     \
  F(cuStreamDestroy_v2, (handle))                                                                                             \
  F(cuEventDestroy_v2, (handle))                                                                                              \
  F(cuStreamSynchronize, (handle))                                                                                            \
  F(cuStreamQuery, (handle))                                                                                                  \
  F(cuStreamWaitEvent, (handle, handle, unsigned))                                                                            \
  F(cuStreamBeginCapture_v2, (handle, int))                                                                                   \
  F(cuStreamEndCapture, (handle, handle *))                                                                                   \
  F(cuStreamWriteValue32_v2, (handle, ptr, unsigned, unsigned))                                                               \
  F(cuStreamWaitValue32_v2, (handle, ptr, unsigned, unsigned))                                                                \
  F(cuEventCreate, (handle *, unsigned))                                                                                      \
  F(cuEventRecord, (handle, handle))                                                                                          \
  F(cuEventSynchronize, (handle))                                                                                             \
  F(cuEventQuery, (handle))                                                                                                   \
  F(cuGraphInstantiateWithFlags, (handle *, handle, unsigned long long))                                                      \
  F(cuGraphLaunch, (handle, handle))                                                                                          \
  F(cuGraphExecDestroy, (handle))                                                                                             \
  F(cuGraphDestroy, (handle))                                                                                                 \
  F(cuLaunchKernel, (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **)) \
  F(cuLaunchHostFunc, (handle, void (*)(void *), void *))                                                                     \
  F(cuMemAlloc_v2, (ptr *, size_t))                                                                                           \
  F(cuMemAllocAsync, (ptr *, size_t, handle))                                                                                 \
  F(cuMemFree_v2, (ptr))                                                                                                      \
  F(cuMemFreeAsync, (ptr, handle))                                                                                            \
  F(cuMemHostAlloc, (void **, size_t, unsigned))                                                                              \
  F(cuMemFreeHost, (void *))                                                                                                  \
  F(cuMemHostRegister_v2, (void *, size_t, unsigned))                                                                         \
  F(cuMemHostUnregister, (void *))                                                                                            \
  F(cuMemHostGetDevicePointer_v2, (ptr *, void *, unsigned))                                                                  \
  F(cuMemAllocManaged, (ptr *, size_t, unsigned))                                                                             \
  F(cuMemAdvise, (ptr, size_t, int, int))                                                                                     \
  F(cuMemPrefetchAsync, (ptr, size_t, int, handle))                                                                           \
  F(cuStreamAttachMemAsync, (handle, ptr, size_t, unsigned))                                                                  \
  F(cuIpcGetMemHandle, (struct ipc_handle *, ptr))                                                                            \
  F(cuIpcOpenMemHandle_v2, (ptr *, struct ipc_handle, unsigned))                                                              \
  F(cuIpcCloseMemHandle, (ptr))                                                                                               \
  F(cuIpcGetEventHandle, (struct ipc_handle *, handle))                                                                       \
  F(cuIpcOpenEventHandle, (handle *, struct ipc_handle))                                                                      \
  F(cuArray3DCreate_v2, (handle *, const struct array3d *))                                                                   \
  F(cuArrayDestroy, (handle))                                                                                                 \
  F(cuMemcpy, (ptr, ptr, size_t))                                                                                             \
  F(cuMemcpyAsync, (ptr, ptr, size_t, handle))                                                                                \
  F(cuMemcpyHtoD_v2, (ptr, const void *, size_t))                                                                             \
  F(cuMemcpyHtoDAsync_v2, (ptr, const void *, size_t, handle))                                                                \
  F(cuMemcpyDtoH_v2, (void *, ptr, size_t))                                                                                   \
  F(cuMemcpyDtoHAsync_v2, (void *, ptr, size_t, handle))                                                                      \
  F(cuMemcpyDtoD_v2, (ptr, ptr, size_t))                                                                                      \
  F(cuMemcpyDtoDAsync_v2, (ptr, ptr, size_t, handle))                                                                         \
  F(cuMemcpyPeer, (ptr, handle, ptr, handle, size_t))                                                                         \
  F(cuMemcpyPeerAsync, (ptr, handle, ptr, handle, size_t, handle))                                                            \
  F(cuMemcpy2D_v2, (const struct copy2d *))                                                                                   \
  F(cuMemcpy2DAsync_v2, (const struct copy2d *, handle))                                                                      \
  F(cuMemcpy3D_v2, (const struct copy3d *))                                                                                   \
  F(cuMemcpy3DAsync_v2, (const struct copy3d *, handle))                                                                      \
  F(cuMemcpy3DPeer, (const struct copy3d *))                                                                                  \
  F(cuMemcpy3DPeerAsync, (const struct copy3d *, handle))                                                                     \
  F(cuMemsetD8_v2, (ptr, unsigned char, size_t))                                                                              \
  F(cuMemsetD8Async, (ptr, unsigned char, size_t, handle))                                                                    \
  F(cuMemsetD16Async, (ptr, unsigned short, size_t, handle))                                                                  \
  F(cuMemsetD32Async, (ptr, unsigned, size_t, handle))                                                                        \
  F(cuMemsetD2D8_v2, (ptr, size_t, unsigned char, size_t, size_t))                                                            \
  F(cuMemsetD2D8Async, (ptr, size_t, unsigned char, size_t, size_t, handle))
#define DECLARE(name, parameters) extern int(*name) parameters;
FUNCTIONS(DECLARE)

#endif
