/* A guest's program: pieces of a copy to the device, kernels and a copy back, two at a time, so that the program always has work queued.
 * Without arguments it prints the rounds of a kernel of 2 to 4 ms. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **parameters, void **extra);

static void check(int error, const char *call) {
  if (!error) return;
  printf("%s: %d\n", call, error);
  exit(1);
}
#define RUN(call) check(call, #call)

/* Each of 32 threads adds its number to a word, as often as "rounds" says. */
static const char PTX[] =
    ".version 6.4\n.target sm_60\n.address_size 64\n"
    ".visible .entry work(.param .u64 p, .param .u32 rounds) {\n"
    "  .reg .u64 %rd<4>; .reg .u32 %r<6>; .reg .pred %q;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [rounds]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r3, [%rd3]; mov.u32 %r4, 0;\n"
    "again:\n"
    "  add.u32 %r3, %r3, %r2; add.u32 %r4, %r4, 1; setp.lt.u32 %q, %r4, %r1; @%q bra again;\n"
    "  st.global.u32 [%rd3], %r3; ret;\n}\n";

enum { THREADS = 32, KERNELS = 8 };

static void *work, *streams[2];
static uint64_t memory[2];
static uint32_t *host[2];

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void launch(int which, unsigned rounds) {
  void *parameters[] = {&memory[which], &rounds};
  RUN(cuLaunchKernel(work, 1, 1, 1, THREADS, 1, 1, 0, streams[which], parameters, NULL));
}

static void begin(size_t bytes, size_t copied) {
  void *context, *module;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&work, module, "work"));
  RUN(cuMemAlloc_v2(&memory[0], bytes));
  memory[1] = memory[0] + bytes / 2;
  for (int i = 0; i < 2; i++) {
    RUN(cuStreamCreate(&streams[i], 1));
    RUN(cuMemHostAlloc((void **)&host[i], copied, 0));
    memset(host[i], 0, copied);
  }
}

/* One measurement alone may be long because the machine is busy. */
static double shortest(unsigned rounds) {
  double best = 1e9;
  for (int i = 0; i < 9; i++) {
    double start = now();
    launch(0, rounds);
    RUN(cuCtxSynchronize());
    double took = now() - start;
    if (took < best) best = took;
  }
  return best;
}

static unsigned calibrate(void) {
  unsigned rounds = 1000;
  begin(1 << 20, 4096);
  while (shortest(rounds) < 0.002 && rounds < 1u << 28) rounds *= 2;
  return rounds;
}

int main(int count, char **words) {
  if (count == 1) {
    printf("%u\n", calibrate());
    return 0;
  }
  if (count != 5) {
    fprintf(stderr, "usage: load [ROUNDS MEMORY-MIB COPY-KIB SECONDS]\n");
    return 2;
  }
  unsigned rounds = (unsigned)atol(words[1]);
  size_t copied = (size_t)atol(words[3]) << 10;
  uint32_t expected[2] = {0, 0};
  begin((size_t)atol(words[2]) << 20, copied);
  double end = now() + atof(words[4]);
  for (int which = 0; now() < end; which = !which) {
    RUN(cuMemcpyHtoDAsync_v2(memory[which], host[which], copied, streams[which]));
    for (int i = 0; i < KERNELS; i++) launch(which, rounds);
    RUN(cuMemcpyDtoHAsync_v2(host[which], memory[which], copied, streams[which]));
    expected[which] += KERNELS * rounds;
    RUN(cuStreamSynchronize(streams[!which]));
    for (uint32_t i = 0; i < THREADS; i++) check(host[!which][i] != expected[!which] * i, "the kernels' result");
  }
  RUN(cuCtxSynchronize());
  printf("ended\n");
  return 0;
}
