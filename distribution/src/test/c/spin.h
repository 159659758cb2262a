/* A kernel that keeps the device busy: it counts to its argument. */
#ifndef SPIN_H
#define SPIN_H

#include <stddef.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

/* Makes the primary context of the first device current, and loads the kernel. */
static void *load_spin(void) {
  static const char PTX[] =
      ".version 6.4\n.target sm_50\n.address_size 64\n"
      ".visible .entry spin(.param .u32 rounds) {\n"
      "  .reg .u32 %r<3>; .reg .pred %p;\n"
      "  ld.param.u32 %r1, [rounds]; mov.u32 %r2, 0;\n"
      "again: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r1; @%p bra again; ret;\n}\n";
  void *context, *module, *kernel;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&kernel, module, "spin"));
  return kernel;
}

/* Queues the kernel in the legacy stream. */
static void launch_spin(void *kernel, unsigned rounds) {
  void *parameters[] = {&rounds};
  RUN(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
}

#endif
