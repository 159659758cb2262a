/* Memory and events that several processes share, all clients of one server. Handles are the server's: 64 bytes that a program hands to others. Those of physical memory and of pools are stored in a file, since programs expect a descriptor. */
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "graft_rpc.h"
#include "memory/elsewhere.h"
#include "memory/mirror.h"
#include "memory/ordering.h"
#include "memory/ranges.h"
#include "memory/virtual.h"
#include "session/session.h"

#define HANDLE 64
#define POSIX_FILE_DESCRIPTOR 1

/* Held from the call to the change of the table, so that the table counts how often memory is open as the server does. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static int open_memory(uint64_t *pointer, const struct graft_struct64 *handle, unsigned int flags, struct graft_object *context) {
  uint64_t address, bytes;
  int r = rpc_graftIpcOpenMemory(&address, &bytes, handle, flags);
  if (r) return r;
  struct graft_range before;
  bool again = graft_range_find(address, &before) && before.base == address && before.opened;
  graft_range_add(&(struct graft_range){.base = address,
                                        .bytes = bytes,
                                        .memory = GRAFT_MEMORY_DEVICE,
                                        .device = context->u.context.device,
                                        .context = context,
                                        .opened = again ? before.opened + 1 : 1});
  *pointer = address;
  return 0;
}

GRAFT_EXPORT int cuIpcOpenMemHandle_v2(void *pointer, struct graft_struct64 handle, unsigned int flags) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!pointer) return GRAFT_INVALID_VALUE;
  pthread_mutex_lock(&opening);
  r = open_memory(pointer, &handle, flags, context);
  pthread_mutex_unlock(&opening);
  return r;
}

static int close_memory(uint64_t pointer) {
  struct graft_range range;
  if (!graft_range_find(pointer, &range) || range.base != pointer || !range.opened) return GRAFT_INVALID_VALUE;
  /* Before the call, since another thread may get the address for memory of its own as soon as the server has closed it. */
  bool last = range.opened == 1;
  if (last) graft_range_remove(pointer, GRAFT_MEMORY_DEVICE, NULL);
  int r = rpc_cuIpcCloseMemHandle(pointer);
  if (!r) range.opened--;
  if (r || !last) graft_range_add(&range);
  return r;
}

GRAFT_EXPORT int cuIpcCloseMemHandle(uint64_t pointer) {
  int r = graft_in_context();
  if (r) return r;
  pthread_mutex_lock(&opening);
  r = close_memory(pointer);
  pthread_mutex_unlock(&opening);
  return r;
}

/* ---- Events ---- */

GRAFT_EXPORT int cuIpcGetEventHandle(void *handle, void *event) {
  struct graft_object *shared = graft_object(GRAFT_EVENT, event);
  int r = graft_in_context();
  if (r) return r;
  if (!shared) return GRAFT_INVALID_HANDLE;
  if (!handle) return GRAFT_INVALID_VALUE;
  if (!(r = rpc_cuIpcGetEventHandle(handle, event))) shared->u.event.shared = true;
  return r == GRAFT_CONTEXT_IS_DESTROYED ? GRAFT_INVALID_HANDLE : r;
}

GRAFT_EXPORT int cuIpcOpenEventHandle(void *event, struct graft_struct64 handle) {
  struct graft_object *context;
  void *made;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!event) return GRAFT_INVALID_VALUE;
  if ((r = rpc_graftIpcOpenEvent(&made, &handle))) return r;
  ((struct graft_object *)made)->u.event.shared = true;
  *(void **)event = made;
  return 0;
}

/* Waits until the call has reached the GPU, since the program may tell another process of it. */
static int arrived(int r, const void *event) {
  const struct graft_object *object = graft_object(GRAFT_EVENT, event);
  return r || !object || !object->u.event.shared ? r : graft_calls_executed();
}

GRAFT_EXPORT int cuEventCreate(void **event, unsigned int flags) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || (r = rpc_cuEventCreate(event, flags))) return r;
  struct graft_object *object = *event;
  object->u.event.context = context;
  object->u.event.ends = context->u.context.ends;
  return GRAFT_OK;
}

/* The driver says of an event that is gone, alone or with its context, that the context is, but only to the calls with a context. */
static int check_event_of_context(const void *event) {
  const struct graft_object *object = graft_object(GRAFT_EVENT, event);
  int r = graft_ready();
  if (r) return r;
  if (!event) return GRAFT_INVALID_HANDLE;
  bool is_gone = object ? graft_event_has_ended(object) : graft_object_is_gone(GRAFT_EVENT, event);
  return is_gone ? GRAFT_CONTEXT_IS_DESTROYED : GRAFT_OK;
}

GRAFT_EXPORT int cuCtxRecordEvent(void *context, void *event) {
  int r = check_event_of_context(event);
  return r ? r : rpc_cuCtxRecordEvent(context, event);
}

GRAFT_EXPORT int cuCtxWaitEvent(void *context, void *event) {
  int r = check_event_of_context(event);
  return r ? r : rpc_cuCtxWaitEvent(context, event);
}

/* EXTERNAL, the only flag, is for captures. */
static int check_event(const void *event, const void *stream, unsigned flags) {
  int r = graft_ready();
  if (r) return r;
  if (!event) return GRAFT_INVALID_HANDLE;
  if (flags > 1) return GRAFT_INVALID_VALUE;
  return flags && !graft_stream_captures((void *)stream) ? GRAFT_ILLEGAL_STATE : GRAFT_OK;
}

GRAFT_EXPORT int cuEventRecord(void *event, void *stream) {
  int r = check_event(event, stream, 0);
  if (r) return r;
  struct graft_ordering ordering;
  graft_ordering_begin(&ordering, event);
  r = rpc_cuEventRecord(event, stream);
  graft_ordering_recorded(&ordering, stream, r);
  return arrived(r, event);
}

GRAFT_EXPORT int cuEventRecordWithFlags(void *event, void *stream, unsigned int flags) {
  if (!flags) return cuEventRecord(event, stream);
  int r = check_event(event, stream, flags);
  if (r) return r;
  graft_ordering_is_lost(); /* the graph's launches record the event */
  return arrived(rpc_cuEventRecordWithFlags(event, stream, flags), event);
}

/* What the event was recorded behind is over when the call has succeeded. */
static int wait_for(void *event, int (*call)(void *)) {
  int r = graft_ready();
  if (!r) r = graft_uncaptured();
  if (r) return r;
  struct graft_ordering_wait wait;
  graft_ordering_wait_begin(&wait, event);
  graft_mirrors_waiting_for(&wait);
  r = call(event);
  graft_mirrors_waiting_for(NULL);
  return r;
}

GRAFT_EXPORT int cuEventSynchronize(void *event) { return wait_for(event, rpc_cuEventSynchronize); }
GRAFT_EXPORT int cuEventQuery(void *event) { return wait_for(event, rpc_cuEventQuery); }

GRAFT_EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned int flags) {
  if (graft_several_servers && graft_is_elsewhere(stream, event)) return graft_await_elsewhere(stream, event);
  int r = check_event(event, stream, flags);
  if (r) return r;
  struct graft_ordering ordering;
  graft_ordering_begin(&ordering, event);
  r = rpc_cuStreamWaitEvent(stream, event, flags);
  graft_ordering_awaits(&ordering, stream, r);
  return arrived(r, event);
}

/* ---- Physical memory ---- */

static int give_descriptor(void *shareable, const struct graft_struct64 *handle) {
  int fd = memfd_create("graft-shared-memory", MFD_CLOEXEC);
  if (fd < 0) return GRAFT_OUT_OF_MEMORY;
  if (pwrite(fd, handle->bytes, HANDLE, 0) != HANDLE) {
    close(fd);
    return GRAFT_OUT_OF_MEMORY;
  }
  *(int *)shareable = fd;
  return 0;
}

static bool take_descriptor(const void *shareable, struct graft_struct64 *handle) {
  return pread((int)(intptr_t)shareable, handle->bytes, HANDLE, 0) == HANDLE;
}

/* The parameters that the four functions with descriptors refuse. */
static int refuse_descriptor(const void *result, int type, uint64_t flags) {
  int r = graft_ready();
  if (r) return r;
  if (!result || flags) return GRAFT_INVALID_VALUE;
  return type == POSIX_FILE_DESCRIPTOR ? GRAFT_OK : GRAFT_NOT_SUPPORTED;
}

GRAFT_EXPORT int cuMemExportToShareableHandle(void *shareable, uint64_t memory, int type, uint64_t flags) {
  struct graft_struct64 handle;
  int r = refuse_descriptor(shareable, type, flags);
  if (r) return r;
  struct graft_session *before;
  if ((r = graft_physical_enter(&memory, &before))) return r;
  r = rpc_graftMemoryExport(&handle, memory);
  graft_physical_leave(before);
  return r ? r : give_descriptor(shareable, &handle);
}

GRAFT_EXPORT int cuMemImportFromShareableHandle(void *memory, void *shareable, int type) {
  struct graft_struct64 handle;
  int r = refuse_descriptor(memory, type, 0);
  if (r) return r;
  if (!take_descriptor(shareable, &handle)) return GRAFT_INVALID_VALUE;
  r = rpc_graftMemoryImport(memory, &handle);
  return r ? r : (graft_physical_mark(graft_session_current(), memory), GRAFT_OK);
}

/* ---- Pools, and what is allocated from them ---- */

GRAFT_EXPORT int cuMemPoolExportToShareableHandle(void *shareable, void *pool, int type, uint64_t flags) {
  struct graft_struct64 handle;
  int r = refuse_descriptor(shareable, type, flags);
  if (r || (r = graft_uncaptured())) return r;
  r = rpc_graftPoolExport(&handle, pool);
  return r ? r : give_descriptor(shareable, &handle);
}

GRAFT_EXPORT int cuMemPoolImportFromShareableHandle(void *pool, void *shareable, int type, uint64_t flags) {
  struct graft_struct64 handle;
  int r = refuse_descriptor(pool, type, flags);
  if (r || (r = graft_uncaptured())) return r;
  return take_descriptor(shareable, &handle) ? rpc_graftPoolImport(pool, &handle) : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuMemPoolExportPointer(void *handle, uint64_t pointer) {
  int r = graft_ready();
  if (r || (r = graft_uncaptured())) return r;
  return handle ? rpc_graftPoolPointerExport(handle, pointer) : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuMemPoolImportPointer(void *pointer, void *pool, void *handle) {
  struct graft_object *context;
  uint64_t address, bytes;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  if (!pointer || !handle) return GRAFT_INVALID_VALUE;
  if ((r = rpc_graftPoolPointerImport(&address, &bytes, pool, handle))) return r;
  graft_range_add(&(struct graft_range){
      .base = address, .bytes = bytes, .memory = GRAFT_MEMORY_DEVICE, .device = context->u.context.device, .context = context});
  *(uint64_t *)pointer = address;
  return 0;
}
