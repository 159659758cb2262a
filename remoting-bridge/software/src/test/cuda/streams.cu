// Order between streams, the default stream, events, stream-ordered allocation, pinned and mapped memory, 2D copies.
#include <vector>
#include "check.h"

__global__ void slowWrite(int *p, int v, long long clocks) {
  long long start = clock64();
  while (clock64() - start < clocks) {
  }
  *p = v;
}
__global__ void copyInt(int *to, const int *from) { *to = *from; }
__global__ void fillRows(int *p, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) ((int *)((char *)p + y * pitch))[x] = y * 1000 + x;
}
__global__ void doubleAll(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}

static void CUDART_CB note(cudaStream_t, cudaError_t status, void *data) { *(int *)data = status == cudaSuccess ? 7 : -1; }

int main() {
  int *a = deviceArray<int>(4), host = 0, noted = 0;
  cudaStream_t blocking, free1, free2;
  CHECK(cudaStreamCreate(&blocking));
  CHECK(cudaStreamCreateWithFlags(&free1, cudaStreamNonBlocking));
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamCreateWithPriority(&free2, cudaStreamNonBlocking, greatest));
  // The legacy default stream waits for blocking streams, and they for it.
  slowWrite<<<1, 1, 0, blocking>>>(a, 5, 3000000);
  copyInt<<<1, 1>>>(a + 1, a);
  copyInt<<<1, 1, 0, blocking>>>(a + 2, a + 1);
  CHECK(cudaMemcpyAsync(&host, a + 2, sizeof host, cudaMemcpyDeviceToHost, blocking));
  CHECK(cudaStreamSynchronize(blocking));
  EXPECT(host == 5, "%d", host);
  // Events order other streams.
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  slowWrite<<<1, 1, 0, free1>>>(a, 11, 3000000);
  CHECK(cudaEventRecord(event, free1));
  CHECK(cudaStreamWaitEvent(free2, event, 0));
  copyInt<<<1, 1, 0, free2>>>(a + 3, a);
  CHECK(cudaStreamAddCallback(free2, note, &noted, 0));
  CHECK(cudaStreamSynchronize(free2));
  CHECK(cudaMemcpy(&host, a + 3, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host == 11 && noted == 7, "%d %d", host, noted);
  EXPECT(cudaStreamQuery(free1) == cudaSuccess, "not done");
  // A launch is asynchronous.
  slowWrite<<<1, 1, 0, free1>>>(a, 12, 200000000);
  EXPECT(cudaStreamQuery(free1) == cudaErrorNotReady, "done at once");
  CHECK(cudaStreamSynchronize(free1));

  int *pool;
  CHECK(cudaMallocAsync(&pool, 1000 * sizeof(int), free1));
  CHECK(cudaMemsetAsync(pool, 0, 1000 * sizeof(int), free1));
  slowWrite<<<1, 1, 0, free1>>>(pool + 999, 3, 1000);
  CHECK(cudaMemcpyAsync(&host, pool + 999, sizeof host, cudaMemcpyDeviceToHost, free1));
  CHECK(cudaFreeAsync(pool, free1));
  CHECK(cudaStreamSynchronize(free1));
  EXPECT(host == 3, "%d", host);

  const int width = 100, height = 37;
  int *rows;
  size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(int), height));
  EXPECT(pitch >= width * sizeof(int), "%zu", pitch);
  fillRows<<<dim3(1, height), 128>>>(rows, pitch, width, height);
  std::vector<int> back(width * height);
  CHECK(cudaMemcpy2D(back.data(), width * sizeof(int), rows, pitch, width * sizeof(int), height, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; i++) EXPECT(back[i] == i / width * 1000 + i % width, "%d: %d", i, back[i]);
  CHECK(cudaMemset2D(rows, pitch, 0xff, 40, height));
  CHECK(cudaMemcpy2D(back.data(), width * sizeof(int), rows, pitch, width * sizeof(int), height, cudaMemcpyDeviceToHost));
  EXPECT(back[width + 9] == -1 && back[width + 10] == 1010, "%d %d", back[width + 9], back[width + 10]);

  size_t free0, free3, total;
  CHECK(cudaMemGetInfo(&free0, &total));
  void *block;
  CHECK(cudaMalloc(&block, 8 << 20));
  CHECK(cudaMemGetInfo(&free3, &total));
  EXPECT(free0 - free3 >= 8 << 20, "%zu %zu", free0, free3);
  CHECK(cudaFree(block));
  EXPECT(cudaMalloc(&block, total * 2) == cudaErrorMemoryAllocation, "too much was given");
  EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation, "no error kept");
  CHECK(cudaGetLastError());
  cudaPointerAttributes attributes;
  CHECK(cudaPointerGetAttributes(&attributes, rows));
  EXPECT(attributes.type == cudaMemoryTypeDevice, "%d", attributes.type);
  CHECK(cudaDeviceSynchronize());
  return finish();
}
