/* Nodes of graphs, with the parameters that the program gave them. */
#ifndef GRAFT_NODE_H
#define GRAFT_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;

/* CUgraphNodeType. */
enum {
  GRAFT_NODE_KERNEL,
  GRAFT_NODE_MEMCPY,
  GRAFT_NODE_MEMSET,
  GRAFT_NODE_HOST,
  GRAFT_NODE_CHILD,
  GRAFT_NODE_EMPTY,
  GRAFT_NODE_WAIT_EVENT,
  GRAFT_NODE_RECORD_EVENT,
  GRAFT_NODE_SIGNAL_SEMAPHORES,
  GRAFT_NODE_WAIT_SEMAPHORES,
  GRAFT_NODE_ALLOCATE = 10,
  GRAFT_NODE_FREE = 11,
  GRAFT_NODE_MEM_OP = 12,
  GRAFT_NODE_CONDITIONAL = 13
};

#define NODE_BYTES 256

/* CUgraphNodeParams: the type, then one of these at 16. */
struct graft_kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v2 and _v3 */
  void *function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
  void *kernel, *context;
};
struct graft_memcpy_node { /* CUDA_MEMCPY_NODE_PARAMS */
  int flags, reserved;
  void *context;
  uint8_t copy[200];
};
struct graft_memset_node { /* CUDA_MEMSET_NODE_PARAMS, and the context of its _v2 */
  uint64_t to;
  size_t pitch;
  unsigned value, element;
  size_t width, height;
  void *context;
};
struct graft_host_node {
  void *function, *data;
};
struct graft_allocate_node { /* CUDA_MEM_ALLOC_NODE_PARAMS */
  uint8_t pool[88];
  const uint8_t *access;
  size_t access_count, bytes;
  uint64_t address;
};
struct graft_mem_op_node { /* CUDA_BATCH_MEM_OP_NODE_PARAMS */
  void *context;
  unsigned count;
  const uint8_t *operations;
  unsigned flags;
};
struct graft_conditional_node {
  uint64_t handle;
  int type;
  unsigned size;
  void **bodies;
  void *context;
};
struct graft_node_params {
  int type, reserved0[3];
  union {
    long long room[29];
    void *handle; /* child graph, event */
    uint64_t address;
    struct graft_kernel_node kernel;
    struct graft_memcpy_node copy;
    struct graft_memset_node fill;
    struct graft_host_node host;
    struct graft_allocate_node allocate;
    struct graft_mem_op_node mem_op;
    struct graft_conditional_node conditional;
  } u;
  long long reserved2;
};
_Static_assert(sizeof(struct graft_node_params) == NODE_BYTES && sizeof(struct graft_kernel_node) == 72 &&
                   sizeof(struct graft_memcpy_node) == 216 && sizeof(struct graft_allocate_node) == 120 &&
                   sizeof(struct graft_mem_op_node) == 32,
               "as in cuda.h");

/* Adds a node to a graph, and sets the results among the parameters (an allocation's address, a conditional's bodies). */
int graft_node_add(void **node, void *graph, const void **dependencies, const void *edges, size_t count,
                   struct graft_node_params *given);
/* Sets a node's parameters in an executable graph, or in the graph itself if exec is NULL. */
int graft_node_set(void *exec, void *node, const struct graft_node_params *given);
/* The parameters of a node of that type. The server is asked for those of a captured node. */
int graft_node_get(void *handle, int type, const struct graft_node_params **params);
/* Whether the program gave the parameters of a kernel node in a buffer (CU_LAUNCH_PARAM_BUFFER_POINTER). Those of a captured node are not known. */
bool graft_node_is_packed(const void *node);
/* Enters a node into its graph, with which it ends. */
void graft_node_of(void *node, void *graph);
void graft_node_detach(struct graft_object *node);
/* Takes a graph's nodes, linked by next. */
struct graft_object *graft_nodes_take(struct graft_object *graph);

#endif
