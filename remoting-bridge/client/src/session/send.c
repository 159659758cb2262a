/* Sending calls: from graft_begin to the ring of requests. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/profile.h"
#include "api/rpc.h"
#include "api/trace.h"
#include "api/work.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "memory/mirror.h"
#include "session/session.h"
#include "session/state.h"
#include "session/stats.h"

/* What the calling thread has announced about its next call. */
static _Thread_local struct {
  void *incoming; /* the memory that the call's data is read into */
  size_t incoming_bytes;
} next_call;

void graft_incoming(void *to, size_t bytes) {
  next_call.incoming = to;
  next_call.incoming_bytes = bytes;
}

void *graft_take_incoming(size_t *bytes) {
  void *to = next_call.incoming;
  *bytes = next_call.incoming_bytes;
  next_call.incoming = NULL;
  return to;
}

int graft_call_refuse(int error) {
  next_call.incoming = NULL;
  return error;
}

/* Mirrors make calls of their own, which must not take what the thread has announced about its next call. */
static bool mirrors_before(struct graft_session *s, int function) {
  void *to = next_call.incoming;
  size_t bytes = next_call.incoming_bytes;
  next_call.incoming = NULL;
  bool brought = graft_mirrors_before(s, function);
  next_call.incoming = to;
  next_call.incoming_bytes = bytes;
  return brought;
}

/* The error that the client answers a call with, or 0 if the call goes to the server. */
static int refusal(struct graft_session *s, const struct graft_object *context, int function) {
  if (graft_in_child()) return GRAFT_NOT_INITIALIZED;
  int error = graft_session_dead(s);
  return error || graft_function_traits[function] & GRAFT_OUTLIVES_FAULT ? error : graft_fault_of(context);
}

int graft_begin(struct graft_call *call, int function, size_t bytes) {
  struct graft_session *s = call->session ? call->session : graft_session_current();
  if (!graft_session_is_open(s) && graft_session_open(s)) return graft_call_refuse(GRAFT_NOT_INITIALIZED);
  if (graft_profiling) graft_profile_call(function);
  uint64_t began = graft_tracing ? graft_now() : 0;
  struct graft_object *context = graft_context_current();
  if (context && (context->session != s || context->u.context.destroyed)) context = NULL;
  int error = refusal(s, context, function);
  if (error) return graft_call_refuse(error);
  size_t total = sizeof(struct graft_record) + bytes;
  if (total > GRAFT_MAX_RECORD) return graft_call_refuse(GRAFT_INVALID_VALUE);
  bool brought = graft_mirrors && mirrors_before(s, function);
  if (context && graft_function_traits[function] & GRAFT_LAUNCHES) graft_context_set_busy(context);
  pthread_mutex_lock(&s->send_lock);
  graft_settle_call(s, function);
  if (graft_mirrors) graft_note_thread(&s->sender);
  uint8_t *start = graft_ring_reserve(&s->requests, total + GRAFT_SMALL_BULK);
  if (!start) start = s->buffer;
  struct graft_record record = {.size = (uint32_t)total, .function = (uint16_t)function, .context = context ? context->id : 0};
  memcpy(start, &record, sizeof record);
  *call = (struct graft_call){.session = s,
                              .start = start,
                              .at = start + sizeof record,
                              .end = start + total,
                              .function = function,
                              .stream = call->stream,
                              .began = began,
                              .brought = brought};
  return 0;
}

void graft_bulk(struct graft_call *call, const void *data, size_t bytes) {
  call->bulk = data;
  call->bulk_bytes = bytes;
}

static void put_in_ring(struct graft_session *s, const void *data, size_t bytes) {
  if (!graft_ring_write(&s->requests, &s->bell, data, bytes)) graft_session_die(s, "the server is gone", 0);
}

struct graft_transfer *graft_call_commit(struct graft_call *call, uint16_t flags) {
  struct graft_session *s = call->session;
  bool apart = call->bulk_bytes >= GRAFT_APART_LEAST && graft_data_connections_ready(s);
  bool waits = flags & GRAFT_RECORD_REPLY;
  size_t bytes = (size_t)(call->end - call->start);
  if (call->bulk_bytes) flags |= GRAFT_RECORD_BULK;
  if (apart) flags |= GRAFT_RECORD_APART;
  memcpy(call->start + offsetof(struct graft_record, flags), &flags, sizeof flags);
  memcpy(call->start + offsetof(struct graft_record, slot), &call->slot, sizeof call->slot);
  graft_stats_call(call->function, bytes, call->bulk_bytes);
  bool behind = call->bulk_bytes && call->bulk_bytes <= GRAFT_SMALL_BULK;
  if (behind) {
    memcpy(call->end, call->bulk, call->bulk_bytes);
    bytes += call->bulk_bytes;
  }
  if (call->start == s->buffer) {
    put_in_ring(s, s->buffer, bytes);
  } else if (graft_ring_publish(&s->requests, bytes) && (s->server_takes || !waits) && !graft_ring_wake(&s->requests, &s->bell)) {
    graft_session_die(s, "the server is gone", 0);
  }
  if (apart) return graft_data_connections_send(s, ++s->transfers, call->bulk, call->bulk_bytes);
  if (call->bulk_bytes && !behind) put_in_ring(s, call->bulk, call->bulk_bytes);
  return NULL;
}

void graft_call_let_go(const struct graft_call *call) {
  struct graft_session *s = call->session;
  if (call->brought) graft_mirrors_sent();
  __atomic_store_n(&s->sender, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&s->send_lock);
}

static bool queues_work(const struct graft_call *call) {
  return graft_function_traits[call->function] & (GRAFT_LAUNCHES | GRAFT_WORKS);
}

/* Whether the driver may refuse a call because a stream is captured: work in the legacy default stream. */
static bool may_be_forbidden(const struct graft_call *call) {
  if (!graft_captures_are_open()) return false;
  return call->stream == GRAFT_LEGACY_STREAM || (call->stream == GRAFT_NO_STREAM && queues_work(call));
}

int graft_send(struct graft_call *call) {
  struct graft_session *s = call->session;
  if (may_be_forbidden(call)) return graft_wait(call, NULL, 0);
  if (atomic_load_explicit(&graft_work_is_heard, memory_order_relaxed) && queues_work(call)) call->slot = graft_work_number();
  struct graft_transfer *transfer = graft_call_commit(call, 0);
  graft_call_let_go(call);
  if (transfer) graft_data_connections_wait(s, transfer);
  if (graft_tracing) graft_trace_call(call->function, call->began, false, call->bulk_bytes);
  return graft_session_dead(s);
}
