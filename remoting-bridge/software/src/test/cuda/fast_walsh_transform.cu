// Walsh-Hadamard transform: radix-4 steps in global memory, the last ones in shared memory.
#include <vector>
#include "check.h"

__global__ void inShared(float *data, int log2n) {
  extern __shared__ float s[];
  int n = 1 << log2n, base = blockIdx.x << log2n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = data[base + i];
  for (int stride = n / 4; stride > 0; stride >>= 2) {
    __syncthreads();
    for (int pos = threadIdx.x; pos < n / 4; pos += blockDim.x) {
      int low = pos & (stride - 1), i0 = ((pos - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
      float d0 = s[i0], d1 = s[i1], d2 = s[i2], d3 = s[i3];
      float t = d0;
      d0 = d0 + d2, d2 = t - d2;
      t = d1, d1 = d1 + d3, d3 = t - d3;
      s[i0] = d0 + d1, s[i1] = d0 - d1, s[i2] = d2 + d3, s[i3] = d2 - d3;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[base + i] = s[i];
}

__global__ void inGlobal(float *data, int stride) {
  int pos = blockIdx.x * blockDim.x + threadIdx.x;
  int low = pos & (stride - 1), i0 = ((pos - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
  float d0 = data[i0], d1 = data[i1], d2 = data[i2], d3 = data[i3], t = d0;
  d0 = d0 + d2, d2 = t - d2;
  t = d1, d1 = d1 + d3, d3 = t - d3;
  data[i0] = d0 + d1, data[i1] = d0 - d1, data[i2] = d2 + d3, data[i3] = d2 - d3;
}

int main() {
  const int log2n = 14, n = 1 << log2n, inner = 10;
  std::vector<float> in(n), out(n);
  Numbers numbers;
  for (auto &f : in) f = (float)(numbers.next() % 64);
  float *data = upload(in.data(), n);
  int log = log2n;
  for (; log > inner; log -= 2) inGlobal<<<n / 4 / 256, 256>>>(data, 1 << (log - 2));
  inShared<<<n >> log, 256, sizeof(float) << log>>>(data, log);
  CHECK(cudaGetLastError());
  download(out.data(), data, n);
  for (int stride = 1; stride < n; stride <<= 1) { // small whole numbers: exact in any order
    for (int i = 0; i < n; i++) {
      if (!(i & stride)) {
        float a = in[i], b = in[i + stride];
        in[i] = a + b, in[i + stride] = a - b;
      }
    }
  }
  for (int i = 0; i < n; i++) EXPECT(in[i] == out[i], "%d: %g, not %g", i, out[i], in[i]);
  return finish();
}
