/* A file of which the program has two mappings, both registered, is one memory for kernels too: two kernels, each with one of the
 * addresses, wait for each other's words. NCCL's ranks in one process do this. Then the first mapping goes. Built with gcc alone. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *pointer);
int cuMemHostGetDevicePointer_v2(uint64_t *device, void *host, unsigned flags);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuStreamCreate(void **stream, unsigned flags);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

/* Adds 1 to the word "mine", and waits, not for ever, until the word "other" is no longer 0. Word 2 + mine is then 1, or 2 if it stayed 0. */
static const char PTX[] =
    ".version 6.4\n.target sm_60\n.address_size 64\n"
    ".visible .entry meet(.param .u64 p, .param .u32 mine, .param .u32 other) {\n"
    "  .reg .u64 %rd<6>; .reg .u32 %r<8>; .reg .pred %q<3>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [mine]; ld.param.u32 %r2, [other];\n"
    "  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd1, %rd3;\n"
    "  ld.global.u32 %r3, [%rd2]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd2], %r3; mov.u32 %r4, 0; mov.u32 %r5, 1;\n"
    "again:\n"
    "  ld.volatile.global.u32 %r6, [%rd3]; setp.ne.u32 %q1, %r6, 0; @%q1 bra met;\n"
    "  add.u32 %r4, %r4, 1; setp.lt.u32 %q2, %r4, 30000000; @%q2 bra again; mov.u32 %r5, 2;\n"
    "met:\n"
    "  st.global.u32 [%rd2+8], %r5; ret;\n}\n";

enum { BYTES = 1 << 16, AT = 4096 / 4 };

static void *meet;

static unsigned *mapped(int file, uint64_t *device) {
  unsigned *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  RUN(memory == MAP_FAILED);
  RUN(cuMemHostRegister_v2(memory, BYTES, 3)); /* PORTABLE, DEVICEMAP */
  RUN(cuMemHostGetDevicePointer_v2(device, memory, 0));
  return memory;
}

static void launch(uint64_t memory, unsigned mine, unsigned other, void *stream) {
  uint64_t p = memory + AT * 4;
  void *parameters[] = {&p, &mine, &other};
  RUN(cuLaunchKernel(meet, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

int main(void) {
  void *context, *module, *streams[2];
  uint64_t devices[2];
  unsigned five = 5;
  int file = memfd_create("twice", 0);
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&meet, module, "meet"));
  RUN(ftruncate(file, BYTES));
  unsigned *first = mapped(file, &devices[0]), *second = mapped(file, &devices[1]);
  for (int i = 0; i < 2; i++) RUN(cuStreamCreate(&streams[i], 1));
  for (int i = 0; i < 2; i++) launch(devices[i], (unsigned)i, (unsigned)!i, streams[i]);
  RUN(cuCtxSynchronize());
  printf("kernels: %u %u %u %u\n", first[AT], first[AT + 1], second[AT + 2], second[AT + 3]);
  RUN(cuMemHostUnregister(first));
  RUN(munmap(first, BYTES));
  second[AT] = 10;
  launch(devices[1], 0, 1, streams[0]);
  RUN(cuCtxSynchronize());
  printf("without the first: %u %u\n", second[AT], second[AT + 2]);
  RUN(cuMemcpyHtoD_v2(devices[1] + AT * 4, &five, sizeof five));
  printf("copied: %u\n", second[AT]);
  RUN(cuMemHostUnregister(second));
  return 0;
}
