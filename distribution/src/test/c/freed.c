/* Memory that is freed is gone for the program, however soon it allocates again, and memory that is allocated is zero, as the driver gives it. Memory that a call
 * refuses to free stays. */
#include <stdint.h>

#include "check.h"

enum { BYTES = 1 << 20, TIMES = 300 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream);
int cuMemFree_v2(uint64_t pointer);
int cuMemFreeAsync(uint64_t pointer, void *stream);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostUnregister(void *pointer);
int cuMemUnmap(uint64_t pointer, size_t bytes);
int cuMemGetInfo_v2(size_t *left, size_t *total);
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t count);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);

/* Allocates and frees often, so that memory is given again, and returns the address that was freed last. */
static uint64_t freed(void) {
  uint64_t p;
  for (int i = 0; i < TIMES; i++) {
    unsigned char byte = 0, value = (unsigned char)(i | 1);
    RUN(cuMemAlloc_v2(&p, BYTES));
    for (int at = 0; at < BYTES; at += BYTES / 4 - 1) {
      RUN(cuMemcpyDtoH_v2(&byte, p + at, 1));
      if (byte) printf("%d in new memory\n", byte);
    }
    RUN(cuMemsetD8_v2(p, value, BYTES));
    RUN(cuMemcpyDtoH_v2(&byte, p + BYTES - 1, 1));
    if (byte != value) printf("%d in memory that holds %d\n", byte, value);
    RUN(cuMemFree_v2(p));
  }
  return p;
}

/* Calls that refuse to end memory leave it as it is. */
static void refused(void) {
  uint64_t p;
  void *host;
  RUN(cuMemAlloc_v2(&p, BYTES));
  printf("device memory: unmapped %d\n", cuMemUnmap(p, BYTES));
  RUN(cuMemsetD8_v2(p, 1, BYTES));
  RUN(cuMemFree_v2(p));
  RUN(cuMemAllocManaged(&p, BYTES, 1));
  printf("managed memory: unmapped %d\n", cuMemUnmap(p, BYTES));
  printf("managed memory: freed in a stream %d\n", cuMemFreeAsync(p, NULL));
  RUN(cuMemsetD8_v2(p, 1, BYTES));
  RUN(cuMemFree_v2(p));
  RUN(cuMemHostAlloc(&host, BYTES, 2));
  p = (uint64_t)(uintptr_t)host;
  printf("pinned memory: unregistered %d\n", cuMemHostUnregister(host));
  printf("pinned memory: freed in a stream %d\n", cuMemFreeAsync(p, NULL));
  RUN(cuMemsetD8_v2(p, 1, BYTES));
  RUN(cuMemFreeHost(host));
}

int main(void) {
  void *context;
  size_t before, after, total;
  uint64_t p, q;
  unsigned char byte;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  freed();
  RUN(cuMemGetInfo_v2(&before, &total));
  p = freed();
  RUN(cuMemGetInfo_v2(&after, &total));
  printf("all memory is free again: %s\n", before == after ? "yes" : "no");
  p = freed();
  printf("freed twice: %d\n", cuMemFree_v2(p));
  p = freed();
  printf("read: %d\n", cuMemcpyDtoH_v2(&byte, p, 1));
  p = freed();
  printf("written: %d\n", cuMemsetD8_v2(p, 1, 1));

  /* Memory that was freed just before does not stand in the way of the largest allocation. */
  RUN(cuMemAlloc_v2(&p, 200 << 20));
  RUN(cuMemFree_v2(p));
  RUN(cuMemAlloc_v2(&p, after));
  printf("memory for more: %d\n", cuMemAlloc_v2(&q, BYTES));
  RUN(cuMemFree_v2(p));

  /* cuMemAlloc does not give memory that cuMemFreeAsync has freed and the stream has given again. */
  RUN(cuMemAlloc_v2(&p, BYTES));
  RUN(cuMemFreeAsync(p, NULL));
  printf("freed again: %d\n", cuMemFree_v2(p));
  RUN(cuMemAllocAsync(&q, 2 * BYTES, NULL));
  RUN(cuMemFree_v2(q));
  RUN(cuMemAlloc_v2(&p, BYTES));
  RUN(cuMemAlloc_v2(&q, BYTES));
  printf("two blocks at the same place: %s\n", p < q + BYTES && q < p + BYTES ? "yes" : "no");
  refused();
  RUN(cuCtxSynchronize());
  return 0;
}
