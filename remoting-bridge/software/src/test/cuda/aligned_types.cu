// Structures of several sizes and alignments, copied element by element.
#include <vector>
#include "check.h"

struct Rgb8 { unsigned char r, g, b; };
struct __align__(4) Rgba8 { unsigned char r, g, b, a; };
struct La32 { unsigned l, a; };
struct __align__(8) La32Aligned { unsigned l, a; };
struct Rgb32 { unsigned r, g, b; };
struct __align__(16) Rgb32Aligned { unsigned r, g, b; };
struct __align__(16) Rgba32x2 { uint4 one, two; };

template <typename T>
__global__ void copyElements(T *to, const T *from, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) to[i] = from[i];
}

template <typename T>
void run(const char *name, int payload) {
  const int n = 10000;
  std::vector<unsigned char> in(n * sizeof(T)), out(n * sizeof(T), 0);
  Numbers numbers;
  for (auto &byte : in) byte = (unsigned char)numbers.next();
  T *from = (T *)upload(in.data(), in.size());
  T *to = (T *)upload(out.data(), out.size());
  copyElements<T><<<16, 128>>>(to, from, n);
  CHECK(cudaGetLastError());
  download(out.data(), (unsigned char *)to, out.size());
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < payload; k++) {
      EXPECT(in[i * sizeof(T) + k] == out[i * sizeof(T) + k], "%s element %d byte %d", name, i, k);
    }
  }
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
}

int main() {
  run<unsigned char>("uint8", 1);
  run<unsigned short>("uint16", 2);
  run<Rgba8>("Rgba8", 4);
  run<unsigned>("uint32", 4);
  run<La32Aligned>("La32Aligned", 8);
  run<Rgb32Aligned>("Rgb32Aligned", 12);
  run<Rgba32x2>("Rgba32x2", 32);
  run<Rgb8>("Rgb8", 3);
  run<La32>("La32", 8);
  run<Rgb32>("Rgb32", 12);
  return finish();
}
