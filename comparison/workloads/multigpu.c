/* The same work on one device and spread over several: data up, a kernel on it, data down, on each. */
#include <stdlib.h>
#include <string.h>

#include "workload.h"

struct part {
  devptr data, sums;
  handle bump, spin;
  unsigned *host;
};

static double run(struct part *parts, int count, unsigned words) {
  unsigned each = words / (unsigned)count, iterations = scaled(20000) * 2 / (unsigned)count;
  double start = now();
  for (int i = 0; i < count; i++) {
    struct part *p = &parts[i];
    use_device(i);
    CALL(cuMemcpyHtoDAsync_v2(p->data, p->host, each * 4, NULL));
    void *bump[] = {&p->data, &each}, *spin[] = {&p->sums, &iterations};
    launch(p->bump, (each + BLOCK - 1) / BLOCK, BLOCK, NULL, bump);
    launch(p->spin, 1, 32, NULL, spin);
    CALL(cuMemcpyDtoHAsync_v2(p->host, p->data, each * 4, NULL));
  }
  for (int i = 0; i < count; i++) {
    use_device(i);
    CALL(cuCtxSynchronize());
  }
  return now() - start;
}

void multi_gpu(void) {
  int count = options.devices, there = devices();
  if (there < count) unsupported("%d devices are wanted, and there %s %d", count, there == 1 ? "is" : "are", there);
  unsigned words = scaled(4 << 20);
  struct part *parts = calloc((size_t)count, sizeof *parts);
  for (int i = 0; i < count; i++) {
    use_device(i);
    parts[i].data = device_memory(words * 4);
    parts[i].sums = device_memory(32 * sizeof(float));
    parts[i].host = pinned_memory(words * 4);
    parts[i].bump = kernel("bump");
    parts[i].spin = kernel("spin");
    memset(parts[i].host, 0, words * 4);
  }
  run(parts, count, words);
  double one = run(parts, 1, words), all = run(parts, count, words);
  /* The first device bumped its first part three times, its rest once; the others theirs twice. */
  unsigned each = words / (unsigned)count;
  if (parts[0].host[0] != 3 || parts[0].host[words - 1] != 1 || parts[1].host[each - 1] != 2) fail("multi-gpu: a wrong result");
  figure("one-device", 1, one / 1e3, "ms");
  figure("all-devices", (size_t)count, all / 1e3, "ms");
  figure("speed-up", (size_t)count, one / all, "x");
  free(parts);
}
