/* usage: weights MEGABYTES [SEED]. Copies weights to the device as a program does that loads a model: half of them from pageable memory, half from pinned
 * memory in a stream; then reads them back. Prints how long the copies took, and whether the device has what was copied. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

#define TENSOR (20u << 20)

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuStreamCreate(void **stream, unsigned flags);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Random floats from -1 to 1, which cannot be compressed much. */
static void fill(float *weights, size_t bytes, uint64_t seed) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < bytes / sizeof *weights; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    weights[i] = (float)(int64_t)x / 9.3e18f;
  }
}

int main(int count, char **words) {
  size_t bytes = (size_t)(count > 1 ? atoi(words[1]) : 64) << 20, half = bytes / 2;
  char *pageable = malloc(half), *back = malloc(bytes);
  void *context, *stream, *pinned;
  uint64_t memory;
  if (!pageable || !back) return 1;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuStreamCreate(&stream, 1));
  RUN(cuMemAlloc_v2(&memory, bytes));
  RUN(cuMemHostAlloc(&pinned, half, 0));
  uint64_t seed = count > 2 ? (uint64_t)atoi(words[2]) : 1;
  fill((float *)(void *)pageable, half, seed);
  fill(pinned, half, seed + 1000);
  RUN(cuCtxSynchronize());
  double begun = now();
  for (size_t at = 0; at < half; at += TENSOR) {
    size_t take = half - at < TENSOR ? half - at : TENSOR;
    RUN(cuMemcpyHtoD_v2(memory + at, pageable + at, take));
    RUN(cuMemcpyHtoDAsync_v2(memory + half + at, (char *)pinned + at, take, stream));
  }
  RUN(cuCtxSynchronize());
  printf("copied in %.2f s\n", now() - begun);
  RUN(cuMemcpyDtoH_v2(back, memory, bytes));
  int same = !memcmp(back, pageable, half) && !memcmp(back + half, pinned, half);
  printf("%s\n", same ? "same" : "different");
  return !same;
}
