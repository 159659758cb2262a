// Kernels in several streams that wait for the clock, then one that sums what they counted.
#include "check.h"

__global__ void waitClocks(long long *counted, long long clocks) {
  long long start = clock64(), now = start;
  while (now - start < clocks) now = clock64();
  counted[0] = now - start;
}

__global__ void sum(long long *counted, int n) {
  __shared__ long long parts[32];
  long long mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += counted[i];
  parts[threadIdx.x] = mine;
  __syncthreads();
  for (int k = 16; k > 0; k /= 2) {
    if (threadIdx.x < k) parts[threadIdx.x] += parts[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) counted[0] = parts[0];
}

int main() {
  const int kernels = 8;
  const long long clocks = 1000000;
  cudaStream_t streams[kernels + 1];
  cudaEvent_t done[kernels];
  for (auto &s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (auto &e : done) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  long long *counted = deviceArray<long long>(kernels), *host;
  CHECK(cudaMallocHost(&host, sizeof(long long)));
  for (int i = 0; i < kernels; i++) {
    waitClocks<<<1, 1, 0, streams[i]>>>(counted + i, clocks);
    CHECK(cudaEventRecord(done[i], streams[i]));
    CHECK(cudaStreamWaitEvent(streams[kernels], done[i], 0));
  }
  sum<<<1, 32, 0, streams[kernels]>>>(counted, kernels);
  CHECK(cudaMemcpyAsync(host, counted, sizeof *host, cudaMemcpyDeviceToHost, streams[kernels]));
  CHECK(cudaStreamSynchronize(streams[kernels]));
  EXPECT(*host >= kernels * clocks, "%lld", *host);
  for (auto &s : streams) CHECK(cudaStreamDestroy(s));
  for (auto &e : done) CHECK(cudaEventDestroy(e));
  return finish();
}
