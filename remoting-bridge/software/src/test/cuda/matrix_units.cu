// nvcc: -arch=compute_90
// Products of small matrices by a warp: wmma of every type, and mma with ldmatrix and stmatrix.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>
#include <vector>
#include "check.h"
using namespace nvcuda;

template <typename In, typename Out, int M, int N, int K, typename Fragment, bool columnMajorB>
__global__ void product(const In *a, const In *b, const Out *c, Out *d) {
  using LayoutB = std::conditional_t<columnMajorB, wmma::col_major, wmma::row_major>;
  wmma::fragment<wmma::matrix_a, M, N, K, Fragment, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Fragment, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Out> fc;
  wmma::load_matrix_sync(fa, a, K);
  wmma::load_matrix_sync(fb, b, columnMajorB ? K : N);
  wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] * (Out)2.0f;
  wmma::store_matrix_sync(d, fc, M, wmma::mem_col_major);
}

template <typename In, typename Out, int M, int N, int K, typename Fragment, bool columnMajorB>
void wmmaProduct(const char *name) {
  Numbers numbers;
  std::vector<In> a(M * K), b(K * N);
  std::vector<Out> c(M * N), d(M * N);
  for (In &v : a) v = (In)(float)(int)(numbers.next() % 11);
  for (In &v : b) v = (In)(float)(int)(numbers.next() % 7);
  for (Out &v : c) v = (Out)(float)(int)(numbers.next() % 100);
  In *da = upload(a.data(), a.size()), *db = upload(b.data(), b.size());
  Out *dc = upload(c.data(), c.size()), *dd = deviceArray<Out>(M * N);
  product<In, Out, M, N, K, Fragment, columnMajorB><<<1, 32>>>(da, db, dc, dd);
  CHECK(cudaDeviceSynchronize());
  download(d.data(), dd, d.size());
  for (int row = 0; row < M; row++) {
    for (int column = 0; column < N; column++) {
      double sum = (double)c[row * N + column];
      for (int k = 0; k < K; k++)
        sum += (double)(float)a[row * K + k] * (double)(float)b[columnMajorB ? column * K + k : k * N + column];
      double got = (double)d[column * M + row];
      EXPECT(got == 2 * sum, "%s %dx%dx%d (%d, %d): %g, expected %g", name, M, N, K, row, column, got, 2 * sum);
    }
  }
}

// D = A x B by mma.m16n8k16, A and B through shared memory with ldmatrix, D out with stmatrix.
__global__ void halves(const half *a, const half *b, half *d) {
  __shared__ __align__(16) half sa[16 * 16], sb[16 * 8], sd[16 * 8];
  unsigned lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) sa[i] = a[i];
  for (int i = lane; i < 128; i += 32) sb[i] = b[i];
  __syncwarp();
  unsigned fa[4], fb[2], fd[2] = {0, 0};
  unsigned rowA = (unsigned)__cvta_generic_to_shared(sa + (lane % 16) * 16 + lane / 16 * 8);
  unsigned rowB = (unsigned)__cvta_generic_to_shared(sb + (lane % 16) * 8);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
               : "r"(rowA));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(fb[0]), "=r"(fb[1])
               : "r"(rowB));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(fd[0]), "+r"(fd[1])
               : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
  unsigned rowD = (unsigned)__cvta_generic_to_shared(sd + (lane % 16) * 8);
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(rowD), "r"(fd[0]), "r"(fd[1])
               : "memory");
  __syncwarp();
  for (int i = lane; i < 128; i += 32) d[i] = sd[i];
}

void mmaProduct() {
  Numbers numbers;
  std::vector<half> a(256), b(128), d(128);
  for (half &v : a) v = (half)(float)(int)(numbers.next() % 9);
  for (half &v : b) v = (half)(float)(int)(numbers.next() % 9);
  half *out = deviceArray<half>(128);
  halves<<<1, 32>>>(upload(a.data(), 256), upload(b.data(), 128), out);
  CHECK(cudaDeviceSynchronize());
  download(d.data(), out, 128);
  for (int i = 0; i < 128; i++) {
    float sum = 0;
    for (int k = 0; k < 16; k++) sum += (float)a[i / 8 * 16 + k] * (float)b[k * 8 + i % 8];
    EXPECT((float)d[i] == sum, "mma (%d, %d): %g, expected %g", i / 8, i % 8, (float)d[i], sum);
  }
}

__global__ void eightBits(const float *in, unsigned char *e4m3, unsigned char *e5m2, float *back) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  __nv_fp8_e4m3 x(in[i]);
  __nv_fp8_e5m2 y(in[i]);
  e4m3[i] = x.__x;
  e5m2[i] = y.__x;
  back[2 * i] = (float)x;
  back[2 * i + 1] = (float)y;
}

// The same constructors on the host are plain integer code in CUDA's header.
void eightBitNumbers() {
  constexpr int n = 4096;
  Numbers numbers;
  std::vector<float> in(n), back(2 * n);
  std::vector<unsigned char> e4m3(n), e5m2(n);
  for (int i = 0; i < n; i++) in[i] = ldexpf(numbers.unit() - 0.5f, (int)(numbers.next() % 40) - 20);
  in[0] = 0.0f, in[1] = -0.0f, in[2] = INFINITY, in[3] = -1e30f, in[4] = 448.0f, in[5] = 57344.0f;
  unsigned char *d4 = deviceArray<unsigned char>(n), *d5 = deviceArray<unsigned char>(n);
  float *dback = deviceArray<float>(2 * n);
  eightBits<<<n / 128, 128>>>(upload(in.data(), n), d4, d5, dback);
  CHECK(cudaDeviceSynchronize());
  download(e4m3.data(), d4, n);
  download(e5m2.data(), d5, n);
  download(back.data(), dback, 2 * n);
  for (int i = 0; i < n; i++) {
    __nv_fp8_e4m3 x(in[i]);
    __nv_fp8_e5m2 y(in[i]);
    EXPECT(e4m3[i] == x.__x, "e4m3 of %g: %x, expected %x", in[i], e4m3[i], x.__x);
    EXPECT(e5m2[i] == y.__x, "e5m2 of %g: %x, expected %x", in[i], e5m2[i], y.__x);
    EXPECT(back[2 * i] == (float)x, "e4m3 %x: %g, expected %g", x.__x, back[2 * i], (float)x);
    EXPECT(back[2 * i + 1] == (float)y, "e5m2 %x: %g, expected %g", y.__x, back[2 * i + 1], (float)y);
  }
}

int main() {
  wmmaProduct<half, float, 16, 16, 16, half, true>("half, float");
  wmmaProduct<half, float, 32, 8, 16, half, false>("half, float");
  wmmaProduct<half, float, 8, 32, 16, half, true>("half, float");
  wmmaProduct<half, half, 16, 16, 16, half, false>("half");
  wmmaProduct<__nv_bfloat16, float, 16, 16, 16, __nv_bfloat16, true>("bfloat16");
  wmmaProduct<__nv_bfloat16, float, 8, 32, 16, __nv_bfloat16, false>("bfloat16");
  wmmaProduct<float, float, 16, 16, 8, wmma::precision::tf32, false>("tf32");
  wmmaProduct<double, double, 8, 8, 4, double, true>("double");
  wmmaProduct<signed char, int, 16, 16, 16, signed char, true>("signed char");
  wmmaProduct<unsigned char, int, 32, 8, 16, unsigned char, false>("unsigned char");
  mmaProduct();
  eightBitNumbers();
  return finish();
}
