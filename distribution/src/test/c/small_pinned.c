/* Many small pieces of pinned memory: each is zero when it is allocated, is a page or more of its own, and holds what the device copies to it, also while
 * others are freed and allocated. */
#include <stdint.h>
#include <string.h>

#include "spin.h"

enum { COUNT = 3000, ROUNDS = 4, NON_BLOCKING = 1 };

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t count, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuCtxCreate_v2(void **made, unsigned flags, int device);

static struct piece {
  unsigned char *memory;
  size_t bytes;
} pieces[COUNT];

static uint64_t device;
static void *stream;
static unsigned seed = 1;

static unsigned below(unsigned limit) { return (seed = seed * 1664525 + 1013904223) / 65536 % limit; }
static unsigned char mark(unsigned i, unsigned round) { return (unsigned char)(1 + (i * 7 + round) % 255); }

static void allocate(unsigned i) {
  void *memory;
  pieces[i].bytes = below(20) ? 1 + below(9000) : 1 + below(400) * 1024;
  RUN(cuMemHostAlloc(&memory, pieces[i].bytes, 0));
  pieces[i].memory = memory;
  for (size_t k = 0; k < pieces[i].bytes; k++) {
    if (pieces[i].memory[k]) printf("piece %u is not zero\n", i), exit(1);
  }
  if ((uintptr_t)memory % 4096) printf("piece %u begins within a page\n", i), exit(1);
}

static void fill(unsigned i, unsigned round) {
  RUN(cuMemsetD8Async(device, mark(i, round), pieces[i].bytes, stream));
  RUN(cuMemcpyDtoHAsync_v2(pieces[i].memory, device, pieces[i].bytes, stream));
}

static void look(unsigned i, unsigned round) {
  for (size_t k = 0; k < pieces[i].bytes; k++) {
    if (pieces[i].memory[k] != mark(i, round)) printf("piece %u has %u for %u\n", i, pieces[i].memory[k], mark(i, round)), exit(1);
  }
}

static void use(void) {
  unsigned of[COUNT] = {0};
  RUN(cuMemAlloc_v2(&device, 400 * 1024));
  RUN(cuStreamCreate(&stream, NON_BLOCKING));
  for (unsigned i = 0; i < COUNT; i++) {
    allocate(i);
    fill(i, 0);
  }
  for (unsigned round = 1; round < ROUNDS; round++) {
    RUN(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < COUNT; i++) look(i, of[i]);
    for (unsigned n = 0; n < COUNT / 4; n++) {
      unsigned i = below(COUNT);
      RUN(cuMemFreeHost(pieces[i].memory)); /* while copies to others may be under way */
      allocate(i);
      fill(i, of[i] = round);
    }
  }
  RUN(cuStreamSynchronize(stream));
  for (unsigned i = 0; i < COUNT; i++) look(i, of[i]);
  for (unsigned i = 0; i < COUNT; i++) RUN(cuMemFreeHost(pieces[i].memory));
}

int main(int count, char **arguments) {
  void *made;
  load_spin();
  if (count > 1 && !strcmp(arguments[1], "two-contexts")) RUN(cuCtxCreate_v2(&made, 0, 0));
  use();
  printf("as it should be\n");
  return 0;
}
