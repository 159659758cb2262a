/* Has the driver compile PTX: as a module, as a library and by the linker. Prints how long each took, and waits for the end of its
   standard input, so that the compute caches can be looked at. gcc compile.c libcuda.so.1 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../distribution/src/test/c/check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLibraryLoadData(void **library, const void *code, void *options, void **values, unsigned count, void *more, void **more_values,
                      unsigned more_count);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuKernelGetFunction(void **function, void *kernel);
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state);
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned count, int *options, void **values);
int cuLinkComplete(void *state, void **cubin, size_t *size);

enum { LINES = 20000, PTX_INPUT = 1, NOT_SUPPORTED = 801 };

/* A kernel that takes the compiler a while. */
static char *kernel(const char *name, int seed) {
  size_t size = LINES * 80 + 1000, at;
  char *text = malloc(size);
  if (!text) exit(2);
  at = (size_t)sprintf(text,
                       ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry %s(.param .u64 p)\n{\n.reg .b64 %%d<4>;\n"
                       ".reg .f32 %%f<8>;\nld.param.u64 %%d1, [p];\ncvta.to.global.u64 %%d1, %%d1;\nld.global.f32 %%f1, [%%d1];\n"
                       "ld.global.f32 %%f2, [%%d1+4];\n",
                       name);
  for (int i = 0; i < LINES; i++) {
    at += (size_t)sprintf(text + at, "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f%08x;\n", 1 + i % 5, 1 + (i + 1) % 5, 1 + (i + 3) % 5,
                          0x3f800000u + (unsigned)(i * 131 + seed) % 0x7fffff);
  }
  sprintf(text + at, "st.global.f32 [%%d1], %%f1;\nret;\n}\n");
  return text;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

int main(void) {
  void *context, *module, *library, *symbol, *function, *state, *cubin;
  size_t size;
  char *module_text = kernel("m", 1), *library_text = kernel("l", 2), *link_text = kernel("k", 3), byte;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  double start = now();
  RUN(cuModuleLoadData(&module, module_text));
  RUN(cuModuleGetFunction(&function, module, "m"));
  double with_module = now();
  RUN(cuLibraryLoadData(&library, library_text, NULL, NULL, 0, NULL, NULL, 0));
  RUN(cuLibraryGetKernel(&symbol, library, "l"));
  RUN(cuKernelGetFunction(&function, symbol));
  double with_library = now();
  int linker = cuLinkCreate_v2(0, NULL, NULL, &state);
  if (linker != NOT_SUPPORTED) { /* the software device has none */
    check(linker, "cuLinkCreate_v2");
    RUN(cuLinkAddData_v2(state, PTX_INPUT, link_text, strlen(link_text) + 1, "k", 0, NULL, NULL));
    RUN(cuLinkComplete(state, &cubin, &size));
  }
  double with_link = now();
  printf("module %.0f ms, library %.0f ms, link %.0f ms\n", with_module - start, with_library - with_module, with_link - with_library);
  fflush(stdout);
  while (read(0, &byte, 1) > 0) {
  }
  return 0;
}
