// Graphs: captured from streams, built by hand, updated, launched again and again; host functions in order.
#include <vector>
#include "check.h"

__global__ void scale(float *x, float by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
__global__ void add(float *to, const float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = a[i] + b[i];
}

static void CUDART_CB count(void *counter) { ++*(int *)counter; }

int main() {
  const int n = 10000, bytes = n * sizeof(float);
  std::vector<float> ones(n, 1.0f), out(n);
  float *a = upload(ones.data(), n), *b = upload(ones.data(), n), *c = deviceArray<float>(n);
  int grid = (n + 255) / 256, called = 0;
  cudaStream_t first, second;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(fork, first));
  CHECK(cudaStreamWaitEvent(second, fork, 0));
  scale<<<grid, 256, 0, first>>>(a, 2.0f, n);
  scale<<<grid, 256, 0, second>>>(b, 3.0f, n);
  CHECK(cudaEventRecord(join, second));
  CHECK(cudaStreamWaitEvent(first, join, 0));
  add<<<grid, 256, 0, first>>>(c, a, b, n);
  CHECK(cudaLaunchHostFunc(first, count, &called));
  cudaStreamCaptureStatus status;
  CHECK(cudaStreamIsCapturing(first, &status));
  EXPECT(status == cudaStreamCaptureStatusActive, "%d", status);
  CHECK(cudaStreamEndCapture(first, &graph));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes >= 4, "%zu", nodes);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 5; i++) CHECK(cudaGraphLaunch(exec, first));
  CHECK(cudaStreamSynchronize(first));
  download(out.data(), c, n);
  for (int i = 0; i < n; i++) EXPECT(out[i] == 32 + 243, "%d: %g", i, out[i]);
  EXPECT(called == 5, "%d", called);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));

  // By hand: fill, copy, kernel, copy back.
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill, copy, kernel, back;
  cudaMemsetParams memset = {};
  memset.dst = a;
  memset.elementSize = 4;
  memset.width = n;
  memset.height = 1;
  memset.value = 0x40000000; // 2.0f
  CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, b, ones.data(), bytes, cudaMemcpyHostToDevice));
  int count = n;
  void *arguments[] = {&c, &a, &b, &count};
  cudaKernelNodeParams params = {};
  params.func = (void *)add;
  params.gridDim = dim3(grid);
  params.blockDim = dim3(256);
  params.kernelParams = arguments;
  cudaGraphNode_t before[] = {fill, copy};
  CHECK(cudaGraphAddKernelNode(&kernel, graph, before, 2, &params));
  CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &kernel, 1, out.data(), c, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, first));
  CHECK(cudaStreamSynchronize(first));
  for (int i = 0; i < n; i++) EXPECT(out[i] == 3, "%d: %g", i, out[i]);
  arguments[2] = &a;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
  CHECK(cudaGraphLaunch(exec, second));
  CHECK(cudaStreamSynchronize(second));
  for (int i = 0; i < n; i++) EXPECT(out[i] == 4, "%d: %g", i, out[i]);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaDeviceSynchronize());
  return finish();
}
