// Vector sums, with the parameters and sizes of a first CUDA program.
#include <vector>
#include "check.h"

__global__ void vectorAdd(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 50000;
  std::vector<float> a(n), b(n), c(n);
  Numbers numbers;
  for (int i = 0; i < n; i++) a[i] = numbers.unit(), b[i] = numbers.unit();
  float *da = upload(a.data(), n), *db = upload(b.data(), n), *dc = deviceArray<float>(n);
  vectorAdd<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  CHECK(cudaGetLastError());
  download(c.data(), dc, n);
  for (int i = 0; i < n; i++) EXPECT(c[i] == a[i] + b[i], "%d: %g", i, c[i]);
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(dc));
  return finish();
}
