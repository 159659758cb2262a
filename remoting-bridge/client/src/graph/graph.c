/* Graphs: their contents, making and destroying them. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/work.h"
#include "base/environment.h"
#include "graft_rpc.h"
#include "graph/node.h"
#include "graph/userobject.h"
#include "memory/mirror.h"
#include "memory/pageable.h"
#include "session/session.h"

#define LISTED 16384

/* How many elements a query returns: all there are, or those that have found room. */
static uint64_t listed(const void *list, uint64_t found, uint64_t room) { return list && found > room ? room : found; }

static int graph_nodes(void *graph, unsigned roots, void **nodes, size_t *count) {
  int r = graft_ready();
  if (r) return r;
  if (!graft_object(GRAFT_GRAPH, graph) || !count || (nodes && !*count)) return GRAFT_INVALID_VALUE;
  uint64_t room = nodes ? *count : 0, found = 0;
  if (room > 65536) room = 65536;
  if ((r = rpc_graftGraphNodes(graph, roots, nodes, room, &found))) return r;
  *count = listed(nodes, found, room);
  for (size_t i = 0; i < room && i < found; i++) graft_node_of(nodes[i], graph);
  return 0;
}

GRAFT_EXPORT int cuGraphGetNodes(void *graph, void *nodes, void *count) { return graph_nodes(graph, 0, nodes, count); }
GRAFT_EXPORT int cuGraphGetRootNodes(void *graph, void *nodes, void *count) { return graph_nodes(graph, 1, nodes, count); }

GRAFT_EXPORT int cuGraphGetEdges_v2(void *graph, void *from, void *to, void *edges, void *count) {
  int r = graft_ready();
  if (r) return r;
  if (!graft_object(GRAFT_GRAPH, graph) || !count || !from != !to || (from && !*(size_t *)count)) return GRAFT_INVALID_VALUE;
  uint64_t room = from ? *(size_t *)count : 0, found = 0;
  if (room > LISTED) room = LISTED;
  if ((r = rpc_graftGraphEdges(graph, from, to, edges, room, &found))) return r;
  *(size_t *)count = listed(from, found, room);
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
  if (!node || !count || (nodes && !*count) || (edges && !nodes)) return GRAFT_INVALID_VALUE;
  uint64_t room = nodes ? *count : 0, found = 0;
  if (room > LISTED) room = LISTED;
  if ((r = rpc_graftGraphNeighbours(node, dependents, nodes, edges, room, &found))) return r;
  *count = listed(nodes, found, room);
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
  const unsigned chunk = 256 << 10;
  unsigned char *text = malloc(chunk);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) r = GRAFT_OPERATING_SYSTEM;
  if (!text) r = GRAFT_OUT_OF_MEMORY;
  for (uint64_t at = 0, length = 1; !r && at < length; at += chunk) {
    if ((r = rpc_graftGraphDot(graph, flags, at, text, chunk, &length))) break;
    size_t take = length - at < chunk ? (size_t)(length - at) : chunk;
    if (write(fd, text, take) != (ssize_t)take) r = GRAFT_OPERATING_SYSTEM;
  }
  if (fd >= 0) close(fd);
  free(text);
  return r;
}

/* ---- Making and destroying graphs ---- */

GRAFT_EXPORT int cuGraphClone(void **clone, void *original) {
  int r = graft_ready();
  if (r) return r;
  if (!clone) return GRAFT_INVALID_VALUE;
  if ((r = rpc_cuGraphClone(clone, original))) return r;
  graft_user_objects_copy(*clone, original);
  return graft_pageable_copy(*clone, original);
}

GRAFT_EXPORT int cuGraphDestroyNode(void *handle) {
  struct graft_object *node = graft_object(GRAFT_NODE, handle);
  int r = graft_ready();
  if (r) return r;
  if (!node) return GRAFT_INVALID_VALUE;
  graft_node_detach(node);
  return rpc_cuGraphDestroyNode(handle);
}

GRAFT_EXPORT int cuGraphDestroy(void *handle) {
  struct graft_object *graph = graft_object(GRAFT_GRAPH, handle);
  int r = graft_ready();
  if (r) return r;
  if (!graph) return GRAFT_INVALID_VALUE;
  struct graft_object *node = graft_nodes_take(graph);
  while (node) {
    struct graft_object *next = node->next;
    graft_object_free(GRAFT_NODE, node);
    node = next;
  }
  graft_user_objects_drop(&graph->u.graph.held);
  graft_pageable_drop(graph);
  return rpc_cuGraphDestroy(handle);
}

enum { USE_NODE_PRIORITY = 8 }; /* CUgraphInstantiate_flags */

static int instantiate(void *exec, void *graph, uint64_t flags, void *upload, void **failed, unsigned *outcome) {
  int r = graft_in_context();
  if (r || (r = graft_uncaptured())) return r;
  void *made, *node = NULL;
  unsigned how = 0;
  if (!exec) return GRAFT_INVALID_VALUE;
  if (graft_environment.node_priority == 1) flags |= USE_NODE_PRIORITY;
  if (graft_environment.node_priority == 0) flags &= ~(uint64_t)USE_NODE_PRIORITY;
  r = rpc_graftGraphInstantiate(&made, graph, flags, upload, &node, &how);
  if (failed) *failed = node;
  if (outcome) *outcome = how;
  if (r) return r;
  graft_user_objects_copy(made, graph);
  *(void **)exec = made;
  return graft_pageable_copy(made, graph);
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

/* Other work may still write, by another mirror, pageable memory that the graph names: its mirror is brought when that work is over. */
static int await_others(const struct graft_object *exec) {
  struct graft_session *was = graft_session_use(exec->session);
  const struct graft_pageable *parts = graft_pageable_parts(exec);
  struct graft_object *context = parts ? graft_mirrors_behind(parts) : NULL, *current = graft_context_current();
  int r = GRAFT_OK;
  if (context && context != current) r = graft_context_set(context);
  if (context && !r) r = rpc_graftContextSynchronize();
  if (context && context != current) cuCtxSetCurrent(current); /* also one that is gone */
  graft_session_use(was);
  return r;
}

GRAFT_EXPORT int cuGraphLaunch(void *handle, void *stream) {
  struct graft_object *exec = graft_object(GRAFT_EXEC, handle);
  int r = graft_ready();
  if (r) return r;
  if (!handle) return GRAFT_INVALID_VALUE;
  if (exec && (r = await_others(exec))) return r;
  graft_mirrors_launching_graph(exec ? graft_pageable_parts(exec) : NULL);
  struct graft_work work = {.kind = GRAFT_WORK_GRAPH, .function = "cuGraphLaunch", .handle = handle, .stream = stream};
  struct graft_span *span = graft_work_begin(&work);
  r = rpc_cuGraphLaunch(handle, stream);
  graft_mirrors_launching_graph(NULL);
  graft_work_end(span, r);
  return r;
}

GRAFT_EXPORT int cuGraphExecDestroy(void *handle) {
  struct graft_object *exec = graft_object(GRAFT_EXEC, handle);
  int r = graft_ready();
  if (r || (r = graft_uncaptured())) return r;
  if (!exec) return GRAFT_INVALID_VALUE;
  if (exec->u.exec.held) rpc_graftContextDrain(); /* a launch may still use the user objects */
  graft_user_objects_drop(&exec->u.exec.held);
  graft_pageable_drop(exec);
  return rpc_cuGraphExecDestroy(handle);
}

/* The results may be NULL. */
static int update(void *exec, void *graph, unsigned *outcome, void **node, void **from) {
  unsigned ignored;
  void *nobody;
  int r = graft_ready();
  if (r) return r;
  if (!outcome) outcome = &ignored;
  if (!node) node = &nobody;
  if (!from) from = &nobody;
  *outcome = 0;
  *node = *from = NULL;
  if ((r = rpc_graftGraphUpdate(exec, graph, outcome, node, from))) return r;
  graft_user_objects_copy(exec, graph);
  graft_pageable_drop(exec);
  return graft_pageable_copy(exec, graph);
}

GRAFT_EXPORT int cuGraphExecUpdate_v2(void *exec, void *graph, void *info) {
  struct {
    unsigned outcome;
    void *node, *from;
  } *out = info; /* CUgraphExecUpdateResultInfo */
  return out ? update(exec, graph, &out->outcome, &out->node, &out->from) : update(exec, graph, NULL, NULL, NULL);
}
GRAFT_EXPORT int cuGraphExecUpdate(void *exec, void *graph, void *node, void *outcome) {
  return update(exec, graph, outcome, node, NULL);
}
