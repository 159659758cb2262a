// Shuffles, votes, matches, divergence and cooperative groups of a warp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <vector>
#include "check.h"
namespace cg = cooperative_groups;

__global__ void primitives(unsigned *out) {
  unsigned lane = threadIdx.x & 31, *row = out + threadIdx.x * 32;
  unsigned v = lane * lane + 7;
  row[0] = __shfl_sync(~0u, v, (lane + 5) & 31);
  row[1] = __shfl_up_sync(~0u, v, 3);
  row[2] = __shfl_down_sync(~0u, v, 4, 16);
  row[3] = __shfl_xor_sync(~0u, v, 9, 8);
  row[4] = __ballot_sync(~0u, v % 3 == 0);
  row[5] = __any_sync(~0u, lane == 13);
  row[6] = __all_sync(~0u, lane < 32);
  row[7] = __match_any_sync(~0u, lane % 5);
  int same;
  row[8] = __match_all_sync(~0u, lane / 32, &same) + same;
  row[9] = __match_any_sync(~0u, (unsigned long long)(lane % 3) << 40);
  double d = __shfl_xor_sync(~0u, (double)lane, 1);
  row[10] = (unsigned)d;
  // Half of the warp takes part; the others do something else meanwhile.
  if (lane & 1) {
    row[11] = __shfl_down_sync(0xaaaaaaaau, v, 2);
    row[12] = __ballot_sync(0xaaaaaaaau, lane > 16);
  } else {
    row[11] = __shfl_xor_sync(0x55555555u, v, 2);
    row[12] = __activemask();
  }
  __syncwarp();
  row[13] = __popc(__activemask());
  unsigned sum = v;
  for (int k = 16; k > 0; k >>= 1) sum += __shfl_down_sync(~0u, sum, k);
  row[14] = __shfl_sync(~0u, sum, 0);
}

// Loops of different lengths, an early exit, and a barrier that all the rest must reach.
__global__ void divergent(int *out) {
  __shared__ int counts[64];
  int t = threadIdx.x;
  counts[t] = 0;
  __syncthreads();
  for (int i = 0; i <= t % 7; i++) {
    if ((i + t) % 3 == 0) continue;
    for (int k = 0; k < i; k++) counts[t] += k ^ t;
  }
  if (t >= 60) return;
  __syncthreads();
  int other = counts[59 - t];
  out[t] = counts[t] * 1000 + other;
}

// Threads of one warp take a lock one after the other.
__global__ void locked(int *lock, int *count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *(volatile int *)count = *(volatile int *)count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// One thread waits for another's flag.
__global__ void flags(volatile int *flag, int *out) {
  if (threadIdx.x == 0) {
    while (flag[0] == 0) {
    }
    out[0] = flag[0] + 1;
  } else if (threadIdx.x == 40) {
    __threadfence();
    flag[0] = 41;
  }
}

__global__ void groups(int *out) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto quad = cg::tiled_partition<4>(warp);
  int t = block.thread_rank();
  int *row = out + t * 8;
  row[0] = cg::reduce(warp, t, cg::plus<int>());
  row[1] = cg::reduce(quad, t, cg::greater<int>());
  row[2] = quad.shfl(t, 3);
  row[3] = warp.ballot(t % 4 == 1);
  row[4] = -1;
  if (t % 3 == 0) {
    auto active = cg::coalesced_threads();
    row[4] = active.size() * 100 + active.thread_rank();
  }
  block.sync();
  row[5] = __syncthreads_count(t % 2) * 4 + __syncthreads_and(t < 64) * 2 + __syncthreads_or(t == 9);
}

__global__ void wholeGrid(int *sums, int *out) {
  cg::grid_group grid = cg::this_grid();
  int t = grid.thread_rank();
  atomicAdd(&sums[0], t);
  grid.sync();
  if (t == 0) sums[1] = sums[0] * 2;
  grid.sync();
  out[t] = sums[1];
}

int main() {
  std::vector<unsigned> rows(64 * 32, 0);
  unsigned *out = upload(rows.data(), rows.size());
  primitives<<<1, 64>>>(out);
  CHECK(cudaGetLastError());
  download(rows.data(), out, rows.size());
  auto value = [](unsigned lane) { return lane * lane + 7; };
  unsigned total = 0, ballot = 0;
  for (unsigned l = 0; l < 32; l++) total += value(l), ballot |= (value(l) % 3 == 0) << l;
  for (unsigned t = 0; t < 64; t++) {
    unsigned l = t & 31, *row = &rows[t * 32], five = 0, three = 0;
    for (unsigned k = 0; k < 32; k++) five |= (k % 5 == l % 5) << k, three |= (k % 3 == l % 3) << k;
    EXPECT(row[0] == value((l + 5) & 31), "%u: %u", t, row[0]);
    EXPECT(row[1] == value(l < 3 ? l : l - 3), "%u: %u", t, row[1]);
    EXPECT(row[2] == value((l & 15) + 4 > 15 ? l : l + 4), "%u: %u", t, row[2]);
    EXPECT(row[3] == ((l ^ 9) / 8 > l / 8 ? value(l) : value(l ^ 9)), "%u: %u", t, row[3]);
    EXPECT(row[4] == ballot, "%u: %x", t, row[4]);
    EXPECT(row[5] == 1 && row[6] == 1, "%u: %u %u", t, row[5], row[6]);
    EXPECT(row[7] == five, "%u: %x", t, row[7]);
    EXPECT(row[8] == 0xffffffffu + 1, "%u: %x", t, row[8]);
    EXPECT(row[9] == three, "%u: %x", t, row[9]);
    EXPECT(row[10] == (l ^ 1), "%u: %u", t, row[10]);
    unsigned half = l & 1 ? value(l + 2 > 31 ? l : l + 2) : value(l ^ 2);
    EXPECT(row[11] == half, "%u: %u, not %u", t, row[11], half);
    if (l & 1) EXPECT(row[12] == 0xaaaa0000u, "%u: %x", t, row[12]);
    EXPECT(l & 1 || row[12] >> l & 1, "%u: %x", t, row[12]);
    EXPECT(row[13] >= 1 && row[13] <= 32, "%u: %u", t, row[13]);
    EXPECT(row[14] == total, "%u: %u", t, row[14]);
  }

  int *ints = deviceArray<int>(1024), host[1024];
  CHECK(cudaMemset(ints, 0, 4096));
  divergent<<<1, 64>>>(ints);
  CHECK(cudaGetLastError());
  download(host, ints, 60);
  auto count = [](int t) {
    int c = 0;
    for (int i = 0; i <= t % 7; i++) {
      if ((i + t) % 3) for (int k = 0; k < i; k++) c += k ^ t;
    }
    return c;
  };
  for (int t = 0; t < 60; t++) EXPECT(host[t] == count(t) * 1000 + count(59 - t), "%d: %d", t, host[t]);

  CHECK(cudaMemset(ints, 0, 4096));
  locked<<<4, 64>>>(ints, ints + 1);
  CHECK(cudaGetLastError());
  download(host, ints, 2);
  EXPECT(host[1] == 256, "%d", host[1]);

  CHECK(cudaMemset(ints, 0, 4096));
  flags<<<1, 64>>>(ints, ints + 1);
  CHECK(cudaGetLastError());
  download(host, ints, 2);
  EXPECT(host[1] == 42, "%d", host[1]);

  groups<<<1, 64>>>(ints);
  CHECK(cudaGetLastError());
  download(host, ints, 512);
  for (int t = 0; t < 64; t++) {
    int *row = host + t * 8, first = t / 32 * 32;
    EXPECT(row[0] == 32 * first + 496, "%d: %d", t, row[0]);
    EXPECT(row[1] == (t | 3) && row[2] == (t | 3), "%d: %d %d", t, row[1], row[2]);
    EXPECT(row[3] == 0x22222222, "%d: %x", t, row[3]);
    if (t % 3 == 0) EXPECT(row[4] >= 100 && row[4] % 100 < row[4] / 100, "%d: %d", t, row[4]);
    EXPECT(row[5] == 32 * 4 + 2 + 1, "%d: %d", t, row[5]);
  }

  int device = 0, blocks = 0, processors = 0;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, wholeGrid, 64, 0));
  int grid = blocks * processors < 8 ? blocks * processors : 8;
  CHECK(cudaMemset(ints, 0, 4096));
  int *sums = ints, *results = ints + 16;
  void *arguments[] = {&sums, &results};
  CHECK(cudaLaunchCooperativeKernel((void *)wholeGrid, dim3(grid), dim3(64), arguments, 0, 0));
  download(host, ints, 16 + grid * 64);
  int threads = grid * 64;
  for (int t = 0; t < threads; t++) EXPECT(host[16 + t] == threads * (threads - 1), "%d: %d", t, host[16 + t]);
  return finish();
}
