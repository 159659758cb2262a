/* A kernel has a structure among its parameters, with sizes, and with the address of pinned memory if the program is called with "address".
 * It adds the first size to each word of the memory at the address. Built with gcc alone. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuStreamSynchronize(void *stream);
int cuModuleLoadData(void **module, const void *code);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

enum { WORDS = 1 << 20 };

static const char code[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .align 8 .b8 s[24]) {\n"
    "  .reg .b64 %a<3>; .reg .b32 %r<7>; .reg .pred %q;\n"
    "  ld.param.u32 %r1, [s]; ld.param.u64 %a1, [s+16]; setp.eq.u64 %q, %a1, 0; @%q ret;\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "  mul.wide.u32 %a2, %r5, 4; add.u64 %a1, %a1, %a2; ld.u32 %r6, [%a1]; add.u32 %r6, %r6, %r1; st.u32 [%a1], %r6;\n"
    "  ret;\n}\n";

int main(int argc, char **argv) {
  struct {
    unsigned channels, image, batch, unused;
    uint32_t *address;
  } sizes = {3, 12288, 128, 0, NULL};
  void *context, *module, *kernel, *parameters[] = {&sizes};
  uint32_t *pinned;
  uint64_t device;
  unsigned wrong = 0;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuMemHostAlloc((void **)&pinned, WORDS * sizeof *pinned, 0));
  RUN(cuMemAlloc_v2(&device, WORDS * sizeof *pinned));
  RUN(cuModuleLoadData(&module, code));
  RUN(cuModuleGetFunction(&kernel, module, "add"));
  if (argc > 1 && !strcmp(argv[1], "address")) sizes.address = pinned;
  for (int round = 0; round < 3; round++) {
    for (unsigned i = 0; i < WORDS; i++) pinned[i] = i;
    RUN(cuMemcpyHtoDAsync_v2(device, pinned, WORDS * sizeof *pinned, NULL));
    RUN(cuLaunchKernel(kernel, WORDS / 256, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL));
    RUN(cuStreamSynchronize(NULL));
    for (unsigned i = 0; i < WORDS; i++) wrong += pinned[i] != i + (sizes.address ? sizes.channels : 0);
  }
  printf("%u wrong\n", wrong);
  return wrong != 0;
}
