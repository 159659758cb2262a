/* Host functions and stream callbacks: the server says when the stream has come to one, a thread here runs it and tells
 * the server that the stream may go on. */
#include <stdlib.h>

#include "graft.h"
#include "tables.h"

struct callback {
  struct callback *next;
  uint64_t identity;
  void (*function)(void *data);                            /* cuLaunchHostFunc */
  void (*stream_callback)(void *stream, int result, void *data); /* cuStreamAddCallback */
  void *stream, *data;
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool started;
  uint64_t last;
  int outstanding;
  struct callback *waiting; /* in the stream */
  struct callback *ready, **ready_end;
} q = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

bool graft_callback_arrived(uint64_t identity) {
  pthread_mutex_lock(&q.lock);
  struct callback **p = &q.waiting;
  while (*p && (*p)->identity != identity) p = &(*p)->next;
  struct callback *found = *p;
  if (found) {
    *p = found->next;
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
    while (!q.outstanding) pthread_cond_wait(&q.wake, &q.lock);
    struct callback *callback = q.ready;
    if (callback) q.ready = callback->next;
    pthread_mutex_unlock(&q.lock);
    if (!callback) {
      if (graft_listen()) continue;
      /* The session is dead: nothing will come any more. */
      pthread_mutex_lock(&q.lock);
      q.outstanding = 0;
      pthread_mutex_unlock(&q.lock);
      continue;
    }
    if (callback->function) {
      callback->function(callback->data);
    } else {
      callback->stream_callback(callback->stream, GRAFT_OK, callback->data);
    }
    if (!graft_lane_done(callback->identity)) {
      rpc_graftHostFunctionDone(callback->identity);
    }
    free(callback);
    pthread_mutex_lock(&q.lock);
    if (q.outstanding) q.outstanding--;
    pthread_mutex_unlock(&q.lock);
  }
  return NULL;
}

static int add(const struct callback *wanted) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  struct callback *callback = malloc(sizeof *callback);
  if (!callback) return GRAFT_OUT_OF_MEMORY;
  *callback = *wanted;
  pthread_mutex_lock(&q.lock);
  if (!q.started) {
    graft_lane_open();
    q.started = graft_start_thread(listener, NULL);
  }
  callback->identity = ++q.last;
  callback->next = q.waiting;
  q.waiting = callback;
  q.outstanding++;
  pthread_cond_signal(&q.wake);
  uint64_t identity = callback->identity;
  pthread_mutex_unlock(&q.lock);
  r = rpc_graftHostFunction(callback->stream, identity);
  if (r) {
    pthread_mutex_lock(&q.lock);
    struct callback **p = &q.waiting;
    while (*p && (*p)->identity != identity) p = &(*p)->next;
    if (*p) {
      *p = callback->next;
      free(callback);
      if (q.outstanding) q.outstanding--;
    }
    pthread_mutex_unlock(&q.lock);
  }
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
