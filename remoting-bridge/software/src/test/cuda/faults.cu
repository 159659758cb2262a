// What goes wrong on the device ends the program's context with the right error: faults KIND, or all kinds in turn.
#include <cassert>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

__global__ void outside(int *p) { p[threadIdx.x + (1ll << 38)] = 1; }
__global__ void nullPointer(int *p) { *p = 1; }
__global__ void misaligned(char *p) { *(int *)(p + 1) = 1; }
__global__ void sharedOutside(int *out) {
  extern __shared__ int s[];
  s[threadIdx.x * 1000000] = 1;
  out[0] = s[0];
}
__global__ void failing(int x) { assert(x == 0); }
__global__ void trapping() { __trap(); }
__global__ void fine(int *p) { *p = 42; }

static int run(const char *kind) {
  int *p = deviceArray<int>(64);
  cudaError_t wanted = cudaErrorIllegalAddress;
  if (!strcmp(kind, "outside")) {
    outside<<<1, 32>>>(p);
  } else if (!strcmp(kind, "null")) {
    nullPointer<<<1, 1>>>(nullptr);
  } else if (!strcmp(kind, "misaligned")) {
    misaligned<<<1, 1>>>((char *)p);
    wanted = cudaErrorMisalignedAddress;
  } else if (!strcmp(kind, "shared")) {
    sharedOutside<<<1, 32, 128>>>(p);
  } else if (!strcmp(kind, "assert")) {
    failing<<<1, 1>>>(1);
    wanted = cudaErrorAssert;
  } else if (!strcmp(kind, "trap")) {
    trapping<<<1, 1>>>();
    wanted = cudaErrorLaunchFailure;
  } else if (!strcmp(kind, "configuration")) {
    fine<<<1, 2000>>>(p);
    EXPECT(cudaGetLastError() != cudaSuccess, "2000 threads were taken");
    fine<<<1, 1, 10 << 20>>>(p);
    EXPECT(cudaGetLastError() != cudaSuccess, "10 MiB of shared memory were taken");
    fine<<<1, 1>>>(p);
    CHECK(cudaDeviceSynchronize()); // such errors harm nothing
    return failures;
  }
  cudaError_t got = cudaDeviceSynchronize();
  // Devices differ in what they report for shared memory: an illegal address or instruction.
  if (!strcmp(kind, "shared") && got != cudaSuccess) wanted = got;
  EXPECT(got == wanted, "%s: %s", kind, cudaGetErrorString(got));
  void *more;
  EXPECT(cudaMalloc(&more, 16) == wanted, "%s: the error does not stay", kind);
  return failures;
}

int main(int argc, char **argv) {
  if (argc > 1) return run(argv[1]);
  for (const char *kind : {"outside", "null", "misaligned", "shared", "assert", "trap", "configuration"}) {
    pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], kind, (char *)nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %x", kind, status);
  }
  return finish();
}
