// nvcc: -arch=compute_90
// Clusters of blocks: ranks, barriers, shared memory of other blocks, atomics there, copies that wait at a barrier of another block.
#include <cooperative_groups.h>
#include <vector>
#include "check.h"
namespace cg = cooperative_groups;

constexpr int kThreads = 64, kBins = 32;

// Every block says where it is.
__global__ void __cluster_dims__(2, 2, 1) places(int *out) {
  cg::cluster_group cluster = cg::this_cluster();
  int block = blockIdx.y * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0) {
    int *row = out + block * 8;
    row[0] = cluster.block_rank();
    row[1] = cluster.num_blocks();
    row[2] = cluster.block_index().x;
    row[3] = cluster.block_index().y;
    row[4] = cluster.thread_rank();
    row[5] = cluster.num_threads();
    row[6] = cluster.dim_blocks().x * 10 + cluster.dim_blocks().y;
    unsigned clusters, id;
    asm volatile("mov.u32 %0, %%nclusterid.x; mov.u32 %1, %%clusterid.x;" : "=r"(clusters), "=r"(id));
    row[7] = clusters * 10 + id;
  }
}

// One histogram for a cluster: its bins are spread over the shared memories of the blocks.
__global__ void histogram(unsigned *bins, const unsigned *data, int n) {
  __shared__ unsigned own[kBins];
  cg::cluster_group cluster = cg::this_cluster();
  int blocks = cluster.num_blocks();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) own[i] = 0;
  cluster.sync();
  for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
    unsigned bin = data[i] % (kBins * blocks);
    atomicAdd(cluster.map_shared_rank(own, bin / kBins) + bin % kBins, 1u);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) bins[cluster.block_rank() * kBins + i] = own[i];
}

// Each block reads its neighbour's shared memory, arriving early and waiting late; half of the threads have gone by then.
__global__ void __cluster_dims__(4, 1, 1) neighbours(int *out) {
  extern __shared__ int values[];
  cg::cluster_group cluster = cg::this_cluster();
  values[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  cluster.sync();
  int next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int read = cluster.map_shared_rank(values, next)[threadIdx.x];
  int of = cluster.query_shared_rank(cluster.map_shared_rank(values, next));
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = read * 10 + of;
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  if (threadIdx.x % 2) return;
  values[threadIdx.x] = -1;
  cluster.sync();
  if (cluster.map_shared_rank(values, next)[threadIdx.x] != -1) out[0] = -1;
}

#if CUDART_VERSION >= 12010
// st.async and a bulk copy into every block of the cluster, each counted at a barrier there.
__global__ void __cluster_dims__(4, 1, 1) delivered(const int *in, int *out) {
  __shared__ alignas(16) int tile[kThreads];
  __shared__ int mail[4];
  __shared__ alignas(8) unsigned long long barrier;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned self = (unsigned)__cvta_generic_to_shared(&barrier), tiles = (unsigned)__cvta_generic_to_shared(tile),
           mails = (unsigned)__cvta_generic_to_shared(mail);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(self));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(self), "r"((unsigned)(sizeof tile + sizeof mail)));
  }
  cluster.sync();
  if (threadIdx.x < 4) {
    unsigned there, barrierThere;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mails + 4 * cluster.block_rank()), "r"(threadIdx.x));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(barrierThere) : "r"(self), "r"(threadIdx.x));
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(there),
                 "r"(100 * cluster.block_rank() + threadIdx.x), "r"(barrierThere));
  }
  if (cluster.thread_rank() == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(tiles),
        "l"(in), "r"((unsigned)sizeof tile), "r"(self), "h"((short)15));
  }
  unsigned done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(self) : "memory");
  }
  out[blockIdx.x * kThreads + threadIdx.x] = tile[threadIdx.x] + (threadIdx.x < 4 ? mail[threadIdx.x] : 0);
  cluster.sync();
}
#endif

int main() {
  int *out = deviceArray<int>(4096), host[4096];
  places<<<dim3(6, 4), 32>>>(out);
  CHECK(cudaGetLastError());
  download(host, out, 24 * 8);
  for (int b = 0; b < 24; b++) {
    int x = b % 6, y = b / 6, rank = y % 2 * 2 + x % 2;
    int want[8] = {rank, 4, x % 2, y % 2, rank * 32, 128, 22, 30 + x / 2};
    for (int k = 0; k < 8; k++) EXPECT(host[b * 8 + k] == want[k], "block %d, %d: %d, not %d", b, k, host[b * 8 + k], want[k]);
  }

  const int n = 5000, blocks = 8;
  std::vector<unsigned> data(n), bins(blocks * kBins), counted(blocks * kBins);
  Numbers numbers;
  for (auto &d : data) d = numbers.next() >> 4, counted[d % counted.size()]++;
  unsigned *dBins = deviceArray<unsigned>(bins.size()), *dData = upload(data.data(), n);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = blocks;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(kThreads);
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, histogram, dBins, (const unsigned *)dData, n));
  download(bins.data(), dBins, bins.size());
  for (size_t i = 0; i < bins.size(); i++) EXPECT(bins[i] == counted[i], "bin %zu: %u, not %u", i, bins[i], counted[i]);
  config.gridDim = dim3(blocks + 1);
  EXPECT(cudaLaunchKernelEx(&config, histogram, dBins, (const unsigned *)dData, n) != cudaSuccess, "a part of a cluster was taken");
  cudaGetLastError();

  neighbours<<<40, kThreads, kThreads * sizeof(int)>>>(out);
  CHECK(cudaGetLastError());
  download(host, out, 40 * kThreads);
  for (int i = 0; i < 40 * kThreads; i++) {
    int block = i / kThreads, next = (block % 4 + 1) % 4;
    int want = ((block / 4 * 4 + next) * 1000 + i % kThreads) * 10 + next;
    EXPECT(host[i] == want, "%d: %d, not %d", i, host[i], want);
  }

#if CUDART_VERSION >= 12010
  int in[kThreads];
  for (int i = 0; i < kThreads; i++) in[i] = 7 * i - 100;
  delivered<<<8, kThreads>>>(upload(in, kThreads), out);
  CHECK(cudaGetLastError());
  download(host, out, 8 * kThreads);
  for (int i = 0; i < 8 * kThreads; i++) {
    int rank = i / kThreads % 4, t = i % kThreads, want = in[t] + (t < 4 ? 100 * t + rank : 0);
    EXPECT(host[i] == want, "%d: %d, not %d", i, host[i], want);
  }
#endif
  return finish();
}
