/* Graphs. A node's parameters travel as CUgraphNodeParams (cuda.h), whatever function the program used, with its handles,
 * lists and a kernel's packed parameters beside it; host memory in it is replaced by a mirror of it (mirror.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "graft.h"
#include "mirror.h"
#include "place.h"
#include "tables.h"

/* CUgraphNodeType. */
enum { KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY, WAIT_EVENT, RECORD_EVENT, ALLOCATE = 10, FREE = 11, MEM_OP = 12, CONDITIONAL = 13 };

#define NODE_BYTES 256
#define PARAMETERS 32768
#define ACCESS_BYTES 12
#define MAX_BODIES 64

/* CUgraphNodeParams: the type, then one of these at 16. */
struct kernel { /* CUDA_KERNEL_NODE_PARAMS_v2 and _v3 */
  void *function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
  void *kernel, *context;
};
struct memcpy_node { /* CUDA_MEMCPY_NODE_PARAMS */
  int flags, reserved;
  void *context;
  uint8_t copy[200];
};
struct memset_node { /* CUDA_MEMSET_NODE_PARAMS, and the context of its _v2 */
  uint64_t to;
  size_t pitch;
  unsigned value, element;
  size_t width, height;
  void *context;
};
struct host_node {
  void *function, *data;
};
struct allocate_node { /* CUDA_MEM_ALLOC_NODE_PARAMS */
  uint8_t pool[88];
  const uint8_t *access;
  size_t access_count, bytes;
  uint64_t address;
};
struct mem_op_node { /* CUDA_BATCH_MEM_OP_NODE_PARAMS */
  void *context;
  unsigned count;
  const uint8_t *operations;
  unsigned flags;
};
struct conditional_node {
  uint64_t handle;
  int type;
  unsigned size;
  void **bodies;
  void *context;
};
struct node_params {
  int type, reserved0[3];
  union {
    long long room[29];
    void *handle; /* child graph, event */
    uint64_t address;
    struct kernel kernel;
    struct memcpy_node copy;
    struct memset_node fill;
    struct host_node host;
    struct allocate_node allocate;
    struct mem_op_node mem_op;
    struct conditional_node conditional;
  } u;
  long long reserved2;
};
_Static_assert(sizeof(struct node_params) == NODE_BYTES && sizeof(struct kernel) == 72 && sizeof(struct memcpy_node) == 216 &&
                   sizeof(struct allocate_node) == 120 && sizeof(struct mem_op_node) == 32,
               "as in cuda.h");

/* A node as it travels. */
struct travelling {
  struct node_params params;
  void *function, *event, *child, *source, *target, *context;
  const uint8_t *data;
  unsigned bytes;
  uint64_t callback;
  uint8_t room[PARAMETERS];
};

/* What the program gave, with copies of what its pointers point at: what it may ask for again. */
struct graft_node_parameters {
  struct node_params params;
  void *bodies[MAX_BODIES];
  uint8_t data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What a node fills the device must have. */
static int fill_of_graph(struct memset_node *fill) {
  if (!fill->width || !fill->height) return GRAFT_OK;
  struct graft_place place = graft_place_of(fill->to, true);
  int r = graft_place_expose(&place, (fill->height - 1) * fill->pitch + fill->width * fill->element);
  fill->to = place.device;
  return r;
}

/* The launch looks at memory, not the adding of the node. */
static int operations_of_graph(uint8_t *operations, unsigned count) {
  int r = graft_operations_place(operations, count, NULL);
  graft_mirrors_sent();
  return r;
}

static int prepare(const struct node_params *given, struct travelling *t) {
  int r = 0;
  t->params = *given;
  t->function = t->event = t->child = t->source = t->target = t->context = NULL;
  t->data = NULL;
  t->bytes = 0;
  t->callback = 0;
  switch (given->type) {
    case KERNEL: {
      struct kernel *k = &t->params.u.kernel;
      struct graft_object *function = graft_object(GRAFT_FUNCTION, k->function ? k->function : k->kernel);
      if (!function) return GRAFT_INVALID_HANDLE;
      t->function = function;
      t->context = k->context;
      r = graft_launch_pack(function, k->parameters, k->extra, t->room, &t->data, &t->bytes);
      if (!t->bytes) t->data = NULL;
      k->function = k->kernel = k->context = NULL;
      k->parameters = k->extra = NULL;
      return r;
    }
    case MEMCPY:
      t->context = t->params.u.copy.context;
      t->params.u.copy.context = NULL;
      return graft_copy_of_graph(t->params.u.copy.copy, &t->source, &t->target);
    case MEMSET:
      t->context = t->params.u.fill.context;
      t->params.u.fill.context = NULL;
      return fill_of_graph(&t->params.u.fill);
    case HOST:
      if (!given->u.host.function) return GRAFT_INVALID_VALUE;
      t->callback = graft_callback_of_graph(given->u.host.function, given->u.host.data);
      t->params.u.host = (struct host_node){0};
      return t->callback ? GRAFT_OK : GRAFT_OUT_OF_MEMORY;
    case CHILD:
      t->child = given->u.handle;
      t->params.u.handle = NULL;
      return t->child ? GRAFT_OK : GRAFT_INVALID_VALUE;
    case WAIT_EVENT:
    case RECORD_EVENT:
      t->event = given->u.handle;
      t->params.u.handle = NULL;
      return t->event ? GRAFT_OK : GRAFT_INVALID_VALUE;
    case EMPTY:
    case FREE:
      return 0;
    case ALLOCATE:
      if (given->u.allocate.access_count > GRAFT_MAX_DEVICES || (given->u.allocate.access_count && !given->u.allocate.access)) {
        return GRAFT_INVALID_VALUE;
      }
      t->data = given->u.allocate.access;
      t->bytes = (unsigned)given->u.allocate.access_count * ACCESS_BYTES;
      t->params.u.allocate.access = NULL;
      return 0;
    case MEM_OP:
      if (given->u.mem_op.count > GRAFT_MOST_OPERATIONS || !given->u.mem_op.operations) return GRAFT_INVALID_VALUE;
      t->context = given->u.mem_op.context;
      t->data = t->room;
      t->bytes = given->u.mem_op.count * GRAFT_OPERATION_BYTES;
      memcpy(t->room, given->u.mem_op.operations, t->bytes);
      t->params.u.mem_op.context = NULL;
      t->params.u.mem_op.operations = NULL;
      return operations_of_graph(t->room, given->u.mem_op.count);
    case CONDITIONAL:
      if (!given->u.conditional.size || given->u.conditional.size > MAX_BODIES) return GRAFT_INVALID_VALUE;
      t->context = given->u.conditional.context;
      t->params.u.conditional.context = NULL;
      t->params.u.conditional.bodies = NULL;
      return 0;
    default:
      return graft_not_served("a graph node with an external semaphore");
  }
}

/* Keeps a kernel's parameters as the program gave them: pointers to values. */
static struct graft_node_parameters *copy_of(const struct node_params *given, const struct travelling *t) {
  const struct graft_layout *layout = NULL;
  size_t count = 0;
  if (given->type == KERNEL && !graft_function_layout(t->function, &layout)) count = layout->count;
  struct graft_node_parameters *p = malloc(sizeof *p + count * sizeof(void *) + t->bytes + 8);
  if (!p) return NULL;
  p->params = *given;
  void **pointers = (void **)(void *)p->data;
  uint8_t *values = p->data + count * sizeof(void *);
  if (t->bytes) memcpy(values, t->data, t->bytes);
  switch (given->type) {
    case KERNEL:
      for (size_t i = 0; i < count; i++) pointers[i] = values + layout->parameter[i].offset;
      p->params.u.kernel.parameters = count ? pointers : NULL;
      p->params.u.kernel.extra = NULL;
      break;
    case ALLOCATE: p->params.u.allocate.access = t->bytes ? values : NULL; break;
    case MEM_OP: p->params.u.mem_op.operations = values; break;
    default: break;
  }
  return p;
}

static void keep(struct graft_object *node, struct graft_node_parameters *parameters) {
  pthread_mutex_lock(&lock);
  free(node->u.node.parameters);
  node->u.node.parameters = parameters;
  pthread_mutex_unlock(&lock);
}

void graft_node_of(void *handle, void *graph) {
  struct graft_object *node = graft_object(GRAFT_NODE, handle), *owner = graft_object(GRAFT_GRAPH, graph);
  if (!node || !owner) return;
  pthread_mutex_lock(&lock);
  if (!node->u.node.graph) {
    node->u.node.graph = owner;
    node->next = owner->u.graph.nodes;
    owner->u.graph.nodes = node;
  }
  pthread_mutex_unlock(&lock);
}

static void detach(struct graft_object *node) {
  pthread_mutex_lock(&lock);
  if (node->u.node.graph) {
    struct graft_object **p = &node->u.node.graph->u.graph.nodes;
    while (*p && *p != node) p = &(*p)->next;
    if (*p) *p = node->next;
  }
  pthread_mutex_unlock(&lock);
}

static int add(void **node, void *graph, const void **dependencies, const void *edges, size_t count, struct node_params *given) {
  int r = graft_ready();
  if (r) return r;
  if (!node || !graft_object(GRAFT_GRAPH, graph) || (count && !dependencies) || count > 65536) return GRAFT_INVALID_VALUE;
  struct travelling *t = malloc(sizeof *t);
  if (!t) return GRAFT_OUT_OF_MEMORY;
  uint64_t address = 0;
  void *bodies[MAX_BODIES] = {0};
  unsigned body_count = given->type == CONDITIONAL ? given->u.conditional.size : 0;
  r = prepare(given, t);
  if (!r) {
    r = rpc_graftGraphAddNode(node, graph, count ? dependencies : NULL, count ? edges : NULL, count, &t->params, t->function,
                              t->event, t->child, t->source, t->target, t->context, t->data, t->bytes, t->callback,
                              given->type == ALLOCATE ? &address : NULL, body_count ? bodies : NULL, body_count);
  }
  if (!r) {
    graft_node_of(*node, graph);
    if (given->type == ALLOCATE) {
      given->u.allocate.address = address;
      graft_memory_of_graph(address, given->u.allocate.bytes);
    }
    struct graft_node_parameters *kept = copy_of(given, t);
    if (kept && body_count) {
      memcpy(kept->bodies, bodies, sizeof bodies);
      kept->params.u.conditional.bodies = given->u.conditional.bodies = kept->bodies;
    }
    keep(*node, kept);
    if (given->type == CHILD) graft_user_objects_copy(graph, given->u.handle);
  }
  free(t);
  return r;
}

/* Of the graph itself if exec is NULL. */
static int set(void *exec, void *node, const struct node_params *given) {
  int r = graft_ready();
  if (r) return r;
  if (!graft_object(GRAFT_NODE, node) || (exec && !graft_object(GRAFT_EXEC, exec))) return GRAFT_INVALID_VALUE;
  struct travelling *t = malloc(sizeof *t);
  if (!t) return GRAFT_OUT_OF_MEMORY;
  r = prepare(given, t);
  if (!r) {
    r = rpc_graftGraphSetNode(exec, node, &t->params, t->function, t->event, t->child, t->source, t->target, t->context,
                              t->data, t->bytes, t->callback);
  }
  if (!r && !exec) keep(node, copy_of(given, t));
  free(t);
  return r;
}

/* The node's parameters if it is of that type: remembered, or asked for where a capture made it. */
static int get(void *handle, int type, const struct node_params **params) {
  struct graft_object *node = graft_object(GRAFT_NODE, handle);
  int r = graft_ready();
  if (r) return r;
  if (!node) return GRAFT_INVALID_VALUE;
  if (!node->u.node.parameters) {
    struct travelling *t = calloc(1, sizeof *t);
    if (!t) return GRAFT_OUT_OF_MEMORY;
    r = rpc_graftGraphGetNode(node, &t->params, &t->function, &t->source, &t->target, t->room, sizeof t->room, &t->bytes);
    if (!r && t->bytes > sizeof t->room) r = GRAFT_INVALID_VALUE;
    if (!r) {
      t->data = t->room;
      struct node_params found = t->params;
      if (found.type == KERNEL) found.u.kernel.function = t->function;
      if (found.type == MEMCPY) graft_copy_set_arrays(found.u.copy.copy, t->source, t->target);
      keep(node, copy_of(&found, t));
    }
    free(t);
    if (r) return r;
  }
  if (!node->u.node.parameters) return GRAFT_OUT_OF_MEMORY;
  *params = &node->u.node.parameters->params;
  return (*params)->type == type ? GRAFT_OK : GRAFT_INVALID_VALUE;
}

/* ---- Any node ---- */

GRAFT_EXPORT int cuGraphAddNode_v2(void *node, void *graph, void *dependencies, void *edges, size_t count, void *params) {
  return params ? add(node, graph, dependencies, edges, count, params) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphAddNode(void *node, void *graph, void *dependencies, size_t count, void *params) {
  return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, params);
}
GRAFT_EXPORT int cuGraphNodeSetParams(void *node, void *params) {
  return params ? set(NULL, node, params) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphExecNodeSetParams(void *exec, void *node, void *params) {
  return params && exec ? set(exec, node, params) : GRAFT_INVALID_VALUE;
}

/* ---- Each type by functions of its own ---- */

/* The older structure of a kernel's parameters ends behind extra. */
#define KERNEL_V1 56

static int kernel_params(struct node_params *p, const void *given, bool v1) {
  *p = (struct node_params){.type = KERNEL};
  if (!given) return GRAFT_INVALID_VALUE;
  memcpy(&p->u.kernel, given, v1 ? KERNEL_V1 : sizeof p->u.kernel);
  return 0;
}
static int add_kernel(void *node, void *graph, void *dependencies, size_t count, const void *given, bool v1) {
  struct node_params p;
  int r = kernel_params(&p, given, v1);
  return r ? r : add(node, graph, dependencies, NULL, count, &p);
}
static int set_kernel(void *exec, void *node, const void *given, bool v1) {
  struct node_params p;
  int r = kernel_params(&p, given, v1);
  return r ? r : set(exec, node, &p);
}
static int get_kernel(void *node, void *out, bool v1) {
  const struct node_params *p;
  int r = out ? get(node, KERNEL, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(out, &p->u.kernel, v1 ? KERNEL_V1 : sizeof p->u.kernel);
  return r;
}

GRAFT_EXPORT int cuGraphAddKernelNode(void *node, void *graph, void *dependencies, size_t count, void *params) {
  return add_kernel(node, graph, dependencies, count, params, true);
}
GRAFT_EXPORT int cuGraphAddKernelNode_v2(void *node, void *graph, void *dependencies, size_t count, void *params) {
  return add_kernel(node, graph, dependencies, count, params, false);
}
GRAFT_EXPORT int cuGraphKernelNodeSetParams(void *node, void *params) { return set_kernel(NULL, node, params, true); }
GRAFT_EXPORT int cuGraphKernelNodeSetParams_v2(void *node, void *params) { return set_kernel(NULL, node, params, false); }
GRAFT_EXPORT int cuGraphExecKernelNodeSetParams(void *exec, void *node, void *params) {
  return exec ? set_kernel(exec, node, params, true) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, void *params) {
  return exec ? set_kernel(exec, node, params, false) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphKernelNodeGetParams(void *node, void *params) { return get_kernel(node, params, true); }
GRAFT_EXPORT int cuGraphKernelNodeGetParams_v2(void *node, void *params) { return get_kernel(node, params, false); }

static struct node_params copy_params(const void *given, void *context) {
  struct node_params p = {.type = MEMCPY, .u.copy.context = context};
  memcpy(p.u.copy.copy, given, sizeof p.u.copy.copy);
  return p;
}

GRAFT_EXPORT int cuGraphAddMemcpyNode(void *node, void *graph, void *dependencies, size_t count, void *copy, void *context) {
  if (!copy) return GRAFT_INVALID_VALUE;
  struct node_params p = copy_params(copy, context);
  return add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphMemcpyNodeSetParams(void *node, void *copy) {
  const struct node_params *before;
  int r = copy ? get(node, MEMCPY, &before) : GRAFT_INVALID_VALUE;
  if (r) return r;
  struct node_params p = copy_params(copy, before->u.copy.context);
  return set(NULL, node, &p);
}
GRAFT_EXPORT int cuGraphExecMemcpyNodeSetParams(void *exec, void *node, void *copy, void *context) {
  if (!copy || !exec) return GRAFT_INVALID_VALUE;
  struct node_params p = copy_params(copy, context);
  return set(exec, node, &p);
}
GRAFT_EXPORT int cuGraphMemcpyNodeGetParams(void *node, void *copy) {
  const struct node_params *p;
  int r = copy ? get(node, MEMCPY, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(copy, p->u.copy.copy, sizeof p->u.copy.copy);
  return r;
}

#define MEMSET_V1 40 /* CUDA_MEMSET_NODE_PARAMS has no context */

static struct node_params fill_params(const void *given, void *context) {
  struct node_params p = {.type = MEMSET};
  memcpy(&p.u.fill, given, MEMSET_V1);
  p.u.fill.context = context;
  return p;
}

GRAFT_EXPORT int cuGraphAddMemsetNode(void *node, void *graph, void *dependencies, size_t count, void *fill, void *context) {
  if (!fill) return GRAFT_INVALID_VALUE;
  struct node_params p = fill_params(fill, context);
  return add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphMemsetNodeSetParams(void *node, void *fill) {
  const struct node_params *before;
  int r = fill ? get(node, MEMSET, &before) : GRAFT_INVALID_VALUE;
  if (r) return r;
  struct node_params p = fill_params(fill, before->u.fill.context);
  return set(NULL, node, &p);
}
GRAFT_EXPORT int cuGraphExecMemsetNodeSetParams(void *exec, void *node, void *fill, void *context) {
  if (!fill || !exec) return GRAFT_INVALID_VALUE;
  struct node_params p = fill_params(fill, context);
  return set(exec, node, &p);
}
GRAFT_EXPORT int cuGraphMemsetNodeGetParams(void *node, void *fill) {
  const struct node_params *p;
  int r = fill ? get(node, MEMSET, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(fill, &p->u.fill, MEMSET_V1);
  return r;
}

static struct node_params host_params(const void *given) {
  struct node_params p = {.type = HOST};
  memcpy(&p.u.host, given, sizeof p.u.host);
  return p;
}

GRAFT_EXPORT int cuGraphAddHostNode(void *node, void *graph, void *dependencies, size_t count, void *host) {
  if (!host) return GRAFT_INVALID_VALUE;
  struct node_params p = host_params(host);
  return add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphHostNodeSetParams(void *node, void *host) {
  if (!host) return GRAFT_INVALID_VALUE;
  struct node_params p = host_params(host);
  return set(NULL, node, &p);
}
GRAFT_EXPORT int cuGraphExecHostNodeSetParams(void *exec, void *node, void *host) {
  if (!host || !exec) return GRAFT_INVALID_VALUE;
  struct node_params p = host_params(host);
  return set(exec, node, &p);
}
GRAFT_EXPORT int cuGraphHostNodeGetParams(void *node, void *host) {
  const struct node_params *p;
  int r = host ? get(node, HOST, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(host, &p->u.host, sizeof p->u.host);
  return r;
}

static int add_handle(void *node, void *graph, void *dependencies, size_t count, int type, void *handle) {
  struct node_params p = {.type = type, .u.handle = handle};
  return add(node, graph, dependencies, NULL, count, &p);
}
static int set_handle(void *exec, void *node, int type, void *handle) {
  struct node_params p = {.type = type, .u.handle = handle};
  return set(exec, node, &p);
}
static int get_handle(void *node, int type, void **handle) {
  const struct node_params *p;
  int r = handle ? get(node, type, &p) : GRAFT_INVALID_VALUE;
  if (!r) *handle = p->u.handle;
  return r;
}

GRAFT_EXPORT int cuGraphAddChildGraphNode(void *node, void *graph, void *dependencies, size_t count, void *child) {
  return add_handle(node, graph, dependencies, count, CHILD, child);
}
GRAFT_EXPORT int cuGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child) {
  return exec ? set_handle(exec, node, CHILD, child) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphAddEmptyNode(void *node, void *graph, void *dependencies, size_t count) {
  return add_handle(node, graph, dependencies, count, EMPTY, NULL);
}
GRAFT_EXPORT int cuGraphAddEventRecordNode(void *node, void *graph, void *dependencies, size_t count, void *event) {
  return add_handle(node, graph, dependencies, count, RECORD_EVENT, event);
}
GRAFT_EXPORT int cuGraphEventRecordNodeGetEvent(void *node, void *event) { return get_handle(node, RECORD_EVENT, event); }
GRAFT_EXPORT int cuGraphEventRecordNodeSetEvent(void *node, void *event) { return set_handle(NULL, node, RECORD_EVENT, event); }
GRAFT_EXPORT int cuGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event) {
  return exec ? set_handle(exec, node, RECORD_EVENT, event) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphAddEventWaitNode(void *node, void *graph, void *dependencies, size_t count, void *event) {
  return add_handle(node, graph, dependencies, count, WAIT_EVENT, event);
}
GRAFT_EXPORT int cuGraphEventWaitNodeGetEvent(void *node, void *event) { return get_handle(node, WAIT_EVENT, event); }
GRAFT_EXPORT int cuGraphEventWaitNodeSetEvent(void *node, void *event) { return set_handle(NULL, node, WAIT_EVENT, event); }
GRAFT_EXPORT int cuGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event) {
  return exec ? set_handle(exec, node, WAIT_EVENT, event) : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuGraphAddMemAllocNode(void *node, void *graph, void *dependencies, size_t count, void *given) {
  if (!given) return GRAFT_INVALID_VALUE;
  struct node_params p = {.type = ALLOCATE};
  memcpy(&p.u.allocate, given, sizeof p.u.allocate);
  int r = add(node, graph, dependencies, NULL, count, &p);
  if (!r) memcpy(given, &p.u.allocate, sizeof p.u.allocate);
  return r;
}
GRAFT_EXPORT int cuGraphMemAllocNodeGetParams(void *node, void *out) {
  const struct node_params *p;
  int r = out ? get(node, ALLOCATE, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(out, &p->u.allocate, sizeof p->u.allocate);
  return r;
}
GRAFT_EXPORT int cuGraphAddMemFreeNode(void *node, void *graph, void *dependencies, size_t count, uint64_t address) {
  struct node_params p = {.type = FREE, .u.address = address};
  return add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphMemFreeNodeGetParams(void *node, void *address) {
  const struct node_params *p;
  int r = address ? get(node, FREE, &p) : GRAFT_INVALID_VALUE;
  if (!r) *(uint64_t *)address = p->u.address;
  return r;
}

static struct node_params mem_op_params(const void *given) {
  struct node_params p = {.type = MEM_OP};
  memcpy(&p.u.mem_op, given, sizeof p.u.mem_op);
  return p;
}

GRAFT_EXPORT int cuGraphAddBatchMemOpNode(void *node, void *graph, void *dependencies, size_t count, void *given) {
  if (!given) return GRAFT_INVALID_VALUE;
  struct node_params p = mem_op_params(given);
  return add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphBatchMemOpNodeGetParams(void *node, void *out) {
  const struct node_params *p;
  int r = out ? get(node, MEM_OP, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(out, &p->u.mem_op, sizeof p->u.mem_op);
  return r;
}
GRAFT_EXPORT int cuGraphBatchMemOpNodeSetParams(void *node, void *given) {
  if (!given) return GRAFT_INVALID_VALUE;
  struct node_params p = mem_op_params(given);
  return set(NULL, node, &p);
}
GRAFT_EXPORT int cuGraphExecBatchMemOpNodeSetParams(void *exec, void *node, void *given) {
  if (!given || !exec) return GRAFT_INVALID_VALUE;
  struct node_params p = mem_op_params(given);
  return set(exec, node, &p);
}

/* ---- What is in a graph ---- */

#define LISTED 16384

static int graph_nodes(void *graph, unsigned roots, void **nodes, size_t *count) {
  int r = graft_ready();
  if (r) return r;
  if (!graft_object(GRAFT_GRAPH, graph) || !count) return GRAFT_INVALID_VALUE;
  uint64_t room = nodes ? *count : 0, found = 0;
  if (room > 65536) room = 65536;
  if ((r = rpc_graftGraphNodes(graph, roots, nodes, room, &found))) return r;
  *count = found;
  for (size_t i = 0; i < room && i < found; i++) graft_node_of(nodes[i], graph);
  return 0;
}

GRAFT_EXPORT int cuGraphGetNodes(void *graph, void *nodes, void *count) { return graph_nodes(graph, 0, nodes, count); }
GRAFT_EXPORT int cuGraphGetRootNodes(void *graph, void *nodes, void *count) { return graph_nodes(graph, 1, nodes, count); }

GRAFT_EXPORT int cuGraphGetEdges_v2(void *graph, void *from, void *to, void *edges, void *count) {
  int r = graft_ready();
  if (r) return r;
  if (!graft_object(GRAFT_GRAPH, graph) || !count || !from != !to) return GRAFT_INVALID_VALUE;
  uint64_t room = from ? *(size_t *)count : 0, found = 0;
  if (room > LISTED) room = LISTED;
  if ((r = rpc_graftGraphEdges(graph, from, to, edges, room, &found))) return r;
  *(size_t *)count = found;
  for (size_t i = 0; i < room && i < found; i++) {
    graft_node_of(((void **)from)[i], graph);
    graft_node_of(((void **)to)[i], graph);
  }
  return 0;
}
GRAFT_EXPORT int cuGraphGetEdges(void *graph, void *from, void *to, void *count) {
  return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

static int neighbours(void *handle, unsigned dependents, void *nodes, void *edges, size_t *count) {
  struct graft_object *node = graft_object(GRAFT_NODE, handle);
  int r = graft_ready();
  if (r) return r;
  if (!node || !count) return GRAFT_INVALID_VALUE;
  uint64_t room = nodes ? *count : 0, found = 0;
  if (room > LISTED) room = LISTED;
  if ((r = rpc_graftGraphNeighbours(node, dependents, nodes, edges, room, &found))) return r;
  *count = found;
  for (size_t i = 0; i < room && i < found; i++) graft_node_of(((void **)nodes)[i], node->u.node.graph);
  return 0;
}

GRAFT_EXPORT int cuGraphNodeGetDependencies_v2(void *node, void *nodes, void *edges, void *count) {
  return neighbours(node, 0, nodes, edges, count);
}
GRAFT_EXPORT int cuGraphNodeGetDependencies(void *node, void *nodes, void *count) {
  return neighbours(node, 0, nodes, NULL, count);
}
GRAFT_EXPORT int cuGraphNodeGetDependentNodes_v2(void *node, void *nodes, void *edges, void *count) {
  return neighbours(node, 1, nodes, edges, count);
}
GRAFT_EXPORT int cuGraphNodeGetDependentNodes(void *node, void *nodes, void *count) {
  return neighbours(node, 1, nodes, NULL, count);
}

GRAFT_EXPORT int cuGraphAddDependencies_v2(void *graph, const void **from, const void **to, const void *edges, size_t count) {
  int r = graft_ready();
  return r || !count ? r : rpc_cuGraphAddDependencies_v2(graph, from, to, edges, count);
}
GRAFT_EXPORT int cuGraphAddDependencies(void *graph, void *from, void *to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}
GRAFT_EXPORT int cuGraphRemoveDependencies_v2(void *graph, const void **from, const void **to, const void *edges, size_t count) {
  int r = graft_ready();
  return r || !count ? r : rpc_cuGraphRemoveDependencies_v2(graph, from, to, edges, count);
}
GRAFT_EXPORT int cuGraphRemoveDependencies(void *graph, void *from, void *to, size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

GRAFT_EXPORT int cuGraphDebugDotPrint(void *graph, const char *path, unsigned int flags) {
  int r = graft_ready();
  if (r) return r;
  if (!path || !graft_object(GRAFT_GRAPH, graph)) return GRAFT_INVALID_VALUE;
  const unsigned piece = 256 << 10;
  unsigned char *text = malloc(piece);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) r = errno == ENOENT ? GRAFT_FILE_NOT_FOUND : GRAFT_INVALID_VALUE;
  if (!text) r = GRAFT_OUT_OF_MEMORY;
  for (uint64_t at = 0, length = 1; !r && at < length; at += piece) {
    if ((r = rpc_graftGraphDot(graph, flags, at, text, piece, &length))) break;
    size_t take = length - at < piece ? (size_t)(length - at) : piece;
    if (write(fd, text, take) != (ssize_t)take) r = GRAFT_INVALID_VALUE;
  }
  if (fd >= 0) close(fd);
  free(text);
  return r;
}

/* ---- The life of graphs ---- */

GRAFT_EXPORT int cuGraphClone(void **clone, void *original) {
  int r = graft_ready();
  if (r) return r;
  if (!clone) return GRAFT_INVALID_VALUE;
  if (!(r = rpc_cuGraphClone(clone, original))) graft_user_objects_copy(*clone, original);
  return r;
}

GRAFT_EXPORT int cuGraphDestroyNode(void *handle) {
  struct graft_object *node = graft_object(GRAFT_NODE, handle);
  int r = graft_ready();
  if (r) return r;
  if (!node) return GRAFT_INVALID_VALUE;
  detach(node);
  return rpc_cuGraphDestroyNode(handle);
}

GRAFT_EXPORT int cuGraphDestroy(void *handle) {
  struct graft_object *graph = graft_object(GRAFT_GRAPH, handle);
  int r = graft_ready();
  if (r) return r;
  if (!graph) return GRAFT_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  struct graft_object *node = graph->u.graph.nodes;
  graph->u.graph.nodes = NULL;
  pthread_mutex_unlock(&lock);
  while (node) {
    struct graft_object *next = node->next;
    graft_object_free(GRAFT_NODE, node);
    node = next;
  }
  graft_user_objects_drop(&graph->u.graph.held);
  return rpc_cuGraphDestroy(handle);
}

static int instantiate(void *exec, void *graph, uint64_t flags, void *upload, void **failed, unsigned *outcome) {
  int r = graft_ready();
  if (r) return r;
  void *made, *node = NULL;
  unsigned how = 0;
  if (!exec) return GRAFT_INVALID_VALUE;
  r = rpc_graftGraphInstantiate(&made, graph, flags, upload, &node, &how);
  if (failed) *failed = node;
  if (outcome) *outcome = how;
  if (r) return r;
  graft_mirrors_instantiated();
  graft_user_objects_copy(made, graph);
  *(void **)exec = made;
  return 0;
}

GRAFT_EXPORT int cuGraphInstantiateWithFlags(void *exec, void *graph, uint64_t flags) {
  return instantiate(exec, graph, flags, NULL, NULL, NULL);
}
GRAFT_EXPORT int cuGraphInstantiate_v2(void *exec, void *graph, void *failed, void *log, size_t size) {
  if (log && size) *(char *)log = 0;
  return instantiate(exec, graph, 0, NULL, failed, NULL);
}
GRAFT_EXPORT int cuGraphInstantiate(void *exec, void *graph, void *failed, void *log, size_t size) {
  return cuGraphInstantiate_v2(exec, graph, failed, log, size);
}
GRAFT_EXPORT int cuGraphInstantiateWithParams(void *exec, void *graph, void *params) {
  struct {
    uint64_t flags;
    void *upload, *failed;
    unsigned outcome;
  } *p = params; /* CUDA_GRAPH_INSTANTIATE_PARAMS */
  return p ? instantiate(exec, graph, p->flags, p->upload, &p->failed, &p->outcome) : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuGraphExecDestroy(void *handle) {
  struct graft_object *exec = graft_object(GRAFT_EXEC, handle);
  int r = graft_ready();
  if (r) return r;
  if (!exec) return GRAFT_INVALID_VALUE;
  if (exec->u.exec.held) rpc_graftContextSynchronize(); /* a launch may still use what its user objects stand for */
  graft_user_objects_drop(&exec->u.exec.held);
  return rpc_cuGraphExecDestroy(handle);
}

static int update(void *exec, void *graph, unsigned *outcome, void **node, void **from) {
  int r = graft_ready();
  if (r) return r;
  *outcome = 0;
  *node = *from = NULL;
  if ((r = rpc_graftGraphUpdate(exec, graph, outcome, node, from))) return r;
  graft_user_objects_copy(exec, graph);
  return 0;
}

GRAFT_EXPORT int cuGraphExecUpdate_v2(void *exec, void *graph, void *info) {
  struct {
    unsigned outcome;
    void *node, *from;
  } *out = info; /* CUgraphExecUpdateResultInfo */
  return out ? update(exec, graph, &out->outcome, &out->node, &out->from) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphExecUpdate(void *exec, void *graph, void *node, void *outcome) {
  void *from;
  return node && outcome ? update(exec, graph, outcome, node, &from) : GRAFT_INVALID_VALUE;
}
