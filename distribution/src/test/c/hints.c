/* Prefetching managed memory is work in a stream: a wait for that stream waits for what blocking streams and the legacy stream had to do
 * before, so that the program may use the memory then (natively so on an H200, where attaching memory is no such work). */
#include <stdint.h>

#include "spin.h"

int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t bytes, void *stream);
int cuMemPrefetchAsync(uint64_t pointer, size_t bytes, int device, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);

enum { BYTES = 5000, ROUNDS = 10, GLOBAL = 1, HOST = -1 };

static void *spin;
static uint64_t memory, elsewhere;

static void prefetch(void *stream) { RUN(cuMemPrefetchAsync(memory, BYTES, HOST, stream)); }
static void prefetch_another(void *stream) { RUN(cuMemPrefetchAsync(elsewhere, BYTES, HOST, stream)); }

static void try(const char *name, void (*hint)(void *stream), void *works, void *waits) {
  const volatile unsigned char *bytes = (const volatile unsigned char *)(uintptr_t)memory;
  int right = 0;
  for (int round = 1; round <= ROUNDS; round++) {
    unsigned rounds = 3000000;
    void *parameters[] = {&rounds};
    RUN(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, works, parameters, NULL));
    RUN(cuMemsetD8Async(memory, (unsigned char)round, BYTES, works));
    hint(waits);
    RUN(cuStreamSynchronize(waits));
    right += bytes[0] == round && bytes[BYTES - 1] == round;
    RUN(cuCtxSynchronize());
  }
  printf("%s: %d of %d right\n", name, right, ROUNDS);
}

int main(void) {
  void *blocking;
  spin = load_spin();
  RUN(cuStreamCreate(&blocking, 0));
  RUN(cuMemAllocManaged(&memory, BYTES, GLOBAL));
  RUN(cuMemAllocManaged(&elsewhere, BYTES, GLOBAL));
  try("prefetched in a blocking stream", prefetch, NULL, blocking);
  try("prefetched in the legacy stream", prefetch, blocking, NULL);
  try("other memory prefetched", prefetch_another, NULL, blocking);
  return 0;
}
