// CUDA_MEMCPY3D, which arrays and graphs share.
#pragma once
#include <cstddef>
#include <cstdint>

struct Copy3DSide {
  size_t x, y, z, level;
  int type; // 1 host, 2 device, 3 array
  const void *host;
  uint64_t device;
  void *array, *reserved;
  size_t pitch, height;
};
struct Copy3D {
  Copy3DSide from, to;
  size_t width, height, depth;
};
