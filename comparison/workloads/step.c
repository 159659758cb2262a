/* A step of a training loop: a batch to the device, launches, and one number back, for which the program waits. */
#include <string.h>

#include "workload.h"

#define BATCH (64u << 10)
#define LAUNCHES 50

static void one(handle function, devptr data, const void *batch, handle stream) {
  unsigned n = BATCH / 4, sum;
  void *parameters[] = {&data, &n};
  CALL(cuMemcpyHtoDAsync_v2(data, batch, BATCH, stream));
  for (int i = 0; i < LAUNCHES; i++) launch(function, n / 256, 256, stream, parameters);
  CALL(cuMemcpyDtoHAsync_v2(&sum, data, sizeof sum, stream));
  CALL(cuStreamSynchronize(stream));
  unsigned expected;
  memcpy(&expected, batch, sizeof expected);
  if (sum != expected + LAUNCHES) fail("a step counted to %u instead of %u", sum, expected + LAUNCHES);
}

void steps(void) {
  handle stream, function = kernel("bump");
  CALL(cuStreamCreate(&stream, 1));
  devptr data = device_memory(BATCH);
  void *batch = pinned_memory(BATCH);
  double t[1000];
  one(function, data, batch, stream); /* the first one compiles */
  unsigned count = scaled(10);
  if (count > sizeof t / sizeof *t) count = sizeof t / sizeof *t;
  for (unsigned i = 0; i < count; i++) {
    double start = now();
    one(function, data, batch, stream);
    t[i] = (now() - start) / 1e3;
  }
  figures("step", 0, t, (int)count, "ms");
}
