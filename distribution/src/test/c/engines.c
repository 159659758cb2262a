/* Keeps the device busy for as many seconds as the second argument says with what the first one names: copies to the device ("to"), copies
 * from the device ("from"), or kernels ("compute"). The second half of the copies is of pinned memory, and does not wait for each copy. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemAllocHost_v2(void **pointer, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
                   void **parameters, void **extra);

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry spin(.param .u32 rounds) {\n"
    "  .reg .u32 %r<3>; .reg .pred %p;\n"
    "  ld.param.u32 %r1, [rounds]; mov.u32 %r2, 0;\n"
    "again: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r1; @%p bra again; ret;\n}\n";

#define BYTES ((size_t)8 << 20)
enum { QUEUED = 4, MILLION = 1000000 };

static uint64_t memory;
static void *plain, *pinned, *kernel;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / (1000.0 * MILLION);
}

static void work(const char *what, int waits) {
  unsigned rounds = MILLION;
  void *parameters[] = {&rounds};
  for (int i = 0; i < QUEUED; i++) {
    if (!strcmp(what, "compute")) {
      RUN(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    } else if (!strcmp(what, "to")) {
      RUN(waits ? cuMemcpyHtoD_v2(memory, plain, BYTES) : cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, NULL));
    } else {
      RUN(waits ? cuMemcpyDtoH_v2(plain, memory, BYTES) : cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, NULL));
    }
  }
  RUN(cuCtxSynchronize());
}

int main(int count, char **words) {
  void *context, *module;
  double seconds = count == 3 ? atof(words[2]) : 0;
  if (seconds <= 0 || !(plain = calloc(1, BYTES))) return 2;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&kernel, module, "spin"));
  RUN(cuMemAlloc_v2(&memory, BYTES));
  RUN(cuMemAllocHost_v2(&pinned, BYTES));
  for (double begin = now(); now() < begin + seconds;) work(words[1], now() < begin + seconds / 2);
  return 0;
}
