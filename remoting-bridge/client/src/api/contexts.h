/* Threads and their contexts, and whether the client may be used at all. */
#ifndef GRAFT_CONTEXTS_H
#define GRAFT_CONTEXTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/objects.h"

/* A device's primary context has one handle for the life of the process, as in CUDA; whether it is active changes. */
struct graft_primary_context {
  pthread_mutex_t lock;
  struct graft_object *context, *shell; /* while it is active, shell stands for the server's context of that time */
  unsigned flags;
  int count;
  /* What a kernel or another fault has left the device's contexts with: from then on they answer this and nothing else, as CUDA's do
   * ("the process must be terminated and relaunched"). 0 while all is well; atomic. */
  int fault;
};

/* The calling thread's current context, NULL if it has none in its session. */
struct graft_object *graft_context_current(void);
/* The current context, or the error that CUDA gives without one. */
int graft_context_need(struct graft_object **context);
/* The same for work in a stream, which must belong to the session of the current context. */
int graft_context_need_for(const void *stream, struct graft_object **context);
/* After a call of the session that waited: a sticky error (CUDA driver API, CUresult) is every later answer of the device's contexts. */
void graft_context_answered(const struct graft_session *session, int result);
/* A context's sticky error, or 0; also for NULL. */
int graft_fault_of(const struct graft_object *context);
/* Work was queued in a context that the program has not waited for. */
static inline void graft_context_set_busy(struct graft_object *context) {
  if (!__atomic_load_n(&context->u.context.busy, __ATOMIC_RELAXED)) {
    __atomic_store_n(&context->u.context.busy, true, __ATOMIC_RELAXED);
  }
}
/* 0 once cuInit has succeeded, unless the current context has failed. */
int graft_usable(void);
/* CUDA_SUCCESS once cuInit has succeeded in this process. */
int graft_ready(void);
/* The handle of a device's primary context, active or not. */
int graft_primary_context(int device, void **context);
/* The stream that a handle means, and its session: maps 0, legacy and per-thread. */
int graft_stream_id(const void *handle, uint64_t *id, struct graft_session **session);
bool graft_in_child(void);

#endif
