/* Threads and their contexts, and whether the client may be used at all. */
#ifndef GRAFT_CONTEXTS_H
#define GRAFT_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/objects.h"

struct graft_object *graft_context_current(void);
/* The current context, or the error that CUDA gives without one. */
int graft_context_need(struct graft_object **context);
/* After a call that waited: a sticky error (CUDA driver API, CUresult) is every later answer of the device's contexts. */
void graft_context_answered(int result);
/* The current context's sticky error, or 0. */
int graft_context_fault(void);
/* Work was queued in the calling thread's context that the program has not waited for. */
static inline void graft_context_set_busy(void) {
  struct graft_object *context = graft_context_current();
  if (!__atomic_load_n(&context->u.context.busy, __ATOMIC_RELAXED)) {
    __atomic_store_n(&context->u.context.busy, true, __ATOMIC_RELAXED);
  }
}
/* 0 once cuInit has succeeded, unless the current context has failed. */
int graft_usable(void);
/* CUDA_SUCCESS once cuInit has succeeded in this process. */
int graft_ready(void);
uint32_t graft_context_id(void);
/* The handle of a device's primary context, active or not. */
int graft_primary_context(int device, void **context);
/* The stream that a handle means: maps 0, legacy and per-thread. */
int graft_stream_id(const void *handle, uint64_t *id);
bool graft_in_child(void);

#endif
