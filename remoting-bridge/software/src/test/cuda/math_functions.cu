// The functions of the CUDA math library against the host's, within the errors that CUDA documents.
#include <string>
#include <vector>
#include "check.h"

#define SINGLE(F) \
  F(sinf) F(cosf) F(tanf) F(asinf) F(acosf) F(atanf) F(sinhf) F(coshf) F(tanhf) F(expf) F(exp2f) F(expm1f) F(logf) \
  F(log2f) F(log10f) F(log1pf) F(sqrtf) F(cbrtf) F(erff) F(erfcf) F(lgammaf) F(tgammaf) F(floorf) F(ceilf) F(rintf) \
  F(truncf) F(roundf) F(fabsf)
#define DOUBLE(F) \
  F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) F(tanh) F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) \
  F(log1p) F(sqrt) F(cbrt) F(erf) F(erfc) F(lgamma) F(tgamma) F(floor) F(ceil) F(rint) F(trunc) F(round) F(fabs)

#define NAME(f) #f,
#define HOST(f) [](double x) -> double { return ::f(x); },
static const char *singleNames[] = {SINGLE(NAME)}, *doubleNames[] = {DOUBLE(NAME)};
constexpr int kFunctions = sizeof singleNames / sizeof *singleNames;

__global__ void singles(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  if (i >= n) return;
  float x = in[i];
#define CALL(f) out[k++ * n + i] = f(x);
  SINGLE(CALL)
}

__global__ void doubles(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
  if (i >= n) return;
  double x = in[i];
  DOUBLE(CALL)
}

__global__ void pairs(const float *a, const float *b, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = b[i];
  out[i] = powf(fabsf(x), y);
  out[n + i] = fmodf(x, y);
  out[2 * n + i] = atan2f(x, y);
  out[3 * n + i] = hypotf(x, y);
  out[4 * n + i] = x / y;
  out[5 * n + i] = fmaf(x, y, 1.5f);
  out[6 * n + i] = remainderf(x, y);
  out[7 * n + i] = __fdividef(x, y);
  out[8 * n + i] = __sinf(x) + __cosf(x);
  out[9 * n + i] = copysignf(fmaxf(x, y), fminf(x, y));
  out[10 * n + i] = __fadd_rz(x, y) + __fmul_ru(x, y) + __fadd_rd(x, -y);
  out[11 * n + i] = (float)(pow((double)fabsf(x), (double)y) + fmod((double)x, (double)y));
}

static double ulps(double got, double want, bool single) {
  if ((std::isnan(got) && std::isnan(want)) || got == want) return 0;
  if (std::isnan(got) || std::isnan(want) || std::isinf(got) || std::isinf(want)) return 1e30;
  double unit = single ? (double)(std::nextafter(std::fabs((float)want), INFINITY) - std::fabs((float)want))
                       : std::nextafter(std::fabs(want), INFINITY) - std::fabs(want);
  return std::fabs(got - want) / unit;
}

int main() {
  const int n = 4096;
  std::vector<float> x(n), y(n), out(12 * n), all(kFunctions * n);
  std::vector<double> xd(n), allDouble(kFunctions * n);
  Numbers numbers;
  for (int i = 0; i < n; i++) {
    float scale = i % 4 == 0 ? 1.0f : i % 4 == 1 ? 10.0f : i % 4 == 2 ? 0.01f : 1000.0f;
    x[i] = (2 * numbers.unit() - 1) * scale;
    y[i] = (2 * numbers.unit() - 1) * 4;
  }
  const float edges[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 2.5f, -2.5f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 3.4e38f, 1e30f, 88.0f, -104.0f, 100000.0f, 1e8f};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) x[i] = edges[i];
  for (int i = 0; i < n; i++) xd[i] = x[i] * (1 + 1e-9);
  float *dx = upload(x.data(), n), *dy = upload(y.data(), n), *dOut = deviceArray<float>(12 * n), *dAll = deviceArray<float>(kFunctions * n);
  double *dxd = upload(xd.data(), n), *dAllDouble = deviceArray<double>(kFunctions * n);
  singles<<<n / 128, 128>>>(dx, dAll, n);
  doubles<<<n / 128, 128>>>(dxd, dAllDouble, n);
  pairs<<<n / 128, 128>>>(dx, dy, dOut, n);
  CHECK(cudaGetLastError());
  download(all.data(), dAll, all.size());
  download(allDouble.data(), dAllDouble, allDouble.size());
  download(out.data(), dOut, out.size());
  double (*host[])(double) = {DOUBLE(HOST)};
  for (int k = 0; k < kFunctions; k++) {
    std::string name = doubleNames[k];
    bool gamma = name.find("gamma") != std::string::npos;
    for (int i = 0; i < n; i++) {
      double want = host[k](x[i]), got = all[k * n + i];
      if (name == "tgamma" && x[i] < 0) continue; // near its poles the argument's last bit decides
      // lgamma crosses zero: an absolute error counts there.
      bool close = gamma && std::fabs(got - want) < 1e-5;
      EXPECT(close || ulps(got, (float)want, true) <= (gamma ? 12 : 5), "%s(%.9g) = %.9g, not %.9g", singleNames[k], x[i], got, want);
      double wantDouble = host[k](xd[i]), gotDouble = allDouble[k * n + i];
      close = gamma && std::fabs(gotDouble - wantDouble) < 1e-12;
      EXPECT(close || ulps(gotDouble, wantDouble, false) <= (gamma ? 16 : 5), "%s(%.17g) = %.17g, not %.17g", doubleNames[k], xd[i], gotDouble, wantDouble);
    }
  }
  for (int i = 32; i < n; i++) {
    double a = x[i], b = y[i];
    const double want[] = {pow(fabs(a), b), fmod(a, b), atan2(a, b), hypot(a, b), (float)a / (float)b, fma(a, b, 1.5), remainder(a, b)};
    for (int f = 0; f < 7; f++) {
      EXPECT(ulps(out[f * n + i], (float)want[f], true) <= (f == 0 ? 9 : f == 4 ? 0 : f == 5 ? 1 : 4), "pair %d (%.9g, %.9g) = %.9g, not %.9g", f, a, b, out[f * n + i], want[f]);
    }
    EXPECT(ulps(out[7 * n + i], (float)(a / b), true) <= 2, "quotient %d", i);
    if (fabs(a) < 3) EXPECT(fabs(out[8 * n + i] - (sin(a) + cos(a))) < 4e-6, "sine and cosine %d: %g", i, out[8 * n + i]);
    EXPECT(out[9 * n + i] == copysignf(fmaxf(x[i], y[i]), fminf(x[i], y[i])), "extremes %d", i);
  }
  return finish();
}
