#include "memory/elsewhere.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "memory/peers.h"
#include "memory/ranges.h"
#include "session/parts.h"
#include "session/session.h"

struct graft_session *graft_session_of_memory(uint64_t address) {
  struct graft_range range;
  bool known = graft_range_find_anywhere(address, &range) && range.context &&
               (range.memory == GRAFT_MEMORY_DEVICE || range.memory == GRAFT_MEMORY_MANAGED);
  return known ? range.context->session : NULL;
}

bool graft_host_memory_elsewhere(uint64_t *pointer) {
  struct graft_range range;
  bool known = graft_range_find_anywhere(*pointer, &range);
  if (known && range.memory == GRAFT_MEMORY_ALIAS) {
    *pointer = range.view + (*pointer - range.base);
    return true;
  }
  return known && (range.memory == GRAFT_MEMORY_PINNED || range.memory == GRAFT_MEMORY_REGISTERED);
}

bool graft_is_beyond_reach(uint64_t pointer) {
  struct graft_range range;
  return !graft_range_find(pointer, &range) && graft_range_find_anywhere(pointer, &range);
}

bool graft_memory_collides(uint64_t base, uint64_t bytes) {
  struct graft_session *own = graft_session_current(), *other = NULL;
  /* A server could else name addresses of the program's own memory, and be given what the program copies there from another server. */
  if (!graft_session_may_place(own, base, bytes)) {
    graft_say("a server has given out the address %#llx, which is not in the range that it was asked for: the memory is not used",
              (unsigned long long)base);
    return true;
  }
  for (struct graft_session *s = graft_session_next(NULL); s && !other; s = graft_session_next(s)) {
    if (s != own && graft_range_meets(&graft_parts(s)->ranges, base, bytes)) other = s;
  }
  if (other) {
    graft_say("two servers have given out the same address, %#llx: the memory is not used", (unsigned long long)base);
  }
  return other;
}

/* A context of a session: that of the memory or the stream is not needed, since memory and streams are known by their own. */
struct graft_object *graft_context_in(struct graft_session *session) {
  struct graft_object *current = graft_context_current();
  if (current && current->session == session) return current;
  for (int i = 0; i < GRAFT_MAX_DEVICES; i++) {
    struct graft_object *context = graft_parts(session)->primary_contexts[i].context;
    if (context && !context->u.context.destroyed) return context;
  }
  return __atomic_load_n(&graft_parts(session)->last_context, __ATOMIC_ACQUIRE);
}

static struct graft_session *session_of_stream(const void *stream) {
  const struct graft_object *object = graft_object(GRAFT_STREAM, stream);
  return object ? object->session : graft_session_current();
}

/* Waits until the stream has done what was queued in it. */
static int reach(void *stream) {
  const struct graft_object *object = graft_object(GRAFT_STREAM, stream);
  bool foreign = object && object->session != graft_session_current();
  if (graft_stream_captures(stream)) return GRAFT_STREAM_CAPTURE_UNSUPPORTED;
  if (foreign && graft_context_push(object->u.stream.context)) return GRAFT_INVALID_HANDLE;
  int r = graft_stream_reach(stream);
  if (foreign) cuCtxPopCurrent_v2(NULL);
  return r;
}

bool graft_visit_begin(struct graft_visit *visit, struct graft_session *session, void *stream, int *error) {
  struct graft_session *own = graft_session_current(), *of_stream = session_of_stream(stream);
  if (!session) session = of_stream;
  *error = GRAFT_OK;
  if (session == own && of_stream == own) return false;
  struct graft_object *context = NULL;
  if ((*error = graft_context_need(&context))) return true;
  visit->settles = of_stream != session;
  visit->stream = visit->settles ? NULL : stream;
  if (visit->settles && (*error = reach(stream))) return true;
  const struct graft_object *object = graft_object(GRAFT_STREAM, visit->stream);
  context = object ? object->u.stream.context : graft_context_in(session);
  *error = context ? graft_context_push(context) : GRAFT_INVALID_CONTEXT;
  return true;
}

int graft_visit_end(const struct graft_visit *visit, int result) {
  if (!result && visit->settles) result = graft_stream_wait(visit->stream);
  cuCtxPopCurrent_v2(NULL);
  return result;
}

bool graft_is_elsewhere(void *stream, void *event) {
  const struct graft_object *object = graft_object(GRAFT_EVENT, event);
  return object && object->session != session_of_stream(stream);
}

int graft_await_elsewhere(void *stream, void *event) {
  if (graft_stream_captures(stream)) return GRAFT_STREAM_CAPTURE_UNSUPPORTED;
  return rpc_cuEventSynchronize(event);
}

/* ---- Copies between two servers through this process ---- */

#define PIECE (4u << 20)
#define PIECES 4u

/* A ring of pieces between the thread that reads them and the one that writes them. */
struct pipe {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint8_t *memory; /* PIECES pieces */
  size_t read, written;
  int result; /* an error, which ends both threads' work */
  struct graft_object *context;
  uint64_t from;
  size_t bytes;
};

static size_t piece_at(size_t bytes, size_t index) {
  size_t rest = bytes - index * PIECE;
  return rest < PIECE ? rest : PIECE;
}

static uint8_t *room_of(const struct pipe *pipe, size_t index) { return pipe->memory + index % PIECES * PIECE; }

/* Waits until so many pieces have been read or written. Returns the error that has ended the copy, or 0. */
static int await_piece(struct pipe *pipe, const size_t *done, size_t least) {
  pthread_mutex_lock(&pipe->lock);
  while (*done < least && !pipe->result) pthread_cond_wait(&pipe->changed, &pipe->lock);
  int r = pipe->result;
  pthread_mutex_unlock(&pipe->lock);
  return r;
}

/* Counts a piece, or notes an error. */
static void pass_piece(struct pipe *pipe, size_t *done, int r) {
  pthread_mutex_lock(&pipe->lock);
  if (r)
    pipe->result = r;
  else
    ++*done;
  pthread_cond_signal(&pipe->changed);
  pthread_mutex_unlock(&pipe->lock);
}

static void *read_pieces(void *argument) {
  struct pipe *pipe = argument;
  size_t count = (pipe->bytes + PIECE - 1) / PIECE;
  int r = graft_context_push(pipe->context);
  if (r) pass_piece(pipe, &pipe->read, r);
  for (size_t i = 0; i < count && !r; i++) {
    r = await_piece(pipe, &pipe->written, i < PIECES ? 0 : i - PIECES + 1);
    if (!r) r = cuMemcpyDtoH_v2(room_of(pipe, i), pipe->from + i * PIECE, piece_at(pipe->bytes, i));
    pass_piece(pipe, &pipe->read, r);
  }
  return NULL; /* the thread's stack of contexts ends with it */
}

/* Not a thread of the client's own (graft_start_thread): it makes calls as one of the program's threads would. */
static bool start_reader(pthread_t *reader, struct pipe *pipe) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = !pthread_create(reader, NULL, read_pieces, pipe);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

static int write_pieces(struct pipe *pipe, uint64_t to) {
  size_t count = (pipe->bytes + PIECE - 1) / PIECE;
  int r = GRAFT_OK;
  for (size_t i = 0; i < count && !r; i++) {
    r = await_piece(pipe, &pipe->read, i + 1);
    if (!r) r = cuMemcpyHtoDAsync_v2(to + i * PIECE, room_of(pipe, i), piece_at(pipe->bytes, i), NULL);
    pass_piece(pipe, &pipe->written, r);
  }
  return r ? r : graft_stream_wait(NULL);
}

/* Small copies are not worth a thread. */
static int copy_alone(struct pipe *pipe, uint64_t to) {
  int r = GRAFT_OK;
  for (size_t i = 0; i * PIECE < pipe->bytes && !r; i++) {
    size_t bytes = piece_at(pipe->bytes, i);
    r = graft_context_push(pipe->context);
    if (!r) {
      r = cuMemcpyDtoH_v2(pipe->memory, pipe->from + i * PIECE, bytes);
      cuCtxPopCurrent_v2(NULL);
    }
    if (!r) r = cuMemcpyHtoDAsync_v2(to + i * PIECE, pipe->memory, bytes, NULL);
  }
  return r ? r : graft_stream_wait(NULL);
}

int graft_copy_between(struct graft_session *to_session, uint64_t to, struct graft_session *from_session, uint64_t from,
                       size_t bytes, void *stream) {
  struct graft_object *target = graft_context_in(to_session), *source = graft_context_in(from_session);
  if (!target || !source) return GRAFT_INVALID_CONTEXT;
  int r = reach(stream);
  if (r) return r;
  if (graft_peers_copy(&(struct graft_peer_copy){target, source, to, from, bytes})) return GRAFT_OK;
  struct pipe pipe = {
      .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .context = source, .from = from, .bytes = bytes};
  pipe.memory = malloc(bytes > PIECE ? PIECES * PIECE : bytes);
  if (!pipe.memory) return GRAFT_OUT_OF_MEMORY;
  if (!(r = graft_context_push(target))) {
    pthread_t reader;
    bool helped = bytes > PIECE && start_reader(&reader, &pipe);
    r = helped ? write_pieces(&pipe, to) : copy_alone(&pipe, to);
    if (helped) pthread_join(reader, NULL);
    cuCtxPopCurrent_v2(NULL);
  }
  free(pipe.memory);
  return r;
}

/* ---- Peers ---- */

/* No device of one server can access memory of another. */
GRAFT_EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer) {
  int r = graft_ready();
  if (r) return r;
  struct graft_session *session = graft_several_servers ? graft_session_of_device(device) : NULL;
  struct graft_session *other = session ? graft_session_of_device(peer) : NULL;
  if (!other || session == other) return rpc_cuDeviceCanAccessPeer(can, device, peer);
  if (!can) return GRAFT_INVALID_VALUE;
  *can = 0;
  return GRAFT_OK;
}

GRAFT_EXPORT int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer) {
  int r = graft_ready();
  if (r) return r;
  struct graft_session *session = graft_several_servers ? graft_session_of_device(device) : NULL;
  struct graft_session *other = session ? graft_session_of_device(peer) : NULL;
  if (!other || session == other) return rpc_cuDeviceGetP2PAttribute(value, attribute, device, peer);
  if (!value) return GRAFT_INVALID_VALUE;
  *value = 0; /* PERFORMANCE_RANK, ACCESS_SUPPORTED, NATIVE_ATOMIC_SUPPORTED, CUDA_ARRAY_ACCESS_SUPPORTED */
  return GRAFT_OK;
}

static bool is_peer_elsewhere(const void *peer) {
  const struct graft_object *context = graft_object(GRAFT_CONTEXT, peer);
  return graft_several_servers && context && context->session != graft_session_current();
}

GRAFT_EXPORT int cuCtxEnablePeerAccess(void *peer, unsigned int flags) {
  int r = graft_in_context();
  if (r) return r;
  return is_peer_elsewhere(peer) ? GRAFT_PEER_ACCESS_UNSUPPORTED : rpc_cuCtxEnablePeerAccess(peer, flags);
}
GRAFT_EXPORT int cuCtxDisablePeerAccess(void *peer) {
  int r = graft_in_context();
  if (r || (r = graft_uncaptured())) return r;
  return is_peer_elsewhere(peer) ? GRAFT_PEER_ACCESS_NOT_ENABLED : rpc_cuCtxDisablePeerAccess(peer);
}
