/* Host functions and stream callbacks. The server says when a stream has reached one; the session's listener thread runs the function and tells the server that the stream may continue. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "memory/mirror.h"
#include "memory/ordering.h"
#include "session/parts.h"
#include "session/session.h"

struct graft_callback {
  struct graft_callback *next;
  uint64_t identity;
  bool replayed;                /* in a graph, which runs it at each of its launches: kept for the life of the session */
  void (*function)(void *data); /* cuLaunchHostFunc */
  void (*stream_callback)(void *stream, int result, void *data); /* cuStreamAddCallback */
  void *stream, *data;
  struct graft_object *context;
  struct graft_behind behind; /* what is over when the function runs; of a graph's, nothing is known */
};

static struct graft_host_functions *current(void) { return &graft_parts(graft_session_current())->host_functions; }

bool graft_callback_arrived(struct graft_session *session, uint64_t identity) {
  struct graft_host_functions *q = &graft_parts(session)->host_functions;
  pthread_mutex_lock(&q->lock);
  struct graft_callback **p = &q->waiting;
  while (*p && (*p)->identity != identity) p = &(*p)->next;
  struct graft_callback *found = *p;
  if (found && found->replayed) {
    struct graft_callback *once = malloc(sizeof *once);
    if (once) *once = *found;
    found = once;
  } else if (found) {
    *p = found->next;
  }
  if (found) {
    found->next = NULL;
    if (!q->ready) q->ready_end = &q->ready;
    *q->ready_end = found;
    q->ready_end = &found->next;
  }
  pthread_mutex_unlock(&q->lock);
  return found != NULL;
}

/* A session's listener: runs its host functions one after the other, with the session as the thread's. */
static void *listener(void *session) {
  struct graft_host_functions *q = &graft_parts(session)->host_functions;
  graft_session_use(session);
  for (;;) {
    pthread_mutex_lock(&q->lock);
    while (!q->outstanding && !q->replays) pthread_cond_wait(&q->wake, &q->lock);
    struct graft_callback *callback = q->ready;
    if (callback) q->ready = callback->next;
    pthread_mutex_unlock(&q->lock);
    if (!callback) {
      if (graft_listen(session)) continue;
      /* The session is dead: no callback will come. */
      pthread_mutex_lock(&q->lock);
      q->outstanding = 0;
      q->replays = false;
      pthread_mutex_unlock(&q->lock);
      continue;
    }
    bool mirrored = graft_mirrors && callback->context && !graft_context_set(callback->context);
    if (mirrored) graft_mirrors_before_host_function(&callback->behind);
    if (callback->function) {
      callback->function(callback->data);
    } else {
      callback->stream_callback(callback->stream, GRAFT_OK, callback->data);
    }
    if (mirrored) {
      graft_mirrors_after_host_function();
      cuCtxSetCurrent(NULL);
    }
    if (!graft_callback_done(session, callback->identity)) {
      rpc_graftHostFunctionDone(callback->identity);
    }
    pthread_mutex_lock(&q->lock);
    if (q->outstanding && !callback->replayed) q->outstanding--;
    free(callback);
    pthread_mutex_unlock(&q->lock);
  }
  return NULL;
}

/* Enters a callback. Returns its identity, or 0 without memory. */
static uint64_t enter(const struct graft_callback *wanted) {
  struct graft_callback *callback = malloc(sizeof *callback);
  if (!callback) return 0;
  *callback = *wanted;
  struct graft_session *session = graft_session_current();
  struct graft_host_functions *q = &graft_parts(session)->host_functions;
  pthread_mutex_lock(&q->lock);
  if (!q->started) {
    graft_callbacks_open(session);
    q->started = graft_start_thread(listener, session);
  }
  uint64_t identity = callback->identity = ++q->last;
  callback->next = q->waiting;
  q->waiting = callback;
  if (callback->replayed) {
    q->replays = true;
  } else {
    q->outstanding++;
  }
  pthread_cond_signal(&q->wake);
  pthread_mutex_unlock(&q->lock);
  return identity;
}

static void leave(uint64_t identity) {
  struct graft_host_functions *q = current();
  pthread_mutex_lock(&q->lock);
  struct graft_callback **p = &q->waiting;
  while (*p && (*p)->identity != identity) p = &(*p)->next;
  if (*p) {
    struct graft_callback *callback = *p;
    *p = callback->next;
    if (q->outstanding && !callback->replayed) q->outstanding--;
    free(callback);
  }
  pthread_mutex_unlock(&q->lock);
}

bool graft_callbacks_may_come(void) {
  const struct graft_host_functions *q = current();
  return __atomic_load_n(&q->outstanding, __ATOMIC_ACQUIRE) || __atomic_load_n(&q->replays, __ATOMIC_ACQUIRE);
}

uint64_t graft_callback_of_graph(void *function, void *data) {
  struct graft_callback callback = {.data = data, .replayed = true, .context = graft_context_current()};
  memcpy(&callback.function, &function, sizeof function);
  return enter(&callback);
}

static int add(struct graft_callback *callback) {
  GRAFT_IN_CONTEXT_OF(callback->stream);
  struct graft_object *context;
  int r = graft_context_need_for(callback->stream, &context);
  if (r || (callback->stream_callback && (r = graft_not_for_captures(callback->stream)))) return r;
  graft_context_set_busy(context);
  callback->context = context;
  callback->replayed = graft_stream_captures(callback->stream);
  if (!callback->replayed) graft_ordering_behind(callback->stream, &callback->behind);
  uint64_t identity = enter(callback);
  if (!identity) return GRAFT_OUT_OF_MEMORY;
  r = rpc_graftHostFunction(callback->stream, identity);
  if (r) leave(identity);
  return r;
}

GRAFT_EXPORT int cuLaunchHostFunc(void *stream, void *function, void *data) {
  if (!function) return GRAFT_INVALID_VALUE;
  struct graft_callback callback = {.stream = stream, .data = data};
  memcpy(&callback.function, &function, sizeof function);
  return add(&callback);
}

GRAFT_EXPORT int cuStreamAddCallback(void *stream, void *function, void *data, unsigned int flags) {
  if (!function || flags) return GRAFT_INVALID_VALUE;
  struct graft_callback callback = {.stream = stream, .data = data};
  memcpy(&callback.stream_callback, &function, sizeof function);
  return add(&callback);
}
