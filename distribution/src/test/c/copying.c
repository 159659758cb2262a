/* Copies 64 MiB to the device and back until the program is killed. Prints a line after the first copies. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);

int main(void) {
  const size_t bytes = 64u << 20;
  void *context, *data = calloc(1, bytes);
  uint64_t pointer;
  int error = cuInit(0);
  if (!error) error = cuDevicePrimaryCtxRetain(&context, 0);
  if (!error) error = cuCtxSetCurrent(context);
  if (!error) error = cuMemAlloc_v2(&pointer, bytes);
  for (long i = 0; !error && data; i++) {
    error = cuMemcpyHtoD_v2(pointer, data, bytes);
    if (!error) error = cuMemcpyDtoH_v2(data, pointer, bytes);
    if (i == 0) {
      printf("copying\n");
      fflush(stdout);
    }
  }
  printf("ended %d\n", error);
  return 1;
}
