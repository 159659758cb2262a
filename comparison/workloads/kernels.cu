// The kernels of the workloads. The compiled kernels.ptx is part of the sources, so that a build needs gcc alone:
//   nvcc -ptx -arch=compute_75 -O3 -o kernels.ptx kernels.cu
// Kernels have C names, by which the host programs look them up. Sizes that both sides share are in sizes.h.
#include "sizes.h"

extern "C" __global__ void nothing() {}

// A chain of multiply-adds of a given length. The sum keeps the compiler from removing the chain.
extern "C" __global__ void spin(float *out, unsigned iterations) {
  float x = threadIdx.x;
  for (unsigned i = 0; i < iterations; i++) x = fmaf(x, 0.999f, 0.5f);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

extern "C" __global__ void bump(unsigned *data, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

// ---- Options (Black-Scholes 1973; Cox, Ross, Rubinstein 1979) ----

__device__ float normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }

extern "C" __global__ void black_scholes(const float *price, const float *strike, const float *years, float *call,
                                         float *put, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i];
  float deviation = VOLATILITY * sqrtf(t);
  float d1 = (logf(s / x) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) / deviation;
  float discounted = x * expf(-RATE * t);
  float c = s * normal(d1) - discounted * normal(d1 - deviation);
  call[i] = c;
  put[i] = c - s + discounted;
}

// One block for each option: the values of one level of the tree are in shared memory and are reduced level by level.
extern "C" __global__ void binomial(const float *price, const float *strike, const float *years, float *call) {
  __shared__ float value[BINOMIAL_STEPS + 1];
  float s = price[blockIdx.x], x = strike[blockIdx.x], t = years[blockIdx.x];
  float step = t / BINOMIAL_STEPS, up = expf(VOLATILITY * sqrtf(step)), down = 1 / up;
  float growth = expf(RATE * step), discount = 1 / growth, chance = (growth - down) / (up - down);
  for (int i = threadIdx.x; i <= BINOMIAL_STEPS; i += blockDim.x) {
    float end = s * expf(VOLATILITY * sqrtf(step) * (2 * i - BINOMIAL_STEPS));
    value[i] = fmaxf(end - x, 0);
  }
  for (int level = BINOMIAL_STEPS; level > 0; level--) {
    float next[BINOMIAL_STEPS / BLOCK + 1];
    __syncthreads();
    for (int i = threadIdx.x, k = 0; i < level; i += blockDim.x, k++) {
      next[k] = discount * (chance * value[i + 1] + (1 - chance) * value[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x, k = 0; i < level; i += blockDim.x, k++) value[i] = next[k];
  }
  __syncthreads();
  if (threadIdx.x == 0) call[blockIdx.x] = value[0];
}

// One block for each option. A hash of path and option (the finalizer of MurmurHash3) gives the random numbers, which
// Box-Muller makes normally distributed.
__device__ unsigned hash(unsigned h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

extern "C" __global__ void monte_carlo(const float *price, const float *strike, const float *years, float *call,
                                       unsigned paths) {
  __shared__ float sums[BLOCK];
  float s = price[blockIdx.x], x = strike[blockIdx.x], t = years[blockIdx.x], sum = 0;
  float drift = (RATE - 0.5f * VOLATILITY * VOLATILITY) * t, deviation = VOLATILITY * sqrtf(t);
  for (unsigned i = threadIdx.x; i < paths; i += blockDim.x) {
    unsigned seed = hash(i * 2 + 1) ^ hash(blockIdx.x + 0x9e3779b9u);
    float u = (hash(seed) + 1.0f) * 2.3283064e-10f, v = hash(seed ^ 0x5bd1e995u) * 2.3283064e-10f;
    float z = sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
    sum += fmaxf(s * expf(drift + deviation * z) - x, 0);
  }
  sums[threadIdx.x] = sum;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) call[blockIdx.x] = expf(-RATE * t) * sums[0] / paths;
}

// One butterfly pass of the Walsh-Hadamard transform. A transform takes log2(n) launches: many small kernels, on purpose.
extern "C" __global__ void walsh(float *data, unsigned stride, unsigned pairs) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  unsigned low = (i / stride) * 2 * stride + i % stride;
  float a = data[low], b = data[low + stride];
  data[low] = a + b;
  data[low + stride] = a - b;
}

// ---- Patterns of memory and compute (the kinds of SHOC's levels 0 and 1: Danalis et al. 2010) ----

extern "C" __global__ void peak(float *out, unsigned iterations) {
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  for (unsigned i = 0; i < iterations; i++) {
    a = fmaf(a, 0.999f, 0.5f);
    b = fmaf(b, 0.999f, 0.5f);
    c = fmaf(c, 0.999f, 0.5f);
    d = fmaf(d, 0.999f, 0.5f);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}

extern "C" __global__ void read_strided(const float *in, float *out, unsigned n, unsigned stride) {
  unsigned threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned i = me; i < n; i += threads) sum += in[(unsigned)((unsigned long long)i * stride % n)];
  out[me] = sum;
}

extern "C" __global__ void write_all(float *out, unsigned n, float value) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = value;
}

extern "C" __global__ void read_shared(float *out, unsigned iterations) {
  __shared__ float cell[BLOCK];
  cell[threadIdx.x] = threadIdx.x;
  __syncthreads();
  float sum = 0;
  for (unsigned i = 0; i < iterations; i++) sum += cell[(threadIdx.x + i) % BLOCK];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void triad(float *a, const float *b, const float *c, float factor, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + factor * c[i];
}

extern "C" __global__ void reduce(const float *in, float *out, unsigned n) {
  __shared__ float sums[BLOCK];
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sums[threadIdx.x] = sum;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// Inclusive sums within each block (Hillis and Steele 1986).
extern "C" __global__ void scan(const float *in, float *out) {
  __shared__ float cell[2][BLOCK];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, from = 0;
  cell[0][threadIdx.x] = in[i];
  for (int reach = 1; reach < BLOCK; reach *= 2) {
    __syncthreads();
    float value = cell[from][threadIdx.x];
    if (threadIdx.x >= reach) value += cell[from][threadIdx.x - reach];
    cell[from ^ 1][threadIdx.x] = value;
    from ^= 1;
  }
  out[i] = cell[from][threadIdx.x];
}

extern "C" __global__ void stencil(const float *in, float *out, unsigned width, unsigned height) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const float *p = in + (unsigned long long)y * width + x;
  out[(unsigned long long)y * width + x] =
      0.5f * p[0] + 0.1f * (p[-1] + p[1] + p[-(int)width] + p[width]) +
      0.025f * (p[-(int)width - 1] + p[-(int)width + 1] + p[(int)width - 1] + p[width + 1]);
}

// C = A * B, square, tiles in shared memory.
extern "C" __global__ void sgemm(const float *a, const float *b, float *c, unsigned n) {
  __shared__ float ta[TILE][TILE], tb[TILE][TILE];
  unsigned x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (unsigned t = 0; t < n; t += TILE) {
    ta[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum = fmaf(ta[threadIdx.y][k], tb[k][threadIdx.x], sum);
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// y = A * x with A in compressed sparse rows (CSR), one thread for each row.
extern "C" __global__ void spmv(const unsigned *row, const unsigned *column, const float *value, const float *x, float *y,
                                unsigned rows) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float sum = 0;
  for (unsigned k = row[i]; k < row[i + 1]; k++) sum = fmaf(value[k], x[column[k]], sum);
  y[i] = sum;
}
