// Adds two vectors on the GPU and checks the sum: an ordinary program for the CUDA runtime, built by
// plain `nvcc vectorAdd.cu -o vectorAdd`. It knows nothing of Graft.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

__global__ void vectorAdd(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}

#define CHECK(call)                                                       \
  do {                                                                    \
    cudaError_t error = (call);                                           \
    if (error != cudaSuccess) {                                           \
      printf("result=failed: %s: %s\n", #call, cudaGetErrorString(error)); \
      return 1;                                                           \
    }                                                                     \
  } while (0)

int main() {
  const int n = 50000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; i++) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f * i;
  }

  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  printf("device=%s\nelements=%d\n", device.name, n);

  float *deviceA, *deviceB, *deviceC;
  CHECK(cudaMalloc(&deviceA, bytes));
  CHECK(cudaMalloc(&deviceB, bytes));
  CHECK(cudaMalloc(&deviceC, bytes));
  CHECK(cudaMemcpy(deviceA, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(deviceB, b.data(), bytes, cudaMemcpyHostToDevice));
  vectorAdd<<<(n + 255) / 256, 256>>>(deviceA, deviceB, deviceC, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(c.data(), deviceC, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(deviceA));
  CHECK(cudaFree(deviceB));
  CHECK(cudaFree(deviceC));

  for (int i = 0; i < n; i++) {
    // i and i/2 up to 75000 are exact in a float, and so is their sum.
    if (c[i] != a[i] + b[i]) {
      printf("result=failed: element %d is %g, not %g\n", i, c[i], a[i] + b[i]);
      return 1;
    }
  }
  printf("result=ok\n");
  return 0;
}
