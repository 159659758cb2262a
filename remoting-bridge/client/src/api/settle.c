#include "api/settle.h"

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "graft_rpc.h"
#include "memory/mirror.h"
#include "memory/place.h"
#include "session/parts.h"
#include "session/session.h"

/* What is known of a stream's waits, and its session; NULL for a thread's default stream, for which the program always waits. */
static struct graft_settled *settled_of(const void *handle, struct graft_session **session) {
  struct graft_object *stream = graft_object(GRAFT_STREAM, handle), *context = graft_context_current();
  uint64_t id;
  *session = stream ? stream->session : graft_session_current();
  if (stream) return &stream->u.stream.settled;
  bool is_legacy = context && (uintptr_t)handle <= 1 && !graft_stream_id(handle, &id, session) && !id;
  return is_legacy ? &context->u.context.settled : NULL;
}

static struct graft_settling *settling_of(struct graft_session *session) { return &graft_parts(session)->settling; }

static uint64_t calls_of(struct graft_session *session) { return __atomic_load_n(&settling_of(session)->calls, __ATOMIC_ACQUIRE); }

uint64_t graft_settle_calls(void *stream) {
  struct graft_session *session;
  return settled_of(stream, &session) ? calls_of(session) : 0;
}

void graft_settle_copied(const struct graft_place *to, size_t bytes, void *stream, uint64_t calls) {
  struct graft_session *session;
  struct graft_settled *settled = settled_of(stream, &session);
  bool is_unseen = to->memory == GRAFT_MEMORY_DEVICE && !to->host && !to->synchronous && bytes <= to->room;
  if (!is_unseen) __atomic_add_fetch(&settling_of(session)->calls, 1, __ATOMIC_ACQ_REL);
  if (settled) __atomic_store_n(&settled->copied, calls, __ATOMIC_RELEASE);
}

/* Whether a call lets other processes reach memory of the session, or the session theirs. */
static bool shares_memory(int function) {
  switch (function) {
    case FN_cuIpcGetMemHandle:
    case FN_graftIpcOpenMemory:
    case FN_graftMemoryExport:
    case FN_graftMemoryImport:
    case FN_graftPoolExport:
    case FN_graftPoolImport:
    case FN_graftPoolPointerExport:
    case FN_graftPoolPointerImport: return true;
    default: return false;
  }
}

/* Calls that neither queue work, but for copies that graft_settle_copied is told of, nor answer what work has done. */
static bool is_quiet(int function) {
  switch (function) {
    case FN_graftWrite:
    case FN_graftWriteKnown:
    case FN_graftKnownData:
    case FN_graftStreamSettle:
    case FN_cuStreamSynchronize:
    case FN_cuMemAlloc_v2: return true;
    default: return false;
  }
}

void graft_settle_call(struct graft_session *session, int function) {
  struct graft_settling *settling = settling_of(session);
  if (shares_memory(function)) __atomic_store_n(&settling->memory_is_shared, true, __ATOMIC_RELEASE);
  if (!is_quiet(function)) __atomic_add_fetch(&settling->calls, 1, __ATOMIC_ACQ_REL);
}

/* Whether the program need not wait for a stream. With mirrored memory it does, since a wait sends what the program has changed there. */
static bool tells_nothing(void *stream, struct graft_session *session, uint64_t copied, uint64_t waited) {
  return copied && copied == waited && copied == calls_of(session) && !graft_mirrors &&
         !__atomic_load_n(&settling_of(session)->memory_is_shared, __ATOMIC_ACQUIRE) && !graft_stream_captures(stream) &&
         !graft_streams_may_be_held();
}

int graft_stream_wait(void *stream) {
  struct graft_session *session;
  struct graft_settled *settled = settled_of(stream, &session);
  uint64_t copied = settled ? __atomic_load_n(&settled->copied, __ATOMIC_ACQUIRE) : 0;
  uint64_t waited = settled ? __atomic_load_n(&settled->waited, __ATOMIC_ACQUIRE) : 0;
  if (tells_nothing(stream, session, copied, waited)) return rpc_graftStreamSettle(stream);
  int r = rpc_cuStreamSynchronize(stream);
  if (!r && copied) __atomic_store_n(&settled->waited, copied, __ATOMIC_RELEASE);
  return r;
}
