/* What a program still has when a context is gone: the context, a module, its function, an event, pinned and managed memory. */
#include <stdint.h>
#include <string.h>

#include "spin.h"

int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxGetCurrent(void **context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxGetId(void *context, unsigned long long *id);
int cuCtxGetDevice(int *device);
int cuCtxRecordEvent(void *context, void *event);
int cuDevicePrimaryCtxReset_v2(int device);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy_v2(void *event);
int cuEventRecord(void *event, void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemFree_v2(uint64_t pointer);
int cuModuleUnload(void *module);
int cuModuleGetFunctionCount(unsigned *count, void *module);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostGetFlags(unsigned *flags, void *pointer);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemAdvise(uint64_t pointer, size_t bytes, int advice, int device);

enum { BYTES = 1 << 16, MANY = 200 };

static const char PTX[] = ".version 6.4\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

struct things {
  void *module, *function, *event;
  unsigned char *pinned;
  uint64_t managed, pooled;
};

static void make(struct things *t) {
  RUN(cuModuleLoadData(&t->module, PTX));
  RUN(cuModuleGetFunction(&t->function, t->module, "nothing"));
  RUN(cuEventCreate(&t->event, 0));
  RUN(cuMemHostAlloc((void **)&t->pinned, BYTES, 2));
  RUN(cuMemAllocManaged(&t->managed, BYTES, 1));
  RUN(cuMemAllocAsync(&t->pooled, BYTES, NULL));
  RUN(cuMemsetD8Async(t->pooled, 5, BYTES, NULL));
  memset(t->pinned, 7, BYTES);
  RUN(cuLaunchKernel(t->function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  RUN(cuCtxSynchronize());
}

/* Calls in another context, which must not get a late error by them. */
static void use(const char *name, struct things *t) {
  unsigned number;
  int value;
  printf("%s: launch %d", name, cuLaunchKernel(t->function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  printf(", attribute %d", cuFuncGetAttribute(&value, 0, t->function));
  printf(", functions %d", cuModuleGetFunctionCount(&number, t->module));
  printf(", unload %d", cuModuleUnload(t->module));
  printf(", flags %d", cuMemHostGetFlags(&number, t->pinned));
  printf(", advice %d", cuMemAdvise(t->managed, BYTES, 1, 0));
  printf(", free %d, again %d", cuMemFreeHost(t->pinned), cuMemFreeHost(t->pinned));
  printf("; later %d\n", cuCtxSynchronize());
}

/* The event went with its context, and the pool's memory did not (H200, driver 580). */
static void use_outliving(const struct things *t) {
  static unsigned char bytes[BYTES];
  printf("its event: record %d, await %d, destroy %d", cuEventRecord(t->event, NULL), cuStreamWaitEvent(NULL, t->event, 0),
         cuEventDestroy_v2(t->event));
  int read = cuMemcpyDtoH_v2(bytes, t->pooled, BYTES), freed = cuMemFree_v2(t->pooled);
  printf("; a pool's memory: read %d, %d and %d, free %d, again %d", read, bytes[0], bytes[BYTES - 1], freed,
         cuMemFree_v2(t->pooled));
  printf("; later %d\n", cuCtxSynchronize());
}

/* A capture in one context while the program waits for all work of another one. */
static void wait_beside_a_capture(void) {
  void *other, *one, *stream, *graph;
  RUN(cuCtxGetCurrent(&other));
  RUN(cuCtxCreate_v2(&one, 0, 0));
  RUN(cuStreamCreate(&stream, 0));
  RUN(cuStreamBeginCapture_v2(stream, 2));
  RUN(cuCtxSetCurrent(other));
  int waited = cuCtxSynchronize();
  RUN(cuCtxSetCurrent(one));
  printf("a capture: wait for another context %d, end %d\n", waited, cuStreamEndCapture(stream, &graph));
  RUN(cuCtxDestroy_v2(one));
  RUN(cuCtxSetCurrent(other));
}

int main(void) {
  struct things t;
  void *gone, *other, *event, *popped;
  unsigned long long id;
  int device;
  load_spin();
  RUN(cuCtxCreate_v2(&gone, 0, 0));
  make(&t);
  RUN(cuCtxDestroy_v2(gone));
  /* New objects do not get the place of a context. */
  for (int i = 0; i < MANY; i++) RUN(cuEventCreate(&event, 0));
  printf("gone: destroy %d, id %d", cuCtxDestroy_v2(gone), cuCtxGetId(gone, &id));
  printf(", record %d, its event %d", cuCtxRecordEvent(gone, event), cuCtxRecordEvent(NULL, t.event));
  printf(", push %d", cuCtxPushCurrent_v2(gone));
  printf(", wait %d, device %d", cuCtxSynchronize(), cuCtxGetDevice(&device));
  printf(", pop %d\n", cuCtxPopCurrent_v2(&popped));
  use("destroyed", &t);
  use_outliving(&t);
  wait_beside_a_capture();
  make(&t);
  RUN(cuDevicePrimaryCtxReset_v2(0));
  RUN(cuDevicePrimaryCtxRetain(&other, 0));
  use("reset and made again", &t);
  make(&t);
  RUN(cuMemFreeHost(t.pinned));
  return 0;
}
