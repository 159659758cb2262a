/* Keeps the device busy for as many seconds as the second argument says with what the first one names: copies to the device ("to"), copies
 * from the device ("from"), or kernels ("compute"). The second half of the copies is of pinned memory, and does not wait for each copy. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spin.h"

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemAllocHost_v2(void **pointer, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);

#define BYTES ((size_t)8 << 20)
enum { QUEUED = 4, MILLION = 1000000 };

static uint64_t memory;
static void *plain, *pinned, *kernel;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / (1000.0 * MILLION);
}

static void work(const char *what, int waits) {
  for (int i = 0; i < QUEUED; i++) {
    if (!strcmp(what, "compute")) {
      launch_spin(kernel, MILLION);
    } else if (!strcmp(what, "to")) {
      RUN(waits ? cuMemcpyHtoD_v2(memory, plain, BYTES) : cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, NULL));
    } else {
      RUN(waits ? cuMemcpyDtoH_v2(plain, memory, BYTES) : cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, NULL));
    }
  }
  RUN(cuCtxSynchronize());
}

int main(int count, char **words) {
  double seconds = count == 3 ? atof(words[2]) : 0;
  if (seconds <= 0 || !(plain = calloc(1, BYTES))) return 2;
  kernel = load_spin();
  RUN(cuMemAlloc_v2(&memory, BYTES));
  RUN(cuMemAllocHost_v2(&pinned, BYTES));
  for (double begin = now(); now() < begin + seconds;) work(words[1], now() < begin + seconds / 2);
  return 0;
}
