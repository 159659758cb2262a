/* Streams: questions about them, answered from what the client made. */
#include "graft.h"
#include "tables.h"

static uint64_t last_serial;

static int made(int r, void **out, unsigned flags, int priority) {
  if (r) return r;
  struct graft_object *stream = *out;
  stream->u.stream.flags = flags;
  stream->u.stream.priority = priority;
  stream->u.stream.context = graft_context_current();
  stream->u.stream.serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED) + 2;
  return 0;
}

GRAFT_EXPORT int cuStreamCreate(void **stream, unsigned int flags) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (flags & ~1u) return GRAFT_INVALID_VALUE;
  return made(rpc_cuStreamCreate(stream, flags), stream, flags, 0);
}

GRAFT_EXPORT int cuStreamCreateWithPriority(void **stream, unsigned int flags, int priority) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (flags & ~1u) return GRAFT_INVALID_VALUE;
  const struct graft_device *device = graft_device(context->u.context.device);
  if (priority < device->priority_high) priority = device->priority_high;
  if (priority > device->priority_low) priority = device->priority_low;
  return made(rpc_cuStreamCreateWithPriority(stream, flags, priority), stream, flags, priority);
}

/* The stream behind a handle, NULL for the default streams. */
static int find(void *handle, struct graft_object **stream) {
  int r = graft_ready();
  if (r) return r;
  *stream = NULL;
  if ((uintptr_t)handle <= 2) return graft_context_current() ? GRAFT_OK : GRAFT_INVALID_CONTEXT;
  *stream = graft_object(GRAFT_STREAM, handle);
  return *stream ? GRAFT_OK : GRAFT_INVALID_HANDLE;
}

GRAFT_EXPORT int cuStreamGetCtx(void *handle, void *context) {
  struct graft_object *stream;
  int r = find(handle, &stream);
  if (r) return r;
  if (!context) return GRAFT_INVALID_VALUE;
  *(void **)context = stream ? stream->u.stream.context : graft_context_current();
  return 0;
}

GRAFT_EXPORT int cuStreamGetDevice(void *handle, void *device) {
  struct graft_object *context;
  int r = cuStreamGetCtx(handle, &context);
  if (r) return r;
  if (!device) return GRAFT_INVALID_VALUE;
  *(int *)device = context->u.context.device;
  return 0;
}

GRAFT_EXPORT int cuStreamGetFlags(void *handle, void *flags) {
  struct graft_object *stream;
  int r = find(handle, &stream);
  if (r) return r;
  if (!flags) return GRAFT_INVALID_VALUE;
  *(unsigned *)flags = stream ? stream->u.stream.flags : 0;
  return 0;
}

GRAFT_EXPORT int cuStreamGetPriority(void *handle, void *priority) {
  struct graft_object *stream;
  int r = find(handle, &stream);
  if (r) return r;
  if (!priority) return GRAFT_INVALID_VALUE;
  *(int *)priority = stream ? stream->u.stream.priority : 0;
  return 0;
}

GRAFT_EXPORT int cuStreamGetId(void *handle, void *id) {
  struct graft_object *stream;
  int r = find(handle, &stream);
  if (r) return r;
  if (!id) return GRAFT_INVALID_VALUE;
  *(uint64_t *)id = stream ? stream->u.stream.serial : handle == (void *)2 ? 2 : 1;
  return 0;
}

/* ---- Capture: while none is open in this process, nobody need be asked ---- */

static int captures;

GRAFT_EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  r = rpc_cuStreamBeginCapture_v2(stream, mode);
  if (!r) __atomic_add_fetch(&captures, 1, __ATOMIC_ACQ_REL);
  return r;
}

GRAFT_EXPORT int cuStreamEndCapture(void *stream, void **graph) {
  int r = graft_ready();
  if (r) return r;
  r = rpc_cuStreamEndCapture(stream, graph);
  if (r != GRAFT_INVALID_HANDLE && __atomic_load_n(&captures, __ATOMIC_ACQUIRE) > 0) {
    __atomic_sub_fetch(&captures, 1, __ATOMIC_ACQ_REL);
  }
  return r;
}

static int capture_info(void *stream, int *status, uint64_t *id, void **graph, uint64_t *dependencies) {
  struct graft_object *found;
  int r = find(stream, &found);
  if (r) return r;
  *status = 0;
  if (!__atomic_load_n(&captures, __ATOMIC_ACQUIRE)) return 0;
  return rpc_graftStreamCaptureInfo(stream, status, id, graph, dependencies);
}

GRAFT_EXPORT int cuStreamIsCapturing(void *stream, void *status) {
  if (!status) return GRAFT_INVALID_VALUE;
  return capture_info(stream, status, NULL, NULL, NULL);
}

static int info(void *stream, void *status, void *id, void *graph, void *dependencies, void *edges, void *count) {
  if (!status) return GRAFT_INVALID_VALUE;
  uint64_t identity = 0, dependency_count = 0;
  void *captured = NULL;
  int r = capture_info(stream, status, &identity, &captured, &dependency_count);
  if (r || !*(int *)status) return r;
  if (id) *(uint64_t *)id = identity;
  if (graph) *(void **)graph = captured;
  if (dependencies && dependency_count) return graft_not_served("cuStreamGetCaptureInfo with dependencies");
  if (dependencies) *(void **)dependencies = NULL;
  if (edges) *(void **)edges = NULL;
  if (count) *(size_t *)count = dependency_count;
  return 0;
}

GRAFT_EXPORT int cuStreamGetCaptureInfo(void *stream, void *status, void *id) {
  return info(stream, status, id, NULL, NULL, NULL, NULL);
}
GRAFT_EXPORT int cuStreamGetCaptureInfo_v2(void *stream, void *status, void *id, void *graph, void *dependencies, void *count) {
  return info(stream, status, id, graph, dependencies, NULL, count);
}
GRAFT_EXPORT int cuStreamGetCaptureInfo_v3(void *stream, void *status, void *id, void *graph, void *dependencies, void *edges,
                                           void *count) {
  return info(stream, status, id, graph, dependencies, edges, count);
}

/* ---- Graphs: what the generated stubs cannot carry ---- */

static int graph_nodes(void *graph, unsigned roots, void *nodes, void *count) {
  int r = graft_ready();
  if (r) return r;
  if (!graft_object(GRAFT_GRAPH, graph) || !count) return GRAFT_INVALID_VALUE;
  uint64_t room = nodes ? *(size_t *)count : 0, found = 0;
  if (room > 65536) room = 65536;
  r = rpc_graftGraphNodes(graph, roots, nodes, room, &found);
  if (r) return r;
  *(size_t *)count = found;
  return 0;
}

GRAFT_EXPORT int cuGraphGetNodes(void *graph, void *nodes, void *count) { return graph_nodes(graph, 0, nodes, count); }
GRAFT_EXPORT int cuGraphGetRootNodes(void *graph, void *nodes, void *count) { return graph_nodes(graph, 1, nodes, count); }

/* CUDA_RESOURCE_DESC: the kind at 0, an array's or mipmapped array's handle at 8. */
static int resource(const uint8_t *in, uint8_t copy[144], void **array, void **mipmap) {
  uint32_t kind;
  memcpy(copy, in, 144);
  memcpy(&kind, copy, 4);
  *array = *mipmap = NULL;
  if (kind <= 1) {
    memcpy(kind ? mipmap : array, copy + 8, sizeof(void *));
    memset(copy + 8, 0, sizeof(void *));
  }
  return 0;
}

GRAFT_EXPORT int cuTexObjectCreate(void *texture, void *description, void *sampling, void *view) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!texture || !description || !sampling) return GRAFT_INVALID_VALUE;
  uint8_t copy[144];
  void *array, *mipmap;
  resource(description, copy, &array, &mipmap);
  return rpc_graftTextureCreate(texture, copy, array, mipmap, sampling, view);
}

GRAFT_EXPORT int cuSurfObjectCreate(void *surface, void *description) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!surface || !description) return GRAFT_INVALID_VALUE;
  uint8_t copy[144];
  void *array, *mipmap;
  resource(description, copy, &array, &mipmap);
  return rpc_graftSurfaceCreate(surface, copy, array);
}
