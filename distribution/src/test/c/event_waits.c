/* Copies to ever new parts of a pool of pinned memory, of which the device has been told, and waits for each by an event alone: with "waits" by
 * cuEventSynchronize, with "questions" by cuEventQuery. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { PARTS = 64, PART = 128 << 10, NON_BLOCKING = 1 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *host, unsigned flags);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t count, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);
int cuEventQuery(void *event);

int main(int argc, char **argv) {
  bool asks = argc > 1 && !strcmp(argv[1], "questions");
  void *context, *filling, *copying, *filled, *copied;
  uint64_t source, target;
  uint8_t *pool;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuMemAlloc_v2(&source, PART));
  RUN(cuMemHostAlloc((void **)&pool, (size_t)PARTS * PART, 0));
  RUN(cuMemHostGetDevicePointer_v2(&target, pool, 0));
  RUN(cuStreamCreate(&filling, NON_BLOCKING));
  RUN(cuStreamCreate(&copying, NON_BLOCKING));
  RUN(cuEventCreate(&filled, 0));
  RUN(cuEventCreate(&copied, 0));
  size_t wrong = 0;
  for (int i = 0; i < PARTS; i++) {
    RUN(cuMemsetD8Async(source, (unsigned char)(i + 1), PART, filling));
    RUN(cuEventRecord(filled, filling));
    RUN(cuStreamWaitEvent(copying, filled, 0));
    RUN(cuMemcpyDtoDAsync_v2(target + (uint64_t)i * PART, source, PART, copying));
    RUN(cuEventRecord(copied, copying));
    if (asks) {
      while (cuEventQuery(copied)) {}
    } else {
      RUN(cuEventSynchronize(copied));
    }
    for (size_t j = 0; j < PART; j++) wrong += pool[(size_t)i * PART + j] != i + 1;
  }
  printf("%zu bytes are wrong\n", wrong);
  return 0;
}
