/* Nodes. Whatever function the program uses, a node's parameters are sent as CUgraphNodeParams (cuda.h), with handles, lists and a kernel's packed parameters beside it. Host memory among them is replaced by its mirror (mirror.h). */
#include "graph/node.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "graft_rpc.h"
#include "graph/userobject.h"
#include "memory/copy3d.h"
#include "memory/memory.h"
#include "memory/mirror.h"
#include "memory/ordering.h"
#include "memory/pageable.h"
#include "memory/place.h"
#include "module/functions.h"
#include "session/session.h"

#define PARAMETERS 32768
#define ACCESS_BYTES 12
#define POOL_LOCATION 8 /* in CUmemPoolProps */
#define MAX_BODIES 64

/* A node as it is sent. */
struct travelling {
  struct graft_node_params params;
  void *function, *event, *child, *source, *target, *context;
  const uint8_t *data;
  unsigned bytes;
  bool is_packed; /* the program gave a kernel's parameters in a buffer */
  uint64_t callback;
  uint8_t room[PARAMETERS];
};

/* The parameters as the program gave them, with copies of what they point to, since the program may ask for them. */
struct graft_node_parameters {
  struct graft_node_params params;
  bool is_packed;
  void *bodies[MAX_BODIES];
  uint8_t data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Exposes the memory that a node fills. */
static int fill_of_graph(struct graft_object *graph, struct graft_memset_node *fill) {
  if (!fill->width || !fill->height) return GRAFT_OK;
  struct graft_place place = graft_place_of(fill->to, true);
  int r = graft_place_expose(&place, (fill->height - 1) * fill->pitch + fill->width * fill->element, true, graph);
  fill->to = place.device;
  return r;
}

/* Ends the announcement at once, since memory is brought when the graph is launched and not when a node is added. */
static int operations_of_graph(struct graft_object *graph, uint8_t *operations, unsigned count) {
  bool known = true;
  int r = graft_operations_place(operations, count, NULL, graph, &known);
  graft_mirrors_sent();
  return r;
}

/* The graph, or executable graph, is the one that gets the node. */
static int prepare(struct graft_object *graph, const struct graft_node_params *given, struct travelling *t) {
  int r = 0;
  t->params = *given;
  t->function = t->event = t->child = t->source = t->target = t->context = NULL;
  t->data = NULL;
  t->bytes = 0;
  t->is_packed = false;
  t->callback = 0;
  switch (given->type) {
    case GRAFT_NODE_KERNEL: {
      struct graft_kernel_node *k = &t->params.u.kernel;
      struct graft_object *function = graft_object(GRAFT_FUNCTION, k->function ? k->function : k->kernel);
      if (!function) return GRAFT_INVALID_HANDLE;
      t->function = function;
      t->context = k->context;
      r = graft_launch_pack(function, k->parameters, k->extra, t->room, &t->data, &t->bytes);
      t->is_packed = k->extra && *k->extra;
      if (!t->bytes) t->data = NULL;
      k->function = k->kernel = k->context = NULL;
      k->parameters = k->extra = NULL;
      return r;
    }
    case GRAFT_NODE_MEMCPY:
      t->context = t->params.u.copy.context;
      t->params.u.copy.context = NULL;
      return graft_copy_of_graph(graph, t->params.u.copy.copy, &t->source, &t->target);
    case GRAFT_NODE_MEMSET:
      t->context = t->params.u.fill.context;
      t->params.u.fill.context = NULL;
      return fill_of_graph(graph, &t->params.u.fill);
    case GRAFT_NODE_HOST:
      if (!given->u.host.function) return GRAFT_INVALID_VALUE;
      t->callback = graft_callback_of_graph(given->u.host.function, given->u.host.data);
      t->params.u.host = (struct graft_host_node){0};
      return t->callback ? GRAFT_OK : GRAFT_OUT_OF_MEMORY;
    case GRAFT_NODE_CHILD:
      t->child = given->u.handle;
      t->params.u.handle = NULL;
      return t->child ? GRAFT_OK : GRAFT_INVALID_VALUE;
    case GRAFT_NODE_WAIT_EVENT:
    case GRAFT_NODE_RECORD_EVENT:
      graft_ordering_is_lost();
      t->event = given->u.handle;
      t->params.u.handle = NULL;
      return t->event ? GRAFT_OK : GRAFT_INVALID_VALUE;
    case GRAFT_NODE_EMPTY:
    case GRAFT_NODE_FREE: return 0;
    case GRAFT_NODE_ALLOCATE:
      if (given->u.allocate.access_count > GRAFT_MAX_DEVICES || (given->u.allocate.access_count && !given->u.allocate.access)) {
        return GRAFT_INVALID_VALUE;
      }
      t->bytes = (unsigned)given->u.allocate.access_count * ACCESS_BYTES;
      if (t->bytes) memcpy(t->room, given->u.allocate.access, t->bytes);
      for (unsigned i = 0; i < t->bytes; i += ACCESS_BYTES) graft_location_to_server(graft_session_current(), t->room + i);
      graft_location_to_server(graft_session_current(), t->params.u.allocate.pool + POOL_LOCATION);
      t->data = t->room;
      t->params.u.allocate.access = NULL;
      return 0;
    case GRAFT_NODE_MEM_OP:
      if (given->u.mem_op.count > GRAFT_MOST_OPERATIONS || !given->u.mem_op.operations) return GRAFT_INVALID_VALUE;
      t->context = given->u.mem_op.context;
      t->data = t->room;
      t->bytes = given->u.mem_op.count * GRAFT_OPERATION_BYTES;
      memcpy(t->room, given->u.mem_op.operations, t->bytes);
      t->params.u.mem_op.context = NULL;
      t->params.u.mem_op.operations = NULL;
      return operations_of_graph(graph, t->room, given->u.mem_op.count);
    case GRAFT_NODE_CONDITIONAL:
      if (!given->u.conditional.size || given->u.conditional.size > MAX_BODIES) return GRAFT_INVALID_VALUE;
      t->context = given->u.conditional.context;
      t->params.u.conditional.context = NULL;
      t->params.u.conditional.bodies = NULL;
      return 0;
    case GRAFT_NODE_SIGNAL_SEMAPHORES:
    case GRAFT_NODE_WAIT_SEMAPHORES: return graft_not_served("a graph node with an external semaphore");
    default: return GRAFT_INVALID_VALUE;
  }
}

/* Copies the parameters of a node as the program gave them; those of a kernel are pointers to values. */
static struct graft_node_parameters *copy_of(const struct graft_node_params *given, const struct travelling *t) {
  const struct graft_layout *layout = NULL;
  size_t count = 0;
  if (given->type == GRAFT_NODE_KERNEL && !graft_function_layout(t->function, &layout)) count = layout->count;
  struct graft_node_parameters *p = malloc(sizeof *p + count * sizeof(void *) + t->bytes + 8);
  if (!p) return NULL;
  p->params = *given;
  p->is_packed = t->is_packed;
  void **pointers = (void **)(void *)p->data;
  uint8_t *values = p->data + count * sizeof(void *);
  if (t->bytes) memcpy(values, t->data, t->bytes);
  switch (given->type) {
    case GRAFT_NODE_KERNEL:
      for (size_t i = 0; i < count; i++) pointers[i] = values + layout->parameter[i].offset;
      p->params.u.kernel.parameters = count ? pointers : NULL;
      p->params.u.kernel.extra = NULL;
      break;
    case GRAFT_NODE_ALLOCATE:
      if (t->bytes) memcpy(values, given->u.allocate.access, t->bytes);
      p->params.u.allocate.access = t->bytes ? values : NULL;
      break;
    case GRAFT_NODE_MEM_OP: p->params.u.mem_op.operations = values; break;
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

bool graft_node_is_packed(const void *handle) {
  const struct graft_object *node = graft_object(GRAFT_NODE, handle);
  pthread_mutex_lock(&lock);
  bool is = node && node->u.node.parameters && node->u.node.parameters->is_packed;
  pthread_mutex_unlock(&lock);
  return is;
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

void graft_node_detach(struct graft_object *node) {
  pthread_mutex_lock(&lock);
  if (node->u.node.graph) {
    struct graft_object **p = &node->u.node.graph->u.graph.nodes;
    while (*p && *p != node) p = &(*p)->next;
    if (*p) *p = node->next;
  }
  pthread_mutex_unlock(&lock);
}

/* A node that a context has nothing to do with is made and changed even after the context has failed, as natively. */
static int may_have(const struct graft_node_params *given) {
  switch (given->type) {
    case GRAFT_NODE_HOST:
    case GRAFT_NODE_EMPTY:
    case GRAFT_NODE_WAIT_EVENT:
    case GRAFT_NODE_RECORD_EVENT: return graft_ready();
    default: return graft_usable();
  }
}

int graft_node_add(void **node, void *graph, const void **dependencies, const void *edges, size_t count,
                   struct graft_node_params *given) {
  int r = may_have(given);
  if (r) return r;
  if (!node || !graft_object(GRAFT_GRAPH, graph) || (count && !dependencies) || count > 65536) return GRAFT_INVALID_VALUE;
  struct travelling *t = malloc(sizeof *t);
  if (!t) return GRAFT_OUT_OF_MEMORY;
  uint64_t address = 0;
  void *bodies[MAX_BODIES] = {0};
  unsigned body_count = given->type == GRAFT_NODE_CONDITIONAL ? given->u.conditional.size : 0;
  r = prepare(graph, given, t);
  if (!r && graft_object(GRAFT_GRAPH, t->child)) r = graft_pageable_copy(graph, t->child);
  if (!r) {
    r = rpc_graftGraphAddNode(node, graph, count ? dependencies : NULL, count ? edges : NULL, count, &t->params, t->function,
                              t->event, t->child, t->source, t->target, t->context, t->data, t->bytes, t->callback,
                              given->type == GRAFT_NODE_ALLOCATE ? &address : NULL, body_count ? bodies : NULL, body_count);
  }
  if (!r) {
    graft_node_of(*node, graph);
    for (unsigned i = 0; i < body_count; i++) {
      if (bodies[i]) graft_pageable_share(bodies[i], graph);
    }
    if (given->type == GRAFT_NODE_ALLOCATE) {
      given->u.allocate.address = address;
      graft_memory_of_graph(address, given->u.allocate.bytes);
    }
    struct graft_node_parameters *kept = copy_of(given, t);
    if (kept && body_count) {
      memcpy(kept->bodies, bodies, sizeof bodies);
      kept->params.u.conditional.bodies = given->u.conditional.bodies = kept->bodies;
    }
    keep(*node, kept);
    if (given->type == GRAFT_NODE_CHILD) graft_user_objects_copy(graph, given->u.handle);
  }
  free(t);
  return r;
}

int graft_node_set(void *exec, void *node, const struct graft_node_params *given) {
  int r = may_have(given);
  if (r) return r;
  if (!graft_object(GRAFT_NODE, node) || (exec && !graft_object(GRAFT_EXEC, exec))) return GRAFT_INVALID_VALUE;
  struct travelling *t = malloc(sizeof *t);
  if (!t) return GRAFT_OUT_OF_MEMORY;
  struct graft_object *owner = exec ? exec : ((struct graft_object *)node)->u.node.graph;
  r = prepare(owner, given, t);
  if (!r && owner && graft_object(GRAFT_GRAPH, t->child)) r = graft_pageable_copy(owner, t->child);
  if (!r) {
    r = rpc_graftGraphSetNode(exec, node, &t->params, t->function, t->event, t->child, t->source, t->target, t->context, t->data,
                              t->bytes, t->callback);
  }
  if (!r && !exec) keep(node, copy_of(given, t));
  free(t);
  return r;
}

int graft_node_get(void *handle, int type, const struct graft_node_params **params) {
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
      struct graft_node_params found = t->params;
      if (found.type == GRAFT_NODE_KERNEL) found.u.kernel.function = t->function;
      if (found.type == GRAFT_NODE_MEMCPY) graft_copy_set_arrays(found.u.copy.copy, t->source, t->target);
      keep(node, copy_of(&found, t));
    }
    free(t);
    if (r) return r;
  }
  if (!node->u.node.parameters) return GRAFT_OUT_OF_MEMORY;
  *params = &node->u.node.parameters->params;
  return (*params)->type == type ? GRAFT_OK : GRAFT_INVALID_VALUE;
}

struct graft_object *graft_nodes_take(struct graft_object *graph) {
  pthread_mutex_lock(&lock);
  struct graft_object *nodes = graph->u.graph.nodes;
  graph->u.graph.nodes = NULL;
  pthread_mutex_unlock(&lock);
  return nodes;
}

/* ---- Functions for a node of any type ---- */

GRAFT_EXPORT int cuGraphAddNode_v2(void *node, void *graph, void *dependencies, void *edges, size_t count, void *params) {
  return params ? graft_node_add(node, graph, dependencies, edges, count, params) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphAddNode(void *node, void *graph, void *dependencies, size_t count, void *params) {
  return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, params);
}
GRAFT_EXPORT int cuGraphNodeSetParams(void *node, void *params) {
  return params ? graft_node_set(NULL, node, params) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphExecNodeSetParams(void *exec, void *node, void *params) {
  return params && exec ? graft_node_set(exec, node, params) : GRAFT_INVALID_VALUE;
}
