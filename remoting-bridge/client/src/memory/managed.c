/* Managed memory, at one address for program and device. On transports that share memory it is shared memory, pinned at the server, and both see each other's writes at once. On others it is a mirror (mirror.h): both sides are equal when the program has waited, as CUDA promises for devices without CONCURRENT_MANAGED_ACCESS. It never moves to the device, so hints are only stored; prefetching and discarding are work in a stream all the same, for which a wait for the stream waits. With GRAFT_MANAGED=exclusive a program may touch it while kernels run, and then waits for them. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "graft_rpc.h"
#include "memory/memory.h"
#include "memory/mirror.h"
#include "memory/ranges.h"
#include "memory/region.h"
#include "memory/shadow.h"
#include "session/session.h"

enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2, ATTACH_SINGLE = 4 }; /* CUmemAttach_flags */

GRAFT_EXPORT int cuMemAllocManaged(void *pointer, size_t bytes, unsigned int flags) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  if (!pointer || !bytes || (flags != ATTACH_GLOBAL && flags != ATTACH_HOST)) return GRAFT_INVALID_VALUE;
  bool exclusive = graft_managed_is_exclusive();
  if (exclusive && !graft_mirror_exclusive()) return GRAFT_NOT_SUPPORTED;
  void *memory = exclusive ? graft_mirror_allocate_exclusive(bytes) : graft_mirror_allocate(bytes, GRAFT_MIRROR_MANAGED);
  if (!memory && !exclusive) memory = graft_mirror_allocate_beyond(bytes, GRAFT_MIRROR_MANAGED);
  if (!memory) return GRAFT_OUT_OF_MEMORY;
  bool shared = graft_region_holds(memory, bytes);
  if (shared && (r = rpc_graftManagedCount(bytes, 0))) {
    graft_shadow_free(memory);
    return r;
  }
  graft_mirror_attach(memory, flags == ATTACH_HOST);
  graft_range_add(&(struct graft_range){.base = (uintptr_t)memory,
                                        .bytes = bytes,
                                        .memory = GRAFT_MEMORY_MANAGED,
                                        .flags = flags,
                                        .device = context->u.context.device,
                                        .context = context,
                                        .view = (uintptr_t)memory,
                                        .shared = shared,
                                        .hints = {.home = -2, .reader = -2}});
  if (!shared && !exclusive) graft_region_lacks(bytes);
  *(uint64_t *)pointer = (uintptr_t)memory;
  static atomic_flag told = ATOMIC_FLAG_INIT;
  if (!exclusive && !atomic_flag_test_and_set(&told)) rpc_graftManagedIsShared();
  return 0;
}

int graft_managed_free(uint64_t pointer) {
  struct graft_range range;
  if (!graft_range_remove(pointer, GRAFT_MEMORY_MANAGED, &range)) return GRAFT_INVALID_VALUE;
  rpc_graftContextDrain();
  if (range.shared) {
    rpc_graftManagedCount(range.bytes, 1);
  } else if (!graft_managed_is_exclusive()) {
    graft_region_lacks_no_more(range.bytes);
  }
  void *memory = (void *)(uintptr_t)pointer;
  if (!graft_mirror_end(memory)) graft_shadow_free(memory);
  return 0;
}

/* A variable declared __managed__, which the program uses at the address that the server's driver chose. The CUDA runtime asks for it before there is a context. */
GRAFT_EXPORT int cuLibraryGetManaged(void *pointer, void *bytes, void *library, const char *name) {
  const unsigned chunk = 512u << 10;
  void *context;
  uint64_t base, size;
  int r = graft_primary_context(0, &context);
  if (r) return r;
  if (graft_several_servers) return graft_not_served("a __managed__ variable in a program that uses several servers");
  if (!name || !*name || (!pointer && !bytes)) return GRAFT_INVALID_VALUE;
  if (graft_object_is_gone(GRAFT_LIBRARY, library)) return GRAFT_NOT_FOUND;
  unsigned char *contents = malloc(chunk);
  if (!contents) return GRAFT_OUT_OF_MEMORY;
  r = rpc_graftLibraryGetManaged(library, name, &base, &size, contents, chunk);
  if (!r) r = graft_mirror_adopt(base, size, contents, size < chunk ? size : chunk);
  free(contents);
  if (r) return r;
  graft_range_add(&(struct graft_range){.base = base,
                                        .bytes = size,
                                        .memory = GRAFT_MEMORY_MANAGED,
                                        .flags = 1,
                                        .lasts = true,
                                        .context = context,
                                        .view = base,
                                        .hints = {.home = -2, .reader = -2}});
  if (pointer) *(uint64_t *)pointer = base;
  if (bytes) *(size_t *)bytes = size;
  return 0;
}

static bool managed(uint64_t pointer, size_t bytes, struct graft_range *range) {
  return graft_range_find(pointer, range) && range->memory == GRAFT_MEMORY_MANAGED && !graft_range_has_ended(range) &&
         bytes <= range->bytes - (pointer - range->base);
}

/* ---- Hints: kept for cuMemRangeGetAttribute ---- */

enum { SET_READ_MOSTLY = 1, UNSET_READ_MOSTLY, SET_HOME, UNSET_HOME, SET_ACCESSED_BY, UNSET_ACCESSED_BY };
enum { TO_DEVICE = 1 }; /* CU_MEM_LOCATION_TYPE_DEVICE; the others are the host */
#define ON_HOST (-1)    /* CU_DEVICE_CPU */
#define NOWHERE (-2)    /* CU_DEVICE_INVALID */

static bool is_place(int device) { return device == ON_HOST || (device >= 0 && device < graft_device_count()); }

GRAFT_EXPORT int cuMemAdvise(uint64_t pointer, size_t bytes, int advice, int device) {
  struct graft_range range;
  int r = graft_in_context();
  if (r || (r = graft_uncaptured())) return r;
  if (!managed(pointer, bytes, &range)) return GRAFT_INVALID_VALUE;
  if (advice >= SET_HOME && advice != UNSET_HOME && !is_place(device)) return GRAFT_INVALID_DEVICE;
  switch (advice) {
    case SET_READ_MOSTLY: range.hints.read_mostly = true; break;
    case UNSET_READ_MOSTLY: range.hints.read_mostly = false; break;
    case SET_HOME: range.hints.home = device; break;
    case UNSET_HOME: range.hints.home = NOWHERE; break;
    case SET_ACCESSED_BY: range.hints.reader = device; break;
    case UNSET_ACCESSED_BY: range.hints.reader = NOWHERE; break;
    default: return GRAFT_INVALID_VALUE;
  }
  graft_range_hint(range.base, &range.hints);
  return 0;
}

/* CUmemLocation in a register: the type in the lower half, the number in the upper one. */
static int place_of(uint64_t location) { return (int32_t)location == TO_DEVICE ? (int32_t)(location >> 32) : ON_HOST; }

GRAFT_EXPORT int cuMemAdvise_v2(uint64_t pointer, size_t bytes, int advice, uint64_t location) {
  return cuMemAdvise(pointer, bytes, advice, place_of(location));
}

GRAFT_EXPORT int cuMemPrefetchAsync(uint64_t pointer, size_t bytes, int device, void *stream) {
  GRAFT_IN_CONTEXT_OF(stream);
  struct graft_object *context;
  struct graft_range range;
  uint64_t id;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!bytes || !managed(pointer, bytes, &range)) return GRAFT_INVALID_VALUE;
  if (!is_place(device)) return GRAFT_INVALID_DEVICE;
  if ((r = graft_id(context->session, GRAFT_STREAM, stream, &id)) || (r = graft_not_for_captures(stream))) return r;
  range.hints.fetched = true;
  range.hints.fetched_to = device;
  graft_range_hint(range.base, &range.hints);
  return graft_stream_pass(stream);
}

GRAFT_EXPORT int cuMemPrefetchAsync_v2(uint64_t pointer, size_t bytes, uint64_t location, unsigned int flags, void *stream) {
  return flags ? GRAFT_INVALID_VALUE : cuMemPrefetchAsync(pointer, bytes, place_of(location), stream);
}

GRAFT_EXPORT int cuMemPrefetchBatchAsync(void *pointers, void *sizes, size_t count, void *locations, void *indices,
                                         size_t location_count, uint64_t flags, void *stream) {
  if (!pointers || !sizes || !count || !locations || !indices || !location_count || location_count > count || flags) {
    return GRAFT_INVALID_VALUE;
  }
  size_t at = 0;
  int r = 0;
  for (size_t i = 0; i < count && !r; i++) {
    while (at + 1 < location_count && ((size_t *)indices)[at + 1] <= i) at++;
    uint64_t location;
    memcpy(&location, (uint64_t *)locations + at, sizeof location);
    r = cuMemPrefetchAsync_v2(((uint64_t *)pointers)[i], ((size_t *)sizes)[i], location, 0, stream);
  }
  return r;
}

/* Discarded memory may have any contents, so it keeps those that it has. */
GRAFT_EXPORT int cuMemDiscardBatchAsync(void *pointers, void *sizes, size_t count, uint64_t flags, void *stream) {
  GRAFT_IN_CONTEXT_OF(stream);
  struct graft_range range;
  uint64_t id;
  int r = graft_ready();
  if (r) return r;
  if (!pointers || !sizes || !count || flags) return GRAFT_INVALID_VALUE;
  for (size_t i = 0; i < count; i++) {
    if (!managed(((uint64_t *)pointers)[i], ((size_t *)sizes)[i], &range)) return GRAFT_INVALID_VALUE;
  }
  r = graft_id(graft_session_current(), GRAFT_STREAM, stream, &id);
  return r || (r = graft_not_for_captures(stream)) ? r : graft_stream_pass(stream);
}

GRAFT_EXPORT int cuMemDiscardAndPrefetchBatchAsync(void *pointers, void *sizes, size_t count, void *locations, void *indices,
                                                   size_t location_count, uint64_t flags, void *stream) {
  int r = cuMemDiscardBatchAsync(pointers, sizes, count, flags, stream);
  return r ? r : cuMemPrefetchBatchAsync(pointers, sizes, count, locations, indices, location_count, flags, stream);
}

GRAFT_EXPORT int cuStreamAttachMemAsync(void *stream, uint64_t pointer, size_t bytes, unsigned int flags) {
  GRAFT_IN_CONTEXT_OF(stream);
  struct graft_object *context;
  struct graft_range range;
  uint64_t id;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!managed(pointer, bytes, &range)) return GRAFT_INVALID_VALUE;
  if (flags != ATTACH_GLOBAL && flags != ATTACH_HOST && flags != ATTACH_SINGLE) return GRAFT_INVALID_VALUE;
  if (flags == ATTACH_SINGLE && !stream) return GRAFT_INVALID_VALUE; /* stream 0 is no single stream */
  if ((r = graft_id(context->session, GRAFT_STREAM, stream, &id)) || (r = graft_not_for_captures(stream))) return r;
  graft_mirror_attach((void *)(uintptr_t)range.base, flags != ATTACH_GLOBAL);
  return 0;
}

/* CUmem_range_attribute. */
static int range_attribute(void *data, size_t size, int attribute, const struct graft_range *range) {
  int *numbers = data;
  if (size < sizeof(int) || size % sizeof(int)) return GRAFT_INVALID_VALUE;
  int place = attribute == 2 ? range->hints.home : range->hints.fetched ? range->hints.fetched_to : NOWHERE;
  switch (attribute) {
    case 1: /* READ_MOSTLY */ numbers[0] = range->hints.read_mostly; return 0;
    case 2: /* PREFERRED_LOCATION */
    case 4: /* LAST_PREFETCH_LOCATION */ numbers[0] = place; return 0;
    case 3: /* ACCESSED_BY: a list */
      for (size_t i = 0; i < size / sizeof(int); i++) numbers[i] = i ? NOWHERE : range->hints.reader;
      return 0;
    case 5: /* PREFERRED_LOCATION_TYPE: 0 none, 1 device, 2 host */
    case 7: /* LAST_PREFETCH_LOCATION_TYPE */
      place = attribute == 5 ? range->hints.home : place;
      numbers[0] = place == NOWHERE ? 0 : place == ON_HOST ? 2 : 1;
      return 0;
    case 6: /* PREFERRED_LOCATION_ID */
    case 8: /* LAST_PREFETCH_LOCATION_ID */
      place = attribute == 6 ? range->hints.home : place;
      numbers[0] = place >= 0 ? place : 0;
      return 0;
    default: return GRAFT_INVALID_VALUE;
  }
}

GRAFT_EXPORT int cuMemRangeGetAttribute(void *data, size_t size, int attribute, uint64_t pointer, size_t bytes) {
  struct graft_range range;
  int r = graft_in_context();
  if (r) return r;
  if (!data || !bytes || !managed(pointer, bytes, &range)) return GRAFT_INVALID_VALUE;
  return range_attribute(data, size, attribute, &range);
}

GRAFT_EXPORT int cuMemRangeGetAttributes(void *data, void *sizes, void *attributes, size_t count, uint64_t pointer, size_t bytes) {
  int r = graft_in_context();
  if (!r && !(data && sizes && attributes && count)) r = GRAFT_INVALID_VALUE;
  for (size_t i = 0; i < count && !r; i++) {
    r = cuMemRangeGetAttribute(((void **)data)[i], ((size_t *)sizes)[i], ((int *)attributes)[i], pointer, bytes);
  }
  return r;
}
