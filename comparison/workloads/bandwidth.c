/* Copies by size, direction and kind of host memory, as in CUDA's bandwidthTest: copies from and to pinned memory are
 * queued in a stream, and the program waits for the last; with pageable memory each copy is waited for. */
#include <stdlib.h>
#include <string.h>

#include "workload.h"

struct copy {
  devptr device, other;
  void *host;
  size_t bytes;
  handle stream;
};

static void pinned_to_device(void *p) {
  struct copy *c = p;
  CALL(cuMemcpyHtoDAsync_v2(c->device, c->host, c->bytes, c->stream));
}
static void pinned_to_host(void *p) {
  struct copy *c = p;
  CALL(cuMemcpyDtoHAsync_v2(c->host, c->device, c->bytes, c->stream));
}
static void pageable_to_device(void *p) {
  struct copy *c = p;
  CALL(cuMemcpyHtoD_v2(c->device, c->host, c->bytes));
}
static void pageable_to_host(void *p) {
  struct copy *c = p;
  CALL(cuMemcpyDtoH_v2(c->host, c->device, c->bytes));
}
static void within_device(void *p) {
  struct copy *c = p;
  CALL(cuMemcpyDtoDAsync_v2(c->other, c->device, c->bytes, c->stream));
}

/* Checks that data is unchanged after a copy to the device, within it and back. */
static void verify(struct copy c, void (*up)(void *), void (*down)(void *)) {
  c.bytes = options.most < 1 << 20 ? options.most : 1 << 20;
  unsigned *words = c.host;
  size_t count = c.bytes / sizeof *words;
  for (size_t i = 0; i < count; i++) words[i] = (unsigned)(i * 2654435761u);
  up(&c);
  within_device(&c);
  CALL(cuCtxSynchronize());
  memset(words, 0, c.bytes);
  c.device = c.other;
  down(&c);
  CALL(cuCtxSynchronize());
  for (size_t i = 0; i < count; i++) {
    if (words[i] != (unsigned)(i * 2654435761u)) fail("a copy of %zu bytes came back different at byte %zu", c.bytes, i * 4);
  }
}

void bandwidth(void) {
  struct copy c = {.device = device_memory(options.most), .other = device_memory(options.most)};
  CALL(cuStreamCreate(&c.stream, 1));
  void *pinned = pinned_memory(options.most), *pageable = host_memory(options.most);
  const struct {
    const char *name;
    void (*copy)(void *);
    void *host;
  } ways[] = {{"h2d-pinned", pinned_to_device, pinned},
              {"d2h-pinned", pinned_to_host, pinned},
              {"h2d-pageable", pageable_to_device, pageable},
              {"d2h-pageable", pageable_to_host, pageable},
              {"d2d", within_device, NULL}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    c.host = ways[w].host;
    for (c.bytes = 1024; c.bytes <= options.most; c.bytes *= 4) {
      figure(ways[w].name, c.bytes, (double)c.bytes / measured(ways[w].copy, &c), "MB/s");
    }
  }
  c.host = pinned;
  verify(c, pinned_to_device, pinned_to_host);
  c.host = pageable;
  verify(c, pageable_to_device, pageable_to_host);
  CALL(cuMemFreeHost(pinned));
}
