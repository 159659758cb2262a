/* What calls answer while a stream is captured, and whether the capture is left well: by each mode of a capture, of a stream that waits for the
 * legacy default stream and of one that does not, from the thread that captures and from another one. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "spin.h"

enum { BYTES = 1 << 16, PAGE = 4096, NON_BLOCKING = 1 };

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemFree_v2(uint64_t pointer);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream);
int cuMemFreeAsync(uint64_t pointer, void *stream);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *pointer);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t count);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t count, void *stream);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamQuery(void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuStreamIsCapturing(void *stream, int *status);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy_v2(void *event);
int cuEventRecord(void *event, void *stream);
int cuEventQuery(void *event);
int cuEventSynchronize(void *event);
int cuGraphCreate(void **graph, unsigned flags);
int cuGraphDestroy(void *graph);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphExecDestroy(void *exec);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphAddEmptyNode(void **node, void *graph, const void **dependencies, size_t count);
int cuModuleUnload(void *module);
int cuArrayCreate_v2(void **array, const void *descriptor);
int cuArrayDestroy(void *array);
int cuMemAllocPitch_v2(uint64_t *pointer, size_t *pitch, size_t width, size_t height, unsigned element);
int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t pointer);
int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer);
int cuMipmappedArrayCreate(void **array, const void *descriptor, unsigned levels);
int cuMipmappedArrayDestroy(void *array);
int cuArray3DCreate_v2(void **array, const void *descriptor);
int cuLibraryLoadData(void **library, const void *code, void *options, void *values, unsigned count, void *names, void *their,
                      unsigned number);
int cuLibraryUnload(void *library);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuModuleGetFunctionCount(unsigned *count, void *module);
int cuEventElapsedTime_v2(float *milliseconds, void *begin, void *end);
int cuCtxSetLimit(int limit, size_t value);
int cuCtxGetLimit(size_t *value, int limit);
int cuCtxResetPersistingL2Cache(void);
int cuCtxGetStreamPriorityRange(int *least, int *greatest);
int cuDeviceGetDefaultMemPool(void **pool, int device);
int cuMemPoolTrimTo(void *pool, size_t bytes);
int cuMemPoolCreate(void **pool, const void *properties);
int cuMemPoolDestroy(void *pool);
int cuMemAddressReserve(uint64_t *pointer, size_t bytes, size_t alignment, uint64_t address, unsigned long long flags);
int cuMemAddressFree(uint64_t pointer, size_t bytes);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, unsigned long long flags);
int cuMemRelease(uint64_t handle);
int cuMemMap(uint64_t pointer, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags);
int cuMemUnmap(uint64_t pointer, size_t bytes);
int cuMemSetAccess(uint64_t pointer, size_t bytes, const void *access, size_t count);
int cuGraphExecUpdate_v2(void *exec, void *graph, void *result);
int cuGraphUpload(void *exec, void *stream);
int cuGraphClone(void **clone, void *graph);
int cuIpcGetMemHandle(void *handle, uint64_t pointer);
int cuMemPrefetchAsync_v2(uint64_t pointer, size_t bytes, uint64_t location, unsigned flags, void *stream);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *argument);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int size, size_t shared);
int cuStreamGetPriority(void *stream, int *priority);
int cuStreamWriteValue32_v2(void *stream, uint64_t address, unsigned value, unsigned flags);
int cuDeviceGraphMemTrim(int device);
int cuCtxCreate_v2(void **made, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuThreadExchangeStreamCaptureMode(int *mode);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);

static void *context, *kernel;
static uint64_t target; /* device memory that stays */
static unsigned char bytes[BYTES];

/* What a call uses. */
static struct {
  void *captured, *stream, *event, *host, *graph, *exec, *module, *array, *made;
  uint64_t device, handle;
  unsigned char *pages;
  int refused; /* while it was made */
} w;

static void prepared(int result) {
  if (!w.refused) w.refused = result;
}

static const struct { /* CUDA_ARRAY_DESCRIPTOR */
  size_t width, height;
  int format;
  unsigned channels;
} ARRAY = {64, 64, 1, 1};

static void nothing(void) {}
static void with_pinned(void) { prepared(cuMemHostAlloc(&w.host, BYTES, 0)); }
static void with_mapped(void) { prepared(cuMemHostAlloc(&w.host, BYTES, 2)); }
static void with_pages(void) { w.pages = aligned_alloc(PAGE, BYTES); }
static void with_registered(void) {
  with_pages();
  prepared(cuMemHostRegister_v2(w.pages, BYTES, 0));
}
static void with_device(void) { prepared(cuMemAlloc_v2(&w.device, BYTES)); }
static void with_managed(void) { prepared(cuMemAllocManaged(&w.device, BYTES, 1)); }
static void with_pool(void) {
  prepared(cuMemAllocAsync(&w.device, BYTES, w.stream));
  prepared(cuStreamSynchronize(w.stream));
}
static int module_load(void) {
  return cuModuleLoadData(&w.module, ".version 6.4\n.target sm_50\n.address_size 64\n.visible .entry none() { ret; }\n");
}
static void with_module(void) { prepared(module_load()); }
static void with_graph(void) {
  void *node;
  prepared(cuGraphCreate(&w.graph, 0));
  prepared(cuGraphAddEmptyNode(&node, w.graph, NULL, 0));
}
static void with_exec(void) {
  with_graph();
  prepared(cuGraphInstantiateWithFlags(&w.exec, w.graph, 0));
}
static void with_array(void) { prepared(cuArrayCreate_v2(&w.array, &ARRAY)); }

static int launch(void *stream) {
  unsigned rounds = 1;
  void *parameters[] = {&rounds};
  return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

static const struct { /* CUDA_ARRAY3D_DESCRIPTOR */
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
} DEEP = {64, 64, 1, 1, 1, 0};
static const int ON_DEVICE[22] = {1, 0, 1, 0}; /* CUmemAllocationProp, CUmemPoolProps */
static const int ACCESS[3] = {1, 0, 3};        /* CUmemAccessDesc */
enum { GRANULE = 2 << 20 };
static const char NONE[] = ".version 6.4\n.target sm_50\n.address_size 64\n.visible .entry none() { ret; }\n";

static void with_pitched(void) { prepared(cuMipmappedArrayCreate(&w.array, &DEEP, 2)); }
static int library_load(void) { return cuLibraryLoadData(&w.module, NONE, NULL, NULL, 0, NULL, NULL, 0); }
static void with_library(void) { prepared(library_load()); }
static int pool_create(void) { return cuMemPoolCreate(&w.made, ON_DEVICE); }
static void with_new_pool(void) { prepared(pool_create()); }
static void with_addresses(void) { prepared(cuMemAddressReserve(&w.device, GRANULE, 0, 0, 0)); }
static void with_handle(void) { prepared(cuMemCreate(&w.handle, GRANULE, ON_DEVICE, 0)); }
static void with_both(void) {
  with_addresses();
  with_handle();
}
static void with_mapping(void) {
  with_both();
  prepared(cuMemMap(w.device, GRANULE, 0, w.handle, 0));
}
static void with_context(void) {
  prepared(cuCtxCreate_v2(&w.made, 0, 0));
  prepared(cuCtxSetCurrent(context));
}
static void host_function(void *argument) { (void)argument; }

#define ACT(name, call) \
  static int name(void) { return call; }
ACT(free_host, cuMemFreeHost(w.host))
ACT(host_alloc, cuMemHostAlloc(&w.host, BYTES, 0))
ACT(host_alloc_mapped, cuMemHostAlloc(&w.host, BYTES, 2))
ACT(host_register, cuMemHostRegister_v2(w.pages, BYTES, 0))
ACT(host_unregister, cuMemHostUnregister(w.pages))
ACT(alloc, cuMemAlloc_v2(&w.device, BYTES))
ACT(free_device, cuMemFree_v2(w.device))
ACT(alloc_managed, cuMemAllocManaged(&w.device, BYTES, 1))
ACT(alloc_async, cuMemAllocAsync(&w.device, BYTES, w.stream))
ACT(free_async, cuMemFreeAsync(w.device, w.stream))
static int get_info(void) {
  size_t free, total;
  return cuMemGetInfo_v2(&free, &total);
}
ACT(context_synchronize, cuCtxSynchronize())
ACT(stream_synchronize, cuStreamSynchronize(w.stream))
ACT(stream_synchronize_legacy, cuStreamSynchronize(NULL))
ACT(stream_synchronize_captured, cuStreamSynchronize(w.captured))
ACT(stream_query, cuStreamQuery(w.stream))
ACT(stream_query_legacy, cuStreamQuery(NULL))
ACT(stream_query_captured, cuStreamQuery(w.captured))
static int is_capturing_legacy(void) {
  int status;
  return cuStreamIsCapturing(NULL, &status);
}
ACT(event_query, cuEventQuery(w.event))
ACT(event_synchronize, cuEventSynchronize(w.event))
ACT(event_record, cuEventRecord(w.event, w.stream))
ACT(event_record_legacy, cuEventRecord(w.event, NULL))
ACT(event_create, cuEventCreate(&w.made, 0))
ACT(stream_create, cuStreamCreate(&w.made, NON_BLOCKING))
ACT(copy_to, cuMemcpyHtoD_v2(target, bytes, BYTES))
ACT(copy_from, cuMemcpyDtoH_v2(bytes, target, BYTES))
ACT(copy_within, cuMemcpyDtoD_v2(target, target + BYTES / 2, BYTES / 2))
ACT(copy_async, cuMemcpyHtoDAsync_v2(target, bytes, BYTES, w.stream))
ACT(copy_async_legacy, cuMemcpyHtoDAsync_v2(target, bytes, BYTES, NULL))
ACT(fill, cuMemsetD8_v2(target, 1, BYTES))
ACT(fill_async, cuMemsetD8Async(target, 1, BYTES, w.stream))
ACT(launch_other, launch(w.stream))
ACT(launch_legacy, launch(NULL))
ACT(module_unload, cuModuleUnload(w.module))
ACT(instantiate, cuGraphInstantiateWithFlags(&w.exec, w.graph, 0))
ACT(graph_launch, cuGraphLaunch(w.exec, w.stream))
ACT(exec_destroy, cuGraphExecDestroy(w.exec))
ACT(array_create, cuArrayCreate_v2(&w.array, &ARRAY))
ACT(array_destroy, cuArrayDestroy(w.array))

ACT(alloc_pitch, cuMemAllocPitch_v2(&w.device, (size_t *)&w.handle, 256, 64, 4))
ACT(address_range, cuMemGetAddressRange_v2(&w.device, (size_t *)&w.handle, target))
ACT(pointer_attribute, cuPointerGetAttribute(&w.device, 2, target))
ACT(mipmapped_create, cuMipmappedArrayCreate(&w.array, &DEEP, 2))
ACT(mipmapped_destroy, cuMipmappedArrayDestroy(w.array))
ACT(deep_create, cuArray3DCreate_v2(&w.array, &DEEP))
ACT(library_unload, cuLibraryUnload(w.module))
ACT(get_kernel, cuLibraryGetKernel(&w.made, w.module, "none"))
ACT(get_function, cuModuleGetFunction(&w.made, w.module, "none"))
ACT(function_count, cuModuleGetFunctionCount((unsigned *)&w.handle, w.module))
ACT(stream_destroy, cuStreamDestroy_v2(w.made))
static void with_stream(void) { prepared(cuStreamCreate(&w.made, NON_BLOCKING)); }
ACT(event_destroy, cuEventDestroy_v2(w.made))
static void with_event(void) {
  prepared(cuEventCreate(&w.made, 0));
  prepared(cuEventRecord(w.made, w.stream));
}
ACT(elapsed, cuEventElapsedTime_v2((float *)&w.handle, w.event, w.made))
ACT(set_limit, cuCtxSetLimit(1, 1 << 20))
ACT(get_limit, cuCtxGetLimit((size_t *)&w.handle, 1))
ACT(reset_l2, cuCtxResetPersistingL2Cache())
ACT(priorities, cuCtxGetStreamPriorityRange((int *)&w.handle, (int *)&w.device))
static int trim(void) {
  void *pool;
  int r = cuDeviceGetDefaultMemPool(&pool, 0);
  return r ? r : cuMemPoolTrimTo(pool, 0);
}
ACT(pool_destroy, cuMemPoolDestroy(w.made))
ACT(reserve, cuMemAddressReserve(&w.device, GRANULE, 0, 0, 0))
ACT(address_free, cuMemAddressFree(w.device, GRANULE))
ACT(create, cuMemCreate(&w.handle, GRANULE, ON_DEVICE, 0))
ACT(release, cuMemRelease(w.handle))
ACT(map, cuMemMap(w.device, GRANULE, 0, w.handle, 0))
ACT(unmap, cuMemUnmap(w.device, GRANULE))
ACT(set_access, cuMemSetAccess(w.device, GRANULE, ACCESS, 1))
ACT(graph_create, cuGraphCreate(&w.graph, 0))
ACT(graph_clone, cuGraphClone(&w.made, w.graph))
ACT(graph_destroy, cuGraphDestroy(w.graph))
static int update(void) {
  uint64_t result[4];
  return cuGraphExecUpdate_v2(w.exec, w.graph, result);
}
ACT(upload, cuGraphUpload(w.exec, w.stream))
static int ipc(void) {
  char handle[64];
  return cuIpcGetMemHandle(handle, target);
}
ACT(prefetch, cuMemPrefetchAsync_v2(w.device, BYTES, 1, 0, w.stream))
ACT(host_function_other, cuLaunchHostFunc(w.stream, host_function, NULL))
ACT(host_function_legacy, cuLaunchHostFunc(NULL, host_function, NULL))
ACT(get_attribute, cuFuncGetAttribute((int *)&w.handle, 0, kernel))
ACT(set_attribute, cuFuncSetAttribute(kernel, 8, 0))
ACT(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor((int *)&w.handle, kernel, 32, 0))
ACT(stream_priority, cuStreamGetPriority(w.stream, (int *)&w.handle))
ACT(wait_event, cuStreamWaitEvent(w.stream, w.event, 0))
ACT(wait_event_legacy, cuStreamWaitEvent(NULL, w.event, 0))
ACT(write_value, cuStreamWriteValue32_v2(w.stream, target, 1, 0))
ACT(graph_trim, cuDeviceGraphMemTrim(0))
static int context_create(void) {
  int r = cuCtxCreate_v2(&w.made, 0, 0);
  RUN(cuCtxSetCurrent(context));
  return r;
}
ACT(context_destroy, cuCtxDestroy_v2(w.made))
ACT(copy_back_async, cuMemcpyDtoHAsync_v2(bytes, target, BYTES, w.stream))
static int alloc_in_mode(int mode) {
  RUN(cuThreadExchangeStreamCaptureMode(&mode));
  int r = alloc();
  RUN(cuThreadExchangeStreamCaptureMode(&mode));
  return r;
}
ACT(alloc_relaxed, alloc_in_mode(2))
ACT(alloc_thread, alloc_in_mode(1))
static int begin_other(void) {
  void *graph;
  int r = cuStreamBeginCapture_v2(w.stream, 2);
  return r ? r : cuStreamEndCapture(w.stream, &graph);
}

static int end_capture(void) {
  void *graph;
  return cuStreamEndCapture(w.captured, &graph);
}

static const struct {
  const char *name;
  void (*prepare)(void);
  int (*act)(void);
} CALLS[] = {
    {"cuMemHostAlloc", nothing, host_alloc},
    {"cuMemHostAlloc, mapped", nothing, host_alloc_mapped},
    {"cuMemFreeHost", with_pinned, free_host},
    {"cuMemFreeHost, mapped", with_mapped, free_host},
    {"cuMemHostRegister", with_pages, host_register},
    {"cuMemHostUnregister", with_registered, host_unregister},
    {"cuMemAlloc", nothing, alloc},
    {"cuMemFree", with_device, free_device},
    {"cuMemAllocManaged", nothing, alloc_managed},
    {"cuMemFree, managed", with_managed, free_device},
    {"cuMemAllocAsync, other stream", nothing, alloc_async},
    {"cuMemFreeAsync, other stream", with_pool, free_async},
    {"cuMemGetInfo", nothing, get_info},
    {"cuCtxSynchronize", nothing, context_synchronize},
    {"cuStreamSynchronize, other stream", nothing, stream_synchronize},
    {"cuStreamSynchronize, legacy stream", nothing, stream_synchronize_legacy},
    {"cuStreamSynchronize, captured stream", nothing, stream_synchronize_captured},
    {"cuStreamQuery, other stream", nothing, stream_query},
    {"cuStreamQuery, legacy stream", nothing, stream_query_legacy},
    {"cuStreamQuery, captured stream", nothing, stream_query_captured},
    {"cuStreamIsCapturing, legacy stream", nothing, is_capturing_legacy},
    {"cuEventQuery", nothing, event_query},
    {"cuEventSynchronize", nothing, event_synchronize},
    {"cuEventRecord, other stream", nothing, event_record},
    {"cuEventRecord, legacy stream", nothing, event_record_legacy},
    {"cuEventCreate", nothing, event_create},
    {"cuStreamCreate", nothing, stream_create},
    {"cuMemcpyHtoD", nothing, copy_to},
    {"cuMemcpyDtoH", nothing, copy_from},
    {"cuMemcpyDtoD", nothing, copy_within},
    {"cuMemcpyHtoDAsync, other stream", nothing, copy_async},
    {"cuMemcpyHtoDAsync, legacy stream", nothing, copy_async_legacy},
    {"cuMemsetD8", nothing, fill},
    {"cuMemsetD8Async, other stream", nothing, fill_async},
    {"cuLaunchKernel, other stream", nothing, launch_other},
    {"cuLaunchKernel, legacy stream", nothing, launch_legacy},
    {"cuModuleLoadData", nothing, module_load},
    {"cuModuleUnload", with_module, module_unload},
    {"cuGraphInstantiate", with_graph, instantiate},
    {"cuGraphLaunch, other stream", with_exec, graph_launch},
    {"cuGraphExecDestroy", with_exec, exec_destroy},
    {"cuArrayCreate", nothing, array_create},
    {"cuArrayDestroy", with_array, array_destroy},
    {"cuMemAllocPitch", nothing, alloc_pitch},
    {"cuMemGetAddressRange", nothing, address_range},
    {"cuPointerGetAttribute", nothing, pointer_attribute},
    {"cuMipmappedArrayCreate", nothing, mipmapped_create},
    {"cuMipmappedArrayDestroy", with_pitched, mipmapped_destroy},
    {"cuArray3DCreate", nothing, deep_create},
    {"cuLibraryLoadData", nothing, library_load},
    {"cuLibraryUnload", with_library, library_unload},
    {"cuLibraryGetKernel", with_library, get_kernel},
    {"cuModuleGetFunction", with_module, get_function},
    {"cuModuleGetFunctionCount", with_module, function_count},
    {"cuStreamDestroy", with_stream, stream_destroy},
    {"cuEventDestroy", with_event, event_destroy},
    {"cuEventElapsedTime", with_event, elapsed},
    {"cuCtxSetLimit", nothing, set_limit},
    {"cuCtxGetLimit", nothing, get_limit},
    {"cuCtxResetPersistingL2Cache", nothing, reset_l2},
    {"cuCtxGetStreamPriorityRange", nothing, priorities},
    {"cuMemPoolTrimTo", nothing, trim},
    {"cuMemPoolCreate", nothing, pool_create},
    {"cuMemPoolDestroy", with_new_pool, pool_destroy},
    {"cuMemAddressReserve", nothing, reserve},
    {"cuMemAddressFree", with_addresses, address_free},
    {"cuMemCreate", nothing, create},
    {"cuMemRelease", with_handle, release},
    {"cuMemMap", with_both, map},
    {"cuMemUnmap", with_mapping, unmap},
    {"cuMemSetAccess", with_mapping, set_access},
    {"cuGraphCreate", nothing, graph_create},
    {"cuGraphClone", with_graph, graph_clone},
    {"cuGraphDestroy", with_graph, graph_destroy},
    {"cuGraphExecUpdate", with_exec, update},
    {"cuGraphUpload", with_exec, upload},
    {"cuIpcGetMemHandle", nothing, ipc},
    {"cuMemPrefetchAsync, other stream", with_managed, prefetch},
    {"cuLaunchHostFunc, other stream", nothing, host_function_other},
    {"cuLaunchHostFunc, legacy stream", nothing, host_function_legacy},
    {"cuFuncGetAttribute", nothing, get_attribute},
    {"cuFuncSetAttribute", nothing, set_attribute},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", nothing, occupancy},
    {"cuStreamGetPriority", nothing, stream_priority},
    {"cuStreamWaitEvent, other stream", nothing, wait_event},
    {"cuStreamWaitEvent, legacy stream", nothing, wait_event_legacy},
    {"cuStreamWriteValue32, other stream", nothing, write_value},
    {"cuDeviceGraphMemTrim", nothing, graph_trim},
    {"cuCtxCreate", nothing, context_create},
    {"cuCtxDestroy", with_context, context_destroy},
    {"cuMemcpyDtoHAsync, other stream", nothing, copy_back_async},
    {"cuMemAlloc, the thread relaxed", nothing, alloc_relaxed},
    {"cuMemAlloc, the thread as if captures were its own", nothing, alloc_thread},
    {"a capture of another stream", nothing, begin_other},
    {"cuStreamEndCapture", nothing, end_capture},
};
enum { COUNT = sizeof CALLS / sizeof *CALLS };

struct act {
  int (*act)(void);
  int result;
};

static void *elsewhere(void *argument) {
  struct act *act = argument;
  RUN(cuCtxSetCurrent(context));
  act->result = act->act();
  return NULL;
}

/* Prints what the call and the end of the capture answer. */
static void one(int call, unsigned flags, int mode, int is_elsewhere) {
  void *graph = NULL;
  pthread_t thread;
  memset(&w, 0, sizeof w);
  RUN(cuStreamCreate(&w.captured, flags));
  RUN(cuStreamCreate(&w.stream, NON_BLOCKING));
  RUN(cuEventCreate(&w.event, 0));
  RUN(cuEventRecord(w.event, w.stream));
  CALLS[call].prepare();
  if (w.refused) {
    printf(" -");
    return;
  }
  RUN(cuCtxSynchronize());
  struct act act = {.act = CALLS[call].act};
  RUN(cuStreamBeginCapture_v2(w.captured, mode));
  RUN(cuMemsetD8Async(target, 1, BYTES, w.captured));
  if (is_elsewhere) {
    pthread_create(&thread, NULL, elsewhere, &act);
    pthread_join(thread, NULL);
  } else {
    act.result = act.act();
  }
  int ended = cuStreamEndCapture(w.captured, &graph);
  printf(" %d/%d", act.result, ended);
  if (graph) RUN(cuGraphDestroy(graph));
  cuCtxSynchronize(); /* a call that was posted may have failed */
  RUN(cuStreamDestroy_v2(w.captured));
  RUN(cuStreamDestroy_v2(w.stream));
  RUN(cuEventDestroy_v2(w.event));
}

/* Whether a call that frees waits for a kernel in another stream while one is captured. */
static void waits(const char *name, void (*prepare)(void), int (*act)(void)) {
  unsigned rounds = 100 << 20; /* far longer than the call takes */
  void *parameters[] = {&rounds}, *graph = NULL;
  memset(&w, 0, sizeof w);
  RUN(cuStreamCreate(&w.captured, NON_BLOCKING));
  RUN(cuStreamCreate(&w.stream, NON_BLOCKING));
  RUN(cuEventCreate(&w.event, 0));
  prepare();
  RUN(w.refused);
  RUN(cuStreamBeginCapture_v2(w.captured, 2));
  RUN(cuMemsetD8Async(target, 1, BYTES, w.captured));
  RUN(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, w.stream, parameters, NULL));
  RUN(cuEventRecord(w.event, w.stream));
  int result = act(), after = cuEventQuery(w.event);
  printf("%s beside a kernel: %d, the kernel %s", name, result, after == 600 ? "runs" : after ? "failed" : "is over");
  printf(", the capture ends with %d\n", cuStreamEndCapture(w.captured, &graph));
  RUN(cuCtxSynchronize());
}

/* Two captures by two threads, of which the second, or a third one, makes a call: its result, and those of the two ends. */
struct pair {
  void *first, *second;
  int mode, is_third, result, ended;
  int (*act)(void);
};

static void *second_capture(void *argument) {
  struct pair *pair = argument;
  struct act act = {.act = pair->act};
  void *graph = NULL;
  pthread_t third;
  RUN(cuCtxSetCurrent(context));
  RUN(cuStreamBeginCapture_v2(pair->second, pair->mode));
  RUN(cuMemsetD8Async(target, 1, BYTES, pair->second));
  if (pair->is_third) {
    pthread_create(&third, NULL, elsewhere, &act);
    pthread_join(third, NULL);
  } else {
    act.result = act.act();
  }
  pair->result = act.result;
  pair->ended = cuStreamEndCapture(pair->second, &graph);
  return NULL;
}

static void two(const char *name, unsigned flags, int is_third, int (*act)(void)) {
  printf("two captures, %s from the %s thread:", name, is_third ? "third" : "second");
  for (int first = 0; first < 3; first++) {
    for (int second = 0; second < 3; second++) {
      struct pair pair = {.mode = second, .is_third = is_third, .act = act};
      void *graph = NULL;
      pthread_t thread;
      memset(&w, 0, sizeof w);
      RUN(cuStreamCreate(&pair.first, flags));
      RUN(cuStreamCreate(&pair.second, flags));
      RUN(cuCtxSynchronize());
      RUN(cuStreamBeginCapture_v2(pair.first, first));
      RUN(cuMemsetD8Async(target, 1, BYTES, pair.first));
      pthread_create(&thread, NULL, second_capture, &pair);
      pthread_join(thread, NULL);
      int ended = cuStreamEndCapture(pair.first, &graph);
      printf(" %d/%d/%d", pair.result, ended, pair.ended);
      cuCtxSynchronize();
      RUN(cuStreamDestroy_v2(pair.first));
      RUN(cuStreamDestroy_v2(pair.second));
    }
    printf(first < 2 ? " |" : "\n");
  }
}

int main(void) {
  kernel = load_spin();
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuMemAlloc_v2(&target, BYTES));
  printf(
      "call: its result and that of the capture's end, for the modes global, thread, relaxed; then from another thread; then all "
      "of it for a"
      " stream that does not wait for the legacy stream\n");
  for (int call = 0; call < COUNT; call++) {
    printf("%s:", CALLS[call].name);
    for (unsigned flags = 0; flags < 2; flags++) {
      for (int is_elsewhere = 0; is_elsewhere < 2; is_elsewhere++) {
        for (int mode = 0; mode < 3; mode++) one(call, flags, mode, is_elsewhere);
        printf(flags && is_elsewhere ? "\n" : " |");
      }
    }
    fflush(stdout);
  }
  for (int is_third = 0; is_third < 2; is_third++) {
    two("cuMemAlloc", NON_BLOCKING, is_third, alloc);
    two("a launch in the legacy stream", 0, is_third, launch_legacy);
  }
  waits("cuMemFreeHost", with_pinned, free_host);
  waits("cuMemHostUnregister", with_registered, host_unregister);
  waits("cuMemFree", with_device, free_device);
  waits("cuArrayDestroy", with_array, array_destroy);
  return 0;
}
