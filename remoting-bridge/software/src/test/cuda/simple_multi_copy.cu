// Copies to and from the device overlapped with kernels, in four streams.
#include "check.h"

__global__ void work(int *out, const int *in, int n, int repeats) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int k = 0; k < repeats; k++) out[i] = in[i] + 1;
  }
}

int main() {
  const int streams = 4, n = 1 << 18, rounds = 12;
  int *hostIn[streams], *hostOut[streams], *in[streams], *out[streams];
  cudaStream_t stream[streams];
  cudaEvent_t done[streams], start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  for (int s = 0; s < streams; s++) {
    CHECK(cudaHostAlloc(&hostIn[s], n * sizeof(int), cudaHostAllocDefault));
    CHECK(cudaHostAlloc(&hostOut[s], n * sizeof(int), cudaHostAllocDefault));
    for (int i = 0; i < n; i++) hostIn[s][i] = s * n + i, hostOut[s][i] = 0;
    in[s] = deviceArray<int>(n), out[s] = deviceArray<int>(n);
    CHECK(cudaStreamCreate(&stream[s]));
    CHECK(cudaEventCreate(&done[s]));
  }
  CHECK(cudaEventRecord(start, 0));
  for (int r = 0; r < rounds; r++) {
    int s = r % streams;
    CHECK(cudaEventSynchronize(done[s]));
    CHECK(cudaMemcpyAsync(in[s], hostIn[s], n * sizeof(int), cudaMemcpyHostToDevice, stream[s]));
    work<<<n / 256, 256, 0, stream[s]>>>(out[s], in[s], n, 2);
    CHECK(cudaMemcpyAsync(hostOut[s], out[s], n * sizeof(int), cudaMemcpyDeviceToHost, stream[s]));
    CHECK(cudaEventRecord(done[s], stream[s]));
  }
  CHECK(cudaEventRecord(stop, 0));
  CHECK(cudaDeviceSynchronize());
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  EXPECT(milliseconds >= 0, "%f", milliseconds);
  for (int s = 0; s < streams; s++) {
    for (int i = 0; i < n; i++) EXPECT(hostOut[s][i] == s * n + i + 1, "%d %d: %d", s, i, hostOut[s][i]);
    CHECK(cudaStreamDestroy(stream[s]));
    CHECK(cudaEventDestroy(done[s]));
    CHECK(cudaFreeHost(hostIn[s]));
    CHECK(cudaFreeHost(hostOut[s]));
    CHECK(cudaFree(in[s]));
    CHECK(cudaFree(out[s]));
  }
  return finish();
}
