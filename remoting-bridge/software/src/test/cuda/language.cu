// C++ on the device: virtual functions, function pointers, recursion, big frames, the heap, constants, switch.
#include <vector>
#include "check.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Circle : Shape {
  float radius;
  __device__ explicit Circle(float r) : radius(r) {}
  __device__ float area() const override { return 3.0f * radius * radius; }
};

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negate(int x) { return -x; }
typedef int (*Function)(int);
__device__ Function table[3] = {twice, square, negate};

struct Big { int values[50]; };
__device__ __noinline__ Big shifted(Big b, int by) {
  for (int i = 0; i < 50; i++) b.values[i] += by;
  return b;
}

// A barrier inside a function that is not inlined.
__device__ __noinline__ int exchange(int *shared, int v) {
  shared[threadIdx.x] = v;
  __syncthreads();
  int other = shared[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  return other;
}

__constant__ int coefficients[8] = {1, -2, 3, -4, 5, -6, 7, -8};
__device__ int counter = 17;
__device__ long long words[4] = {1, -1, 1ll << 40, 0};

__global__ void everything(int *out, Big big, double scale, char small) {
  __shared__ int shared[64];
  int t = threadIdx.x, *row = out + t * 16;
  Shape *shape = t & 1 ? (Shape *)new Square(t) : (Shape *)new Circle(t);
  row[0] = (int)shape->area();
  delete shape;
  row[1] = fibonacci(t % 12);
  row[2] = table[t % 3](t);
  Big moved = shifted(big, t);
  row[3] = moved.values[t % 50];
  int local[40];
  for (int i = 0; i < 40; i++) local[i] = i * t;
  int sum = 0;
  for (int i = 0; i < 40; i++) sum += local[(i * 7 + t) % 40] ^ i;
  row[4] = sum;
  row[5] = exchange(shared, t * t);
  row[6] = coefficients[t & 7] + counter + (int)(words[t & 3] >> 33);
  switch (t % 9) {
    case 0: row[7] = 100; break;
    case 1: row[7] = t; break;
    case 2: row[7] = t * 3; break;
    case 3: row[7] = 7 - t; break;
    case 4: row[7] = t ^ 99; break;
    case 5: row[7] = t << 3; break;
    case 6: row[7] = ~t; break;
    case 7: row[7] = t / 3; break;
    default: row[7] = -1;
  }
  row[8] = (int)(t * scale) + small;
  unsigned long long wide = 0x123456789abcdefull * (t + 1);
  row[9] = (int)(wide / 1000003u) ^ (int)(wide % 977);
  row[10] = __popcll(wide) + __clzll(wide) * 100 + __ffsll(wide);
  row[11] = __byte_perm((unsigned)wide, (unsigned)(wide >> 32), 0x6512);
  row[12] = __mulhi(t * 12345678, 98765432) + __umulhi(0xdeadbeef, t);
  row[13] = __dp4a((int)wide, (int)(wide >> 32), t);
  row[14] = __funnelshift_l((unsigned)wide, (unsigned)(wide >> 32), t);
  row[15] = __brev(t) >> 20 | __sad(t, 40, 1) << 16;
}

static int expected(int t, int k, const Big &big, double scale, char small) {
  unsigned long long wide = 0x123456789abcdefull * (t + 1);
  auto fib = [](int n) { int a = 0, b = 1; while (n--) { int c = a + b; a = b; b = c; } return a; };
  switch (k) {
    case 0: return t & 1 ? t * t : 3 * t * t;
    case 1: return fib(t % 12);
    case 2: return t % 3 == 0 ? 2 * t : t % 3 == 1 ? t * t : -t;
    case 3: return big.values[t % 50] + t;
    case 4: { int sum = 0; for (int i = 0; i < 40; i++) sum += ((i * 7 + t) % 40 * t) ^ i; return sum; }
    case 5: return (63 - t) * (63 - t);
    case 6: { const int c[8] = {1, -2, 3, -4, 5, -6, 7, -8}; const long long w[4] = {1, -1, 1ll << 40, 0}; return c[t & 7] + 17 + (int)(w[t & 3] >> 33); }
    case 7: { const int v[9] = {100, t, t * 3, 7 - t, t ^ 99, t << 3, ~t, t / 3, -1}; return v[t % 9]; }
    case 8: return (int)(t * scale) + small;
    case 9: return (int)(wide / 1000003u) ^ (int)(wide % 977);
    case 10: return __builtin_popcountll(wide) + __builtin_clzll(wide) * 100 + __builtin_ffsll(wide);
    case 11: { const int s[4] = {2, 1, 5, 6}; unsigned r = 0; for (int i = 0; i < 4; i++) r |= (unsigned)(wide >> 8 * s[i] & 255) << 8 * i; return (int)r; }
    case 12: return (int)((long long)(t * 12345678) * 98765432 >> 32) + (int)((0xdeadbeefull * t) >> 32);
    case 13: { int sum = t; for (int i = 0; i < 4; i++) sum += (signed char)(wide >> 8 * i) * (signed char)(wide >> (32 + 8 * i)); return sum; }
    case 14: return (int)((wide << (t & 31)) >> 32);
    default: { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (t >> i & 1u) << (31 - i); return (int)(r >> 20) | ((t > 40 ? t - 40 : 40 - t) + 1) << 16; }
  }
}

int main() {
  Big big;
  for (int i = 0; i < 50; i++) big.values[i] = i * i - 300;
  int *out = deviceArray<int>(64 * 16), host[64 * 16];
  everything<<<1, 64>>>(out, big, 2.75, (char)-3);
  CHECK(cudaGetLastError());
  download(host, out, 64 * 16);
  for (int t = 0; t < 64; t++) {
    for (int k = 0; k < 16; k++) {
      int want = expected(t, k, big, 2.75, (char)-3);
      EXPECT(host[t * 16 + k] == want, "thread %d result %d: %d, not %d", t, k, host[t * 16 + k], want);
    }
  }
  int value = 99, back = 0;
  CHECK(cudaMemcpyToSymbol(counter, &value, sizeof value));
  CHECK(cudaMemcpyFromSymbol(&back, counter, sizeof back));
  EXPECT(back == 99, "%d", back);
  return finish();
}
