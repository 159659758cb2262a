/* Managed memory that is attached to a stream or to the program: the program writes to it while other streams work, without
 * waiting in between (CUDA programming guide, "Managing Data Visibility and Concurrent CPU + GPU Access with Streams"). */
#include <stdint.h>
#include <string.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemFree_v2(uint64_t pointer);
int cuStreamAttachMemAsync(void *stream, uint64_t pointer, size_t bytes, unsigned flags);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

/* Each of the 256 threads adds 1 to its word. */
static const char PTX[] =
    ".version 6.4\n.target sm_60\n.address_size 64\n"
    ".visible .entry add(.param .u64 p) {\n"
    "  .reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2; ret;\n}\n";

enum { GLOBAL = 1, HOST = 2, SINGLE = 4, WORDS = 256, STREAMS = 3, ROUNDS = 20 };

static void *add, *streams[STREAMS];

static void launch(unsigned *words, void *stream) {
  uint64_t p = (uintptr_t)words;
  void *parameters[] = {&p};
  RUN(cuLaunchKernel(add, 1, 1, 1, WORDS, 1, 1, 0, stream, parameters, NULL));
}

static unsigned *allocate(unsigned flags) {
  uint64_t memory;
  RUN(cuMemAllocManaged(&memory, WORDS * sizeof(unsigned), flags));
  return (unsigned *)(uintptr_t)memory;
}

static void attach(unsigned *words, void *stream, unsigned flags) {
  RUN(cuStreamAttachMemAsync(stream, (uintptr_t)words, 0, flags));
  RUN(cuStreamSynchronize(stream));
}

static void fill(unsigned *words, unsigned value) {
  for (int i = 0; i < WORDS; i++) words[i] = value;
}

static int holds(const unsigned *words, unsigned value) {
  for (int i = 0; i < WORDS; i++) {
    if (words[i] != value) return 0;
  }
  return 1;
}

static void to_streams(void) {
  unsigned *words[STREAMS];
  int right = 0;
  for (int i = 0; i < STREAMS; i++) attach(words[i] = allocate(GLOBAL), streams[i], SINGLE);
  for (unsigned round = 0; round < ROUNDS; round++) {
    for (unsigned i = 0; i < STREAMS; i++) { /* no wait: each stream has memory of its own */
      fill(words[i], 100 * round + i);
      launch(words[i], streams[i]);
    }
    for (unsigned i = 0; i < STREAMS; i++) {
      RUN(cuStreamSynchronize(streams[i]));
      right += holds(words[i], 100 * round + i + 1);
    }
  }
  printf("attached to streams: %d of %d right\n", right, STREAMS * ROUNDS);
  for (int i = 0; i < STREAMS; i++) RUN(cuMemFree_v2((uintptr_t)words[i]));
}

static void to_program(void) {
  unsigned *own = allocate(HOST), *other = allocate(GLOBAL);
  int right = 0;
  attach(other, streams[1], SINGLE);
  for (unsigned round = 0; round < ROUNDS; round++) {
    launch(other, streams[1]);
    fill(own, round);
    RUN(cuStreamAttachMemAsync(streams[0], (uintptr_t)own, 0, SINGLE));
    launch(own, streams[0]);
    RUN(cuStreamSynchronize(streams[0]));
    right += holds(own, round + 1);
    attach(own, streams[0], HOST);
  }
  launch(other, streams[1]);
  fill(own, 7);
  RUN(cuStreamSynchronize(streams[1]));
  attach(own, streams[0], GLOBAL);
  launch(own, streams[2]);
  RUN(cuStreamSynchronize(streams[2]));
  printf("attached to the program: %d of %d right, then to all: %s\n", right, ROUNDS, holds(own, 8) ? "right" : "wrong");
}

static void refused(void) {
  uint64_t words = (uintptr_t)allocate(GLOBAL);
  printf("no kind: %d\n", cuStreamAttachMemAsync(streams[0], words, 0, 0));
  printf("two kinds: %d\n", cuStreamAttachMemAsync(streams[0], words, 0, HOST | GLOBAL));
  printf("to no stream: %d\n", cuStreamAttachMemAsync(NULL, words, 0, SINGLE));
}

int main(void) {
  void *context, *module;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&add, module, "add"));
  for (int i = 0; i < STREAMS; i++) RUN(cuStreamCreate(&streams[i], 1));
  to_streams();
  to_program();
  refused();
  return 0;
}
