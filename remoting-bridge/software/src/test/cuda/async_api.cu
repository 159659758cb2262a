// Asynchronous copies and a kernel between events, while the host counts.
#include "check.h"

__global__ void increment(int *values, int by) { values[blockIdx.x * blockDim.x + threadIdx.x] += by; }

int main() {
  const int n = 1 << 20, value = 26;
  int *host;
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  for (int i = 0; i < n; i++) host[i] = 0;
  int *device = deviceArray<int>(n);
  CHECK(cudaMemset(device, 255, n * sizeof(int)));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(start, 0));
  CHECK(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, 0));
  increment<<<n / 512, 512>>>(device, value);
  CHECK(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, 0));
  CHECK(cudaEventRecord(stop, 0));
  unsigned long counted = 0;
  while (cudaEventQuery(stop) == cudaErrorNotReady) counted++;
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0, "%f", milliseconds);
  for (int i = 0; i < n; i++) EXPECT(host[i] == value, "%d: %d", i, host[i]);
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFreeHost(host));
  CHECK(cudaFree(device));
  return finish();
}
