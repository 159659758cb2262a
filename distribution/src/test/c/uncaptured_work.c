/* Work and questions that CUDA does not capture, in a captured stream, in another one and in one whose capture is invalid; cooperative launches whose
 * parameters lie in a buffer, in a capture and as nodes. */
#include <stdint.h>
#include <string.h>

#include "spin.h"

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemPrefetchAsync(uint64_t pointer, size_t bytes, int device, void *stream);
int cuMemPrefetchBatchAsync(uint64_t *pointers, size_t *sizes, size_t count, void *locations, size_t *indices, size_t location_count,
                            unsigned long long flags, void *stream);
int cuMemDiscardBatchAsync(uint64_t *pointers, size_t *sizes, size_t count, unsigned long long flags, void *stream);
int cuMemDiscardAndPrefetchBatchAsync(uint64_t *pointers, size_t *sizes, size_t count, void *locations, size_t *indices,
                                      size_t location_count, unsigned long long flags, void *stream);
int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes, void *stream);
int cuMemcpy3DPeerAsync(const void *copy, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamAttachMemAsync(void *stream, uint64_t pointer, size_t bytes, unsigned flags);
int cuStreamAddCallback(void *stream, void (*function)(void *, int, void *), void *data, unsigned flags);
int cuStreamGetFlags(void *stream, unsigned *flags);
int cuStreamGetId(void *stream, unsigned long long *id);
int cuStreamGetDevice(void *stream, int *device);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphCreate(void **graph, unsigned flags);
int cuGraphDestroy(void *graph);
int cuGraphAddKernelNode_v2(void **node, void *graph, const void **dependencies, size_t count, const void *parameters);
int cuGraphKernelNodeSetAttribute(void *node, int attribute, const void *value);
int cuLaunchKernelEx(const void *config, void *function, void **parameters, void **extra);

enum { BYTES = 1 << 16, HOST = -1, GLOBAL = 1, MODES = 3, COOPERATIVE = 2 };

static uint64_t managed, device;
static void *context;

static int prefetch(void *stream) { return cuMemPrefetchAsync(managed, BYTES, HOST, stream); }
static size_t bytes = BYTES, first;
static uint32_t place[8] = {1}; /* CUmemLocation: the first device */
static int prefetch_batch(void *stream) { return cuMemPrefetchBatchAsync(&managed, &bytes, 1, place, &first, 1, 0, stream); }
static int discard(void *stream) { return cuMemDiscardBatchAsync(&managed, &bytes, 1, 0, stream); }
static int discard_and_prefetch(void *stream) {
  return cuMemDiscardAndPrefetchBatchAsync(&managed, &bytes, 1, place, &first, 1, 0, stream);
}
static int attach(void *stream) { return cuStreamAttachMemAsync(stream, managed, 0, GLOBAL); }
static void nothing(void *stream, int result, void *data) { (void)stream, (void)result, (void)data; }
static int callback(void *stream) { return cuStreamAddCallback(stream, nothing, NULL, 0); }
static int copy(void *stream) { return cuMemcpyPeerAsync(device, context, device + 4096, context, 64, stream); }
static int copy3D(void *stream) {
  uint64_t c[25] = {0}; /* CUDA_MEMCPY3D_PEER: from device memory to device memory */
  c[4] = c[15] = 2;
  c[6] = device + 4096;
  c[17] = device;
  c[8] = c[19] = (uint64_t)(uintptr_t)context;
  c[9] = c[20] = c[22] = 64;
  c[10] = c[21] = c[23] = c[24] = 1;
  return cuMemcpy3DPeerAsync(c, stream);
}
static int flags(void *stream) {
  unsigned value;
  return cuStreamGetFlags(stream, &value);
}
static int identity(void *stream) {
  unsigned long long value;
  return cuStreamGetId(stream, &value);
}
static int device_of(void *stream) {
  int value;
  return cuStreamGetDevice(stream, &value);
}

static const struct {
  const char *name;
  int (*act)(void *stream);
} calls[] = {{"cuMemPrefetchAsync", prefetch},
             {"cuMemPrefetchBatchAsync", prefetch_batch},
             {"cuMemDiscardBatchAsync", discard},
             {"cuMemDiscardAndPrefetchBatchAsync", discard_and_prefetch},
             {"cuStreamAttachMemAsync", attach},
             {"cuStreamAddCallback", callback},
             {"cuMemcpyPeerAsync", copy},
             {"cuMemcpy3DPeerAsync", copy3D},
             {"cuStreamGetFlags", flags},
             {"cuStreamGetId", identity},
             {"cuStreamGetDevice", device_of}};

/* In the captured stream, once more in it, at the end of the capture, in the stream after it; in another stream beside a capture, and at its end. */
static void try(int i) {
  printf("%s:", calls[i].name);
  for (int mode = 0; mode < MODES; mode++) {
    void *captured, *other, *graph = NULL;
    RUN(cuStreamCreate(&captured, 1));
    RUN(cuStreamCreate(&other, 1));
    RUN(cuStreamBeginCapture_v2(captured, mode));
    printf(" %d", calls[i].act(captured));
    printf("/%d", calls[i].act(captured));
    printf("/%d", cuStreamEndCapture(captured, &graph));
    printf("/%d", calls[i].act(captured));
    RUN(cuStreamBeginCapture_v2(captured, mode));
    printf("/%d", calls[i].act(other));
    printf("/%d", cuStreamEndCapture(captured, &graph));
    RUN(cuGraphDestroy(graph));
    RUN(cuCtxSynchronize());
    RUN(cuStreamDestroy_v2(captured));
    RUN(cuStreamDestroy_v2(other));
  }
  printf("\n");
}

static int launch(void *kernel, void *stream, int is_cooperative, void **parameters, void **extra) {
  uint32_t attribute[18] = {COOPERATIVE, 0, (uint32_t)is_cooperative};
  struct {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned count;
  } config = {{1, 1, 1}, {1, 1, 1}, 0, stream, attribute, 1};
  return cuLaunchKernelEx(&config, kernel, parameters, extra);
}

static int set_cooperative(void *node, int value) {
  uint32_t attribute[16] = {(uint32_t)value};
  return cuGraphKernelNodeSetAttribute(node, COOPERATIVE, attribute);
}

static void launches(void *kernel) {
  unsigned rounds = 1;
  size_t size = sizeof rounds;
  void *parameters[] = {&rounds}, *extra[] = {(void *)1, &rounds, (void *)2, &size, NULL}, *stream, *graph = NULL, *node;
  RUN(cuStreamCreate(&stream, 1));
  printf("packed: %d", launch(kernel, stream, 1, NULL, extra));
  RUN(cuStreamBeginCapture_v2(stream, 0));
  printf(", captured %d", launch(kernel, stream, 1, NULL, extra));
  printf(", not cooperative %d", launch(kernel, stream, 0, NULL, extra));
  printf(", by pointers %d", launch(kernel, stream, 1, parameters, NULL));
  printf(", the end %d\n", cuStreamEndCapture(stream, &graph));
  RUN(cuGraphDestroy(graph));
  struct {
    void *function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    void *kernel, *context;
  } p = {kernel, {1, 1, 1}, {1, 1, 1}, 0, NULL, extra, NULL, NULL};
  RUN(cuGraphCreate(&graph, 0));
  RUN(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
  /* The software device has no attributes of nodes. */
  printf("packed node: %s", set_cooperative(node, 1) == 1 ? "invalid" : "accepted");
  printf(", not cooperative: %s", set_cooperative(node, 0) == 1 ? "invalid" : "accepted");
  p.parameters = parameters;
  p.extra = NULL;
  RUN(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &p));
  printf(", by pointers: %s\n", set_cooperative(node, 1) == 1 ? "invalid" : "accepted");
}

int main(void) {
  void *kernel = load_spin();
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuMemAlloc_v2(&device, BYTES));
  RUN(cuMemAllocManaged(&managed, BYTES, GLOBAL));
  for (int i = 0; i < (int)(sizeof calls / sizeof *calls); i++) try(i);
  launches(kernel);
  return 0;
}
