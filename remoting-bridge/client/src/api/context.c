/* Contexts, and each thread's stack of them. The client tells the server when a context is made or ends. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/storage.h"
#include "api/streams.h"
#include "api/tools.h"
#include "api/work.h"
#include "graft_rpc.h"
#include "memory/ranges.h"
#include "session/parts.h"
#include "session/session.h"

#define STACK 64

static _Thread_local struct {
  struct graft_session *session; /* set by graft_session_use */
  int depth;                     /* 0: no current context */
  struct graft_object *stack[STACK];
  int per_thread;
  struct {
    struct graft_object *context, *stream;
    uint32_t id; /* of the context, since a primary context is made again behind the same handle */
  } own[4];
  int own_count;
} thread;

static uint64_t last_serial; /* of the process: a program tells the contexts of all sessions apart by it */
static bool in_child;
static bool initialized;

/* A forked child shares the parent's connections and must not use them. CUDA does not work after a fork either. */
static void after_fork(void) {
  for (const struct graft_session *s = graft_session_next(NULL); s; s = graft_session_next(s)) in_child |= graft_session_is_open(s);
}

__attribute__((constructor)) static void prepare(void) { pthread_atfork(NULL, NULL, after_fork); }

bool graft_in_child(void) { return in_child; }

GRAFT_EXPORT int cuInit(unsigned int flags) {
  if (flags) return GRAFT_INVALID_VALUE;
  if (in_child) return GRAFT_NOT_INITIALIZED;
  int r = graft_sessions_open();
  if (r) return r;
  if (!__atomic_exchange_n(&initialized, true, __ATOMIC_ACQ_REL)) graft_tools_begin();
  return graft_device_count() ? GRAFT_OK : GRAFT_NO_DEVICE;
}

int graft_ready(void) { return __atomic_load_n(&initialized, __ATOMIC_ACQUIRE) && !in_child ? GRAFT_OK : GRAFT_NOT_INITIALIZED; }

struct graft_object *graft_context_current(void) {
  struct graft_object *top = thread.depth ? thread.stack[thread.depth - 1] : NULL;
  return !top || !thread.session || top->session == thread.session ? top : NULL;
}

struct graft_session *graft_session_current(void) {
  if (thread.session) return thread.session;
  return thread.depth ? thread.stack[thread.depth - 1]->session : __atomic_load_n(&graft_first_session, __ATOMIC_RELAXED);
}

bool graft_session_is_chosen(void) { return thread.session; }

struct graft_session *graft_session_use(struct graft_session *session) {
  struct graft_session *before = thread.session;
  thread.session = session;
  return before;
}

static struct graft_primary_context *primary_of(int device) {
  return &graft_parts(graft_session_of_device(device))->primary_contexts[device];
}

static int *fault_in(const struct graft_object *context) {
  return &graft_parts(context->session)->primary_contexts[context->u.context.device].fault;
}

static int fault_of_device(int device) { return __atomic_load_n(&primary_of(device)->fault, __ATOMIC_ACQUIRE); }

int graft_fault_of(const struct graft_object *context) {
  return context && !context->u.context.destroyed ? __atomic_load_n(fault_in(context), __ATOMIC_ACQUIRE) : GRAFT_OK;
}

/* CUresult, "leaves the process in an inconsistent state": a contained error, illegal address, launch timeout, assert, from the hardware's
 * stack to the failed launch, and an external device. */
static bool is_sticky(int error) {
  return error == 226 || error == 700 || error == 702 || error == 710 || (error >= 714 && error <= 719) || error == 911;
}

void graft_context_answered(const struct graft_session *session, int result) {
  static _Thread_local bool asks;
  struct graft_object *context = graft_context_current();
  int none = 0;
  if (!context || context->session != session || !is_sticky(result)) return;
  if (graft_device_count() > 1 && !asks) {
    /* The program may have waited for an event or a stream of another device: this asks the current context for its own error. */
    asks = true;
    graft_calls_executed();
    asks = false;
    return;
  }
  __atomic_compare_exchange_n(fault_in(context), &none, result, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

int graft_usable(void) {
  int r = graft_ready();
  return r ? r : graft_fault_of(graft_context_current());
}

int graft_context_need_any(struct graft_object **context) {
  int r = graft_ready();
  if (r) return r;
  *context = graft_context_current();
  if (!*context) return GRAFT_INVALID_CONTEXT;
  return (*context)->u.context.destroyed ? GRAFT_CONTEXT_IS_DESTROYED : GRAFT_OK;
}

int graft_context_need(struct graft_object **context) {
  int r = graft_context_need_any(context);
  return r ? r : graft_fault_of(*context);
}

int graft_context_need_for(const void *handle, struct graft_object **context) {
  int r = graft_context_need(context);
  const struct graft_object *stream = graft_object(GRAFT_STREAM, handle);
  return r || !stream || stream->session == (*context)->session ? r : GRAFT_INVALID_HANDLE;
}

static struct graft_object *context_of(const void *handle) {
  const struct graft_object *stream = graft_object(GRAFT_STREAM, handle), *function = graft_object(GRAFT_FUNCTION, handle);
  const struct graft_object *module = function ? function->u.function.library : graft_object(GRAFT_MODULE, handle);
  return stream ? stream->u.stream.context : module ? module->u.library.context : NULL;
}

struct graft_object *graft_context_lend(const void *handle) {
  if (thread.depth) return NULL;
  struct graft_object *context = context_of(handle);
  if (context) thread.stack[thread.depth++] = context;
  return context;
}

struct graft_object *graft_context_enter(const void *stream) {
  struct graft_object *context = context_of(stream);
  if (!context || context == graft_context_current() || context->u.context.destroyed || thread.depth == STACK) return NULL;
  return thread.stack[thread.depth++] = context;
}

void graft_context_return(struct graft_object **lent) {
  if (*lent) thread.depth--;
}

int graft_per_thread_enter(void) {
  int before = thread.per_thread;
  thread.per_thread = 1;
  return before;
}

void graft_per_thread_leave(int before) { thread.per_thread = before; }

/* The stream that represents this thread's default stream in the current context. */
static int own_stream(struct graft_object **stream) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  for (int i = 0; i < thread.own_count; i++) {
    if (thread.own[i].context == context && thread.own[i].id == context->id) {
      *stream = thread.own[i].stream;
      return 0;
    }
  }
  void *made;
  int before = thread.per_thread;
  thread.per_thread = 0;
  r = cuStreamCreate(&made, 0);
  thread.per_thread = before;
  if (r) return r;
  int at = thread.own_count < 4 ? thread.own_count++ : 3;
  thread.own[at].context = context;
  thread.own[at].id = context->id;
  thread.own[at].stream = *stream = made;
  return 0;
}

int graft_stream_object(const void *handle, struct graft_object **stream) {
  *stream = graft_object(GRAFT_STREAM, handle);
  if (!*stream) return GRAFT_INVALID_HANDLE;
  if (!(*stream)->u.stream.context) return GRAFT_OK; /* the client's own */
  const struct graft_object *context = graft_object(GRAFT_CONTEXT, (*stream)->u.stream.context);
  return context && !context->u.context.destroyed ? GRAFT_OK : GRAFT_CONTEXT_IS_DESTROYED;
}

int graft_stream_id(const void *handle, uint64_t *id, struct graft_session **session) {
  if (handle == (void *)1 || (!handle && !thread.per_thread)) {
    *id = 0;
    *session = graft_session_current();
    return 0;
  }
  struct graft_object *stream;
  if (!handle || handle == (void *)2) {
    int r = own_stream(&stream);
    if (r) return r;
  } else {
    int r = graft_stream_object(handle, &stream);
    if (r) return r;
  }
  *id = stream->id;
  *session = stream->session;
  return 0;
}

static void ended(struct graft_object *context) {
  __atomic_compare_exchange_n(&graft_parts(context->session)->last_context, &(struct graft_object *){context}, NULL, false,
                              __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  graft_storage_drop(context);
  graft_captures_end(context);
  graft_range_remove_of(context);
  context->u.context.ends++;
  context->u.context.destroyed = true;
}

/* ---- Primary contexts ---- */

static int check_device(int device) {
  int r = graft_ready();
  if (r) return r;
  return graft_session_of_device(device) ? GRAFT_OK : GRAFT_INVALID_DEVICE;
}

/* The handle of a device's primary context. Called with its lock held. */
static int handle(struct graft_primary_context *primary, int device) {
  if (primary->context) return GRAFT_OK;
  struct graft_object *context = graft_object_shell(graft_session_of_device(device), GRAFT_CONTEXT);
  if (!context) return GRAFT_OUT_OF_MEMORY;
  context->u.context.device = device;
  context->u.context.primary = true;
  context->u.context.destroyed = true;
  context->u.context.serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
  primary->context = context;
  return GRAFT_OK;
}

/* Called with its lock held. */
static int activate(struct graft_primary_context *primary, int device) {
  void *made;
  int r = rpc_graftPrimaryContextRetain(&made, device, primary->flags);
  if (r) return r;
  primary->shell = made;
  primary->context->id = primary->shell->id;
  primary->context->u.context.flags = primary->flags;
  primary->context->u.context.limits_known = 0;
  primary->context->u.context.mark = 0;
  primary->context->u.context.destroyed = false;
  return GRAFT_OK;
}

static int retain(int device, void **context) {
  int r = check_device(device);
  if (r || (r = fault_of_device(device))) return r;
  struct graft_primary_context *primary = primary_of(device);
  pthread_mutex_lock(&primary->lock);
  r = handle(primary, device);
  if (!r && !primary->shell) r = activate(primary, device);
  if (!r) {
    primary->count++;
    *context = primary->context;
  }
  pthread_mutex_unlock(&primary->lock);
  return r;
}

GRAFT_EXPORT int cuDevicePrimaryCtxRetain(void *pctx, int device) { return pctx ? retain(device, pctx) : GRAFT_INVALID_VALUE; }

static int release(int device, bool reset) {
  int r = check_device(device);
  if (r) return r;
  struct graft_primary_context *primary = primary_of(device);
  pthread_mutex_lock(&primary->lock);
  if (!primary->shell) {
    r = reset ? GRAFT_OK : GRAFT_INVALID_CONTEXT;
  } else if (reset || --primary->count == 0) {
    struct graft_object *shell = primary->shell;
    graft_work_context_ends(primary->context);
    ended(primary->context);
    primary->shell = NULL;
    primary->count = 0;
    r = rpc_graftPrimaryContextRelease(shell, device, reset);
    if (fault_of_device(device)) r = GRAFT_OK; /* the end of a context that failed is no failure */
  }
  pthread_mutex_unlock(&primary->lock);
  return r;
}

GRAFT_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) { return release(device, false); }
GRAFT_EXPORT int cuDevicePrimaryCtxReset_v2(int device) { return release(device, true); }

GRAFT_EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned int flags) {
  int r = check_device(device);
  if (r) return r;
  struct graft_primary_context *primary = primary_of(device);
  if (!graft_are_context_flags(flags) || flags & GRAFT_CONTEXT_MAP_HOST) return GRAFT_INVALID_VALUE;
  primary->flags = flags;
  if (primary->context) primary->context->u.context.flags = flags;
  return 0;
}

GRAFT_EXPORT int cuDevicePrimaryCtxGetState(int device, void *flags, void *active) {
  int r = check_device(device);
  if (r) return r;
  if (!flags || !active) return GRAFT_INVALID_VALUE;
  struct graft_primary_context *primary = primary_of(device);
  *(unsigned *)flags = primary->flags;
  *(int *)active = __atomic_load_n(&primary->shell, __ATOMIC_ACQUIRE) != NULL;
  return 0;
}

int graft_primary_context(int device, void **context) {
  int r = check_device(device);
  if (r) return r;
  struct graft_primary_context *primary = primary_of(device);
  pthread_mutex_lock(&primary->lock);
  r = handle(primary, device);
  *context = primary->context;
  pthread_mutex_unlock(&primary->lock);
  return r;
}

/* ---- The thread's stack ---- */

GRAFT_EXPORT int cuCtxGetCurrent(void *pctx) {
  int r = graft_ready();
  if (r) return r;
  if (!pctx) return GRAFT_INVALID_VALUE;
  *(void **)pctx = graft_context_current();
  return 0;
}

/* A context that is gone may be made current: calls in it say so. */
static struct graft_object *bindable(void *context) {
  struct graft_object *object = graft_object(GRAFT_CONTEXT, context);
  return !object && graft_object_is_gone(GRAFT_CONTEXT, context) ? context : object;
}

/* Whether the client may make a context current for itself. */
static bool is_usable(const void *context) {
  const struct graft_object *object = graft_object(GRAFT_CONTEXT, context);
  return object && (!object->u.context.destroyed || object->u.context.primary);
}

int graft_context_set(void *context) {
  return !context || is_usable(context) ? cuCtxSetCurrent(context) : GRAFT_CONTEXT_IS_DESTROYED;
}

int graft_context_push(void *context) { return is_usable(context) ? cuCtxPushCurrent_v2(context) : GRAFT_CONTEXT_IS_DESTROYED; }

GRAFT_EXPORT int cuCtxSetCurrent(void *context) {
  int r = graft_ready();
  if (r) return r;
  if (!context) {
    if (thread.depth) thread.depth--;
    return 0;
  }
  struct graft_object *object = bindable(context);
  if (!object) return GRAFT_INVALID_CONTEXT;
  if (!thread.depth) thread.depth = 1;
  thread.stack[thread.depth - 1] = object;
  return 0;
}

GRAFT_EXPORT int cuCtxPushCurrent_v2(void *context) {
  int r = graft_ready();
  if (r) return r;
  struct graft_object *object = bindable(context);
  if (!object) return GRAFT_INVALID_CONTEXT;
  if (thread.depth == STACK) return GRAFT_OUT_OF_MEMORY;
  thread.stack[thread.depth++] = object;
  return 0;
}

GRAFT_EXPORT int cuCtxPopCurrent_v2(void *pctx) {
  int r = graft_ready();
  if (r) return r;
  if (!thread.depth) return GRAFT_INVALID_CONTEXT;
  struct graft_object *top = thread.stack[--thread.depth];
  if (pctx) *(void **)pctx = top;
  return 0;
}

/* ---- Contexts of the program's own ---- */

static int create(void *pctx, unsigned int flags, int device) {
  int r = graft_ready();
  if (r) return r;
  if (!pctx || !graft_are_context_flags(flags)) return GRAFT_INVALID_VALUE;
  if ((r = check_device(device))) return r;
  if (thread.depth == STACK) return GRAFT_OUT_OF_MEMORY;
  if ((r = fault_of_device(device))) return r;
  void *made;
  if ((r = rpc_graftContextCreate(&made, flags, device))) return r;
  struct graft_object *object = made;
  object->u.context.device = device;
  object->u.context.flags = flags;
  object->u.context.serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
  thread.stack[thread.depth++] = object;
  __atomic_store_n(&graft_parts(object->session)->last_context, object, __ATOMIC_RELEASE);
  __atomic_store_n(&graft_parts(object->session)->has_made_contexts, true, __ATOMIC_RELEASE);
  *(void **)pctx = object;
  return 0;
}

GRAFT_EXPORT int cuCtxCreate_v2(void *pctx, unsigned int flags, int device) { return create(pctx, flags, device); }

/* Execution affinity needs MPS, natively too. The driver ignores a count below 0 (driver 580). */
static int check_affinity(const void *affinity, int affinities) {
  if (affinities <= 0) return GRAFT_OK;
  return affinity ? GRAFT_UNSUPPORTED_EXEC_AFFINITY : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuCtxCreate_v3(void *pctx, void *affinity, int affinities, unsigned int flags, int device) {
  int r = check_affinity(affinity, affinities);
  return r ? r : create(pctx, flags, device);
}

GRAFT_EXPORT int cuCtxCreate_v4(void *pctx, void *parameters, unsigned int flags, int device) {
  if (parameters) {
    struct {
      void *affinity;
      int affinities;
      void *graphics;
    } p; /* CUctxCreateParams */
    memcpy(&p, parameters, sizeof p);
    if (p.graphics) return GRAFT_NOT_SUPPORTED;
    int r = p.affinity ? check_affinity(p.affinity, p.affinities) : GRAFT_OK;
    if (r) return r;
  }
  return create(pctx, flags, device);
}

GRAFT_EXPORT int cuCtxDestroy_v2(void *context) {
  int r = graft_ready();
  if (r) return r;
  struct graft_object *object = graft_object(GRAFT_CONTEXT, context);
  if (graft_object_is_gone(GRAFT_CONTEXT, context)) return GRAFT_CONTEXT_IS_DESTROYED;
  if (!object || object->u.context.primary) return GRAFT_INVALID_CONTEXT;
  if (object->u.context.destroyed) return GRAFT_CONTEXT_IS_DESTROYED;
  graft_work_context_ends(object);
  ended(object);
  if (thread.depth && thread.stack[thread.depth - 1] == object) thread.depth--;
  return rpc_graftContextDestroy(object);
}
