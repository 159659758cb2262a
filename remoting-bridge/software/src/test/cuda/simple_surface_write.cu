// A kernel writes a 2D surface, another reads it as a texture; reads and writes of other shapes too.
#include <vector>
#include "check.h"

__global__ void writeSurface(cudaSurfaceObject_t surface, const float *from, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  surf2Dwrite(from[y * width + x], surface, x * 4, y, cudaBoundaryModeTrap);
}

__global__ void readTexture(float *to, int width, cudaTextureObject_t texture) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  to[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void shapes(cudaSurfaceObject_t volume, int *out) {
  int i = threadIdx.x;
  int4 value = make_int4(i, i + 1, i + 2, i + 3);
  surf3Dwrite(value, volume, (i & 3) * (int)sizeof(int4), i >> 2 & 3, i >> 4 & 3);
  __syncthreads();
  int4 back;
  surf3Dread(&back, volume, (i & 3) * (int)sizeof(int4), i >> 2 & 3, i >> 4 & 3);
  out[i] = back.x + back.y + back.z + back.w;
  // Outside: zero, and nothing is written.
  surf3Dwrite(value, volume, 99 * (int)sizeof(int4), 0, 0, cudaBoundaryModeZero);
  surf3Dread(&back, volume, -(int)sizeof(int4), 0, 0, cudaBoundaryModeZero);
  out[64 + i] = back.x | back.y | back.z | back.w;
}

int main() {
  const int width = 64, height = 48;
  std::vector<float> in(width * height), out(width * height);
  Numbers numbers;
  for (auto &f : in) f = numbers.unit();
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  cudaTextureDesc desc = {};
  desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
  float *from = upload(in.data(), in.size()), *to = deviceArray<float>(out.size());
  dim3 block(8, 8), grid(width / 8, height / 8);
  writeSurface<<<grid, block>>>(surface, from, width);
  readTexture<<<grid, block>>>(to, width, texture);
  CHECK(cudaGetLastError());
  download(out.data(), to, out.size());
  for (size_t i = 0; i < in.size(); i++) EXPECT(in[i] == out[i], "%zu: %g", i, out[i]);

  cudaChannelFormatDesc four = cudaCreateChannelDesc<int4>();
  cudaResourceDesc volume = {};
  volume.resType = cudaResourceTypeArray;
  CHECK(cudaMalloc3DArray(&volume.res.array.array, &four, make_cudaExtent(4, 4, 4), cudaArraySurfaceLoadStore));
  cudaSurfaceObject_t cube;
  CHECK(cudaCreateSurfaceObject(&cube, &volume));
  int *sums = deviceArray<int>(128), host[128];
  shapes<<<1, 64>>>(cube, sums);
  CHECK(cudaGetLastError());
  download(host, sums, 128);
  for (int i = 0; i < 64; i++) {
    EXPECT(host[i] == 4 * i + 6, "%d: %d", i, host[i]);
    EXPECT(host[64 + i] == 0, "%d: %d", i, host[64 + i]);
  }
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaDestroySurfaceObject(cube));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
  return finish();
}
