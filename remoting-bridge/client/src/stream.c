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

GRAFT_EXPORT int cuStreamBeginCapture(void *stream) { return cuStreamBeginCapture_v2(stream, 0); }

GRAFT_EXPORT int cuStreamBeginCaptureToGraph(void *stream, void *graph, const void **dependencies, const void *edges,
                                             size_t count, int mode) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  r = rpc_cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode);
  if (!r) __atomic_add_fetch(&captures, 1, __ATOMIC_ACQ_REL);
  return r;
}

#define DEPENDENCIES 1024

/* What a capture's next node will depend on: the driver's own arrays, valid until this thread asks again. */
static _Thread_local struct {
  void *nodes[DEPENDENCIES];
  uint64_t edges[DEPENDENCIES];
  uint64_t count;
} last;

static int capture_info(void *stream, int *status, uint64_t *id, void **graph, bool dependencies) {
  struct graft_object *found;
  int r = find(stream, &found);
  if (r) return r;
  *status = 0;
  if (!__atomic_load_n(&captures, __ATOMIC_ACQUIRE)) return 0;
  return rpc_graftStreamCaptureInfo(stream, status, id, graph, dependencies ? last.nodes : NULL,
                                    dependencies ? last.edges : NULL, dependencies ? DEPENDENCIES : 0, &last.count);
}

bool graft_stream_captures(void *stream) {
  int status = 0;
  return !capture_info(stream, &status, NULL, NULL, false) && status == 1;
}

GRAFT_EXPORT int cuStreamIsCapturing(void *stream, void *status) {
  if (!status) return GRAFT_INVALID_VALUE;
  return capture_info(stream, status, NULL, NULL, false);
}

static int info(void *stream, void *status, void *id, void *graph, void *dependencies, void *edges, void *count) {
  if (!status) return GRAFT_INVALID_VALUE;
  uint64_t identity = 0;
  void *captured = NULL;
  int r = capture_info(stream, status, &identity, &captured, dependencies || edges);
  if (r || !*(int *)status) return r;
  if (id) *(uint64_t *)id = identity;
  if (graph) *(void **)graph = captured;
  if (dependencies || edges) {
    if (last.count > DEPENDENCIES) return graft_not_served("a capture with so many dependencies");
    for (uint64_t i = 0; i < last.count; i++) graft_node_of(last.nodes[i], captured);
  }
  if (dependencies) *(void **)dependencies = last.nodes;
  if (edges) *(void **)edges = last.edges;
  if (count) *(size_t *)count = last.count;
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

GRAFT_EXPORT int cuStreamGetCtx_v2(void *stream, void *context, void *green) {
  if (green) *(void **)green = NULL;
  return cuStreamGetCtx(stream, context);
}
