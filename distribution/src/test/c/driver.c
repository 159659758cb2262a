/* Tests the driver API in groups, on any device; each line of output is a result. Built with gcc alone; the kernels are PTX. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuCtxGetLimit(size_t *value, int limit);
int cuCtxSetLimit(int limit, size_t value);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleEnumerateFunctions(void **functions, unsigned count, void *module);
int cuModuleUnload(void *module);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
int cuMemHostGetDevicePointer_v2(uint64_t *device, void *host, unsigned flags);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemsetD32Async(uint64_t to, unsigned value, size_t count, void *stream);
int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cuGraphCreate(void **graph, unsigned flags);
int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *dependencies, size_t count, const void *parameters);
int cuGraphAddHostNode(void **node, void *graph, void *const *dependencies, size_t count, const void *parameters);
int cuGraphKernelNodeGetParams_v2(void *node, void *parameters);
int cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const void *parameters);
int cuGraphGetNodes(void *graph, void **nodes, size_t *count);
int cuGraphGetEdges_v2(void *graph, void **from, void **to, void *edges, size_t *count);
int cuGraphNodeGetType(void *node, int *type);
int cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphExecDestroy(void *exec);
int cuGraphDestroy(void *graph);
int cuUserObjectCreate(void **object, void *data, void (*destroy)(void *), unsigned count, unsigned flags);
int cuGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags);

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u32 by) {\n"
    "  .reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [by];\n"
    "  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r3, [%rd3]; add.u32 %r3, %r3, %r1; st.global.u32 [%rd3], %r3; ret;\n}\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 format[] = {104, 101, 108, 108, 111, 32, 37, 100, 10, 0};\n" /* hello %d */
    ".visible .entry hello(.param .u32 n) {\n"
    "  .reg .u64 %rd<5>; .reg .u32 %r<4>; .local .align 8 .b8 arguments[8];\n"
    "  ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; add.u32 %r1, %r1, %r2;\n"
    "  mov.u64 %rd1, arguments; st.local.u32 [%rd1], %r1; cvta.local.u64 %rd2, %rd1;\n"
    "  mov.u64 %rd3, format; cvta.global.u64 %rd4, %rd3;\n"
    "  { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd4; st.param.b64 [a], %rd2;\n"
    "    call.uni (r), vprintf, (f, a); ld.param.b32 %r3, [r]; }\n"
    "  ret;\n}\n"
    ".visible .entry answer(.param .u64 p) {\n"
    "  .reg .u64 %rd<2>; .reg .u32 %r<2>; .reg .pred %p;\n"
    "  ld.param.u64 %rd1, [p]; st.volatile.global.u32 [%rd1 + 8], 7;\n"
    "again: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, 0; @%p bra again;\n"
    "  add.u32 %r1, %r1, 1; st.volatile.global.u32 [%rd1 + 4], %r1; ret;\n}\n";

enum { COUNT = 100, BYTES = COUNT * 4 };

struct kernel { /* CUDA_KERNEL_NODE_PARAMS_v2 */
  void *function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra, *kernel, *context;
};

static const char *name_of(int error) {
  const char *name = "?";
  cuGetErrorName(error, &name);
  return name;
}

static int sum(const int *p) {
  int s = 0;
  for (int i = 0; i < COUNT; i++) s += p[i];
  return s;
}

static void *add, *hello, *answer, *stream;

static int launch(uint64_t p, unsigned by, unsigned threads, unsigned shared, void *on) {
  void *parameters[] = {&p, &by};
  return cuLaunchKernel(add, 1, 1, 1, threads, 1, 1, shared, on, parameters, NULL);
}

static void step(void *counter) { ++*(int *)counter; }

static void launches(void) {
  uint64_t d;
  RUN(cuMemAlloc_v2(&d, BYTES));
  printf("2000 threads: %s\n", name_of(launch(d, 1, 2000, 0, NULL)));
  printf("10 MiB of shared memory: %s\n", name_of(launch(d, 1, 1, 10 << 20, NULL)));
  printf("no function: %s\n", name_of(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)));
  RUN(launch(d, 1, 1, 0, NULL));
  printf("then: %s\n", name_of(cuCtxSynchronize()));
}

/* The output of a kernel appears where the program has waited for the kernel. */
static void output(void) {
  int n = 1;
  void *parameters[] = {&n};
  RUN(cuLaunchKernel(hello, 1, 1, 1, 2, 1, 1, 0, stream, parameters, NULL));
  RUN(cuStreamSynchronize(stream));
  printf("printed, and waited for the stream\n");
  n = 10;
  RUN(cuLaunchKernel(hello, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
  RUN(cuCtxSynchronize());
  printf("printed, and waited for the context\n");
}

enum { MANY = 2 << 20 };
static int *arrived, *seen_here;
static uint64_t wrong;

static void look(void *data) {
  for (size_t i = 0; i < MANY; i++) wrong += arrived[i] != 7;
  *(int *)data = seen_here[0]++;
}

/* A host function sees the results of earlier work in its stream: copies to pinned memory and kernels' writes to mapped
 * memory. The next kernel reads what the host function writes there. */
static void host_functions(void) {
  uint64_t d, seen;
  int was = 0;
  RUN(cuMemAlloc_v2(&d, MANY * 4));
  RUN(cuMemHostAlloc((void **)&arrived, MANY * 4, 0));
  RUN(cuMemHostAlloc((void **)&seen_here, BYTES, 2));
  RUN(cuMemHostGetDevicePointer_v2(&seen, seen_here, 0));
  for (int i = 0; i < COUNT; i++) seen_here[i] = 1;
  for (int round = 0; round < 5; round++) {
    memset(arrived, 0, MANY * 4);
    RUN(cuMemsetD32Async(d, 7, MANY, stream));
    RUN(launch(seen, 10, COUNT, 0, stream));
    RUN(cuMemcpyDtoHAsync_v2(arrived, d, MANY * 4, stream));
    RUN(cuLaunchHostFunc(stream, look, &was));
    RUN(launch(seen, 100, 1, 0, stream));
    RUN(cuStreamSynchronize(stream));
    printf("wrong in the host function: %d, it saw %d and left %d\n", (int)wrong, was, seen_here[0]);
  }
}

/* Copies into the same memory, one after another: the data of the last copy remains. */
static void overlapping_reads(void) {
  uint64_t d;
  size_t wrong_ones = 0;
  RUN(cuMemAlloc_v2(&d, MANY * 4));
  for (unsigned i = 1; i <= 40; i++) {
    RUN(cuMemsetD32Async(d, i, MANY, stream));
    RUN(cuMemcpyDtoHAsync_v2(arrived, d, MANY * 4, stream));
    RUN(cuMemsetD32Async(d, 1000 + i, 1000, stream));
    RUN(cuMemcpyDtoHAsync_v2(arrived + i * 1000, d, 4000, stream));
    if (i % 8) continue;
    RUN(cuStreamSynchronize(stream));
    for (size_t k = 0; k < MANY; k++) wrong_ones += arrived[k] != (int)(k / 1000 == i ? 1000 + i : i);
  }
  printf("wrong after the last copy: %zu\n", wrong_ones);
}

static void captures(void) {
  int from[COUNT], to[COUNT], calls = 0;
  uint64_t d;
  void *graph, *exec;
  RUN(cuMemAlloc_v2(&d, BYTES));
  RUN(cuStreamBeginCapture_v2(stream, 0));
  RUN(cuMemcpyHtoDAsync_v2(d, from, BYTES, stream));
  RUN(launch(d, 1, COUNT, 0, stream));
  RUN(cuLaunchHostFunc(stream, step, &calls));
  RUN(cuMemcpyDtoHAsync_v2(to, d, BYTES, stream));
  RUN(cuStreamEndCapture(stream, &graph));
  RUN(cuGraphInstantiateWithFlags(&exec, graph, 0));
  for (int round = 1; round <= 3; round++) {
    for (int i = 0; i < COUNT; i++) from[i] = i * round;
    RUN(cuGraphLaunch(exec, stream));
    RUN(cuStreamSynchronize(stream));
    printf("launch %d: %d, host functions %d\n", round, sum(to), calls);
  }
  void *nodes[8];
  size_t count = 8, edges = 0;
  int type, kernels = 0;
  RUN(cuGraphGetNodes(graph, nodes, &count));
  RUN(cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edges));
  for (size_t i = 0; i < count; i++) {
    RUN(cuGraphNodeGetType(nodes[i], &type));
    kernels += type == 0;
  }
  printf("%zu nodes, %zu edges, %d kernel\n", count, edges, kernels);
  RUN(cuGraphExecDestroy(exec));
  RUN(cuGraphDestroy(graph));
}

static void nodes(void) {
  int calls = 0, gone = 0, out[COUNT];
  unsigned by = 5;
  uint64_t d;
  void *graph, *exec, *kernel, *host, *object;
  RUN(cuMemAlloc_v2(&d, BYTES));
  RUN(cuMemsetD32_v2(d, 1, COUNT));
  RUN(cuGraphCreate(&graph, 0));
  void *parameters[] = {&d, &by};
  struct kernel k = {.function = add, .grid = {1, 1, 1}, .block = {COUNT, 1, 1}, .parameters = parameters}, got = {0};
  RUN(cuGraphAddKernelNode_v2(&kernel, graph, NULL, 0, &k));
  struct {
    void (*function)(void *);
    void *data;
  } call = {step, &calls};
  RUN(cuGraphAddHostNode(&host, graph, &kernel, 1, &call));
  RUN(cuUserObjectCreate(&object, &gone, step, 1, 1));
  RUN(cuGraphRetainUserObject(graph, object, 1, 1));
  RUN(cuGraphInstantiateWithFlags(&exec, graph, 0));
  RUN(cuGraphLaunch(exec, stream));
  by = 100;
  RUN(cuGraphExecKernelNodeSetParams_v2(exec, kernel, &k));
  RUN(cuGraphLaunch(exec, stream));
  RUN(cuStreamSynchronize(stream));
  RUN(cuMemcpyDtoH_v2(out, d, BYTES));
  printf("two launches: %d, host functions %d\n", sum(out), calls);
  RUN(cuGraphKernelNodeGetParams_v2(kernel, &got));
  printf("the graph's own: %u\n", *(unsigned *)got.parameters[1]);
  RUN(cuGraphDestroy(graph));
  int before = gone;
  RUN(cuGraphExecDestroy(exec));
  printf("user object: %d, then %d\n", before, gone);
}

/* A kernel waits until the program writes a word, and then writes beside it. */
static void asked(const char *memory, int *h, uint64_t seen) {
  void *parameters[] = {&seen};
  h[0] = h[1] = h[2] = 0;
  for (int i = 1; i <= 2; i++) {
    RUN(cuLaunchKernel(answer, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    ((volatile int *)h)[0] = i;
    RUN(cuStreamSynchronize(stream));
    printf("%s, a kernel that was told %d: %d %d\n", memory, h[0], h[1], h[2]);
    h[0] = 0;
  }
}

static void memory(void) {
  uint64_t managed, seen;
  RUN(cuMemAllocManaged(&managed, BYTES, 1));
  int *m = (int *)(uintptr_t)managed;
  for (int i = 0; i < COUNT; i++) m[i] = i;
  RUN(launch(managed, 1, COUNT, 0, stream));
  RUN(cuStreamSynchronize(stream));
  printf("managed: %d\n", sum(m));
  m[0] = 1000;
  RUN(launch(managed, 1, COUNT, 0, stream));
  RUN(cuStreamSynchronize(stream));
  printf("changed here and there: %d\n", sum(m));
  RUN(cuMemsetD32_v2(managed, 2, COUNT));
  printf("filled: %d\n", sum(m));
  int *h;
  RUN(cuMemHostAlloc((void **)&h, BYTES, 2));
  RUN(cuMemHostGetDevicePointer_v2(&seen, h, 0));
  for (int i = 0; i < COUNT; i++) h[i] = 3;
  RUN(launch(seen, 1, COUNT, 0, stream));
  RUN(cuStreamSynchronize(stream));
  printf("mapped: %d\n", sum(h));
  /* Kernels may use pinned memory that was allocated without the flag for mapping. */
  int *q;
  RUN(cuMemHostAlloc((void **)&q, BYTES, 0));
  for (int i = 0; i < COUNT; i++) q[i] = 5;
  for (int i = 0; i < 2; i++) {
    RUN(launch((uintptr_t)q, 1, COUNT, 0, stream));
    RUN(cuStreamSynchronize(stream));
    q[0] += 10;
  }
  printf("pinned: %d\n", sum(q));
  asked("pinned", q, (uintptr_t)q);
  RUN(cuMemFreeHost(q));
  int *r = aligned_alloc(4096, 4096);
  for (int i = 0; i < COUNT; i++) r[i] = 7;
  RUN(cuMemHostRegister_v2(r, 4096, 2));
  RUN(cuMemHostGetDevicePointer_v2(&seen, r, 0));
  RUN(launch(seen, 1, COUNT, 0, stream));
  RUN(cuStreamSynchronize(stream));
  printf("registered: %d\n", sum(r));
  asked("registered", r, seen);
}

/* The queries that cuBLAS makes before each product. */
static void limits(void) {
  enum { KINDS = 10, PRINTF_FIFO = 1 };
  size_t first[KINDS], value;
  int differ = 0;
  for (int i = 0; i < 100 * KINDS; i++) {
    RUN(cuCtxGetLimit(&value, i % KINDS));
    if (i < KINDS) first[i] = value;
    differ += value != first[i % KINDS];
  }
  printf("limits that differ: %d\n", differ);
  RUN(cuCtxSetLimit(PRINTF_FIFO, 2 << 20));
  RUN(cuCtxGetLimit(&value, PRINTF_FIFO));
  printf("a limit that was set: %zu\n", value);
}

/* A driver reuses the addresses of functions after their module is unloaded: each function gets its own parameters. */
static void modules_that_come_and_go(void) {
  static const char *const images[] = {
      ".version 6.4\n.target sm_50\n.address_size 64\n"
      ".visible .entry one(.param .u64 p) { .reg .u64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret; }\n",
      ".version 6.4\n.target sm_50\n.address_size 64\n"
      ".visible .entry three(.param .u64 p, .param .u32 x, .param .u64 q) { .reg .u64 %a; .reg .u32 %r;\n"
      "  ld.param.u64 %a, [q]; ld.param.u32 %r, [x]; st.global.u32 [%a], %r; ret; }\n"};
  uint64_t target;
  uint32_t x = 3, value;
  int wrong = 0;
  RUN(cuMemAlloc_v2(&target, 4));
  void *one[] = {&target}, *three[] = {&target, &x, &target};
  for (int i = 0; i < 40; i++) {
    void *module, *function = NULL;
    RUN(cuModuleLoadData(&module, images[i % 2]));
    RUN(cuModuleEnumerateFunctions(&function, 1, module));
    RUN(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, i % 2 ? three : one, NULL));
    RUN(cuMemcpyDtoH_v2(&value, target, 4));
    wrong += value != (i % 2 ? 3 : 1);
    RUN(cuModuleUnload(module));
  }
  printf("functions of modules that come and go: %d wrong\n", wrong);
}

int main(void) {
  void *context, *module;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&add, module, "add"));
  RUN(cuModuleGetFunction(&hello, module, "hello"));
  RUN(cuModuleGetFunction(&answer, module, "answer"));
  RUN(cuStreamCreate(&stream, 1));
  launches();
  output();
  host_functions();
  overlapping_reads();
  captures();
  nodes();
  memory();
  limits();
  modules_that_come_and_go();
  return 0;
}
