/* Copies. If the server has both operands, it copies, in the order of the stream. If one is private to the program (place.h), its bytes are sent. If both are host memory, the calling thread copies once the stream has reached the copy; such copies are synchronous in CUDA, too ("API synchronization behavior"). */
#include "memory/copy.h"

#include <stdlib.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/profile.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "api/work.h"
#include "graft_rpc.h"
#include "memory/elsewhere.h"
#include "memory/known_data.h"
#include "memory/mirror.h"
#include "memory/place.h"
#include "memory/ranges.h"
#include "memory/staging.h"
#include "session/session.h"

/* Larger copies are staged through the shared region; the data of smaller ones follows the record. */
#define STAGED (32u << 10)
/* Copies from pageable memory up to this size are asynchronous with respect to the host (CUDA C++ Programming Guide). */
#define TAKEN_AT_ONCE (64u << 10)

int graft_copy_settle(const void *private, size_t bytes, void *stream) {
  if (!graft_read_pending(private, bytes)) return GRAFT_OK;
  int r = graft_stream_reach(stream);
  return r || graft_reads_await(private, bytes) ? r : graft_dead();
}

static bool is_pinned(const struct graft_place *place) {
  return place->memory == GRAFT_MEMORY_PINNED || place->memory == GRAFT_MEMORY_REGISTERED;
}

/* A host function that the stream has not reached may write what a later copy reads, and so may the program while a stream waits for a value. Then the client must not take the bytes now: the server copies when the stream reaches the copy. */
int graft_copy_defer(struct graft_place *from, size_t bytes, void *stream) {
  if (!is_pinned(from) || !graft_streams_may_be_held()) return GRAFT_OK;
  int r = graft_place_expose(from, bytes, false, NULL);
  return r || !graft_values_are_waited_for() || !from->mirrored ? r : graft_stream_look(stream);
}

int graft_copy_defer_target(struct graft_place *to, size_t bytes) {
  return is_pinned(to) && graft_streams_may_be_held() ? graft_place_expose(to, bytes, true, NULL) : GRAFT_OK;
}

bool graft_copy_waits(const struct graft_place *from, size_t bytes) {
  if (from->memory != GRAFT_MEMORY_NONE) return true;
  struct graft_object *context = graft_context_current();
  struct graft_session *session;
  uint64_t stream;
  if (bytes <= TAKEN_AT_ONCE || !__atomic_load_n(&context->u.context.busy, __ATOMIC_RELAXED)) return false;
  /* A copy in the legacy stream follows the work of all blocking streams, and so does the wait for it. A wait for the per-thread stream says nothing about other streams. */
  if (!graft_stream_id(NULL, &stream, &session) && !stream) __atomic_store_n(&context->u.context.busy, false, __ATOMIC_RELAXED);
  return true;
}

static int host_to_host(const struct graft_place *to, const struct graft_place *from, size_t bytes, void *stream) {
  int r = graft_stream_reach(stream);
  if (r) return r;
  void *target = (void *)(uintptr_t)to->host;
  const void *source = (const void *)(uintptr_t)from->host;
  if (!graft_reads_await(target, bytes) || !graft_reads_await(source, bytes)) return graft_dead();
  memmove(target, source, bytes);
  return GRAFT_OK;
}

/* Waits for a synchronous copy if the program can see one of its operands. */
static int finish(const struct graft_place *to, const struct graft_place *from, void *stream) {
  bool is_seen = to->host || from->host || to->synchronous || from->synchronous;
  return is_seen ? graft_stream_wait(stream) : GRAFT_OK;
}

/* Managed memory is pinned memory at the server. Copies of pinned memory without a stream do not wait for kernels of other streams (seen on an H200, driver 580), but copies of managed memory do. */
static int await_kernels(const struct graft_place *to, const struct graft_place *from) {
  bool managed = to->memory == GRAFT_MEMORY_MANAGED || from->memory == GRAFT_MEMORY_MANAGED;
  return managed && graft_managed_is_exclusive() ? rpc_graftContextSynchronize() : GRAFT_OK;
}

static int queue(const struct graft_place *to, const struct graft_place *from, size_t bytes, void *stream) {
  bool from_region = from->memory == GRAFT_MEMORY_PINNED && !from->mirrored && to->memory == GRAFT_MEMORY_DEVICE;
  bool to_region = to->memory == GRAFT_MEMORY_PINNED && !to->mirrored && from->memory == GRAFT_MEMORY_DEVICE;
  if (from_region) return rpc_graftCopyFromRegion(to->device, from->device, bytes, stream);
  if (to_region) return rpc_graftCopyToRegion(to->device, from->device, bytes, stream);
  return rpc_cuMemcpyDtoDAsync_v2(to->device, from->device, bytes, stream);
}

int graft_copy_begun(const struct graft_place *from, int r) {
  bool in_place = from->device && from->host && !from->mirrored;
  return r || !in_place ? r : graft_calls_executed();
}

static int at_server(const struct graft_place *to, const struct graft_place *from, size_t bytes, void *stream, bool wait) {
  int r = wait ? await_kernels(to, from) : GRAFT_OK;
  if (r) return r;
  graft_place_announce(from, bytes, false, stream);
  graft_place_announce(to, bytes, true, stream);
  r = queue(to, from, bytes, stream);
  graft_mirrors_sent();
  if (!wait) return graft_copy_begun(from, r);
  return r ? r : finish(to, from, stream);
}

static int send_bytes(const struct graft_place *to, const struct graft_place *from, size_t bytes, void *stream, bool wait) {
  const void *source = (const void *)(uintptr_t)from->host;
  /* The bytes are sent now, not when the stream reaches the copy, and an earlier copy may still write them. */
  int r = graft_copy_settle(source, bytes, stream);
  if (r) return r;
  graft_place_announce(to, bytes, true, stream);
  uint64_t calls = graft_settle_calls(stream);
  if (bytes > STAGED && graft_staging_ready()) {
    r = graft_stage_to_device(to->device, source, bytes, stream);
  } else if (to->mirrored) { /* announced, which holds for one call */
    r = rpc_graftWrite(to->device, source, bytes, stream);
  } else {
    r = graft_known_data_write(to->device, source, bytes, stream);
  }
  graft_mirrors_sent();
  if (r) return r;
  graft_settle_copied(to, bytes, stream, calls);
  if (!wait) return GRAFT_OK;
  return to->host || to->synchronous || graft_copy_waits(from, bytes) ? graft_stream_wait(stream) : GRAFT_OK;
}

static int fetch_bytes(const struct graft_place *to, const struct graft_place *from, size_t bytes, void *stream, bool wait) {
  void *target = (void *)(uintptr_t)to->host;
  int r;
  graft_place_announce(from, bytes, false, stream);
  bool may_wait = wait || to->memory == GRAFT_MEMORY_NONE;
  if (bytes > STAGED && graft_staging_ready() && (may_wait || !graft_streams_may_be_held())) {
    r = graft_stage_from_device(target, from->device, bytes, stream);
  } else if (may_wait) {
    graft_incoming(target, bytes);
    r = rpc_graftRead(from->device, bytes, stream);
  } else {
    uint64_t read = graft_read_expect(target, bytes);
    r = read ? rpc_graftReadAsync(from->device, bytes, stream, read) : GRAFT_OUT_OF_MEMORY;
    if (r && read) graft_read_forget(graft_session_current(), read);
  }
  graft_mirrors_sent();
  return r;
}

/* A copy in a graph is carried out at each launch, so the device must have both operands. */
static int captured(struct graft_place *to, struct graft_place *from, size_t bytes, void *stream, struct graft_object *graph) {
  int r = graft_place_expose(to, bytes, true, graph);
  if (!r) r = graft_place_expose(from, bytes, false, graph);
  return r ? r : queue(to, from, bytes, stream);
}

/* Mirrored memory that no work may write, while nothing may hold a stream up: the program has its bytes, so that a copy to or from device memory takes the way of private memory, which where memory is shared is the faster one. A small asynchronous copy to it stays asynchronous. */
static void treat_as_private(struct graft_place *place, const struct graft_place *other, size_t bytes, bool may_wait) {
  if (!place->mirrored || other->memory != GRAFT_MEMORY_DEVICE || bytes > place->room || (bytes <= STAGED && !may_wait)) return;
  if (!graft_session_shares_memory() || graft_streams_may_be_held()) return;
  if (graft_mirror_is_settled(place->device, bytes)) place->device = 0;
}

static int copy(struct graft_place *to, struct graft_place *from, size_t bytes, void *stream, bool wait) {
  struct graft_object *graph = wait ? NULL : graft_stream_captures(stream);
  if (graph) return captured(to, from, bytes, stream, graph);
  if (graft_place_is_host(to) && graft_place_is_host(from)) return host_to_host(to, from, bytes, stream);
  int r = wait ? GRAFT_OK : graft_copy_defer(from, bytes, stream);
  if (r) return r;
  treat_as_private(from, to, bytes, true);
  treat_as_private(to, from, bytes, wait);
  if (!wait) graft_context_set_busy(graft_context_current());
  if (!to->device) return fetch_bytes(to, from, bytes, stream, wait);
  if (!from->device) return send_bytes(to, from, bytes, stream, wait);
  return at_server(to, from, bytes, stream, wait);
}

static int traced_copy(struct graft_place *to, struct graft_place *from, size_t bytes, void *stream, bool wait) {
  struct graft_work work = {.kind = GRAFT_WORK_COPY,
                            .stream = stream,
                            .bytes = bytes,
                            .from = graft_place_work_memory(from),
                            .to = graft_place_work_memory(to)};
  struct graft_span *span = graft_work_begin(&work);
  int r = copy(to, from, bytes, stream, wait);
  graft_work_end(span, r);
  return graft_place_confirm(from, bytes, graft_place_confirm(to, bytes, r));
}

/* The name of the function determines the kind of an operand only for pointers that CUDA has not returned. */
enum says { UNIFIED = 0, FROM_DEVICE = 1, TO_DEVICE = 2 };

static int copy_memory(uint64_t target, uint64_t source, size_t bytes, void *stream, bool wait, enum says says);

/* A copy of which a part belongs to another server than the current context. False if there is none. */
static bool copy_elsewhere(uint64_t to, uint64_t from, size_t bytes, void *stream, bool wait, enum says says, int *r) {
  struct graft_session *target = graft_session_of_memory(to), *source = graft_session_of_memory(from);
  struct graft_visit visit;
  struct graft_object *context;
  if (target && source && target != source) {
    *r = graft_context_need(&context);
    if (!*r && bytes) *r = graft_copy_between(target, to, source, from, bytes, stream);
    return true;
  }
  if (!graft_visit_begin(&visit, target ? target : source, stream, r)) return false;
  if (!*r) *r = graft_visit_end(&visit, copy_memory(to, from, bytes, visit.stream, wait || visit.settles, says));
  return true;
}

static int copy_memory(uint64_t target, uint64_t source, size_t bytes, void *stream, bool wait, enum says says) {
  GRAFT_IN_CONTEXT_OF(stream);
  int r;
  if (graft_several_servers && copy_elsewhere(target, source, bytes, stream, wait, says, &r)) return r;
  struct graft_object *context;
  r = graft_context_need_for(stream, &context);
  if (r || !bytes) return r;
  if (!target || !source || bytes >> 47) return GRAFT_INVALID_VALUE; /* no address space is so large */
  struct graft_place to = graft_place_of(target, says & TO_DEVICE), from = graft_place_of(source, says & FROM_DEVICE);
  if ((r = graft_place_check(&to, bytes, says == UNIFIED))) return r;
  if ((r = graft_place_check(&from, bytes, says == UNIFIED))) return r;
  bool down = graft_place_is_host(&to), transfer = graft_profiling && down != graft_place_is_host(&from);
  if (!transfer) return traced_copy(&to, &from, bytes, stream, wait);
  uint64_t start = graft_profile_transfer_begin();
  r = traced_copy(&to, &from, bytes, stream, wait);
  graft_profile_transfer_end(start, !down, (const void *)(uintptr_t)(down ? to.host : from.host), bytes);
  return r;
}

GRAFT_EXPORT int cuMemcpyHtoD_v2(uint64_t to, void *from, size_t bytes) {
  return copy_memory(to, (uintptr_t)from, bytes, NULL, true, TO_DEVICE);
}
GRAFT_EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, void *from, size_t bytes, void *stream) {
  return copy_memory(to, (uintptr_t)from, bytes, stream, false, TO_DEVICE);
}
GRAFT_EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  return copy_memory((uintptr_t)to, from, bytes, NULL, true, FROM_DEVICE);
}
GRAFT_EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  return copy_memory((uintptr_t)to, from, bytes, stream, false, FROM_DEVICE);
}
GRAFT_EXPORT int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes) {
  return copy_memory(to, from, bytes, NULL, true, TO_DEVICE | FROM_DEVICE);
}
GRAFT_EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return copy_memory(to, from, bytes, stream, false, TO_DEVICE | FROM_DEVICE);
}
GRAFT_EXPORT int cuMemcpy(uint64_t to, uint64_t from, size_t bytes) { return copy_memory(to, from, bytes, NULL, true, UNIFIED); }
GRAFT_EXPORT int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return copy_memory(to, from, bytes, stream, false, UNIFIED);
}

/* NULL stands for the current context. */
static bool is_context(void *context) { return !context || graft_object(GRAFT_CONTEXT, context); }

/* Between devices of one session, whose addresses differ. */
GRAFT_EXPORT int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes, void *stream) {
  int r = graft_ready();
  if (r) return r;
  if (!is_context(to_context) || !is_context(from_context)) return GRAFT_INVALID_CONTEXT;
  if ((r = graft_not_for_captures(stream))) return r;
  return copy_memory(to, from, bytes, stream, false, TO_DEVICE | FROM_DEVICE);
}

GRAFT_EXPORT int cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes) {
  int r = graft_ready();
  if (r) return r;
  if (!is_context(to_context) || !is_context(from_context)) return GRAFT_INVALID_CONTEXT;
  return copy_memory(to, from, bytes, NULL, true, TO_DEVICE | FROM_DEVICE);
}

/* CUmemcpyAttributes: the order of access, the places, flags. The copies from first[i] to first[i + 1] have the attributes i. */
enum order { IN_STREAM = 1, DURING_CALL = 2, ANY = 3 };
static enum order order_of(const void *attributes, size_t i) {
  enum { BYTES = 24 };
  unsigned order;
  memcpy(&order, (const uint8_t *)attributes + i * BYTES, sizeof order);
  return (enum order)order;
}
static bool are_attributes(const void *attributes, const size_t *first, size_t attribute_count, size_t count) {
  bool right = !first[0];
  for (size_t i = 0; i < attribute_count && right; i++) {
    enum order order = order_of(attributes, i);
    right = order >= IN_STREAM && order <= ANY && first[i] < count && (!i || first[i - 1] < first[i]);
  }
  return right;
}

/* The copies of a batch have no defined order, so they are made one after the other. Attributes are hints, but that a source may be gone when the call returns. */
GRAFT_EXPORT int cuMemcpyBatchAsync_v2(void *to, void *from, void *sizes, size_t count, void *attributes, void *indices,
                                       size_t attribute_count, void *stream) {
  if (!to || !from || !sizes || !count || (uintptr_t)stream <= 1 || !attributes || !indices || !attribute_count ||
      attribute_count > count) {
    return GRAFT_INVALID_VALUE;
  }
  int r = graft_ready();
  if (r) return r;
  if (!graft_context_current() || !are_attributes(attributes, indices, attribute_count, count)) return GRAFT_INVALID_VALUE;
  if ((r = graft_not_for_captures(stream))) return r;
  for (size_t i = 0; i < count; i++) {
    if (!((size_t *)sizes)[i] || !((uint64_t *)to)[i] || !((uint64_t *)from)[i]) return GRAFT_INVALID_VALUE;
  }
  for (size_t i = 0; i < count && !r; i++) {
    r = copy_memory(((uint64_t *)to)[i], ((uint64_t *)from)[i], ((size_t *)sizes)[i], stream, false, UNIFIED);
  }
  for (size_t i = 0; i < attribute_count && !r; i++) {
    if (order_of(attributes, i) == DURING_CALL) return graft_stream_wait(stream);
  }
  return r;
}

GRAFT_EXPORT int cuMemcpyBatchAsync(void *to, void *from, void *sizes, size_t count, void *attributes, void *indices,
                                    size_t attribute_count, void *failed, void *stream) {
  int r = cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, attribute_count, stream);
  if (r && failed) *(size_t *)failed = SIZE_MAX; /* the copy that failed is not known */
  return r;
}
