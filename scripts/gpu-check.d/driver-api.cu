// Tests the driver API in groups: driver-api lists the groups, driver-api GROUP runs one and prints its results line by line. The
// remote output must equal the native output.
//   nvcc -O2 -std=c++17 -arch=native -o driver-api driver-api.cu -lcuda
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define RUN(call)                                                                     \
  do {                                                                                \
    cudaError_t e_ = (call);                                                          \
    if (e_ != cudaSuccess) {                                                          \
      std::printf("%s: %s\n", #call, cudaGetErrorName(e_));                           \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)
#define DRV(call)                                                                     \
  do {                                                                                \
    CUresult r_ = (call);                                                             \
    if (r_ != CUDA_SUCCESS) {                                                         \
      const char *n_ = "?";                                                           \
      cuGetErrorName(r_, &n_);                                                        \
      std::printf("%s: %s\n", #call, n_);                                             \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)
#define SAY(...) (std::printf(__VA_ARGS__), std::printf("\n"))

static const char *name(cudaError_t e) { return cudaGetErrorName(e); }
static const char *name(CUresult r) {
  const char *n = "?";
  cuGetErrorName(r, &n);
  return n;
}

__global__ void fine(int *p) { *p = 42; }
__global__ void __launch_bounds__(64) bounded(int *p) { *p = 1; }
__global__ void add(int *p, int by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += by;
}
__global__ void fill(int *p, int with, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = with + i;
}
__global__ void hello(int n) { printf("hello from thread %d, %s, %.3f\n", threadIdx.x + n, "text", 1.5); }
__global__ void count(int *counter) { atomicAdd(counter, 1); }
__managed__ int managedVariable = 5;
__managed__ double managedArray[1000];
__global__ void useManaged() {
  if (threadIdx.x == 0) managedVariable += 10;
  managedArray[threadIdx.x] = threadIdx.x * 0.5;
}
__constant__ int constant[4];
__global__ void readConstant(int *p) { p[threadIdx.x] = constant[threadIdx.x]; }

static const int N = 10000;
static int grid() { return (N + 255) / 256; }
static long long sum(const int *p, int n = N) {
  long long s = 0;
  for (int i = 0; i < n; i++) s += p[i];
  return s;
}
static long long sumDevice(const int *d, int n = N) {
  std::vector<int> h(n);
  RUN(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
  return sum(h.data(), n);
}
static void CUDART_CB step(void *counter) { ++*(int *)counter; }

// ---- launches that must be refused at once without side effects
static void launchErrors() {
  int *p;
  RUN(cudaMalloc(&p, 4096));
  fine<<<0, 1>>>(p);
  SAY("no blocks: %s", name(cudaGetLastError()));
  fine<<<1, 0>>>(p);
  SAY("no threads: %s", name(cudaGetLastError()));
  fine<<<1, 2000>>>(p);
  SAY("2000 threads: %s", name(cudaGetLastError()));
  fine<<<1, dim3(1, 1, 65)>>>(p);
  SAY("65 deep: %s", name(cudaGetLastError()));
  fine<<<dim3(1, 70000), 1>>>(p);
  SAY("70000 rows of blocks: %s", name(cudaGetLastError()));
  fine<<<1, 1, 10 << 20>>>(p);
  SAY("10 MiB shared: %s", name(cudaGetLastError()));
  fine<<<1, 1, 60 << 10>>>(p);
  SAY("60 KiB shared, not asked for: %s", name(cudaGetLastError()));
  SAY("asked: %s", name(cudaFuncSetAttribute(fine, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10)));
  fine<<<1, 1, 60 << 10>>>(p);
  SAY("60 KiB shared: %s", name(cudaGetLastError()));
  bounded<<<1, 512>>>(p);
  SAY("beyond launch bounds: %s", name(cudaGetLastError()));
  SAY("null function: %s", name(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)));
  fine<<<1, 1>>>(p);
  SAY("then: %s", name(cudaDeviceSynchronize()));
}

// ---- host functions, in streams and in graphs that run again
static void hostFunctions() {
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  int calls = 0;
  for (int i = 0; i < 10; i++) RUN(cudaLaunchHostFunc(s, step, &calls));
  RUN(cudaStreamSynchronize(s));
  SAY("in a stream: %d", calls);
  cudaGraph_t g;
  calls = 0;
  RUN(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  RUN(cudaLaunchHostFunc(s, step, &calls));
  RUN(cudaLaunchHostFunc(s, step, &calls));
  RUN(cudaStreamEndCapture(s, &g));
  cudaGraphExec_t e;
  RUN(cudaGraphInstantiate(&e, g, 0));
  for (int i = 0; i < 7; i++) RUN(cudaGraphLaunch(e, s));
  RUN(cudaStreamSynchronize(s));
  SAY("captured: %d", calls);
  int mine = 0, other = 0;
  cudaGraph_t h;
  cudaGraphNode_t node;
  cudaHostNodeParams params = {step, &mine};
  RUN(cudaGraphCreate(&h, 0));
  RUN(cudaGraphAddHostNode(&node, h, nullptr, 0, &params));
  cudaGraphExec_t f;
  RUN(cudaGraphInstantiate(&f, h, 0));
  for (int i = 0; i < 3; i++) RUN(cudaGraphLaunch(f, s));
  RUN(cudaStreamSynchronize(s));
  cudaHostNodeParams got;
  RUN(cudaGraphHostNodeGetParams(node, &got));
  SAY("node: %d, parameters %s", mine, got.fn == step && got.userData == &mine ? "kept" : "lost");
  params.userData = &other;
  RUN(cudaGraphExecHostNodeSetParams(f, node, &params));
  for (int i = 0; i < 4; i++) RUN(cudaGraphLaunch(f, s));
  RUN(cudaStreamSynchronize(s));
  SAY("other parameters: %d %d", mine, other);
}

// ---- copies in graphs read and write the host's memory at each launch
static void graphCopies(bool pinned) {
  int *from, *to, *d;
  if (pinned) {
    RUN(cudaMallocHost(&from, N * sizeof(int)));
    RUN(cudaMallocHost(&to, N * sizeof(int)));
  } else {
    from = (int *)malloc(N * sizeof(int));
    to = (int *)malloc(N * sizeof(int));
  }
  RUN(cudaMalloc(&d, N * sizeof(int)));
  for (int i = 0; i < N; i++) from[i] = i, to[i] = -1;
  cudaStream_t s;
  RUN(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaGraph_t g;
  cudaGraphExec_t e;
  RUN(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  RUN(cudaMemcpyAsync(d, from, N * sizeof(int), cudaMemcpyHostToDevice, s));
  add<<<grid(), 256, 0, s>>>(d, 1, N);
  RUN(cudaMemcpyAsync(to, d, N * sizeof(int), cudaMemcpyDeviceToHost, s));
  RUN(cudaStreamEndCapture(s, &g));
  RUN(cudaGraphInstantiate(&e, g, 0));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < N; i++) from[i] = i * (round + 1);
    RUN(cudaGraphLaunch(e, s));
    RUN(cudaStreamSynchronize(s));
    SAY("captured, round %d: %lld", round, sum(to));
  }
  // The same by hand, with a two-dimensional copy back.
  cudaGraph_t h;
  RUN(cudaGraphCreate(&h, 0));
  cudaGraphNode_t in, run, out;
  RUN(cudaGraphAddMemcpyNode1D(&in, h, nullptr, 0, d, from, N * sizeof(int), cudaMemcpyHostToDevice));
  int by = 5, n = N;
  void *arguments[] = {&d, &by, &n};
  cudaKernelNodeParams k = {};
  k.func = (void *)add;
  k.gridDim = dim3(grid());
  k.blockDim = dim3(256);
  k.kernelParams = arguments;
  RUN(cudaGraphAddKernelNode(&run, h, &in, 1, &k));
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(d, 100 * sizeof(int), 100, 100);
  c.dstPtr = make_cudaPitchedPtr(to, 100 * sizeof(int), 100, 100);
  c.extent = make_cudaExtent(50 * sizeof(int), 100, 1);
  c.kind = cudaMemcpyDeviceToHost;
  RUN(cudaGraphAddMemcpyNode(&out, h, &run, 1, &c));
  cudaGraphExec_t f;
  RUN(cudaGraphInstantiate(&f, h, 0));
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < N; i++) from[i] = i + round, to[i] = 0;
    RUN(cudaGraphLaunch(f, s));
    RUN(cudaStreamSynchronize(s));
    SAY("by hand, round %d: %lld", round, sum(to));
  }
}

// ---- the output of kernels appears in order with the host's output
static void deviceOutput() {
  SAY("before");
  hello<<<1, 3>>>(0);
  RUN(cudaDeviceSynchronize());
  SAY("between");
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  hello<<<1, 1, 0, s>>>(100);
  RUN(cudaStreamSynchronize(s));
  SAY("after the stream");
  hello<<<1, 1>>>(200);
  int *d, h;
  RUN(cudaMalloc(&d, 4));
  RUN(cudaMemset(d, 0, 4));
  RUN(cudaDeviceSynchronize());
  RUN(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
  SAY("end %d", h);
}

// ---- managed memory that kernels and the program change at the same time, as NVIDIA's systemWideAtomics does; remotely that has to
// be asked for
__global__ void addSystemWide(int *p, int times) {
  for (int i = 0; i < times; i++) {
    atomicAdd_system(&p[0], 10);
    atomicMax_system(&p[1], (int)(blockIdx.x * blockDim.x + threadIdx.x));
  }
}
static void managedAtOnce() {
  setenv("GRAFT_MANAGED", "exclusive", 1);
  int *p;
  RUN(cudaMallocManaged(&p, 2 * sizeof(int)));
  p[0] = p[1] = 0;
  const int threads = 64 * 256, times = 50;
  addSystemWide<<<64, 256>>>(p, times);
  for (int i = threads; i < 2 * threads; i++) {
    for (int j = 0; j < times; j++) __sync_fetch_and_add(&p[0], 10);
    int before = p[1];
    while (before < i && !__sync_bool_compare_and_swap(&p[1], before, i)) before = p[1];
  }
  RUN(cudaDeviceSynchronize());
  SAY("added %d, greatest %d", p[0], p[1]);
}

// ---- managed memory
static void managed() {
  int *p;
  RUN(cudaMallocManaged(&p, N * sizeof(int)));
  for (int i = 0; i < N; i++) p[i] = i;
  add<<<grid(), 256>>>(p, 7, N);
  RUN(cudaDeviceSynchronize());
  SAY("kernel on the host's values: %lld", sum(p));
  for (int i = 0; i < N; i += 2) p[i] = 0;
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  add<<<grid(), 256, 0, s>>>(p, 1, N);
  RUN(cudaStreamSynchronize(s));
  SAY("every other zero, plus one: %lld", sum(p));
  RUN(cudaMemset(p, 0, N * sizeof(int)));
  RUN(cudaDeviceSynchronize());
  SAY("memset: %lld", sum(p));
  int *d;
  RUN(cudaMalloc(&d, N * sizeof(int)));
  fill<<<grid(), 256>>>(d, 3, N);
  RUN(cudaMemcpy(p, d, N * sizeof(int), cudaMemcpyDefault));
  SAY("copied from the device: %lld", sum(p));
  p[0] = 1000000;
  RUN(cudaMemcpy(d, p, N * sizeof(int), cudaMemcpyDefault));
  SAY("copied to the device: %lld", sumDevice(d));
  std::vector<int> h(N);
  RUN(cudaMemcpy(h.data(), p, N * sizeof(int), cudaMemcpyDefault));
  SAY("copied to the host: %lld", sum(h.data()));
  int calls = 0;
  add<<<grid(), 256, 0, s>>>(p, 1, N);
  RUN(cudaLaunchHostFunc(s, [](void *q) { for (int i = 0; i < 100; i++) ((int *)q)[i] *= 2; }, p));
  add<<<grid(), 256, 0, s>>>(p, 1, N);
  RUN(cudaStreamSynchronize(s));
  SAY("host function between kernels: %lld %d", sum(p), calls);
  cudaEvent_t e;
  RUN(cudaEventCreate(&e));
  count<<<100, 100, 0, s>>>(p);
  RUN(cudaEventRecord(e, s));
  RUN(cudaEventSynchronize(e));
  SAY("atomics, event: %d", p[0]);
  cudaPointerAttributes a;
  RUN(cudaPointerGetAttributes(&a, p));
  SAY("type %d, same pointers %d", a.type, a.devicePointer == p && a.hostPointer == p);
  unsigned is = 9, type = 9;
  DRV(cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)p));
  DRV(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)p));
  SAY("managed %u, type %u", is, type);
  useManaged<<<1, 1000>>>();
  RUN(cudaDeviceSynchronize());
  SAY("variables: %d %g %g", managedVariable, managedArray[1], managedArray[999]);
  managedVariable = 100;
  useManaged<<<1, 1>>>();
  RUN(cudaDeviceSynchronize());
  SAY("again: %d", managedVariable);
  RUN(cudaFree(p));
}

static void managedHints() {
  int *p, value = -5;
  RUN(cudaMallocManaged(&p, N * sizeof(int)));
  cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
  RUN(cudaMemAdvise(p, N * sizeof(int), cudaMemAdviseSetPreferredLocation, device));
  RUN(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributePreferredLocation, p, N * sizeof(int)));
  SAY("preferred: %d", value);
  RUN(cudaMemAdvise(p, N * sizeof(int), cudaMemAdviseSetReadMostly, device));
  RUN(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, p, N * sizeof(int)));
  SAY("read mostly: %d", value);
  RUN(cudaMemPrefetchAsync(p, N * sizeof(int), device, 0, nullptr));
  RUN(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeLastPrefetchLocation, p, N * sizeof(int)));
  SAY("prefetched to: %d", value);
  RUN(cudaMemPrefetchAsync(p, N * sizeof(int), host, 0, nullptr));
  RUN(cudaDeviceSynchronize());
  p[5] = 6;
  SAY("still memory: %d", p[5]);
  std::vector<int> plain(100);
  SAY("of the heap: %s", name(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, plain.data(), 100)));
}

// ---- host memory that kernels use
__global__ void answer(volatile int *p) {
  p[2] = 7;
  while (!p[0]) {
  }
  p[1] = p[0] + 1;
}

// A kernel waits until the program writes a word, and then writes beside it.
static void asked(const char *memory, int *h, int *seen) {
  h[0] = h[1] = h[2] = 0;
  for (int i = 1; i <= 2; i++) {
    answer<<<1, 1>>>(seen);
    ((volatile int *)h)[0] = i;
    RUN(cudaDeviceSynchronize());
    SAY("%s, told %d: %d %d", memory, h[0], h[1], h[2]);
    h[0] = 0;
  }
}

static void mapped() {
  int *h, *d;
  RUN(cudaHostAlloc(&h, N * sizeof(int), cudaHostAllocMapped));
  RUN(cudaHostGetDevicePointer(&d, h, 0));
  for (int i = 0; i < N; i++) h[i] = i;
  add<<<grid(), 256>>>(d, 2, N);
  RUN(cudaDeviceSynchronize());
  SAY("allocated: %lld", sum(h));
  add<<<grid(), 256>>>(h, 2, N); // unified addressing: the host's pointer serves too
  RUN(cudaDeviceSynchronize());
  SAY("by the host's pointer: %lld", sum(h));
  asked("allocated", h, d);
  int *r = (int *)aligned_alloc(4096, 10 * 4096);
  for (int i = 0; i < N; i++) r[i] = 1;
  RUN(cudaHostRegister(r, 10 * 4096, cudaHostRegisterMapped));
  int *rd;
  RUN(cudaHostGetDevicePointer(&rd, r, 0));
  add<<<grid(), 256>>>(rd, 4, N);
  RUN(cudaDeviceSynchronize());
  SAY("registered: %lld", sum(r));
  for (int i = 0; i < N; i++) r[i] = -1;
  add<<<grid(), 256>>>(rd, 4, N);
  RUN(cudaDeviceSynchronize());
  SAY("again: %lld", sum(r));
  asked("registered", r, rd);
  SAY("twice: %s", name(cudaHostRegister(r, 10 * 4096, 0)));
  cudaGetLastError();
  RUN(cudaHostUnregister(r));
  SAY("gone: %s", name(cudaHostUnregister(r)));
  cudaGetLastError();
  RUN(cudaFreeHost(h));
}

// ---- graphs by hand
static void graphNodes() {
  int *a, *b;
  RUN(cudaMalloc(&a, N * sizeof(int)));
  RUN(cudaMalloc(&b, N * sizeof(int)));
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  cudaGraph_t g, child;
  RUN(cudaGraphCreate(&g, 0));
  RUN(cudaGraphCreate(&child, 0));
  cudaGraphNode_t set, run, copy, empty, sub, inner;
  cudaMemsetParams m = {};
  m.dst = a;
  m.elementSize = 4;
  m.width = N;
  m.height = 1;
  m.value = 9;
  RUN(cudaGraphAddMemsetNode(&set, g, nullptr, 0, &m));
  int by = 1, n = N;
  void *arguments[] = {&a, &by, &n};
  cudaKernelNodeParams k = {};
  k.func = (void *)add;
  k.gridDim = dim3(grid());
  k.blockDim = dim3(256);
  k.kernelParams = arguments;
  RUN(cudaGraphAddKernelNode(&run, g, &set, 1, &k));
  RUN(cudaGraphAddMemcpyNode1D(&copy, g, &run, 1, b, a, N * sizeof(int), cudaMemcpyDeviceToDevice));
  RUN(cudaGraphAddEmptyNode(&empty, g, &copy, 1));
  void *others[] = {&b, &by, &n};
  k.kernelParams = others;
  RUN(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &k));
  RUN(cudaGraphAddChildGraphNode(&sub, g, &empty, 1, child));
  cudaGraphExec_t e;
  RUN(cudaGraphInstantiate(&e, g, 0));
  RUN(cudaGraphUpload(e, s));
  RUN(cudaGraphLaunch(e, s));
  RUN(cudaStreamSynchronize(s));
  SAY("launched: %lld %lld", sumDevice(a), sumDevice(b));
  size_t nodes = 0, roots = 0, edges = 0, deps = 0;
  RUN(cudaGraphGetNodes(g, nullptr, &nodes));
  RUN(cudaGraphGetRootNodes(g, nullptr, &roots));
  RUN(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges));
  RUN(cudaGraphNodeGetDependencies(copy, nullptr, nullptr, &deps));
  SAY("%zu nodes, %zu roots, %zu edges, %zu dependency", nodes, roots, edges, deps);
  std::vector<cudaGraphNode_t> all(nodes), from(edges), to(edges);
  RUN(cudaGraphGetNodes(g, all.data(), &nodes));
  int known = 0;
  for (cudaGraphNode_t x : all) known += x == set || x == run || x == copy || x == empty || x == sub;
  RUN(cudaGraphGetEdges(g, from.data(), to.data(), nullptr, &edges));
  int right = 0;
  for (size_t i = 0; i < edges; i++) {
    right += (from[i] == set && to[i] == run) || (from[i] == run && to[i] == copy) || (from[i] == copy && to[i] == empty) ||
             (from[i] == empty && to[i] == sub);
  }
  SAY("known nodes %d, right edges %d", known, right);
  cudaGraphNodeType type;
  for (cudaGraphNode_t x : {set, run, copy, empty, sub}) {
    RUN(cudaGraphNodeGetType(x, &type));
    std::printf("type %d ", type);
  }
  SAY(" ");
  cudaKernelNodeParams got = {};
  RUN(cudaGraphKernelNodeGetParams(run, &got));
  SAY("kernel: grid %u block %u, by %d", got.gridDim.x, got.blockDim.x, *(int *)got.kernelParams[1]);
  cudaMemsetParams gm = {};
  RUN(cudaGraphMemsetNodeGetParams(set, &gm));
  SAY("memset: value %u width %zu", gm.value, gm.width);
  // Other parameters, in the executable graph and in the graph.
  by = 100;
  k.kernelParams = arguments;
  RUN(cudaGraphExecKernelNodeSetParams(e, run, &k));
  m.value = 1;
  RUN(cudaGraphExecMemsetNodeSetParams(e, set, &m));
  RUN(cudaGraphLaunch(e, s));
  RUN(cudaStreamSynchronize(s));
  SAY("other parameters: %lld %lld", sumDevice(a), sumDevice(b));
  RUN(cudaGraphKernelNodeSetParams(run, &k));
  cudaGraphExecUpdateResultInfo info = {};
  SAY("update: %s %d", name(cudaGraphExecUpdate(e, g, &info)), info.result);
  RUN(cudaGraphLaunch(e, s));
  RUN(cudaStreamSynchronize(s));
  SAY("updated: %lld", sumDevice(a));
  RUN(cudaGraphNodeSetEnabled(e, run, 0));
  RUN(cudaGraphLaunch(e, s));
  RUN(cudaStreamSynchronize(s));
  unsigned enabled = 7;
  RUN(cudaGraphNodeGetEnabled(e, run, &enabled));
  SAY("disabled: %lld %u", sumDevice(a), enabled);
  // A clone, another edge, a node less.
  cudaGraph_t clone;
  RUN(cudaGraphClone(&clone, g));
  cudaGraphNode_t there;
  RUN(cudaGraphNodeFindInClone(&there, run, clone));
  RUN(cudaGraphNodeGetType(there, &type));
  SAY("in the clone: %d", type);
  RUN(cudaGraphAddDependencies(g, &set, &copy, nullptr, 1));
  RUN(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges));
  RUN(cudaGraphRemoveDependencies(g, &set, &copy, nullptr, 1));
  size_t less;
  RUN(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &less));
  RUN(cudaGraphDestroyNode(sub));
  RUN(cudaGraphGetNodes(g, nullptr, &nodes));
  SAY("edges %zu %zu, nodes %zu", edges, less, nodes);
  SAY("cannot update: %s", name(cudaGraphExecUpdate(e, g, &info)));
  cudaGetLastError();
  RUN(cudaGraphExecDestroy(e));
  RUN(cudaGraphDestroy(clone));
  RUN(cudaGraphDestroy(g));
  RUN(cudaGraphDestroy(child));
}

static void graphDot() {
  cudaGraph_t g;
  RUN(cudaGraphCreate(&g, 0));
  cudaGraphNode_t x, y;
  RUN(cudaGraphAddEmptyNode(&x, g, nullptr, 0));
  RUN(cudaGraphAddEmptyNode(&y, g, &x, 1));
  std::string file = "/tmp/driver-api-" + std::to_string(getpid()) + ".dot";
  RUN(cudaGraphDebugDotPrint(g, file.c_str(), 0));
  FILE *f = fopen(file.c_str(), "r");
  char line[256] = "";
  int lines = 0;
  while (f && fgets(line, sizeof line, f)) lines++;
  SAY("lines %d, last %s", lines, line);
  remove(file.c_str());
}

static void graphMemory() {
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  cudaGraph_t g;
  RUN(cudaGraphCreate(&g, 0));
  cudaGraphNode_t alloc, run, back, free;
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location = {cudaMemLocationTypeDevice, 0};
  p.bytesize = N * sizeof(int);
  RUN(cudaGraphAddMemAllocNode(&alloc, g, nullptr, 0, &p));
  int *d = (int *)p.dptr, with = 2, n = N;
  void *arguments[] = {&d, &with, &n};
  cudaKernelNodeParams k = {};
  k.func = (void *)fill;
  k.gridDim = dim3(grid());
  k.blockDim = dim3(256);
  k.kernelParams = arguments;
  RUN(cudaGraphAddKernelNode(&run, g, &alloc, 1, &k));
  std::vector<int> out(N);
  RUN(cudaGraphAddMemcpyNode1D(&back, g, &run, 1, out.data(), d, N * sizeof(int), cudaMemcpyDeviceToHost));
  RUN(cudaGraphAddMemFreeNode(&free, g, &back, 1, d));
  void *freed = nullptr;
  RUN(cudaGraphMemFreeNodeGetParams(free, &freed));
  cudaGraphExec_t e;
  RUN(cudaGraphInstantiate(&e, g, 0));
  RUN(cudaGraphLaunch(e, s));
  RUN(cudaStreamSynchronize(s));
  SAY("nodes: %lld, same address %d", sum(out.data()), freed == d);
  cudaGraph_t c;
  RUN(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  int *q;
  RUN(cudaMallocAsync(&q, N * sizeof(int), s));
  fill<<<grid(), 256, 0, s>>>(q, 4, N);
  RUN(cudaMemcpyAsync(out.data(), q, N * sizeof(int), cudaMemcpyDeviceToHost, s));
  RUN(cudaFreeAsync(q, s));
  RUN(cudaStreamEndCapture(s, &c));
  cudaGraphExec_t f;
  RUN(cudaGraphInstantiate(&f, c, 0));
  for (int i = 0; i < 3; i++) RUN(cudaGraphLaunch(f, s));
  RUN(cudaStreamSynchronize(s));
  SAY("captured: %lld", sum(out.data()));
  cudaGraph_t h;
  cudaGraphExec_t x;
  RUN(cudaGraphCreate(&h, 0));
  RUN(cudaGraphAddMemAllocNode(&alloc, h, nullptr, 0, &p));
  RUN(cudaGraphInstantiate(&x, h, 0));
  for (int i = 0; i < 3; i++) {
    RUN(cudaGraphLaunch(x, s));
    fill<<<grid(), 256, 0, s>>>((int *)p.dptr, i, N);
    RUN(cudaMemcpyAsync(out.data(), p.dptr, N * sizeof(int), cudaMemcpyDeviceToHost, s));
    RUN(cudaFreeAsync(p.dptr, s));
    RUN(cudaStreamSynchronize(s));
    SAY("freed by the stream: %lld", sum(out.data()));
  }
  RUN(cudaGraphExecDestroy(x));
  RUN(cudaGraphDestroy(h));
  cuuint64_t used = 1;
  RUN(cudaDeviceGraphMemTrim(0));
  RUN(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  SAY("used: %s", used ? "some" : "none");
}

static void graphEvents() {
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  cudaEvent_t e, other;
  RUN(cudaEventCreate(&e));
  RUN(cudaEventCreate(&other));
  cudaGraph_t g;
  RUN(cudaGraphCreate(&g, 0));
  cudaGraphNode_t wait, record;
  RUN(cudaEventRecord(e, s));
  RUN(cudaGraphAddEventWaitNode(&wait, g, nullptr, 0, e));
  RUN(cudaGraphAddEventRecordNode(&record, g, &wait, 1, other));
  cudaEvent_t got;
  RUN(cudaGraphEventRecordNodeGetEvent(record, &got));
  cudaGraphExec_t x;
  RUN(cudaGraphInstantiate(&x, g, 0));
  RUN(cudaGraphLaunch(x, s));
  RUN(cudaStreamSynchronize(s));
  SAY("event %s, %s", got == other ? "kept" : "lost", name(cudaEventQuery(other)));
}

// ---- captures that programs inspect
static void captures() {
  int *d;
  RUN(cudaMalloc(&d, N * sizeof(int)));
  RUN(cudaMemset(d, 0, N * sizeof(int)));
  cudaStream_t s, t;
  RUN(cudaStreamCreate(&s));
  RUN(cudaStreamCreate(&t));
  RUN(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  add<<<grid(), 256, 0, s>>>(d, 3, N);
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t inner = nullptr;
  const cudaGraphNode_t *deps = nullptr;
  size_t count = 99;
  const cudaGraphEdgeData *data = nullptr;
  RUN(cudaStreamGetCaptureInfo(s, &status, &id, &inner, &deps, &data, &count));
  SAY("status %d, identity %s, graph %s, %zu dependency", status, id ? "given" : "none", inner ? "given" : "none", count);
  cudaGraphNodeType type;
  RUN(cudaGraphNodeGetType(deps[0], &type));
  cudaGraphNode_t extra;
  RUN(cudaGraphAddEmptyNode(&extra, inner, deps, 1));
  RUN(cudaStreamUpdateCaptureDependencies(s, &extra, nullptr, 1, cudaStreamSetCaptureDependencies));
  add<<<grid(), 256, 0, s>>>(d, 4, N);
  cudaGraph_t g;
  RUN(cudaStreamEndCapture(s, &g));
  size_t nodes;
  RUN(cudaGraphGetNodes(g, nullptr, &nodes));
  SAY("first is of type %d, %zu nodes", type, nodes);
  std::vector<cudaGraphNode_t> all(nodes);
  RUN(cudaGraphGetNodes(g, all.data(), &nodes));
  int bys = 0;
  for (cudaGraphNode_t x : all) {
    RUN(cudaGraphNodeGetType(x, &type));
    if (type != cudaGraphNodeTypeKernel) continue;
    CUDA_KERNEL_NODE_PARAMS p = {};
    DRV(cuGraphKernelNodeGetParams(x, &p));
    bys = bys * 10 + (p.kernelParams ? *(int *)p.kernelParams[1] : 0);
    if (p.kernelParams && *(int *)p.kernelParams[1] == 4) {
      *(int *)p.kernelParams[1] = 40;
      DRV(cuGraphKernelNodeSetParams(x, &p));
    }
  }
  SAY("parameters of captured kernels: %d", bys);
  cudaGraphExec_t e;
  RUN(cudaGraphInstantiate(&e, g, 0));
  RUN(cudaGraphLaunch(e, t));
  RUN(cudaStreamSynchronize(t));
  SAY("launched: %lld", sumDevice(d));
  cudaGraph_t into;
  RUN(cudaGraphCreate(&into, 0));
  RUN(cudaStreamBeginCaptureToGraph(s, into, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  add<<<grid(), 256, 0, s>>>(d, 1, N);
  RUN(cudaStreamEndCapture(s, &g));
  RUN(cudaGraphGetNodes(into, nullptr, &nodes));
  SAY("into a graph: %zu, the same %d", nodes, g == into);
  RUN(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  SAY("synchronizing: %s", name(cudaStreamSynchronize(s)));
  cudaGetLastError();
  SAY("ends: %s", name(cudaStreamEndCapture(s, &g)));
  cudaGetLastError();
}

static void CUDART_CB destroyed(void *p) { ++*(int *)p; }

static void userObjects() {
  static int gone = 0;
  cudaUserObject_t o;
  RUN(cudaUserObjectCreate(&o, &gone, destroyed, 1, cudaUserObjectNoDestructorSync));
  cudaGraph_t g;
  RUN(cudaGraphCreate(&g, 0));
  cudaGraphNode_t n;
  RUN(cudaGraphAddEmptyNode(&n, g, nullptr, 0));
  RUN(cudaGraphRetainUserObject(g, o, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t e;
  RUN(cudaGraphInstantiate(&e, g, 0));
  RUN(cudaGraphDestroy(g));
  SAY("held by the executable graph: %d", gone);
  RUN(cudaGraphLaunch(e, nullptr));
  RUN(cudaDeviceSynchronize());
  RUN(cudaGraphExecDestroy(e));
  for (int i = 0; i < 100 && !gone; i++) {
    RUN(cudaDeviceSynchronize());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  SAY("gone: %d", gone);
}

static void conditional() {
  int *d;
  RUN(cudaMalloc(&d, 4));
  RUN(cudaMemset(d, 0, 4));
  cudaGraph_t g;
  RUN(cudaGraphCreate(&g, 0));
  cudaGraphConditionalHandle h;
  RUN(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
  p.conditional.handle = h;
  p.conditional.type = cudaGraphCondTypeIf;
  p.conditional.size = 1;
  cudaGraphNode_t node;
  RUN(cudaGraphAddNode(&node, g, nullptr, nullptr, 0, &p));
  cudaGraph_t body = p.conditional.phGraph_out[0];
  void *arguments[] = {&d};
  cudaKernelNodeParams k = {};
  k.func = (void *)fine;
  k.gridDim = dim3(1);
  k.blockDim = dim3(1);
  k.kernelParams = arguments;
  cudaGraphNode_t inner;
  RUN(cudaGraphAddKernelNode(&inner, body, nullptr, 0, &k));
  cudaGraphExec_t e;
  RUN(cudaGraphInstantiate(&e, g, 0));
  RUN(cudaGraphLaunch(e, nullptr));
  RUN(cudaDeviceSynchronize());
  int v;
  RUN(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost));
  SAY("body ran: %d", v);
}

// ---- pools and limits
static void pools() {
  cudaMemPool_t pool;
  RUN(cudaDeviceGetDefaultMemPool(&pool, 0));
  cuuint64_t threshold = 1 << 20, got = 0;
  int reuse = -1;
  RUN(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  RUN(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
  RUN(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &reuse));
  SAY("threshold %llu, reuse %d", (unsigned long long)got, reuse);
  cudaMemPoolProps p = {};
  p.allocType = cudaMemAllocationTypePinned;
  p.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t mine;
  RUN(cudaMemPoolCreate(&mine, &p));
  int *d;
  RUN(cudaMallocFromPoolAsync((void **)&d, N * sizeof(int), mine, nullptr));
  RUN(cudaMemPoolGetAttribute(mine, cudaMemPoolAttrUsedMemCurrent, &got));
  fill<<<grid(), 256>>>(d, 1, N);
  SAY("used %llu, %lld", (unsigned long long)got, sumDevice(d));
  RUN(cudaFreeAsync(d, nullptr));
  RUN(cudaDeviceSynchronize());
  RUN(cudaMemPoolDestroy(mine));
  size_t limit = 0;
  RUN(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
  RUN(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
  SAY("limit %zu", limit);
}

static void streamMemoryOps() {
  unsigned *d, v[2] = {9, 9};
  RUN(cudaMalloc(&d, 8));
  RUN(cudaMemset(d, 0, 8));
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  DRV(cuStreamWriteValue32(s, (CUdeviceptr)d, 7, 0));
  DRV(cuStreamWaitValue32(s, (CUdeviceptr)d, 7, CU_STREAM_WAIT_VALUE_EQ));
  CUstreamBatchMemOpParams ops[2] = {};
  ops[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  ops[0].waitValue.address = (CUdeviceptr)d;
  ops[0].waitValue.value = 7;
  ops[0].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  ops[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  ops[1].writeValue.address = (CUdeviceptr)d + 4;
  ops[1].writeValue.value = 8;
  DRV(cuStreamBatchMemOp(s, 2, ops, 0));
  RUN(cudaStreamSynchronize(s));
  RUN(cudaMemcpy(v, d, 8, cudaMemcpyDeviceToHost));
  SAY("%u %u", v[0], v[1]);
}

static void batchCopies() {
  int *d[3];
  std::vector<int> h(3 * 100);
  void *to[3];
  const void *from[3];
  size_t sizes[3];
  for (int i = 0; i < 300; i++) h[i] = i;
  for (int i = 0; i < 3; i++) {
    RUN(cudaMalloc(&d[i], 400));
    to[i] = d[i];
    from[i] = h.data() + 100 * i;
    sizes[i] = 400;
  }
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  cudaMemcpyAttributes a = {};
  a.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  size_t first = 0;
  RUN(cudaMemcpyBatchAsync(to, from, sizes, 3, &a, &first, 1, s));
  RUN(cudaStreamSynchronize(s));
  SAY("%lld %lld %lld", sumDevice(d[0], 100), sumDevice(d[1], 100), sumDevice(d[2], 100));
  CUcontext c;
  DRV(cuCtxGetCurrent(&c));
  DRV(cuMemcpyPeer((CUdeviceptr)d[0], c, (CUdeviceptr)d[2], c, 400));
  SAY("peer: %lld", sumDevice(d[0], 100));
}

static void perThreadStreams() {
  int *d[4];
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) RUN(cudaMalloc(&d[i], N * sizeof(int)));
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&, i] {
      fill<<<grid(), 256, 0, cudaStreamPerThread>>>(d[i], i, N);
      add<<<grid(), 256, 0, cudaStreamPerThread>>>(d[i], 1, N);
      RUN(cudaStreamSynchronize(cudaStreamPerThread));
    });
  }
  for (std::thread &t : threads) t.join();
  for (int i = 0; i < 4; i++) std::printf("%lld ", sumDevice(d[i]));
  SAY(" ");
}

static void constants() {
  int *d, v[4], w[4] = {1, 2, 3, 4};
  RUN(cudaMalloc(&d, 16));
  RUN(cudaMemcpyToSymbol(constant, w, sizeof w));
  readConstant<<<1, 4>>>(d);
  RUN(cudaMemcpy(v, d, 16, cudaMemcpyDeviceToHost));
  SAY("%d %d %d %d", v[0], v[1], v[2], v[3]);
}

// ---- code linked at run time
static void linking() {
  static const char caller[] =
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
      ".visible .entry run(.param .u64 p) {\n  .reg .u64 %rd<2>; .reg .u32 %r<3>;\n"
      "  ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];\n"
      "  { .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; call (r), twice, (x); ld.param.b32 %r2, [r]; }\n"
      "  st.global.u32 [%rd1], %r2; ret;\n}\n";
  static const char callee[] =
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .func (.param .b32 r) twice(.param .b32 x) {\n  .reg .u32 %r<3>;\n"
      "  ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret;\n}\n";
  RUN(cudaFree(nullptr));
  char info[4096] = "", error[4096] = "";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {info, (void *)sizeof info, error, (void *)sizeof error};
  CUlinkState link;
  DRV(cuLinkCreate(4, options, values, &link));
  DRV(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "caller", 0, nullptr, nullptr));
  DRV(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)callee, sizeof callee, "callee", 0, nullptr, nullptr));
  void *image;
  size_t size;
  DRV(cuLinkComplete(link, &image, &size));
  CUmodule module;
  CUfunction run;
  DRV(cuModuleLoadData(&module, image));
  DRV(cuLinkDestroy(link));
  DRV(cuModuleGetFunction(&run, module, "run"));
  int *d, v = 21;
  RUN(cudaMalloc(&d, 4));
  RUN(cudaMemcpy(d, &v, 4, cudaMemcpyHostToDevice));
  void *arguments[] = {&d};
  DRV(cuLaunchKernel(run, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  RUN(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost));
  SAY("linked: %d", v);
  DRV(cuLinkCreate(4, options, values, &link));
  CUresult wrong = cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)"no PTX", 7, "wrong", 0, nullptr, nullptr);
  SAY("wrong: %s, %s", name(wrong), error[0] ? "with a reason" : "without a reason");
}

// ---- descriptors that only the driver can make
static void tensorMaps() {
  float *d;
  RUN(cudaMalloc(&d, 64 * 64 * 4));
  alignas(64) CUtensorMap a, b;
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  cuuint64_t sizes[] = {64, 64}, strides[] = {256};
  cuuint32_t box[] = {16, 16}, steps[] = {1, 1};
  auto encode = [&](CUtensorMap *map, unsigned rank, void *address) {
    return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, address, sizes, strides, box, steps,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  SAY("tiled: %s, %s", name(encode(&a, 2, d)), name(encode(&b, 2, d + 1024)));
  SAY("differ: %d", memcmp(&a, &b, sizeof a) != 0);
  SAY("replaced: %s", name(cuTensorMapReplaceAddress(&a, d + 1024)));
  SAY("same: %d", memcmp(&a, &b, sizeof a) == 0);
  SAY("rank 9: %s", name(encode(&a, 9, d)));
  SAY("crooked address: %s", name(encode(&a, 2, (char *)d + 4)));
}

static void textures() {
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  RUN(cudaMallocArray(&array, &format, 16, 16));
  cudaResourceDesc r = {}, gotResource = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureDesc t = {}, gotTexture = {};
  t.addressMode[0] = cudaAddressModeClamp;
  t.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  RUN(cudaCreateTextureObject(&texture, &r, &t, nullptr));
  RUN(cudaGetTextureObjectResourceDesc(&gotResource, texture));
  RUN(cudaGetTextureObjectTextureDesc(&gotTexture, texture));
  SAY("array %d, filter %d", gotResource.res.array.array == array, gotTexture.filterMode);
  cudaArrayMemoryRequirements needs = {};
  SAY("with memory of its own: %s", name(cudaArrayGetMemoryRequirements(&needs, array, 0)));
  cudaGetLastError();
  cudaArray_t deferred;
  RUN(cudaMallocArray(&deferred, &format, 64, 64, cudaArrayDeferredMapping));
  RUN(cudaArrayGetMemoryRequirements(&needs, deferred, 0));
  SAY("bytes %zu, alignment %zu", needs.size, needs.alignment);
  RUN(cudaDestroyTextureObject(texture));
}

static void launchAttributes() {
  int *d, v = 0;
  RUN(cudaMalloc(&d, 4));
  cudaEvent_t e;
  RUN(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  cudaStream_t s;
  RUN(cudaStreamCreate(&s));
  cudaLaunchAttribute a[1] = {};
  a[0].id = cudaLaunchAttributeLaunchCompletionEvent;
  a[0].val.launchCompletionEvent.event = e;
  cudaLaunchConfig_t c = {};
  c.gridDim = dim3(1);
  c.blockDim = dim3(1);
  c.stream = s;
  c.attrs = a;
  c.numAttrs = 1;
  SAY("launch: %s", name(cudaLaunchKernelEx(&c, fine, d)));
  SAY("event: %s", name(cudaEventSynchronize(e)));
  RUN(cudaStreamSynchronize(s));
  RUN(cudaMemcpy(&v, d, 4, cudaMemcpyDeviceToHost));
  SAY("ran: %d", v);
}

static const struct {
  const char *group;
  void (*run)();
} groups[] = {
    {"launch-errors", launchErrors},
    {"host-functions", hostFunctions},
    {"graph-copies", [] { graphCopies(false); }},
    {"graph-copies-pinned", [] { graphCopies(true); }},
    {"device-output", deviceOutput},
    {"managed", managed},
    {"managed-hints", managedHints},
    {"managed-at-once", managedAtOnce},
    {"mapped", mapped},
    {"graph-nodes", graphNodes},
    {"graph-dot", graphDot},
    {"graph-memory", graphMemory},
    {"graph-events", graphEvents},
    {"captures", captures},
    {"user-objects", userObjects},
    {"conditional", conditional},
    {"pools", pools},
    {"stream-memory-ops", streamMemoryOps},
    {"batch-copies", batchCopies},
    {"per-thread-streams", perThreadStreams},
    {"constants", constants},
    {"linking", linking},
    {"tensor-maps", tensorMaps},
    {"textures", textures},
    {"launch-attributes", launchAttributes},
};

int main(int argc, char **argv) {
  for (const auto &g : groups) {
    if (argc < 2) {
      std::printf("%s\n", g.group);
    } else if (!strcmp(argv[1], g.group)) {
      g.run();
      return 0;
    }
  }
  return argc > 1;
}
