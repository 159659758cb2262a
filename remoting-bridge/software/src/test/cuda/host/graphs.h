// Graphs of CUDA's runtime, as far as the programs use them.
#pragma once
#include "copies.h"

typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
enum { cudaStreamCaptureModeGlobal = 0 };
typedef int cudaStreamCaptureStatus;
enum { cudaStreamCaptureStatusActive = 1 };

extern "C" {
int cuCtxGetCurrent(void **);
int cuLaunchHostFunc(cudaStream_t, void (*)(void *), void *);
int cuStreamBeginCapture_v2(cudaStream_t, int);
int cuStreamEndCapture(cudaStream_t, cudaGraph_t *);
int cuStreamIsCapturing(cudaStream_t, int *);
int cuGraphCreate(cudaGraph_t *, unsigned);
int cuGraphDestroy(cudaGraph_t);
int cuGraphGetNodes(cudaGraph_t, cudaGraphNode_t *, size_t *);
int cuGraphAddKernelNode_v2(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const void *);
int cuGraphAddMemcpyNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const void *, void *);
int cuGraphAddMemsetNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const void *, void *);
int cuGraphInstantiateWithFlags(cudaGraphExec_t *, cudaGraph_t, unsigned long long);
int cuGraphExecDestroy(cudaGraphExec_t);
int cuGraphExecKernelNodeSetParams_v2(cudaGraphExec_t, cudaGraphNode_t, const void *);
int cuGraphLaunch(cudaGraphExec_t, cudaStream_t);
}

struct cudaMemsetParams { // CUDA_MEMSET_NODE_PARAMS
  void *dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
struct DriverKernelNode { // CUDA_KERNEL_NODE_PARAMS
  void *function;
  dim3 grid, block;
  unsigned shared;
  void **parameters, **extra, *kernel, *context;
  explicit DriverKernelNode(const cudaKernelNodeParams &p)
      : function(functionOf(p.func)), grid(p.gridDim), block(p.blockDim), shared(p.sharedMemBytes), parameters(p.kernelParams),
        extra(p.extra), kernel(nullptr), context(nullptr) {}
};
inline void *context() {
  void *current = nullptr;
  driver(cuCtxGetCurrent, &current);
  return current;
}

inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*call)(void *), void *data) { return driver(cuLaunchHostFunc, stream, call, data); }
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode) { return driver(cuStreamBeginCapture_v2, stream, mode); }
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *made) { return driver(cuStreamEndCapture, stream, made); }
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) { return driver(cuStreamIsCapturing, stream, status); }
inline cudaError_t cudaGraphCreate(cudaGraph_t *made, unsigned flags) { return driver(cuGraphCreate, made, flags); }
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return driver(cuGraphDestroy, graph); }
inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) { return driver(cuGraphGetNodes, graph, nodes, count); }
inline cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, const cudaMemsetParams *p) {
  return driver(cuGraphAddMemsetNode, made, graph, before, count, (const void *)p, context());
}
inline cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, void *to,
                                            const void *from, size_t bytes, cudaMemcpyKind kind) {
  bool up = kind == cudaMemcpyHostToDevice;
  Copy3D copy = {};
  copy.from.type = up ? 1 : 2;
  copy.from.host = from;
  copy.from.device = (uint64_t)from;
  copy.to.type = up ? 2 : 1;
  copy.to.host = to;
  copy.to.device = (uint64_t)to;
  copy.width = bytes;
  copy.height = copy.depth = 1;
  return driver(cuGraphAddMemcpyNode, made, graph, before, count, (const void *)&copy, context());
}
inline cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *made, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, const cudaKernelNodeParams *p) {
  DriverKernelNode node(*p);
  return driver(cuGraphAddKernelNode_v2, made, graph, before, count, (const void *)&node);
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long flags) {
  return driver(cuGraphInstantiateWithFlags, made, graph, flags);
}
inline cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams *p) {
  DriverKernelNode changed(*p);
  return driver(cuGraphExecKernelNodeSetParams_v2, exec, node, (const void *)&changed);
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) { return driver(cuGraphLaunch, exec, stream); }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return driver(cuGraphExecDestroy, exec); }
