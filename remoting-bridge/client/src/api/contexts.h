/* Threads and their contexts, and whether the client can be used. */
#ifndef GRAFT_CONTEXTS_H
#define GRAFT_CONTEXTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/objects.h"

/* A device's primary context keeps one handle as long as the process runs, as in CUDA; it can become active and inactive. */
struct graft_primary_context {
  pthread_mutex_t lock;
  struct graft_object *context, *shell; /* while it is active, shell is the server's context */
  unsigned flags;
  int count;
  /* The sticky error of a kernel or another fault: from then on all calls in the device's contexts return it, as in CUDA
   * ("the process must be terminated and relaunched"). 0 while all is well; atomic. */
  int fault;
};

/* The calling thread's current context, NULL if it has none in its session. */
struct graft_object *graft_context_current(void);
/* The current context, or the error that CUDA gives without one. */
int graft_context_need(struct graft_object **context);
/* 0 if the calling thread has a current context that has not failed, else the error that CUDA gives. */
static inline int graft_in_context(void) {
  struct graft_object *context;
  return graft_context_need(&context);
}
/* As cuCtxSetCurrent and cuCtxPushCurrent, but for a context that is gone. */
int graft_context_set(void *context);
int graft_context_push(void *context);
/* graft_context_need for work in a stream, which must belong to the session of the current context. */
int graft_context_need_for(const void *stream, struct graft_object **context);
/* graft_context_need that also gives a context that has failed. */
int graft_context_need_any(struct graft_object **context);
/* A call with a stream of the program's own, a module or a module's function needs no current context: without one, theirs is current
 * until the end of the block. */
#define GRAFT_IN_CONTEXT_OF(handle) \
  __attribute__((cleanup(graft_context_return))) struct graft_object *lent = graft_context_lend(handle)
struct graft_object *graft_context_lend(const void *handle);
/* The same for a wait for a stream, whatever context is current: the server waits in the stream's context, whose error it returns. */
#define GRAFT_WITHIN_CONTEXT_OF(stream) \
  __attribute__((cleanup(graft_context_return))) struct graft_object *lent = graft_context_enter(stream)
struct graft_object *graft_context_enter(const void *stream);
void graft_context_return(struct graft_object **lent);
/* Takes note of the result of a call that waited. After a sticky error (CUDA driver API, CUresult), every call with a context of the device
 * returns that error. */
void graft_context_answered(const struct graft_session *session, int result);
/* A context's sticky error, or 0. The context may be NULL. */
int graft_fault_of(const struct graft_object *context);
/* Takes note that the context has work that the program has not waited for. */
static inline void graft_context_set_busy(struct graft_object *context) {
  if (!__atomic_load_n(&context->u.context.busy, __ATOMIC_RELAXED)) {
    __atomic_store_n(&context->u.context.busy, true, __ATOMIC_RELAXED);
  }
}
/* 0 once cuInit has succeeded, unless the current context has failed. */
int graft_usable(void);
/* CUctx_flags: at most one way to wait, and the bits that CUDA 13 defines. */
enum { GRAFT_CONTEXT_MAP_HOST = 8 };
static inline bool graft_are_context_flags(unsigned flags) { return !(flags & 7 & ((flags & 7) - 1)) && !(flags & ~0xffu); }

/* CUDA_SUCCESS once cuInit has succeeded in this process. */
int graft_ready(void);
/* The handle of a device's primary context, active or not. */
int graft_primary_context(int device, void **context);
/* The stream behind a handle that is not one of the default streams'. */
int graft_stream_object(const void *handle, struct graft_object **stream);
/* The id and the session of a stream. The handles 0, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are mapped to streams. */
int graft_stream_id(const void *handle, uint64_t *id, struct graft_session **session);
bool graft_in_child(void);

#endif
