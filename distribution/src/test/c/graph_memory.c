/* Memory that one graph allocates and another one frees: when a node that frees it may be added, by both functions. */
#include <stdint.h>
#include <string.h>

#include "check.h"

/* CUDA_MEM_ALLOC_NODE_PARAMS */
struct allocation {
  int type, handle_types, location, device;
  uint64_t room[9];
  void *access;
  size_t access_count, bytes;
  uint64_t address;
};
_Static_assert(sizeof(struct allocation) == 120, "as in cuda.h");
/* CUgraphNodeParams of a node that frees memory */
struct node_params {
  int type, reserved[3];
  uint64_t address, room[29];
};
_Static_assert(sizeof(struct node_params) == 256, "as in cuda.h");
enum { PINNED = 1, DEVICE = 1, FREE = 11, BYTES = 1 << 20 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemFree_v2(uint64_t pointer);
int cuMemFreeAsync(uint64_t pointer, void *stream);
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t count);
int cuGraphCreate(void **graph, unsigned flags);
int cuGraphDestroy(void *graph);
int cuGraphAddMemAllocNode(void **node, void *graph, const void **dependencies, size_t count, struct allocation *allocation);
int cuGraphAddMemFreeNode(void **node, void *graph, const void **dependencies, size_t count, uint64_t address);
int cuGraphAddNode_v2(void **node, void *graph, const void **dependencies, const void *edges, size_t count, struct node_params *params);
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
int cuGraphExecDestroy(void *exec);
int cuGraphLaunch(void *exec, void *stream);

static uint64_t memory;

/* Prints whether a node that frees the memory may be added to a new graph. Returns the executable graph, NULL if it may not. */
static void *freeing(const char *when) {
  void *graph, *node, *exec;
  struct node_params params = {.type = FREE, .address = memory};
  RUN(cuGraphCreate(&graph, 0));
  int general = cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params);
  RUN(cuGraphDestroy(graph));
  RUN(cuGraphCreate(&graph, 0));
  int special = cuGraphAddMemFreeNode(&node, graph, NULL, 0, memory);
  printf("%s: %d, and by cuGraphAddNode_v2 %d\n", when, special, general);
  if (special) return NULL;
  RUN(cuGraphInstantiateWithFlags(&exec, graph, 0));
  RUN(cuGraphDestroy(graph));
  return exec;
}

int main(void) {
  void *context, *graph, *node, *exec, *other;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  struct allocation allocation = {.type = PINNED, .location = DEVICE, .bytes = BYTES};
  RUN(cuGraphCreate(&graph, 0));
  RUN(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &allocation));
  memory = allocation.address;
  freeing("not launched, the graph exists");
  RUN(cuGraphInstantiateWithFlags(&exec, graph, 0));
  RUN(cuGraphDestroy(graph));
  freeing("not launched");
  RUN(cuGraphLaunch(exec, NULL));
  RUN(cuCtxSynchronize());
  freeing("launched");
  RUN(cuMemFree_v2(memory));
  freeing("freed");
  RUN(cuGraphLaunch(exec, NULL));
  RUN(cuMemFreeAsync(memory, NULL));
  RUN(cuCtxSynchronize());
  other = freeing("freed in a stream");
  RUN(cuGraphLaunch(exec, NULL));
  RUN(cuMemsetD8_v2(memory, 1, BYTES));
  if (other) {
    RUN(cuGraphLaunch(other, NULL));
    RUN(cuCtxSynchronize());
    printf("freed by the other graph: cuMemFree %d\n", cuMemFree_v2(memory));
    RUN(cuGraphExecDestroy(other));
  }
  RUN(cuGraphExecDestroy(exec));
  return 0;
}
