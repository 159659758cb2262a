/* Copies between the device and host memory of each kind, more than a guest's shared memory holds: pinned MIB. Prints for each kind
 * whether the bytes are right, and on standard error the rates and their ratio to pageable memory's. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);
int cuMemHostRegister_v2(void *, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(uint64_t *, void *, unsigned);
int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *);
int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);
int cuStreamSynchronize(void *);

#define CHECK(call)                                   \
  do {                                                \
    int result = (call);                              \
    if (result) {                                     \
      printf("%s: error %d\n", #call, result);        \
      exit(1);                                        \
    }                                                 \
  } while (0)

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t device;
static size_t bytes;

static void fill(uint64_t *memory, uint64_t seed) {
  for (size_t i = 0; i < bytes / 8; i++) memory[i] = i * 0x9e3779b97f4a7c15u + seed;
}

static double pageable_down, pageable_up;

static void measure(const char *kind, void *memory) {
  static uint64_t seed;
  double up = 0, down = 0;
  int right = 1;
  for (int i = 0; i < 3; i++) {
    fill(memory, ++seed);
    double start = now();
    CHECK(cuMemcpyHtoDAsync_v2(device, memory, bytes, NULL));
    CHECK(cuStreamSynchronize(NULL));
    double middle = now();
    memset(memory, 0, bytes);
    double again = now();
    CHECK(cuMemcpyDtoHAsync_v2(memory, device, bytes, NULL));
    CHECK(cuStreamSynchronize(NULL));
    double end = now();
    for (size_t w = 0; w < bytes / 8; w++) right &= ((uint64_t *)memory)[w] == w * 0x9e3779b97f4a7c15u + seed;
    if (bytes / (middle - start) / 1e9 > up) up = (double)bytes / (middle - start) / 1e9;
    if (bytes / (end - again) / 1e9 > down) down = (double)bytes / (end - again) / 1e9;
  }
  if (!pageable_up) pageable_up = up, pageable_down = down;
  printf("%s %s\n", kind, right ? "right" : "WRONG");
  fprintf(stderr, "%-28s to the device %6.2f GB/s (%.2f of pageable), back %6.2f GB/s (%.2f)\n", kind, up, up / pageable_up, down,
          down / pageable_down);
}

int main(int argc, char **argv) {
  void *context, *memory;
  uint64_t alias;
  bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 64) << 20;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuMemAlloc_v2(&device, bytes));
  memory = aligned_alloc(4096, bytes);
  measure("pageable", memory);
  CHECK(cuMemHostRegister_v2(memory, bytes, 0));
  measure("registered", memory);
  /* What fits fills the shared memory first. */
  for (int i = 0; i < 64; i++) CHECK(cuMemHostAlloc(&memory, 1 << 20, 0));
  CHECK(cuMemHostAlloc(&memory, bytes, 0));
  measure("pinned", memory);
  CHECK(cuMemFreeHost(memory));
  CHECK(cuMemHostAlloc(&memory, bytes, 2));
  measure("pinned and mapped", memory);
  CHECK(cuMemHostGetDevicePointer_v2(&alias, memory, 0));
  measure("with its device address", memory);
  CHECK(cuMemFreeHost(memory));
  return 0;
}
