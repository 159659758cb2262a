/* What programs ask of the current context, set for it, and wait for in it. The client answers what it knows itself. */
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"

GRAFT_EXPORT int cuCtxAttach(void *pctx, unsigned int flags) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (flags || !pctx) return GRAFT_INVALID_VALUE;
  *(void **)pctx = context;
  return 0;
}

GRAFT_EXPORT int cuCtxDetach(void *context) {
  return graft_object(GRAFT_CONTEXT, context) && graft_context_current() ? GRAFT_OK : GRAFT_INVALID_CONTEXT;
}

GRAFT_EXPORT int cuCtxGetDevice(void *device) {
  struct graft_object *context;
  int r = graft_context_need_any(&context);
  if (!r && !device) r = GRAFT_INVALID_VALUE;
  if (!r) *(int *)device = context->u.context.device;
  return r;
}

GRAFT_EXPORT int cuCtxGetDevice_v2(void *device, void *context) {
  if (!context) return cuCtxGetDevice(device);
  struct graft_object *object = graft_object(GRAFT_CONTEXT, context);
  if (!object) return GRAFT_INVALID_CONTEXT;
  if (!device) return GRAFT_INVALID_VALUE;
  *(int *)device = object->u.context.device;
  return 0;
}

GRAFT_EXPORT int cuCtxGetApiVersion(void *context, void *version) {
  int r = graft_ready();
  if (r) return r;
  if (!version) return GRAFT_INVALID_VALUE;
  if (context ? !graft_object(GRAFT_CONTEXT, context) : !graft_context_current()) return GRAFT_INVALID_CONTEXT;
  *(unsigned *)version = 3020;
  return 0;
}

GRAFT_EXPORT int cuCtxGetFlags(void *flags) {
  struct graft_object *context;
  int r = graft_context_need_any(&context);
  if (r) return r;
  if (!flags) return GRAFT_INVALID_VALUE;
  *(unsigned *)flags = context->u.context.flags;
  return 0;
}

/* How the driver waits is the server's business: flags are kept for the program to ask. */
GRAFT_EXPORT int cuCtxSetFlags(unsigned int flags) {
  struct graft_object *context;
  int r = graft_context_need_any(&context);
  if (r) return r;
  if (!graft_are_context_flags(flags)) return GRAFT_INVALID_VALUE;
  context->u.context.flags = flags;
  return 0;
}

GRAFT_EXPORT int cuCtxGetId(void *context, void *id) {
  struct graft_object *object = context ? graft_object(GRAFT_CONTEXT, context) : graft_context_current();
  if (!object) return graft_object_is_gone(GRAFT_CONTEXT, context) ? GRAFT_CONTEXT_IS_DESTROYED : GRAFT_INVALID_CONTEXT;
  if (!id) return GRAFT_INVALID_VALUE;
  *(uint64_t *)id = object->u.context.serial;
  return 0;
}

GRAFT_EXPORT int cuCtxGetStreamPriorityRange(void *least, void *greatest) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  const struct graft_device *device = graft_device(context->session, context->u.context.device);
  if (least) *(int *)least = device->priority_low;
  if (greatest) *(int *)greatest = device->priority_high;
  return 0;
}

/* Limits are asked once; setting one forgets them all, since the driver rounds. cuBLAS asks whether the context is one for
 * graphics (CU_LIMIT_CIG_ENABLED) before each product. */
GRAFT_EXPORT int cuCtxGetLimit(size_t *value, int limit) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!value || limit < 0) return GRAFT_INVALID_VALUE;
  if (limit >= GRAFT_LIMITS) return rpc_cuCtxGetLimit(value, limit);
  if (!(__atomic_load_n(&context->u.context.limits_known, __ATOMIC_ACQUIRE) & 1u << limit)) {
    size_t answer = 0;
    if ((r = rpc_cuCtxGetLimit(&answer, limit)) && r != GRAFT_UNSUPPORTED_LIMIT) return r;
    context->u.context.limits[limit].value = answer;
    context->u.context.limits[limit].result = r;
    __atomic_fetch_or(&context->u.context.limits_known, 1u << limit, __ATOMIC_RELEASE);
  }
  r = context->u.context.limits[limit].result;
  if (!r) *value = context->u.context.limits[limit].value;
  return r;
}

GRAFT_EXPORT int cuCtxSetLimit(int limit, size_t value) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  r = rpc_cuCtxSetLimit(limit, value);
  __atomic_store_n(&context->u.context.limits_known, 0, __ATOMIC_RELEASE);
  return r;
}

GRAFT_EXPORT int cuCtxSynchronize(void) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  return r ? r : rpc_graftContextSynchronize();
}

GRAFT_EXPORT int cuCtxSynchronize_v2(void *context) {
  if (!context) return cuCtxSynchronize();
  int r = cuCtxPushCurrent_v2(context);
  if (r) return r;
  r = cuCtxSynchronize();
  void *popped;
  cuCtxPopCurrent_v2(&popped);
  return r;
}
