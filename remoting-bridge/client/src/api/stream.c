/* Streams: questions about them, answered from what the client made. */
#include <pthread.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "graft_rpc.h"
#include "graph/node.h"
#include "memory/mirror.h"
#include "memory/ordering.h"
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

int graft_stream_find(void *handle, struct graft_object **stream) {
  int r = graft_usable();
  if (r) return r;
  *stream = NULL;
  if ((uintptr_t)handle <= 2) return graft_context_current() ? GRAFT_OK : GRAFT_INVALID_CONTEXT;
  return graft_stream_object(handle, stream);
}

GRAFT_EXPORT int cuStreamGetCtx(void *handle, void *context) {
  struct graft_object *stream;
  int r = graft_stream_find(handle, &stream);
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
  if ((r = graft_not_for_captures(handle))) return r;
  *(int *)device = context->u.context.device;
  return 0;
}

GRAFT_EXPORT int cuStreamGetFlags(void *handle, void *flags) {
  struct graft_object *stream;
  int r = graft_stream_find(handle, &stream);
  if (r) return r;
  if (!flags) return GRAFT_INVALID_VALUE;
  if ((r = graft_not_for_captures(handle))) return r;
  *(unsigned *)flags = stream ? stream->u.stream.flags : 0;
  return 0;
}

GRAFT_EXPORT int cuStreamGetPriority(void *handle, void *priority) {
  struct graft_object *stream;
  int r = graft_stream_find(handle, &stream);
  if (r) return r;
  if (!priority) return GRAFT_INVALID_VALUE;
  *(int *)priority = stream ? stream->u.stream.priority : 0;
  return 0;
}

GRAFT_EXPORT int cuStreamGetId(void *handle, void *id) {
  struct graft_object *stream;
  int r = graft_stream_find(handle, &stream);
  if (r) return r;
  if (!id) return GRAFT_INVALID_VALUE;
  if ((r = graft_not_for_captures(handle))) return r;
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
  int r = graft_stream_find(handle, &stream);
  if (r) return r;
  bool is_blocking = !stream || !(stream->u.stream.flags & 1); /* CU_STREAM_NON_BLOCKING */
  return is_blocking ? queue_mark(handle) : GRAFT_OK;
}

int graft_stream_reach(void *handle) {
  int r = mark_if_blocking(handle);
  return r ? r : graft_stream_wait(handle);
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

/* The default streams last as long as their context. */
GRAFT_EXPORT int cuStreamDestroy_v2(void *stream) {
  int r = graft_ready();
  return r ? r : (uintptr_t)stream <= 2 ? GRAFT_INVALID_HANDLE : rpc_cuStreamDestroy_v2(stream);
}

GRAFT_EXPORT int cuStreamGetCtx_v2(void *stream, void *context, void *green) {
  if (green) *(void **)green = NULL;
  return cuStreamGetCtx(stream, context);
}

/* The driver answers a question about the legacy default stream, and a wait for it, by what other streams capture before it looks whether the thread may ask. */
static int in_stream(void *stream, int (*call)(void *)) {
  bool is_legacy = (uintptr_t)stream <= 1;
  int refused = graft_ready();
  if (!refused && !is_legacy) refused = graft_uncaptured();
  if (refused) return refused;
  GRAFT_WITHIN_CONTEXT_OF(stream);
  struct graft_behind behind;
  if (graft_mirrors) {
    graft_ordering_behind(stream, &behind);
    graft_mirrors_waiting(&behind);
  }
  int r = call(stream);
  graft_mirrors_waiting(NULL);
  if (is_legacy && r != GRAFT_STREAM_CAPTURE_IMPLICIT) refused = graft_uncaptured();
  return refused ? refused : r;
}

GRAFT_EXPORT int cuStreamQuery(void *stream) { return in_stream(stream, rpc_cuStreamQuery); }
GRAFT_EXPORT int cuStreamSynchronize(void *stream) { return in_stream(stream, graft_stream_wait); }
