/* What a program still has when a context is gone: the context, a module, its function, an event, pinned and managed memory. */
#include <stdint.h>
#include <string.h>

#include "spin.h"

int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuCtxGetId(void *context, unsigned long long *id);
int cuCtxGetDevice(int *device);
int cuCtxRecordEvent(void *context, void *event);
int cuDevicePrimaryCtxReset_v2(int device);
int cuEventCreate(void **event, unsigned flags);
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
  uint64_t managed;
};

static void make(struct things *t) {
  RUN(cuModuleLoadData(&t->module, PTX));
  RUN(cuModuleGetFunction(&t->function, t->module, "nothing"));
  RUN(cuEventCreate(&t->event, 0));
  RUN(cuMemHostAlloc((void **)&t->pinned, BYTES, 2));
  RUN(cuMemAllocManaged(&t->managed, BYTES, 1));
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
  make(&t);
  RUN(cuDevicePrimaryCtxReset_v2(0));
  RUN(cuDevicePrimaryCtxRetain(&other, 0));
  use("reset and made again", &t);
  make(&t);
  RUN(cuMemFreeHost(t.pinned));
  return 0;
}
