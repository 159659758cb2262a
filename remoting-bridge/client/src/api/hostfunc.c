/* Host functions and stream callbacks: the server says when the stream has come to one, a thread here runs it and tells
 * the server that the stream may go on. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "memory/mirror.h"
#include "session/session.h"

struct callback {
  struct callback *next;
  uint64_t identity;
  bool replayed;                /* in a graph, which runs it at each of its launches: kept for the life of the process */
  void (*function)(void *data); /* cuLaunchHostFunc */
  void (*stream_callback)(void *stream, int result, void *data); /* cuStreamAddCallback */
  void *stream, *data;
  struct graft_object *context;
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool started;
  uint64_t last;
  int outstanding;
  bool replays;             /* some are in graphs, and may come at any time */
  struct callback *waiting; /* in a stream or a graph */
  struct callback *ready, **ready_end;
} q = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

bool graft_callback_arrived(uint64_t identity) {
  pthread_mutex_lock(&q.lock);
  struct callback **p = &q.waiting;
  while (*p && (*p)->identity != identity) p = &(*p)->next;
  struct callback *found = *p;
  if (found && found->replayed) {
    struct callback *once = malloc(sizeof *once);
    if (once) *once = *found;
    found = once;
  } else if (found) {
    *p = found->next;
  }
  if (found) {
    found->next = NULL;
    if (!q.ready) q.ready_end = &q.ready;
    *q.ready_end = found;
    q.ready_end = &found->next;
  }
  pthread_mutex_unlock(&q.lock);
  return found != NULL;
}

static void *listener(void *unused) {
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&q.lock);
    while (!q.outstanding && !q.replays) pthread_cond_wait(&q.wake, &q.lock);
    struct callback *callback = q.ready;
    if (callback) q.ready = callback->next;
    pthread_mutex_unlock(&q.lock);
    if (!callback) {
      if (graft_listen()) continue;
      /* The session is dead: nothing will come any more. */
      pthread_mutex_lock(&q.lock);
      q.outstanding = 0;
      q.replays = false;
      pthread_mutex_unlock(&q.lock);
      continue;
    }
    bool mirrored = graft_mirrors && callback->context && !cuCtxSetCurrent(callback->context);
    if (mirrored) graft_mirrors_before_host_function();
    if (callback->function) {
      callback->function(callback->data);
    } else {
      callback->stream_callback(callback->stream, GRAFT_OK, callback->data);
    }
    if (mirrored) {
      graft_mirrors_after_host_function();
      cuCtxSetCurrent(NULL);
    }
    if (!graft_callback_done(callback->identity)) {
      rpc_graftHostFunctionDone(callback->identity);
    }
    pthread_mutex_lock(&q.lock);
    if (q.outstanding && !callback->replayed) q.outstanding--;
    free(callback);
    pthread_mutex_unlock(&q.lock);
  }
  return NULL;
}

/* Enters a callback; its identity, 0 if there is no memory for it. */
static uint64_t enter(const struct callback *wanted) {
  struct callback *callback = malloc(sizeof *callback);
  if (!callback) return 0;
  *callback = *wanted;
  pthread_mutex_lock(&q.lock);
  if (!q.started) {
    graft_callbacks_open();
    q.started = graft_start_thread(listener, NULL);
  }
  uint64_t identity = callback->identity = ++q.last;
  callback->next = q.waiting;
  q.waiting = callback;
  if (callback->replayed) {
    q.replays = true;
  } else {
    q.outstanding++;
  }
  pthread_cond_signal(&q.wake);
  pthread_mutex_unlock(&q.lock);
  return identity;
}

static void leave(uint64_t identity) {
  pthread_mutex_lock(&q.lock);
  struct callback **p = &q.waiting;
  while (*p && (*p)->identity != identity) p = &(*p)->next;
  if (*p) {
    struct callback *callback = *p;
    *p = callback->next;
    if (q.outstanding && !callback->replayed) q.outstanding--;
    free(callback);
  }
  pthread_mutex_unlock(&q.lock);
}

bool graft_callbacks_may_come(void) {
  return __atomic_load_n(&q.outstanding, __ATOMIC_ACQUIRE) || __atomic_load_n(&q.replays, __ATOMIC_ACQUIRE);
}

uint64_t graft_callback_of_graph(void *function, void *data) {
  struct callback callback = {.data = data, .replayed = true, .context = graft_context_current()};
  memcpy(&callback.function, &function, sizeof function);
  return enter(&callback);
}

static int add(struct callback *callback) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  graft_context_set_busy();
  callback->context = context;
  callback->replayed = graft_stream_captures(callback->stream);
  uint64_t identity = enter(callback);
  if (!identity) return GRAFT_OUT_OF_MEMORY;
  r = rpc_graftHostFunction(callback->stream, identity);
  if (r) leave(identity);
  return r;
}

GRAFT_EXPORT int cuLaunchHostFunc(void *stream, void *function, void *data) {
  if (!function) return GRAFT_INVALID_VALUE;
  struct callback callback = {.stream = stream, .data = data};
  memcpy(&callback.function, &function, sizeof function);
  return add(&callback);
}

GRAFT_EXPORT int cuStreamAddCallback(void *stream, void *function, void *data, unsigned int flags) {
  if (!function || flags) return GRAFT_INVALID_VALUE;
  struct callback callback = {.stream = stream, .data = data};
  memcpy(&callback.stream_callback, &function, sizeof function);
  return add(&callback);
}
