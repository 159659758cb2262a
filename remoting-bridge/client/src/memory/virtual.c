/* Virtual memory management: reserved addresses, physical memory, and mapping. The calls need no context, so that in a program with several servers they go to the server of the handle, or of the address. */
#include "memory/virtual.h"

#include <string.h>

#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "memory/elsewhere.h"
#include "memory/ranges.h"
#include "session/parts.h"
#include "session/session.h"

#define SERVER_AT 56 /* drivers' handles are smaller */
#define NUMBER ((UINT64_C(1) << SERVER_AT) - 1)

void graft_physical_mark(const struct graft_session *session, uint64_t *handle) {
  if (graft_several_servers) *handle |= (uint64_t)(graft_session_server(session) + 1) << SERVER_AT;
}

int graft_physical_enter(uint64_t *handle, struct graft_session **before) {
  *before = NULL;
  if (!graft_several_servers) return GRAFT_OK;
  struct graft_session *session = graft_session_of_server((int)(*handle >> SERVER_AT) - 1);
  if (!session) return GRAFT_INVALID_VALUE;
  *handle &= NUMBER;
  *before = graft_session_use(session);
  return GRAFT_OK;
}

void graft_physical_leave(struct graft_session *before) {
  if (graft_several_servers) graft_session_use(before);
}

/* The same for an address that was reserved. Where servers have no ranges, an address that is not mapped is the current context's server's. */
static struct graft_session *enter_address(uint64_t address) {
  if (!graft_several_servers) return NULL;
  struct graft_session *session = graft_session_of_memory(address);
  if (!session) session = graft_session_of_range(address);
  return graft_session_use(session ? session : graft_session_current());
}

/* Host memory of one server could be given to no other one. NCCL uses a file in its place if it cannot be made. */
GRAFT_EXPORT int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, uint64_t flags) {
  enum { OF_DEVICE = 1 };
  int32_t location[2] = {0}; /* CUmemAllocationProp: CUmemLocation at 8 */
  int r = graft_ready();
  if (!r && graft_several_servers && properties) {
    memcpy(location, (const char *)properties + 8, sizeof location);
    if (location[0] > OF_DEVICE) r = GRAFT_NOT_SUPPORTED;
  }
  if (!r) r = rpc_cuMemCreate(handle, bytes, properties, flags);
  if (r || !graft_several_servers) return r;
  graft_physical_mark(graft_session_of_device(location[1]), handle);
  return r;
}

GRAFT_EXPORT int cuMemRelease(uint64_t handle) {
  struct graft_session *before;
  int r = graft_ready();
  if (r || (r = graft_physical_enter(&handle, &before))) return r;
  r = rpc_cuMemRelease(handle);
  graft_physical_leave(before);
  return r;
}

GRAFT_EXPORT int cuMemRetainAllocationHandle(uint64_t *handle, uint64_t address) {
  int r = graft_ready();
  if (r) return r;
  struct graft_session *before = enter_address(address);
  r = rpc_cuMemRetainAllocationHandle(handle, address);
  if (!r) graft_physical_mark(graft_session_current(), handle);
  graft_physical_leave(before);
  return r;
}

GRAFT_EXPORT int cuMemGetAllocationPropertiesFromHandle(void *properties, uint64_t handle) {
  int32_t location[2]; /* CUmemAllocationProp: CUmemLocation at 8 */
  struct graft_session *before;
  int r = graft_ready();
  if (r || (r = graft_physical_enter(&handle, &before))) return r;
  r = rpc_cuMemGetAllocationPropertiesFromHandle(properties, handle);
  if (!r) {
    memcpy(location, (char *)properties + 8, sizeof location);
    if (location[0] == 1) location[1] = graft_device_seen(graft_session_current(), location[1]);
    memcpy((char *)properties + 8, location, sizeof location);
  }
  graft_physical_leave(before);
  return r;
}

uint64_t graft_nowhere(uint64_t like, size_t bytes) {
  enum { ALIGNMENT = 1 << 16 };
  const size_t room = (size_t)1 << 30;
  uint64_t *known = &graft_parts(graft_session_current())->nowhere, none = 0;
  uint64_t base = __atomic_load_n(known, __ATOMIC_ACQUIRE);
  if (bytes > room - ALIGNMENT) return 0;
  if (!base) {
    if (rpc_cuMemAddressReserve(&base, room, 0, 0, 0)) return 0;
    if (!__atomic_compare_exchange_n(known, &none, base, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      rpc_cuMemAddressFree(base, room);
      base = none;
    }
  }
  return base + like % ALIGNMENT;
}

/* Mapped virtual memory is device memory as long as it is mapped. */
GRAFT_EXPORT int cuMemMap(uint64_t pointer, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
  struct graft_session *before;
  int r = graft_ready();
  if (r || (r = graft_physical_enter(&handle, &before))) return r;
  r = rpc_cuMemMap(pointer, bytes, offset, handle, flags);
  if (!r) {
    struct graft_object *context = graft_several_servers ? graft_context_in(graft_session_current()) : graft_context_current();
    graft_range_add(&(struct graft_range){.base = pointer,
                                          .bytes = bytes,
                                          .memory = GRAFT_MEMORY_DEVICE,
                                          .mapped = true,
                                          .device = context ? context->u.context.device : 0,
                                          .context = context});
  }
  graft_physical_leave(before);
  return r;
}

GRAFT_EXPORT int cuMemUnmap(uint64_t pointer, size_t bytes) {
  int r = graft_ready();
  if (r) return r;
  struct graft_session *before = enter_address(pointer);
  r = rpc_cuMemUnmap(pointer, bytes);
  if (!r) graft_range_remove_within(pointer, bytes);
  graft_physical_leave(before);
  return r;
}

GRAFT_EXPORT int cuMemAddressFree(uint64_t pointer, size_t bytes) {
  int r = graft_ready();
  if (r) return r;
  struct graft_session *before = enter_address(pointer);
  r = rpc_cuMemAddressFree(pointer, bytes);
  graft_physical_leave(before);
  return r;
}

GRAFT_EXPORT int cuMemSetAccess(uint64_t pointer, size_t bytes, const void *access, size_t count) {
  int r = graft_ready();
  if (r) return r;
  struct graft_session *before = enter_address(pointer);
  r = rpc_cuMemSetAccess(pointer, bytes, access, count);
  graft_physical_leave(before);
  return r;
}
