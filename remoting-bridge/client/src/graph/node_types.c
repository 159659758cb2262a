/* The functions for each type of node. */
#include <string.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "graph/node.h"
#include "memory/pageable.h"
#include "module/launch.h"

/* The older structure of a kernel's parameters ends after the field extra. */
#define KERNEL_V1 56

static int kernel_params(struct graft_node_params *p, const void *given, bool v1) {
  *p = (struct graft_node_params){.type = GRAFT_NODE_KERNEL};
  if (!given) return GRAFT_INVALID_VALUE;
  memcpy(&p->u.kernel, given, v1 ? KERNEL_V1 : sizeof p->u.kernel);
  return 0;
}
static int add_kernel(void *node, void *graph, void *dependencies, size_t count, const void *given, bool v1) {
  struct graft_node_params p;
  int r = kernel_params(&p, given, v1);
  return r ? r : graft_node_add(node, graph, dependencies, NULL, count, &p);
}
static int set_kernel(void *exec, void *node, const void *given, bool v1) {
  struct graft_node_params p;
  int r = kernel_params(&p, given, v1);
  return r ? r : graft_node_set(exec, node, &p);
}
static int get_kernel(void *node, void *out, bool v1) {
  const struct graft_node_params *p;
  int r = out ? graft_node_get(node, GRAFT_NODE_KERNEL, &p) : GRAFT_INVALID_VALUE;
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

/* The driver makes no cooperative launch of packed parameters. */
GRAFT_EXPORT int cuGraphKernelNodeSetAttribute(void *node, int attribute, const void *value) {
  int r = graft_ready(), cooperative = 0;
  if (r) return r;
  if (attribute == GRAFT_COOPERATIVE && value) memcpy(&cooperative, value, sizeof cooperative);
  if (cooperative && graft_node_is_packed(node)) return GRAFT_INVALID_VALUE;
  return rpc_cuGraphKernelNodeSetAttribute(node, attribute, value);
}

static struct graft_node_params copy_params(const void *given, void *context) {
  struct graft_node_params p = {.type = GRAFT_NODE_MEMCPY, .u.copy.context = context};
  memcpy(p.u.copy.copy, given, sizeof p.u.copy.copy);
  return p;
}

GRAFT_EXPORT int cuGraphAddMemcpyNode(void *node, void *graph, void *dependencies, size_t count, void *copy, void *context) {
  if (!copy) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = copy_params(copy, context);
  return graft_node_add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphMemcpyNodeSetParams(void *node, void *copy) {
  const struct graft_node_params *before;
  int r = copy ? graft_node_get(node, GRAFT_NODE_MEMCPY, &before) : GRAFT_INVALID_VALUE;
  if (r) return r;
  struct graft_node_params p = copy_params(copy, before->u.copy.context);
  return graft_node_set(NULL, node, &p);
}
GRAFT_EXPORT int cuGraphExecMemcpyNodeSetParams(void *exec, void *node, void *copy, void *context) {
  if (!copy || !exec) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = copy_params(copy, context);
  return graft_node_set(exec, node, &p);
}
GRAFT_EXPORT int cuGraphMemcpyNodeGetParams(void *node, void *copy) {
  const struct graft_node_params *p;
  int r = copy ? graft_node_get(node, GRAFT_NODE_MEMCPY, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(copy, p->u.copy.copy, sizeof p->u.copy.copy);
  return r;
}

#define MEMSET_V1 40 /* CUDA_MEMSET_NODE_PARAMS has no context */

static struct graft_node_params fill_params(const void *given, void *context) {
  struct graft_node_params p = {.type = GRAFT_NODE_MEMSET};
  memcpy(&p.u.fill, given, MEMSET_V1);
  p.u.fill.context = context;
  return p;
}

GRAFT_EXPORT int cuGraphAddMemsetNode(void *node, void *graph, void *dependencies, size_t count, void *fill, void *context) {
  if (!fill) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = fill_params(fill, context);
  return graft_node_add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphMemsetNodeSetParams(void *node, void *fill) {
  const struct graft_node_params *before;
  int r = fill ? graft_node_get(node, GRAFT_NODE_MEMSET, &before) : GRAFT_INVALID_VALUE;
  if (r) return r;
  struct graft_node_params p = fill_params(fill, before->u.fill.context);
  return graft_node_set(NULL, node, &p);
}
GRAFT_EXPORT int cuGraphExecMemsetNodeSetParams(void *exec, void *node, void *fill, void *context) {
  if (!fill || !exec) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = fill_params(fill, context);
  return graft_node_set(exec, node, &p);
}
GRAFT_EXPORT int cuGraphMemsetNodeGetParams(void *node, void *fill) {
  const struct graft_node_params *p;
  int r = fill ? graft_node_get(node, GRAFT_NODE_MEMSET, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(fill, &p->u.fill, MEMSET_V1);
  return r;
}

static struct graft_node_params host_params(const void *given) {
  struct graft_node_params p = {.type = GRAFT_NODE_HOST};
  memcpy(&p.u.host, given, sizeof p.u.host);
  return p;
}

GRAFT_EXPORT int cuGraphAddHostNode(void *node, void *graph, void *dependencies, size_t count, void *host) {
  if (!host) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = host_params(host);
  return graft_node_add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphHostNodeSetParams(void *node, void *host) {
  if (!host) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = host_params(host);
  return graft_node_set(NULL, node, &p);
}
GRAFT_EXPORT int cuGraphExecHostNodeSetParams(void *exec, void *node, void *host) {
  if (!host || !exec) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = host_params(host);
  return graft_node_set(exec, node, &p);
}
GRAFT_EXPORT int cuGraphHostNodeGetParams(void *node, void *host) {
  const struct graft_node_params *p;
  int r = host ? graft_node_get(node, GRAFT_NODE_HOST, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(host, &p->u.host, sizeof p->u.host);
  return r;
}

static int add_handle(void *node, void *graph, void *dependencies, size_t count, int type, void *handle) {
  struct graft_node_params p = {.type = type, .u.handle = handle};
  return graft_node_add(node, graph, dependencies, NULL, count, &p);
}
static int set_handle(void *exec, void *node, int type, void *handle) {
  struct graft_node_params p = {.type = type, .u.handle = handle};
  return graft_node_set(exec, node, &p);
}
static int get_handle(void *node, int type, void **handle) {
  const struct graft_node_params *p;
  int r = handle ? graft_node_get(node, type, &p) : GRAFT_INVALID_VALUE;
  if (!r) *handle = p->u.handle;
  return r;
}

GRAFT_EXPORT int cuGraphAddChildGraphNode(void *node, void *graph, void *dependencies, size_t count, void *child) {
  return add_handle(node, graph, dependencies, count, GRAFT_NODE_CHILD, child);
}
GRAFT_EXPORT int cuGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child) {
  return exec ? set_handle(exec, node, GRAFT_NODE_CHILD, child) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphAddEmptyNode(void *node, void *graph, void *dependencies, size_t count) {
  return add_handle(node, graph, dependencies, count, GRAFT_NODE_EMPTY, NULL);
}
GRAFT_EXPORT int cuGraphAddEventRecordNode(void *node, void *graph, void *dependencies, size_t count, void *event) {
  return add_handle(node, graph, dependencies, count, GRAFT_NODE_RECORD_EVENT, event);
}
GRAFT_EXPORT int cuGraphEventRecordNodeGetEvent(void *node, void *event) {
  return get_handle(node, GRAFT_NODE_RECORD_EVENT, event);
}
GRAFT_EXPORT int cuGraphEventRecordNodeSetEvent(void *node, void *event) {
  return set_handle(NULL, node, GRAFT_NODE_RECORD_EVENT, event);
}
GRAFT_EXPORT int cuGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event) {
  return exec ? set_handle(exec, node, GRAFT_NODE_RECORD_EVENT, event) : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuGraphAddEventWaitNode(void *node, void *graph, void *dependencies, size_t count, void *event) {
  return add_handle(node, graph, dependencies, count, GRAFT_NODE_WAIT_EVENT, event);
}
GRAFT_EXPORT int cuGraphEventWaitNodeGetEvent(void *node, void *event) { return get_handle(node, GRAFT_NODE_WAIT_EVENT, event); }
GRAFT_EXPORT int cuGraphEventWaitNodeSetEvent(void *node, void *event) {
  return set_handle(NULL, node, GRAFT_NODE_WAIT_EVENT, event);
}
GRAFT_EXPORT int cuGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event) {
  return exec ? set_handle(exec, node, GRAFT_NODE_WAIT_EVENT, event) : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuGraphAddMemAllocNode(void *node, void *graph, void *dependencies, size_t count, void *given) {
  if (!given) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = {.type = GRAFT_NODE_ALLOCATE};
  memcpy(&p.u.allocate, given, sizeof p.u.allocate);
  int r = graft_node_add(node, graph, dependencies, NULL, count, &p);
  if (!r) memcpy(given, &p.u.allocate, sizeof p.u.allocate);
  return r;
}
GRAFT_EXPORT int cuGraphMemAllocNodeGetParams(void *node, void *out) {
  const struct graft_node_params *p;
  int r = out ? graft_node_get(node, GRAFT_NODE_ALLOCATE, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(out, &p->u.allocate, sizeof p->u.allocate);
  return r;
}
GRAFT_EXPORT int cuGraphAddMemFreeNode(void *node, void *graph, void *dependencies, size_t count, uint64_t address) {
  struct graft_node_params p = {.type = GRAFT_NODE_FREE, .u.address = address};
  return graft_node_add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphMemFreeNodeGetParams(void *node, void *address) {
  const struct graft_node_params *p;
  int r = address ? graft_node_get(node, GRAFT_NODE_FREE, &p) : GRAFT_INVALID_VALUE;
  if (!r) *(uint64_t *)address = p->u.address;
  return r;
}

static struct graft_node_params mem_op_params(const void *given) {
  struct graft_node_params p = {.type = GRAFT_NODE_MEM_OP};
  memcpy(&p.u.mem_op, given, sizeof p.u.mem_op);
  return p;
}

GRAFT_EXPORT int cuGraphAddBatchMemOpNode(void *node, void *graph, void *dependencies, size_t count, void *given) {
  if (!given) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = mem_op_params(given);
  return graft_node_add(node, graph, dependencies, NULL, count, &p);
}
GRAFT_EXPORT int cuGraphBatchMemOpNodeGetParams(void *node, void *out) {
  const struct graft_node_params *p;
  int r = out ? graft_node_get(node, GRAFT_NODE_MEM_OP, &p) : GRAFT_INVALID_VALUE;
  if (!r) memcpy(out, &p->u.mem_op, sizeof p->u.mem_op);
  return r;
}
GRAFT_EXPORT int cuGraphBatchMemOpNodeSetParams(void *node, void *given) {
  if (!given) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = mem_op_params(given);
  return graft_node_set(NULL, node, &p);
}
GRAFT_EXPORT int cuGraphExecBatchMemOpNodeSetParams(void *exec, void *node, void *given) {
  if (!given || !exec) return GRAFT_INVALID_VALUE;
  struct graft_node_params p = mem_op_params(given);
  return graft_node_set(exec, node, &p);
}

/* ---- Nodes and graphs that belong to others ---- */

GRAFT_EXPORT int cuGraphChildGraphNodeGetGraph(void *handle, void **graph) {
  const struct graft_object *node = graft_object(GRAFT_NODE, handle);
  int r = graft_ready();
  if (r || (r = rpc_cuGraphChildGraphNodeGetGraph(handle, graph))) return r;
  if (*graph && node->u.node.graph) graft_pageable_share(*graph, node->u.node.graph);
  return GRAFT_OK;
}

GRAFT_EXPORT int cuGraphNodeFindInClone(void **node, void *original, void *clone) {
  int r = graft_ready();
  if (r || (r = rpc_cuGraphNodeFindInClone(node, original, clone))) return r;
  graft_node_of(*node, clone);
  return GRAFT_OK;
}
