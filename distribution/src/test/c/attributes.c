/* What a CUDA runtime does with each kernel at a program's start: it gets the kernel, asks for ten attributes, and launches it. With an argument
 * the same with functions of modules. Then the attributes of another device are read, and one is set. Built with gcc alone. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuLibraryLoadData(void **library, const void *code, void *jit, void **jit_values, unsigned jit_count, void *options,
                      void **values, unsigned count);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuModuleLoadData(void **module, const void *code);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

#define KERNEL(name, bytes, threads) \
  ".visible .entry " name "()\n.maxntid " threads ", 1, 1\n{\n.shared .align 4 .b8 kept[" bytes "]; .reg .u32 %r;\n" \
  "mov.u32 %r, kept; st.shared.u32 [%r], %r; ret;\n}\n"

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n" KERNEL("one", "64", "96") KERNEL("two", "128", "160");

enum { MAX_THREADS = 0, STATIC_SHARED = 1, MAX_DYNAMIC_SHARED = 8 };

static int attribute(void *function, int which) {
  int value;
  RUN(cuFuncGetAttribute(&value, which, function));
  return value;
}

int main(int argc, char **argv) {
  void *context[2], *code, *function[2];
  const char *names[] = {"one", "two"};
  int modules = argc > 1;
  RUN(cuInit(0));
  for (int i = 0; i < 2; i++) RUN(cuDevicePrimaryCtxRetain(&context[i], i));
  RUN(cuCtxSetCurrent(context[0]));
  if (modules) {
    RUN(cuModuleLoadData(&code, PTX));
  } else {
    RUN(cuLibraryLoadData(&code, PTX, NULL, NULL, 0, NULL, NULL, 0));
  }
  for (int i = 0; i < 2; i++) {
    if (modules) {
      RUN(cuModuleGetFunction(&function[i], code, names[i]));
    } else {
      RUN(cuLibraryGetKernel(&function[i], code, names[i]));
    }
    for (int j = 0; j < 10; j++) attribute(function[i], j);
    printf("%s: %d threads, %d bytes\n", names[i], attribute(function[i], MAX_THREADS), attribute(function[i], STATIC_SHARED));
    RUN(cuLaunchKernel(function[i], 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  }
  RUN(cuCtxSynchronize());
  RUN(cuFuncSetAttribute(function[0], MAX_DYNAMIC_SHARED, 60000));
  printf("set: %d and %d\n", attribute(function[0], MAX_DYNAMIC_SHARED), attribute(function[1], MAX_DYNAMIC_SHARED));
  if (modules) return 0; /* a function belongs to one context */
  RUN(cuCtxSetCurrent(context[1]));
  for (int j = 0; j < 10; j++) attribute(function[0], j);
  printf("the other device: %d\n", attribute(function[0], MAX_DYNAMIC_SHARED));
  return 0;
}
