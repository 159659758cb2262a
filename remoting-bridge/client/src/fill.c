/* Fills. Pinned memory may be filled as if it were the device's; where the server cannot reach it, that is done here. */
#include "graft.h"

static int fill_here(uint64_t to, size_t pitch, const void *value, size_t size, size_t width, size_t height, void *stream) {
  int r = cuStreamSynchronize(stream); /* it keeps its place in the stream */
  if (r) return r;
  for (size_t y = 0; y < height; y++) {
    uint8_t *at = (uint8_t *)(uintptr_t)to + y * pitch;
    for (size_t x = 0; x < width; x++) memcpy(at + x * size, value, size);
  }
  return 0;
}

#define FILL(bits, type)                                                                                           \
  GRAFT_EXPORT int cuMemsetD##bits##Async(uint64_t to, type value, size_t count, void *stream) {                   \
    if (graft_only_here(to)) return fill_here(to, 0, &value, sizeof value, count, 1, stream);                      \
    return rpc_cuMemsetD##bits##Async(to, value, count, stream);                                                   \
  }                                                                                                                \
  GRAFT_EXPORT int cuMemsetD2D##bits##Async(uint64_t to, size_t pitch, type value, size_t width, size_t height,    \
                                            void *stream) {                                                        \
    if (graft_only_here(to)) return fill_here(to, pitch, &value, sizeof value, width, height, stream);             \
    return rpc_cuMemsetD2D##bits##Async(to, pitch, value, width, height, stream);                                  \
  }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
