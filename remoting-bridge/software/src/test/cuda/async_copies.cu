// nvcc: -arch=compute_90
// Copies into shared memory that go on while a block computes: pipelines, barriers, bulk copies.
#include <new>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <numeric>
#include <vector>
#include "check.h"
namespace cg = cooperative_groups;

constexpr int kThreads = 128, kTile = 256, kTiles = 12;

// Two stages: the next tile is on its way while this one is summed.
__global__ void pipelined(const int *in, int *sums) {
  __shared__ int tiles[2][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  auto fetch = [&](int tile) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, tiles[tile % 2], in + tile * kTile, sizeof(int) * kTile, pipeline);
    pipeline.producer_commit();
  };
  int sum = 0;
  fetch(0);
  for (int tile = 0; tile < kTiles; tile++) {
    if (tile + 1 < kTiles) fetch(tile + 1);
    pipeline.consumer_wait();
    for (int i = threadIdx.x; i < kTile; i += kThreads) sum += tiles[tile % 2][kTile - 1 - i];
    pipeline.consumer_release();
  }
  sums[threadIdx.x] = sum;
}

// One warp makes what the others use, in turns; all meet at barriers in shared memory.
__global__ void handedOver(int *out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier full, empty;
  __shared__ int value;
  if (threadIdx.x == 0) {
    init(&full, kThreads);
    init(&empty, kThreads);
  }
  __syncthreads();
  int sum = 0;
  for (int turn = 0; turn < 10; turn++) {
    if (threadIdx.x == 0) value = turn * turn;
    auto token = full.arrive();
    full.wait(std::move(token));
    sum += value;
    empty.arrive_and_wait();
  }
  out[threadIdx.x] = sum;
}

#if CUDART_VERSION >= 12000
// cp.async.bulk with the bytes counted at a barrier, and back to global memory.
__global__ void bulk(const int *in, int *out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(128) int tile[kTile];
  __shared__ barrier arrived;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(tile, in + blockIdx.x * kTile, cuda::aligned_size_t<16>(sizeof(tile)), arrived);
    token = cuda::device::barrier_arrive_tx(arrived, 1, 0);
  } else {
    token = arrived.arrive();
  }
  arrived.wait(std::move(token));
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) tile[i] = 3 * tile[i] + 1;
  cuda::device::experimental::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(out + blockIdx.x * kTile, tile, sizeof(tile));
    cuda::device::experimental::cp_async_bulk_commit_group();
    cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
  }
}
#endif

int main() {
  std::vector<int> in(kTile * kTiles), out(kTile * kTiles);
  std::iota(in.begin(), in.end(), -1000);
  int *deviceIn = upload(in.data(), in.size()), *deviceOut = deviceArray<int>(out.size());

  pipelined<<<1, kThreads>>>(deviceIn, deviceOut);
  CHECK(cudaDeviceSynchronize());
  download(out.data(), deviceOut, kThreads);
  EXPECT(std::accumulate(out.begin(), out.begin() + kThreads, 0) == std::accumulate(in.begin(), in.end(), 0),
         "sum of all tiles");

  handedOver<<<1, kThreads>>>(deviceOut);
  CHECK(cudaDeviceSynchronize());
  download(out.data(), deviceOut, kThreads);
  for (int t = 0; t < kThreads; t++) EXPECT(out[t] == 285, "thread %d: %d", t, out[t]);

#if CUDART_VERSION >= 12000
  bulk<<<kTiles, kThreads>>>(deviceIn, deviceOut);
  CHECK(cudaDeviceSynchronize());
  download(out.data(), deviceOut, out.size());
  for (size_t i = 0; i < out.size(); i++) EXPECT(out[i] == 3 * in[i] + 1, "%zu: %d", i, out[i]);
#endif
  return finish();
}
