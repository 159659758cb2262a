/* Copies between the device and host memory of each kind, more than a guest's shared memory holds: pinned BYTES. Prints for each kind
 * whether the bytes are right, and on standard error the rates and their ratio to pageable memory's. A kernel then adds 1 to each word
 * of mapped and of managed memory, and its work is copied while the program has not waited for it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemAllocManaged(uint64_t *, size_t, unsigned);
int cuMemFree_v2(uint64_t);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);
int cuMemHostRegister_v2(void *, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(uint64_t *, void *, unsigned);
int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *);
int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);
int cuStreamSynchronize(void *);
int cuModuleLoadData(void **, const char *);
int cuModuleGetFunction(void **, void *, const char *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

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

static uint64_t word(size_t i, uint64_t seed) { return i * 0x9e3779b97f4a7c15u + seed; }

static void fill(uint64_t *memory, uint64_t seed) {
  for (size_t i = 0; i < bytes / 8; i++) memory[i] = word(i, seed);
}

static int is_right(const uint64_t *memory, uint64_t seed, uint64_t more) {
  for (size_t i = 0; i < bytes / 8; i++) {
    if (memory[i] != word(i, seed) + more) return 0;
  }
  return 1;
}

/* Adds 1 to each word of memory, of which there are as many as threads. */
static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u64 n) {\n"
    "  .reg .b64 %rd<6>; .reg .b32 %r<5>; .reg .pred %q;\n"
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3; cvt.u64.u32 %rd1, %r4;\n"
    "  ld.param.u64 %rd2, [n]; setp.ge.u64 %q, %rd1, %rd2; @%q ret;\n"
    "  ld.param.u64 %rd3, [p]; shl.b64 %rd4, %rd1, 3; add.s64 %rd3, %rd3, %rd4;\n"
    "  ld.global.u64 %rd5, [%rd3]; add.s64 %rd5, %rd5, 1; st.global.u64 [%rd3], %rd5;\n"
    "  ret;\n}\n";

static void add(uint64_t memory) {
  void *module, *function;
  uint64_t words = bytes / 8;
  void *parameters[] = {&memory, &words};
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&function, module, "add"));
  CHECK(cuLaunchKernel(function, (unsigned)((words + 255) / 256), 1, 1, 256, 1, 1, 0, NULL, parameters, NULL));
}

/* The kernel's work is copied to the device and from there to pageable memory before the program has waited for the kernel. */
static void compute(const char *kind, uint64_t *memory, uint64_t alias) {
  uint64_t *copy = malloc(bytes);
  fill(memory, 7);
  add(alias);
  CHECK(cuMemcpyHtoDAsync_v2(device, memory, bytes, NULL));
  CHECK(cuMemcpyDtoHAsync_v2(copy, device, bytes, NULL));
  CHECK(cuStreamSynchronize(NULL));
  int right = is_right(copy, 7, 1) && is_right(memory, 7, 1);
  fill(memory, 8);
  add(alias);
  CHECK(cuMemcpyDtoHAsync_v2(memory, device, bytes, NULL));
  CHECK(cuStreamSynchronize(NULL));
  right &= is_right(memory, 7, 1);
  printf("%s with a kernel %s\n", kind, right ? "right" : "WRONG");
  free(copy);
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
    right &= is_right(memory, seed, 0);
    if ((double)bytes / (middle - start) / 1e9 > up) up = (double)bytes / (middle - start) / 1e9;
    if ((double)bytes / (end - again) / 1e9 > down) down = (double)bytes / (end - again) / 1e9;
  }
  if (!pageable_up) pageable_up = up, pageable_down = down;
  printf("%s %s\n", kind, right ? "right" : "WRONG");
  fprintf(stderr, "%-28s to the device %6.2f GB/s (%.2f of pageable), back %6.2f GB/s (%.2f)\n", kind, up, up / pageable_up, down,
          down / pageable_down);
}

int main(int argc, char **argv) {
  void *context, *memory;
  uint64_t alias, managed;
  bytes = argc > 1 ? (size_t)atoll(argv[1]) / 8 * 8 : 64u << 20;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuMemAlloc_v2(&device, bytes));
  memory = malloc(bytes);
  measure("pageable", memory);
  CHECK(cuMemHostRegister_v2(memory, bytes, 0));
  measure("registered", memory);
  /* The shared memory is filled first. */
  for (int i = 0; i < 128; i++) CHECK(cuMemHostAlloc(&memory, 1 << 20, 0));
  for (int i = 0; i < 32; i++) CHECK(cuMemHostAlloc(&memory, 1 << 16, 0));
  CHECK(cuMemHostAlloc(&memory, bytes, 0));
  measure("pinned", memory);
  CHECK(cuMemFreeHost(memory));
  CHECK(cuMemHostAlloc(&memory, bytes, 2));
  measure("pinned and mapped", memory);
  CHECK(cuMemHostGetDevicePointer_v2(&alias, memory, 0));
  measure("with its device address", memory);
  compute("mapped", memory, alias);
  measure("mapped, after the kernel", memory);
  CHECK(cuMemFreeHost(memory));
  CHECK(cuMemAllocManaged(&managed, bytes, 1));
  measure("managed", (void *)(uintptr_t)managed);
  compute("managed", (uint64_t *)(uintptr_t)managed, managed);
  CHECK(cuMemFree_v2(managed));
  return 0;
}
