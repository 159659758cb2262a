/* Managed memory within the session's limit of 32 MiB, beside code with a system-wide atomic. Built with gcc alone. */
#include <stdint.h>
#include <stdio.h>

#include "check.h"

#define MIB (1ull << 20)

static const char PTX[] =
    ".version 6.4\n.target sm_60\n.address_size 64\n"
    ".visible .entry add(.param .u64 p) {\n"
    "  .reg .u64 %rd<2>; .reg .u32 %r<2>;\n"
    "  ld.param.u64 %rd1, [p]; atom.global.sys.add.u32 %r1, [%rd1], 1; ret;\n}\n";

int cuModuleLoadData(void **module, const void *image);

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemFree_v2(uint64_t pointer);
int cuMemGetInfo_v2(size_t *free, size_t *total);

static void left(const char *when) {
  size_t available, total;
  RUN(cuMemGetInfo_v2(&available, &total));
  printf("%s: %llu of %llu MiB free\n", when, (unsigned long long)(available / MIB), (unsigned long long)(total / MIB));
}

int main(void) {
  void *context, *module;
  uint64_t managed, device;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  left("at first");
  RUN(cuMemAllocManaged(&managed, 20 * MIB, 1));
  left("20 MiB managed");
  RUN(cuModuleLoadData(&module, PTX));
  printf("20 MiB more: %d managed, ", cuMemAllocManaged(&device, 20 * MIB, 1));
  printf("%d of the device\n", cuMemAlloc_v2(&device, 20 * MIB));
  RUN(cuMemFree_v2(managed));
  left("freed");
  for (int i = 0; i < 5; i++) { /* nothing is counted twice, nor given back twice */
    RUN(cuMemAllocManaged(&managed, 20 * MIB, 1));
    RUN(cuMemFree_v2(managed));
  }
  left("at last");
  return 0;
}
