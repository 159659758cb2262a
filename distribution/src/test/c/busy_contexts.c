/* Contexts that are destroyed while copies, fills and host functions of theirs are under way, some of them in a stream that is destroyed before. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxCreate_v2(void **context, unsigned flags, int device);
int cuCtxDestroy_v2(void *context);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);

enum { ROUNDS = 40, BYTES = 3 << 20, LITTLE = 70000, KEPT = 4096, NON_BLOCKING = 1, DEVICE_MAP = 2 };

static unsigned char pageable[BYTES];

static void slow(void *unused) {
  (void)unused;
  usleep(1000);
}

static void round_of(int i) {
  void *context, *streams[3], *pinned;
  uint64_t memory;
  RUN(cuCtxCreate_v2(&context, 0, 0));
  for (int k = 0; k < 3; k++) RUN(cuStreamCreate(&streams[k], NON_BLOCKING));
  RUN(cuMemAlloc_v2(&memory, BYTES));
  RUN(cuMemHostAlloc(&pinned, BYTES, DEVICE_MAP));
  RUN(cuMemsetD8Async(memory, 1, BYTES, NULL));
  RUN(cuMemsetD8Async(memory, 2, BYTES, streams[0]));
  if (i % 3 == 0) RUN(cuLaunchHostFunc(streams[0], slow, NULL));
  RUN(cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, streams[0]));
  if (i % 4 == 1) RUN(cuMemcpyDtoHAsync_v2(pageable, memory, LITTLE, streams[1]));
  RUN(cuMemcpyHtoDAsync_v2(memory, pageable, BYTES, streams[2]));
  if (i % 5 == 2) RUN(cuStreamDestroy_v2(streams[0]));
  RUN(cuCtxDestroy_v2(context));
}

int main(void) {
  void *primary;
  uint64_t kept;
  int right = 0;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&primary, 0));
  RUN(cuCtxSetCurrent(primary));
  RUN(cuMemAlloc_v2(&kept, KEPT));
  RUN(cuMemsetD8Async(kept, 7, KEPT, NULL));
  RUN(cuCtxSynchronize());
  for (int i = 0; i < ROUNDS; i++) {
    unsigned char found[KEPT] = {0};
    round_of(i);
    RUN(cuCtxSetCurrent(primary));
    RUN(cuMemcpyDtoH_v2(found, kept, KEPT));
    right += found[0] == 7 && memcmp(found, found + 1, KEPT - 1) == 0;
  }
  printf("right: %d of %d\n", right, ROUNDS);
  return 0;
}
