/* A program that ends badly: stray long SECONDS keeps one kernel on the GPU for that time, stray fault writes to an address that it was not
 * given, in a kernel that has run for a second. Prints "running as PID" when the kernel has begun, then the driver's answer. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Waits for a number of nanoseconds, sets *flag to 1 first, and writes to the address bad at the end. */
static const char code[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry stray(.param .u64 flag, .param .u64 ns, .param .u64 bad)\n{\n"
    ".reg .pred %p;\n.reg .b64 %a<8>;\n.reg .b32 %r<2>;\n"
    "ld.param.u64 %a1, [flag];\nld.param.u64 %a2, [ns];\nld.param.u64 %a3, [bad];\n"
    "mov.u32 %r1, 1;\nst.volatile.global.u32 [%a1], %r1;\n"
    "mov.u64 %a4, %globaltimer;\n"
    "LOOP:\nmov.u64 %a5, %globaltimer;\nsub.u64 %a6, %a5, %a4;\nsetp.lt.u64 %p, %a6, %a2;\n@%p bra LOOP;\n"
    "setp.eq.u64 %p, %a3, 0;\n@%p bra DONE;\nst.global.u32 [%a3], %r1;\nDONE:\nret;\n}\n";

static void *library;
static int call(const char *name, int result) {
  if (result) printf("error %d of %s\n", result, name);
  if (result) exit(1);
  return result;
}
#define CU(name, parameters, ...) call(#name, ((int(*) parameters)dlsym(library, #name))(__VA_ARGS__))

int main(int argc, char **argv) {
  int fault = argc > 1 && !strcmp(argv[1], "fault");
  uint64_t ns = fault ? 1000000000ull : (uint64_t)(atof(argc > 2 ? argv[2] : "10") * 1e9), bad = fault ? 0x10000 : 0;
  void *context, *module, *function;
  volatile uint32_t *flag;
  uint64_t device_flag;
  setlinebuf(stdout);
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  CU(cuInit, (unsigned), 0);
  CU(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
  CU(cuCtxSetCurrent, (void *), context);
  CU(cuModuleLoadData, (void **, const void *), &module, code);
  CU(cuModuleGetFunction, (void **, void *, const char *), &function, module, "stray");
  CU(cuMemHostAlloc, (void *, size_t, unsigned), &flag, 4096, 3);
  *flag = 0;
  CU(cuMemHostGetDevicePointer_v2, (uint64_t *, volatile void *, unsigned), &device_flag, flag, 0);
  void *parameters[] = {&device_flag, &ns, &bad};
  CU(cuLaunchKernel,
     (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **), function, 1, 1, 1, 1,
     1, 1, 0, NULL, parameters, NULL);
  ((int (*)(void *))dlsym(library, "cuStreamQuery"))(NULL); /* sends the launch */
  printf("running as %d\n", getpid());
  int result = ((int (*)(void))dlsym(library, "cuCtxSynchronize"))();
  printf("cuCtxSynchronize answers %d\n", result);
  return result != 0;
}
