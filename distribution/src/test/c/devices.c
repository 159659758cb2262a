/* One program on two devices: the same library's kernel runs on both, with more shared memory than the default limit, and data
 * is copied between the devices. Built with gcc alone. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuLibraryLoadData(void **library, const void *code, void *jit, void **jit_values, unsigned jit_count, void *options,
                      void **values, unsigned count);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device);
int cuKernelSetAttribute(int attribute, int value, void *kernel, int device);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".extern .shared .align 4 .b8 room[];\n"
    ".visible .entry last(.param .u64 p, .param .u32 at, .param .u32 value) {\n"
    "  .reg .u64 %rd<2>; .reg .u32 %r<6>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [at]; ld.param.u32 %r2, [value];\n"
    "  mov.u32 %r3, room; add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r2; ld.shared.u32 %r4, [%r3];\n"
    "  st.global.u32 [%rd1], %r4; ret;\n}\n";

enum { MAX_DYNAMIC_SHARED = 8, SHARED = 64 << 10 };

int main(void) {
  void *context[2], *library, *kernel;
  uint64_t memory[2];
  int count, before;
  RUN(cuInit(0));
  RUN(cuDeviceGetCount(&count));
  printf("devices %d\n", count);
  if (count < 2) return 1;
  RUN(cuDeviceCanAccessPeer(&before, 0, 1));
  for (int i = 0; i < 2; i++) RUN(cuDevicePrimaryCtxRetain(&context[i], i));
  RUN(cuCtxSetCurrent(context[0]));
  RUN(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 0));
  RUN(cuLibraryGetKernel(&kernel, library, "last"));
  RUN(cuKernelSetAttribute(MAX_DYNAMIC_SHARED, SHARED, kernel, 0));
  RUN(cuKernelGetAttribute(&before, MAX_DYNAMIC_SHARED, kernel, 1));
  printf("the other device's kernel %s\n", before < SHARED ? "as it was" : "changed");
  RUN(cuKernelSetAttribute(MAX_DYNAMIC_SHARED, SHARED, kernel, 1));
  for (unsigned i = 0; i < 2; i++) {
    unsigned at = SHARED - 4, value = 40 + i;
    void *parameters[] = {&memory[i], &at, &value};
    int blocks;
    RUN(cuCtxSetCurrent(context[i]));
    RUN(cuMemAlloc_v2(&memory[i], 4));
    RUN(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, SHARED));
    RUN(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, SHARED, NULL, parameters, NULL));
    RUN(cuCtxSynchronize());
    RUN(cuMemcpyDtoH_v2(&value, memory[i], 4));
    printf("device %u: %u, blocks %s\n", i, value, blocks > 0 ? "fit" : "do not fit");
  }
  unsigned value;
  RUN(cuMemcpyPeer(memory[0], context[0], memory[1], context[1], 4));
  RUN(cuMemcpyDtoH_v2(&value, memory[0], 4));
  printf("copied: %u\n", value);
  return 0;
}
