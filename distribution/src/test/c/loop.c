/* Allocates and frees device memory until a call fails or the number of rounds in the argument is reached, and prints the
 * outcome. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemFree_v2(uint64_t pointer);

int main(int count, char **words) {
  void *context;
  uint64_t pointer;
  int error = cuInit(0);
  printf("cuInit %d\n", error);
  fflush(stdout);
  if (error) return 1;
  error = cuDevicePrimaryCtxRetain(&context, 0);
  if (!error) error = cuCtxSetCurrent(context);
  for (long i = 0; !error && (count < 2 || i < atol(words[1])); i++) {
    error = cuMemAlloc_v2(&pointer, 4096);
    if (!error) error = cuMemFree_v2(pointer);
    if (i == 0) {
      printf("looping\n");
      fflush(stdout);
    }
  }
  printf("ended %d\n", error);
  return error != 0;
}
