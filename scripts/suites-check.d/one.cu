// The sum of two vectors, as a process of its own.
#include <cstdio>
#include <vector>

__global__ void add(const float *a, const float *b, float *sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}

int main() {
  const int count = 1 << 16;
  std::vector<float> a(count), b(count), sum(count);
  float *device[3];
  for (int i = 0; i < count; i++) a[i] = i, b[i] = 2 * i;
  for (float *&memory : device) cudaMalloc(&memory, count * sizeof(float));
  cudaMemcpy(device[0], a.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device[1], b.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  add<<<count / 256, 256>>>(device[0], device[1], device[2], count);
  cudaError_t result = cudaMemcpy(sum.data(), device[2], count * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += sum[i] != a[i] + b[i];
  printf("%s, %d wrong\n", cudaGetErrorString(result), wrong);
  return result != cudaSuccess || wrong;
}
