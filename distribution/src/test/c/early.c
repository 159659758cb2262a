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
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t count, void *stream);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyBatchAsync_v2(uint64_t *to, uint64_t *from, size_t *sizes, size_t count, void *attributes, size_t *first, size_t attribute_count, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);

static unsigned char copy[BYTES], right[BYTES];

/* How many of the blocks do not hold what the pinned memory held for them. */
static int wrong_blocks(const uint64_t *device) {
  int wrong = 0;
  for (int i = 0; i < TIMES; i++) {
    RUN(cuMemcpyDtoH_v2(copy, device[i], BYTES));
    memset(right, i + 1, BYTES);
    wrong += memcmp(copy, right, BYTES) != 0;
  }
  return wrong;
}

int main(void) {
  void *context, *stream;
  unsigned char *pinned;
  uint64_t device[TIMES];
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
  printf("copies with other bytes: %d\n", wrong_blocks(device));

  for (int i = 0; i < TIMES; i++) RUN(cuMemsetD8Async(device[i], 0, BYTES, stream));

  /* CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL allows it. */
  for (int i = TIMES - 1; i >= 0; i--) {
    uint32_t during_call[6] = {2};
    uint64_t from = (uintptr_t)pinned;
    size_t bytes = BYTES, first = 0;
    memset(pinned, i + 1, BYTES);
    RUN(cuMemcpyBatchAsync_v2(&device[i], &from, &bytes, 1, during_call, &first, 1, stream));
  }
  RUN(cuStreamSynchronize(stream));
  printf("batches with other bytes: %d\n", wrong_blocks(device));
  return 0;
}
