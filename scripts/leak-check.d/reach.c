/* What a kernel reads at an address of a process that is not its program's.
 *
 * usage: reach
 *
 * Prints "ready PAGEABLE HOST-PAGE-TABLES", the device's attributes of those names, reads an address in hexadecimal from standard
 * input ("own" for its own device memory), has a kernel read a word there, and prints "value WORD" or "error CUresult".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry reach(.param .u64 from, .param .u64 to) {\n"
    "  .reg .u64 %d<4>;\n"
    "  ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to];\n"
    "  ld.volatile.global.u64 %d3, [%d1]; st.global.u64 [%d2], %d3; ret;\n}\n";

int main(void) {
  int pageable = -1, tables = -1, error;
  void *context, *module, *function;
  uint64_t memory[2] = {0}, word = 0x1122334455667788ull;
  char line[64];
  if ((error = cuInit(0)) || (error = cuDevicePrimaryCtxRetain(&context, 0)) || (error = cuCtxSetCurrent(context)) ||
      (error = cuModuleLoadData(&module, PTX)) || (error = cuModuleGetFunction(&function, module, "reach")) ||
      (error = cuMemAlloc_v2(&memory[0], 64)) || (error = cuMemAlloc_v2(&memory[1], 64)) ||
      (error = cuMemcpyHtoD_v2(memory[0], &word, 8))) {
    printf("error %d before the kernel\n", error);
    return 1;
  }
  cuDeviceGetAttribute(&pageable, 88, 0);
  cuDeviceGetAttribute(&tables, 100, 0);
  printf("ready %d %d\n", pageable, tables);
  fflush(stdout);
  if (!fgets(line, sizeof line, stdin)) return 1;
  uint64_t from = !strncmp(line, "own", 3) ? memory[0] : strtoull(line, NULL, 16);
  void *parameters[] = {&from, &memory[1]};
  error = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
  if (!error) error = cuCtxSynchronize();
  if (!error) error = cuMemcpyDtoH_v2(&word, memory[1], 8);
  if (error) printf("error %d\n", error);
  else printf("value %016llx\n", (unsigned long long)word);
  return 0;
}
