// A libcuda.so.1 whose functions do nothing, so that the cost of a call is the cost of its binding.
#include <stddef.h>
#include <stdint.h>

int cuInit(unsigned flags) {
  (void)flags;
  return 0;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **parameters, void **extra) {
  (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
  (void)block_z, (void)shared_bytes, (void)stream, (void)parameters, (void)extra;
  return 0;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream) {
  (void)to, (void)from, (void)size, (void)stream;
  return 0;
}

int cuStreamQuery(void *stream) {
  (void)stream;
  return 0;
}
