// nvcc: -arch=sm_80
// half and bfloat16 arithmetic, packed pairs and conversions, against sums in float and double on the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>
#include "check.h"

__global__ void halves(const __half *a, const __half *b, __half *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half x = a[i], y = b[i];
  out[i] = __hadd(x, y);
  out[n + i] = __hmul(x, y);
  out[2 * n + i] = __hfma(x, y, x);
  out[3 * n + i] = __hsub(x, y);
  out[4 * n + i] = __hmax(x, y);
  out[5 * n + i] = __hlt(x, y) ? __hneg(x) : __habs(y);
  out[6 * n + i] = __float2half_rz(__half2float(x) * 1.001f);
  out[7 * n + i] = __short2half_rn((short)(i * 7 - 9000));
}

__global__ void packed(const __half2 *a, const __half2 *b, __half2 *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __hfma2(a[i], b[i], __hadd2(a[i], b[i]));
  out[n + i] = __lows2half2(__hmul2(a[i], b[i]), __hsub2(a[i], b[i]));
}

__global__ void bfloats(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *out, float *wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __hadd(a[i], b[i]);
  out[n + i] = __hmul(a[i], b[i]);
  wide[i] = __bfloat162float(a[i]) + 1.0f;
}

int main() {
  const int n = 2048;
  std::vector<__half> a(n), b(n), out(8 * n);
  std::vector<__nv_bfloat16> c(n), d(n), sums(2 * n);
  std::vector<float> wide(n);
  Numbers numbers;
  for (int i = 0; i < n; i++) {
    float x = (2 * numbers.unit() - 1) * (i % 3 ? 30.0f : 0.01f), y = (2 * numbers.unit() - 1) * 8;
    a[i] = __float2half(x), b[i] = __float2half(y);
    c[i] = __float2bfloat16(x), d[i] = __float2bfloat16(y);
  }
  __half *da = upload(a.data(), n), *db = upload(b.data(), n), *dOut = deviceArray<__half>(8 * n);
  halves<<<n / 128, 128>>>(da, db, dOut, n);
  CHECK(cudaGetLastError());
  download(out.data(), dOut, out.size());
  auto same = [](__half x, double want) { return __half2float(x) == __half2float(__double2half(want)); };
  for (int i = 0; i < n; i++) {
    double x = __half2float(a[i]), y = __half2float(b[i]);
    EXPECT(same(out[i], x + y), "%g + %g = %g", x, y, __half2float(out[i]));
    EXPECT(same(out[n + i], x * y), "%g * %g = %g", x, y, __half2float(out[n + i]));
    EXPECT(same(out[2 * n + i], x * y + x), "%g * %g + %g = %g", x, y, x, __half2float(out[2 * n + i]));
    EXPECT(same(out[3 * n + i], x - y), "%g - %g", x, y);
    EXPECT(same(out[4 * n + i], x > y ? x : y), "max(%g, %g)", x, y);
    EXPECT(same(out[5 * n + i], x < y ? -x : fabs(y)), "sign of %g, %g", x, y);
    float cut = __half2float(out[6 * n + i]), full = (float)x * 1.001f;
    EXPECT(fabsf(cut) <= fabsf(full) && fabsf(full - cut) <= fabsf(full) * 0.001f + 6e-8f, "%g cut to %g", full, cut);
    EXPECT(same(out[7 * n + i], (short)(i * 7 - 9000)), "%d as half", i * 7 - 9000);
  }
  packed<<<n / 2 / 128, 128>>>((__half2 *)da, (__half2 *)db, (__half2 *)dOut, n / 2);
  CHECK(cudaGetLastError());
  download(out.data(), dOut, 2 * n);
  for (int i = 0; i < n; i++) {
    double x = __half2float(a[i]), y = __half2float(b[i]);
    EXPECT(same(out[i], x * y + __half2float(__double2half(x + y))), "pair %d", i);
  }
  for (int i = 0; i < n / 2; i++) {
    double x = __half2float(a[2 * i]), y = __half2float(b[2 * i]);
    EXPECT(same(out[n + 2 * i], x * y) && same(out[n + 2 * i + 1], x - y), "low halves %d", i);
  }
  __nv_bfloat16 *dc = upload(c.data(), n), *dd = upload(d.data(), n), *dSums = deviceArray<__nv_bfloat16>(2 * n);
  float *dWide = deviceArray<float>(n);
  bfloats<<<n / 128, 128>>>(dc, dd, dSums, dWide, n);
  CHECK(cudaGetLastError());
  download(sums.data(), dSums, 2 * n);
  download(wide.data(), dWide, n);
  for (int i = 0; i < n; i++) {
    float x = __bfloat162float(c[i]), y = __bfloat162float(d[i]);
    EXPECT(__bfloat162float(sums[i]) == __bfloat162float(__double2bfloat16((double)x + y)), "%g + %g", x, y);
    EXPECT(__bfloat162float(sums[n + i]) == __bfloat162float(__double2bfloat16((double)x * y)), "%g * %g", x, y);
    EXPECT(wide[i] == x + 1.0f, "%g + 1", x);
  }
  return finish();
}
