// What the programs share: errors end a program, and the last line says PASS or FAIL.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    cudaError_t error_ = (call);                                                                 \
    if (error_ != cudaSuccess) {                                                                 \
      std::printf("FAIL %s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

inline int failures = 0;

#define EXPECT(condition, ...)                              \
  do {                                                      \
    if (!(condition) && failures++ < 10) {                  \
      std::printf("%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      std::printf(__VA_ARGS__);                             \
      std::printf("\n");                                    \
    }                                                       \
  } while (0)

inline int finish() {
  std::printf(failures == 0 ? "PASS\n" : "FAIL: %d differences\n", failures);
  return failures != 0;
}

// Managed by hand, so that the programs stay close to what people write.
template <typename T>
T *deviceArray(size_t count) {
  T *p = nullptr;
  CHECK(cudaMalloc(&p, count * sizeof(T)));
  return p;
}

template <typename T>
T *upload(const T *from, size_t count) {
  T *p = deviceArray<T>(count);
  CHECK(cudaMemcpy(p, from, count * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}

template <typename T>
void download(T *to, const T *from, size_t count) {
  CHECK(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost));
}

// The same numbers on every machine.
struct Numbers {
  unsigned state = 12345;
  unsigned next() {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
  }
  float unit() { return (next() >> 8) * (1.0f / 16777216.0f); }
};
