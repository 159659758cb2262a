// Atomics of all operations and widths, in global and shared memory, on every scope.
#include <cuda_fp16.h>
#include "check.h"


__global__ void all(unsigned *u, int *s, unsigned long long *l, float *f, double *d, __half *h, __half2 *h2) {
  __shared__ unsigned shared[4];
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < 4) shared[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&u[0], 1u);
  atomicSub(&u[1], 2u);
  atomicMax(&u[2], (unsigned)t);
  atomicMin(&u[3], (unsigned)t + 5);
  atomicAnd(&u[4], ~(1u << (t & 31)));
  atomicOr(&u[5], 1u << (t & 31));
  atomicXor(&u[6], (unsigned)t);
  atomicInc(&u[7], 99);
  atomicDec(&u[8], 99);
  atomicMax(&s[0], t - 100);
  atomicMin(&s[1], 50 - t);
  atomicAdd(&s[2], -t);
  atomicExch(&s[3], t);
  atomicAdd(&l[0], 1ull << 33);
  atomicMax(&l[1], (unsigned long long)t << 35);
  atomicMin((long long *)&l[2], -(long long)t);
  atomicXor(&l[3], (unsigned long long)t << 20);
  atomicOr(&l[4], 1ull << (t & 63));
  atomicAdd(&f[0], 0.5f);
  atomicAdd(&d[0], 0.25);
  atomicAdd(&h[0], __float2half(1.0f));
  atomicAdd(&h2[0], __floats2half2_rn(1.0f, 2.0f));
  // Compare-and-swap loops: a product of ones and a maximum of floats.
  unsigned long long seen = l[5], old;
  do {
    old = seen;
    seen = atomicCAS(&l[5], old, old + 3);
  } while (seen != old);
  int *bits = (int *)&f[1], seenBits = *bits, oldBits;
  do {
    oldBits = seenBits;
    seenBits = atomicCAS(bits, oldBits, __float_as_int(fmaxf(__int_as_float(oldBits), (float)t)));
  } while (seenBits != oldBits);
  unsigned short *small = (unsigned short *)&u[9], seenSmall = *small, oldSmall;
  do {
    oldSmall = seenSmall;
    seenSmall = atomicCAS(small, oldSmall, (unsigned short)(oldSmall + 1));
  } while (seenSmall != oldSmall);
  atomicAdd_block(&shared[0], 1u);
  atomicAdd(&shared[1], (unsigned)threadIdx.x);
  atomicMax(&shared[2], (unsigned)threadIdx.x);
  atomicAdd_system(&u[10], 1u);
  __syncthreads();
  if (threadIdx.x < 3) atomicAdd(&u[12 + threadIdx.x], shared[threadIdx.x]);
}

__global__ void histogram(unsigned *bins, const unsigned char *data, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[data[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

// The last block to finish sums what all have written.
__device__ unsigned finished;
__global__ void lastBlockSums(int *parts, int *result) {
  __shared__ bool last;
  parts[blockIdx.x] = blockIdx.x * 3;
  __threadfence();
  if (threadIdx.x == 0) last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++) sum += ((volatile int *)parts)[i];
    *result = sum;
  }
}

int main() {
  const int blocks = 4, block = 128, n = blocks * block;
  unsigned u[16] = {0, 5000, 0, 1000, ~0u, 0, 0, 0, 0, 65500};
  int s[4] = {-1000, 1000, 0, -1};
  unsigned long long l[6] = {0, 0, 100, 0, 0, 1};
  float f[2] = {0, -1};
  double d[1] = {0};
  __half h[2] = {};
  __half2 h2[1] = {};
  auto *du = upload(u, 16);
  auto *ds = upload(s, 4);
  auto *dl = upload(l, 6);
  auto *df = upload(f, 2);
  auto *dd = upload(d, 1);
  auto *dh = upload(h, 2);
  auto *dh2 = upload(h2, 1);
  all<<<blocks, block>>>(du, ds, dl, df, dd, dh, dh2);
  CHECK(cudaGetLastError());
  download(u, du, 16);
  download(s, ds, 4);
  download(l, dl, 6);
  download(f, df, 2);
  download(d, dd, 1);
  download(h, dh, 2);
  download(h2, dh2, 1);
  unsigned expected[15] = {n, 5000 - 2 * n, n - 1, 5, 0, ~0u, 0, n % 100, (100 - n % 100) % 100, (65500 + n) & 0xffff, n, 0,
                           n, blocks * (block * (block - 1) / 2), blocks * (block - 1)};
  for (int i = 0; i < 15; i++) EXPECT(u[i] == expected[i], "u[%d]: %u, not %u", i, u[i], expected[i]);
  EXPECT(s[0] == n - 101 && s[1] == 51 - n && s[2] == -n * (n - 1) / 2, "%d %d %d", s[0], s[1], s[2]);
  EXPECT(s[3] >= 0 && s[3] < n, "%d", s[3]);
  EXPECT(l[0] == (unsigned long long)n << 33 && l[1] == (unsigned long long)(n - 1) << 35, "%llx %llx", l[0], l[1]);
  EXPECT((long long)l[2] == 1 - n && l[3] == 0 && l[4] == ~0ull && l[5] == 1 + 3ull * n, "%llx %llx %llx %llx", l[2], l[3], l[4], l[5]);
  EXPECT(f[0] == n * 0.5f && f[1] == n - 1.0f && d[0] == n * 0.25, "%g %g %g", f[0], f[1], d[0]);
  EXPECT(__half2float(h[0]) == n, "%g", __half2float(h[0]));
  EXPECT(__low2float(h2[0]) == n && __high2float(h2[0]) == 2 * n, "%g %g", __low2float(h2[0]), __high2float(h2[0]));

  const int bytes = 100000;
  static unsigned char data[bytes];
  unsigned bins[256] = {}, counted[256] = {};
  Numbers numbers;
  for (auto &b : data) b = (unsigned char)(numbers.next() >> 8), counted[b]++;
  unsigned *dBins = upload(bins, 256);
  histogram<<<6, 192>>>(dBins, upload(data, bytes), bytes);
  CHECK(cudaGetLastError());
  download(bins, dBins, 256);
  for (int i = 0; i < 256; i++) EXPECT(bins[i] == counted[i], "%d: %u, not %u", i, bins[i], counted[i]);

  int *parts = deviceArray<int>(101), sum = 0;
  lastBlockSums<<<100, 32>>>(parts, parts + 100);
  CHECK(cudaGetLastError());
  download(&sum, parts + 100, 1);
  EXPECT(sum == 3 * 4950, "%d", sum);
  return finish();
}
