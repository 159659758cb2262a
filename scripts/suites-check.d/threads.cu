// 64 threads of one process, each with a stream of its own: memory of every size, copies, kernels and events, with checked results.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int THREADS = 64, ROUNDS = 200, MOST = 1 << 18;

#define CHECK(call)                                                                           \
  do {                                                                                        \
    cudaError_t e = (call);                                                                   \
    if (e != cudaSuccess) {                                                                   \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                              \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)

__global__ void step(unsigned *data, int count, unsigned factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = data[i] * factor + i;
}

static void work(int number, unsigned long *wrong) {
  unsigned random = number * 2654435761u + 1;
  cudaStream_t stream;
  cudaEvent_t done;
  unsigned *pinned;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&done));
  CHECK(cudaMallocHost(&pinned, MOST * sizeof *pinned));
  std::vector<unsigned> pageable(MOST);
  for (int round = 0; round < ROUNDS; round++) {
    random = random * 1664525u + 1013904223u;
    int count = 1 + (random >> 8) % MOST;
    unsigned *host = random & 64 ? pinned : pageable.data(), *device;
    for (int i = 0; i < count; i++) host[i] = random ^ i;
    CHECK(cudaMallocAsync(&device, count * sizeof *device, stream));
    CHECK(cudaMemcpyAsync(device, host, count * sizeof *device, cudaMemcpyDefault, stream));
    for (int k = 1; k <= 3; k++) step<<<(count + 255) / 256, 256, 0, stream>>>(device, count, random + k);
    CHECK(cudaMemcpyAsync(host, device, count * sizeof *device, cudaMemcpyDefault, stream));
    CHECK(cudaFreeAsync(device, stream));
    CHECK(cudaEventRecord(done, stream));
    CHECK(cudaEventSynchronize(done));
    for (int i = 0; i < count; i++) {
      unsigned expected = random ^ i;
      for (int k = 1; k <= 3; k++) expected = expected * (random + k) + i;
      *wrong += host[i] != expected;
    }
  }
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaEventDestroy(done));
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  unsigned long wrong[THREADS] = {}, all = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; i++) threads.emplace_back(work, i, wrong + i);
  for (auto &thread : threads) thread.join();
  for (unsigned long w : wrong) all += w;
  printf("%d threads, %d rounds each, %lu wrong numbers\n", THREADS, ROUNDS, all);
  return all != 0;
}
