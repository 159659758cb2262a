/* Streams: questions about them, answered from what the client made. */
#include <pthread.h>
#include <string.h>

#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "graft_rpc.h"
#include "graph/node.h"
#include "memory/mirror.h"
#include "memory/place.h"
#include "session/parts.h"
#include "session/session.h"

static uint64_t last_serial; /* of the process: a program tells the streams of all sessions apart by it */

static struct graft_stream_state *current(void) { return &graft_parts(graft_session_current())->streams; }

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
  const struct graft_device *device = graft_device(context->session, context->u.context.device);
  if (priority < device->priority_high) priority = device->priority_high;
  if (priority > device->priority_low) priority = device->priority_low;
  return made(rpc_cuStreamCreateWithPriority(stream, flags, priority), stream, flags, priority);
}

/* The stream behind a handle, NULL for the default streams. */
static int find(void *handle, struct graft_object **stream) {
  int r = graft_usable();
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

/* ---- The program's own thread in the place of a stream ---- */

/* Work of blocking streams and of the stream 0 waits for each other, but a recorded event does not wait (seen on an H200, driver
 * 580). So the client fills one byte of the context's device memory. */
static int queue_mark(void *stream) {
  struct graft_object *context;
  int r = graft_context_need_for(stream, &context);
  if (r) return r;
  uint64_t *mark = &context->u.context.mark, made, none = 0;
  if (!__atomic_load_n(mark, __ATOMIC_ACQUIRE)) {
    if ((r = rpc_cuMemAlloc_v2(&made, 1))) return r;
    /* Another thread may have been faster. */
    if (!__atomic_compare_exchange_n(mark, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) rpc_cuMemFree_v2(made);
  }
  return rpc_cuMemsetD8Async(__atomic_load_n(mark, __ATOMIC_ACQUIRE), 0, 1, stream);
}

static int mark_if_blocking(void *handle) {
  struct graft_object *stream;
  int r = find(handle, &stream);
  if (r) return r;
  bool is_blocking = !stream || !(stream->u.stream.flags & 1); /* CU_STREAM_NON_BLOCKING */
  return is_blocking ? queue_mark(handle) : GRAFT_OK;
}

int graft_stream_reach(void *handle) {
  int r = mark_if_blocking(handle);
  return r ? r : cuStreamSynchronize(handle);
}

int graft_stream_pass(void *handle) { return graft_stream_captures(handle) ? GRAFT_OK : mark_if_blocking(handle); }

/* ---- Values that streams write or wait for, also in host memory ---- */

bool graft_values_are_waited_for(void) { return __atomic_load_n(&current()->waits, __ATOMIC_ACQUIRE); }

static void nothing(void *unused) { (void)unused; }

/* Mirrored memory is brought up to date before a host function runs, even one that does nothing. */
int graft_stream_look(void *stream) {
  void (*function)(void *) = nothing;
  void *address;
  memcpy(&address, &function, sizeof address);
  return cuLaunchHostFunc(stream, address, NULL);
}

/* Work behind the wait must see what the program wrote before it wrote the value. */
static int waits_for_value(void *stream) {
  __atomic_store_n(&current()->waits, true, __ATOMIC_RELEASE);
  return graft_mirrors && !graft_stream_captures(stream) ? graft_stream_look(stream) : GRAFT_OK;
}

int graft_calls_executed(void) {
  int ignored;
  return rpc_cuCtxGetCacheConfig(&ignored); /* any answer reports the errors before it */
}

/* CUstreamWaitValue_flags; writes have no flag that driver 580 takes. */
#define WAIT_FLAGS (3u | 1u << 30)

#define VALUE(name, bits, type, writes)                                                          \
  GRAFT_EXPORT int name(void *stream, uint64_t at, type value, unsigned int flags) {             \
    GRAFT_IN_CONTEXT_OF(stream);                                                                 \
    struct graft_place place;                                                                    \
    struct graft_object *context;                                                                \
    int r = graft_context_need_for(stream, &context);                                            \
    if (!r && flags & ~((writes) ? 0u : WAIT_FLAGS)) r = GRAFT_INVALID_VALUE;                    \
    if (r || (r = graft_place_of_value(at, (bits) / 8, writes, stream, NULL, &place))) return r; \
    graft_context_set_busy(context);                                                             \
    r = rpc_##name(stream, place.device, value, flags);                                          \
    graft_mirrors_sent();                                                                        \
    r = graft_place_confirm(&place, (bits) / 8, r);                                              \
    return r || (writes) ? r : waits_for_value(stream);                                          \
  }

VALUE(cuStreamWaitValue32_v2, 32, unsigned int, false)
VALUE(cuStreamWaitValue64_v2, 64, uint64_t, false)
VALUE(cuStreamWriteValue32_v2, 32, unsigned int, true)
VALUE(cuStreamWriteValue64_v2, 64, uint64_t, true)

/* CUstreamBatchMemOpParams: the kind of operation, and at 8 its address. */
enum { WAIT_VALUE_32 = 1, WRITE_VALUE_32 = 2, WAIT_VALUE_64 = 4, WRITE_VALUE_64 = 5, LAST_OPERATION = 6 };

int graft_operations_place(uint8_t *operations, unsigned count, void *stream, struct graft_object *graph, bool *known) {
  int r = GRAFT_OK;
  for (unsigned i = 0; i < count && !r; i++) {
    uint8_t *operation = operations + (size_t)i * GRAFT_OPERATION_BYTES;
    uint32_t kind;
    uint64_t at;
    memcpy(&kind, operation, sizeof kind);
    memcpy(&at, operation + 8, sizeof at);
    bool writes = kind == WRITE_VALUE_32 || kind == WRITE_VALUE_64;
    if (!kind || kind > LAST_OPERATION) return GRAFT_INVALID_VALUE;
    if (!writes && kind != WAIT_VALUE_32 && kind != WAIT_VALUE_64) continue;
    if (!writes) __atomic_store_n(&current()->waits, true, __ATOMIC_RELEASE);
    struct graft_place place;
    unsigned bytes = kind == WAIT_VALUE_32 || kind == WRITE_VALUE_32 ? 4 : 8;
    r = graft_place_of_value(at, bytes, writes, stream, graph, &place);
    *known &= graft_place_is_known(&place, bytes);
    memcpy(operation + 8, &place.device, sizeof place.device);
  }
  return r;
}

GRAFT_EXPORT int cuStreamBatchMemOp_v2(void *stream, unsigned int count, const void *operations, unsigned int flags) {
  GRAFT_IN_CONTEXT_OF(stream);
  struct graft_object *context;
  uint8_t copy[GRAFT_MOST_OPERATIONS * GRAFT_OPERATION_BYTES];
  int r = graft_context_need_for(stream, &context);
  if (r) return r;
  if (flags || count > GRAFT_MOST_OPERATIONS || !operations) return GRAFT_INVALID_VALUE;
  if (!count) return 0;
  memcpy(copy, operations, (size_t)count * GRAFT_OPERATION_BYTES);
  graft_context_set_busy(context);
  bool known = true;
  r = graft_operations_place(copy, count, stream, NULL, &known);
  if (!r) r = rpc_cuStreamBatchMemOp_v2(stream, count, copy, flags);
  graft_mirrors_sent();
  if (!r && !known) r = graft_calls_executed();
  return r || !graft_values_are_waited_for() ? r : waits_for_value(stream);
}

/* ---- Capture ---- */

/* How many captures the session of a stream has open. */
static int *captures_of(const void *handle) {
  const struct graft_object *stream = graft_object(GRAFT_STREAM, handle);
  return &graft_parts(stream ? stream->session : graft_session_current())->streams.captures;
}

/* The default streams last as long as their context. */
GRAFT_EXPORT int cuStreamDestroy_v2(void *stream) {
  int r = graft_ready();
  return r ? r : (uintptr_t)stream <= 2 ? GRAFT_INVALID_HANDLE : rpc_cuStreamDestroy_v2(stream);
}

GRAFT_EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
  struct graft_object *context;
  int r = graft_context_need_for(stream, &context);
  if (r) return r;
  if (mode < 0 || mode > 2) return GRAFT_INVALID_VALUE; /* CUstreamCaptureMode */
  r = rpc_cuStreamBeginCapture_v2(stream, mode);
  if (!r) __atomic_add_fetch(captures_of(stream), 1, __ATOMIC_ACQ_REL);
  return r;
}

GRAFT_EXPORT int cuStreamEndCapture(void *stream, void **graph) {
  int r = graft_ready();
  if (r) return r;
  int *captures = captures_of(stream);
  r = rpc_cuStreamEndCapture(stream, graph);
  if (r != GRAFT_INVALID_HANDLE && __atomic_load_n(captures, __ATOMIC_ACQUIRE) > 0) {
    __atomic_sub_fetch(captures, 1, __ATOMIC_ACQ_REL);
  }
  return r;
}

GRAFT_EXPORT int cuStreamBeginCapture(void *stream) { return cuStreamBeginCapture_v2(stream, 0); }

GRAFT_EXPORT int cuStreamBeginCaptureToGraph(void *stream, void *graph, const void **dependencies, const void *edges, size_t count,
                                             int mode) {
  struct graft_object *context;
  int r = graft_context_need_for(stream, &context);
  if (r) return r;
  r = rpc_cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode);
  if (!r) __atomic_add_fetch(captures_of(stream), 1, __ATOMIC_ACQ_REL);
  return r;
}

#define DEPENDENCIES 1024

/* The dependencies of a capture's next node. CUDA returns arrays of the driver's; these are valid until the thread asks again. */
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
  if (!__atomic_load_n(captures_of(stream), __ATOMIC_ACQUIRE)) return 0;
  return rpc_graftStreamCaptureInfo(stream, status, id, graph, dependencies ? last.nodes : NULL, dependencies ? last.edges : NULL,
                                    dependencies ? DEPENDENCIES : 0, &last.count);
}

bool graft_captures_are_open(void) { return __atomic_load_n(captures_of(NULL), __ATOMIC_ACQUIRE) > 0; }

struct graft_object *graft_stream_captures(void *stream) {
  int status = 0;
  void *graph = NULL;
  return !capture_info(stream, &status, NULL, &graph, false) && status == 1 ? graph : NULL;
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

GRAFT_EXPORT int cuThreadExchangeStreamCaptureMode(void *mode) {
  static _Thread_local int current; /* CU_STREAM_CAPTURE_MODE_GLOBAL */
  if (!mode) return GRAFT_INVALID_VALUE;
  int before = current;
  current = *(int *)mode;
  *(int *)mode = before;
  return 0;
}

GRAFT_EXPORT int cuStreamGetCtx_v2(void *stream, void *context, void *green) {
  if (green) *(void **)green = NULL;
  return cuStreamGetCtx(stream, context);
}
