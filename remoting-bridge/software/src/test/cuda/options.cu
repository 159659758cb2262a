// Option pricing three ways: Black-Scholes formula, binomial lattice, Monte Carlo paths.
#include <vector>
#include "check.h"

struct Option { float spot, strike, years; };
__constant__ float rate, volatility;

__device__ __host__ inline float normalCdf(float d) {
  const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float cnd = 0.39894228040143267793994605993438f * expf(-0.5f * d * d) *
              (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
  return d > 0 ? 1.0f - cnd : cnd;
}

__global__ void blackScholes(const Option *options, float *call, float *put, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Option o = options[i];
  float root = sqrtf(o.years);
  float d1 = (__logf(o.spot / o.strike) + (rate + 0.5f * volatility * volatility) * o.years) / (volatility * root);
  float d2 = d1 - volatility * root;
  float c1 = normalCdf(d1), c2 = normalCdf(d2), discount = __expf(-rate * o.years);
  call[i] = o.spot * c1 - o.strike * discount * c2;
  put[i] = o.strike * discount * (1.0f - c2) - o.spot * (1.0f - c1);
}

constexpr int kSteps = 256;

__global__ void binomial(const Option *options, float *call) {
  __shared__ float values[kSteps + 1];
  Option o = options[blockIdx.x];
  float dt = o.years / kSteps, vdt = volatility * sqrtf(dt), rdt = rate * dt;
  float up = expf(vdt), down = expf(-vdt), growth = expf(rdt);
  float pu = (growth - down) / (up - down) / growth, pd = (1.0f - (growth - down) / (up - down)) / growth;
  for (int i = threadIdx.x; i <= kSteps; i += blockDim.x) {
    values[i] = fmaxf(o.spot * expf(vdt * (2.0f * i - kSteps)) - o.strike, 0.0f);
  }
  for (int step = kSteps; step > 0; step--) {
    __syncthreads();
    float next = 0;
    int i = threadIdx.x;
    if (i < step) next = pu * values[i + 1] + pd * values[i];
    __syncthreads();
    if (i < step) values[i] = next;
  }
  if (threadIdx.x == 0) call[blockIdx.x] = values[0];
}

__device__ unsigned random(unsigned &state) {
  state = state * 1664525u + 1013904223u;
  return state;
}

__global__ void monteCarlo(const Option *options, float *call, int paths) {
  __shared__ float sums[256];
  Option o = options[blockIdx.x];
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1u;
  for (int i = 0; i < 8; i++) random(state);
  float drift = (rate - 0.5f * volatility * volatility) * o.years, spread = volatility * sqrtf(o.years), sum = 0;
  for (int p = threadIdx.x; p < paths; p += blockDim.x) {
    float u1 = ((random(state) >> 8) + 1) * (1.0f / 16777217.0f), u2 = (random(state) >> 8) * (1.0f / 16777216.0f);
    float z = sqrtf(-2.0f * logf(u1)) * cosf(6.28318530718f * u2);
    sum += fmaxf(o.spot * expf(drift + spread * z) - o.strike, 0.0f);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (threadIdx.x < k) sums[threadIdx.x] += sums[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) call[blockIdx.x] = sums[0] / paths * expf(-rate * o.years);
}

int main() {
  const int n = 512, priced = 16;
  const float r = 0.02f, v = 0.30f;
  CHECK(cudaMemcpyToSymbol(rate, &r, sizeof r));
  CHECK(cudaMemcpyToSymbol(volatility, &v, sizeof v));
  std::vector<Option> options(n);
  Numbers numbers;
  for (auto &o : options) o = {5 + 25 * numbers.unit(), 5 + 25 * numbers.unit(), 0.25f + 2 * numbers.unit()};
  Option *input = upload(options.data(), n);
  float *call = deviceArray<float>(n), *put = deviceArray<float>(n);
  std::vector<float> c(n), p(n), tree(priced), paths(priced);
  blackScholes<<<(n + 127) / 128, 128>>>(input, call, put, n);
  CHECK(cudaGetLastError());
  download(c.data(), call, n);
  download(p.data(), put, n);
  std::vector<double> exact(n);
  for (int i = 0; i < n; i++) {
    Option o = options[i];
    double root = sqrt(o.years), d1 = (log(o.spot / o.strike) + (r + 0.5 * v * v) * o.years) / (v * root), d2 = d1 - v * root;
    auto cdf = [](double d) { return 0.5 * erfc(-d / sqrt(2.0)); };
    double discount = exp(-r * o.years);
    exact[i] = o.spot * cdf(d1) - o.strike * discount * cdf(d2);
    EXPECT(fabs(c[i] - exact[i]) < 1e-3, "call %d: %g, not %g", i, c[i], exact[i]);
    double put = o.strike * discount * cdf(-d2) - o.spot * cdf(-d1);
    EXPECT(fabs(p[i] - put) < 1e-3, "put %d: %g, not %g", i, p[i], put);
  }
  binomial<<<priced, 256>>>(input, call);
  CHECK(cudaGetLastError());
  download(tree.data(), call, priced);
  monteCarlo<<<priced, 256>>>(input, call, 1 << 14);
  CHECK(cudaGetLastError());
  download(paths.data(), call, priced);
  for (int i = 0; i < priced; i++) {
    EXPECT(fabs(tree[i] - exact[i]) < 0.03, "lattice %d: %g, not %g", i, tree[i], exact[i]);
    EXPECT(fabs(paths[i] - exact[i]) < 0.05 * options[i].spot, "paths %d: %g, not %g", i, paths[i], exact[i]);
  }
  return finish();
}
