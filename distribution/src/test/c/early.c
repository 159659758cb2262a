/* A program that writes pinned memory as soon as an asynchronous copy of it has returned, which CUDA does not allow, and which libraries do all the
 * same: natively the GPU has read the memory by then. */
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { BYTES = 4 << 20, TIMES = 20 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);

int main(void) {
  static unsigned char copy[BYTES], right[BYTES];
  void *context, *stream;
  unsigned char *pinned;
  uint64_t device[TIMES];
  int wrong = 0;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuStreamCreate(&stream, 1));
  RUN(cuMemHostAlloc((void **)&pinned, BYTES, 0));
  for (int i = 0; i < TIMES; i++) RUN(cuMemAlloc_v2(&device[i], BYTES));
  for (int i = 0; i < TIMES; i++) {
    memset(pinned, i + 1, BYTES);
    RUN(cuMemcpyHtoDAsync_v2(device[i], pinned, BYTES, stream));
  }
  RUN(cuStreamSynchronize(stream));
  for (int i = 0; i < TIMES; i++) {
    RUN(cuMemcpyDtoH_v2(copy, device[i], BYTES));
    memset(right, i + 1, BYTES);
    wrong += memcmp(copy, right, BYTES) != 0;
  }
  printf("copies with other bytes: %d\n", wrong);
  return 0;
}
