/* Captures. Fills at addresses where there is no memory: natively (H200, driver 580) a capture takes them, and its graph cannot be instantiated. XLA captures what cuDNN does without a workspace, and looks at the kernels of the graph. */
#include <stdint.h>
#include <unistd.h>

#include "check.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemFree_v2(uint64_t pointer);
int cuMemsetD8Async(uint64_t pointer, unsigned char value, size_t count, void *stream);
int cuMemsetD2D32Async(uint64_t pointer, size_t pitch, unsigned value, size_t width, size_t height, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphGetNodes(void *graph, void **nodes, size_t *count);
int cuGraphNodeGetType(void *node, int *type);
int cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
int cuGraphDestroy(void *graph);

int main(void) {
  void *context, *stream, *graph, *exec, *nodes[8];
  uint64_t memory;
  size_t count = 8;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuStreamCreate(&stream, 1));
  RUN(cuMemAlloc_v2(&memory, 4096));
  printf("outside of a capture: %d\n", cuMemsetD8Async(0x80, 0, 0x30, stream));
  for (int i = 0; i < 2; i++) {
    RUN(cuStreamBeginCapture_v2(stream, 1));
    printf("captured: %d", cuMemsetD8Async(0x80, 0, 0x30, stream));
    printf(" %d", cuMemsetD8Async(memory, 1, 4096, stream));
    printf(" %d", cuMemsetD2D32Async(0x101a0, 1024, 7, 100, 50, stream));
    printf(" %d\n", cuMemsetD8Async(0x20000000, 0, 200 << 20, stream));
    RUN(cuStreamEndCapture(stream, &graph));
    RUN(cuGraphGetNodes(graph, nodes, &count));
    printf("nodes: %zu, of type", count);
    for (size_t k = 0; k < count; k++) {
      int type = -1;
      RUN(cuGraphNodeGetType(nodes[k], &type));
      printf(" %d", type);
    }
    printf("\n");
    if (!i) RUN(cuGraphDestroy(graph));
  }
  printf("instantiated: %d\n", cuGraphInstantiateWithFlags(&exec, graph, 0));

  /* A capture outlasts the time in which the worker has nothing to do, whatever was freed before it began. */
  RUN(cuMemAlloc_v2(&memory, 1 << 20));
  RUN(cuMemFree_v2(memory));
  RUN(cuStreamBeginCapture_v2(stream, 1));
  usleep(300000);
  printf("ended: %d\n", cuStreamEndCapture(stream, &graph));

  /* A capture does not allow cuMemFree, and memory that was not freed can be freed later. */
  RUN(cuMemAlloc_v2(&memory, 1 << 20));
  RUN(cuStreamBeginCapture_v2(stream, 1));
  printf("freed: %d", cuMemFree_v2(memory));
  printf(", ended: %d", cuStreamEndCapture(stream, &graph));
  printf(", freed: %d", cuMemFree_v2(memory));
  printf(", freed again: %d\n", cuMemFree_v2(memory));
  return 0;
}
