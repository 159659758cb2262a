/* Memory: allocations, and what a pointer is. */
#include "memory/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "memory/elsewhere.h"
#include "memory/file_part.h"
#include "memory/mirror.h"
#include "memory/place.h"
#include "memory/ranges.h"
#include "memory/region.h"
#include "memory/shadow.h"
#include "session/session.h"

/* Enters device memory of a context; it stays when the context ends if it lasts. OUT_OF_MEMORY if another server has memory at these addresses. */
static int remember(uint64_t base, size_t bytes, struct graft_object *context, bool lasts) {
  if (graft_several_servers && graft_memory_collides(base, bytes)) return GRAFT_OUT_OF_MEMORY;
  graft_range_add(&(struct graft_range){.base = base,
                                        .bytes = bytes,
                                        .memory = GRAFT_MEMORY_DEVICE,
                                        .device = context->u.context.device,
                                        .context = context,
                                        .lasts = lasts});
  return GRAFT_OK;
}

/* The same for memory that was allocated now, which is freed if it cannot be used. */
static int remember_new(uint64_t base, size_t bytes, struct graft_object *context, bool is_pooled) {
  int r = remember(base, bytes, context, is_pooled);
  if (r) rpc_cuMemFree_v2(base);
  return r;
}

/* ---- Device memory ---- */

GRAFT_EXPORT int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  if (!pointer || !bytes) return GRAFT_INVALID_VALUE;
  r = rpc_cuMemAlloc_v2(pointer, bytes);
  return r ? r : remember_new(*pointer, bytes, context, false);
}

GRAFT_EXPORT int cuMemAllocPitch_v2(uint64_t *pointer, size_t *pitch, size_t width, size_t height, unsigned int element) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  if (!pointer || !pitch || !width || !height || (element != 4 && element != 8 && element != 16)) return GRAFT_INVALID_VALUE;
  r = rpc_cuMemAllocPitch_v2(pointer, pitch, width, height, element);
  return r ? r : remember_new(*pointer, *pitch * height, context, false);
}

GRAFT_EXPORT int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream) {
  GRAFT_IN_CONTEXT_OF(stream);
  struct graft_object *context;
  int r = graft_context_need_for(stream, &context);
  if (r || (r = graft_uncaptured_but(stream))) return r;
  if (!pointer) return GRAFT_INVALID_VALUE;
  if (!bytes) return *pointer = 0, GRAFT_OK;
  r = rpc_cuMemAllocAsync(pointer, bytes, stream);
  return r || !*pointer ? r : remember_new(*pointer, bytes, context, true);
}

GRAFT_EXPORT int cuMemAllocFromPoolAsync(uint64_t *pointer, size_t bytes, void *pool, void *stream) {
  GRAFT_IN_CONTEXT_OF(stream);
  struct graft_object *context;
  int r = graft_context_need_for(stream, &context);
  if (r || (r = graft_uncaptured_but(stream))) return r;
  if (!pointer) return GRAFT_INVALID_VALUE;
  if (!bytes) return *pointer = 0, GRAFT_OK;
  r = rpc_cuMemAllocFromPoolAsync(pointer, bytes, pool, stream);
  return r || !*pointer ? r : remember_new(*pointer, bytes, context, true);
}

/* Removes a pointer that may be freed, and fills in the range that has it, if there is one. Memory of a graph stays, since the graph's next launch allocates it again. */
static bool forget(uint64_t pointer, struct graft_range *range) {
  bool found = graft_range_find(pointer, range) && range->base == pointer && range->memory == GRAFT_MEMORY_DEVICE && !range->opened;
  return found && (range->of_graph || graft_range_remove(pointer, GRAFT_MEMORY_DEVICE, NULL));
}

/* Frees memory of another session than the calling thread's, in its own context. */
static int free_elsewhere(uint64_t pointer, int (*free_here)(uint64_t), int error) {
  struct graft_range range;
  void *popped;
  if (!graft_range_find_anywhere(pointer, &range) || !range.context || range.context->session == graft_session_current())
    return error;
  int r = graft_context_push(range.context);
  if (r) return r;
  r = free_here(pointer);
  cuCtxPopCurrent_v2(&popped);
  return r;
}

static int free_device(uint64_t pointer) {
  struct graft_range range;
  if (!forget(pointer, &range)) return graft_managed_free(pointer);
  int r = rpc_cuMemFree_v2(pointer);
  return r || !range.of_graph ? r : rpc_graftContextDrain(); /* only the device knows whether it is allocated now */
}

GRAFT_EXPORT int cuMemFree_v2(uint64_t pointer) {
  int r = graft_usable();
  if (r || !pointer || (r = graft_uncaptured())) return r;
  r = free_device(pointer);
  return r == GRAFT_INVALID_VALUE ? free_elsewhere(pointer, free_device, r) : r;
}

GRAFT_EXPORT int cuMemFreeAsync(uint64_t pointer, void *stream) {
  uint64_t id;
  int r = graft_usable();
  if (r || !pointer || (r = graft_uncaptured_but(stream))) return r;
  struct graft_visit visit;
  if (graft_several_servers && graft_visit_begin(&visit, graft_session_of_memory(pointer), stream, &r)) {
    return r ? r : graft_visit_end(&visit, cuMemFreeAsync(pointer, visit.stream));
  }
  if ((r = graft_id(graft_session_current(), GRAFT_STREAM, stream, &id))) return r;
  struct graft_range range = {0};
  if (forget(pointer, &range)) return rpc_cuMemFreeAsync(pointer, stream);
  return range.base == pointer && range.memory == GRAFT_MEMORY_MANAGED ? GRAFT_NOT_SUPPORTED : GRAFT_INVALID_VALUE;
}

void graft_memory_of_graph(uint64_t address, size_t bytes) {
  struct graft_object *context = graft_context_current();
  if (!context || !address) return;
  graft_range_add(&(struct graft_range){.base = address,
                                        .bytes = bytes,
                                        .memory = GRAFT_MEMORY_DEVICE,
                                        .device = context->u.context.device,
                                        .context = context,
                                        .of_graph = true});
}

GRAFT_EXPORT int cuMemGetAddressRange_v2(void *base, void *bytes, uint64_t pointer) {
  struct graft_range range;
  int r = graft_in_context();
  if (r) return r;
  if (!graft_range_find_anywhere(pointer, &range)) return GRAFT_NOT_FOUND;
  if (base) *(uint64_t *)base = range.base;
  if (bytes) *(size_t *)bytes = range.bytes;
  return 0;
}

/* Variables of modules are device memory, too, which copies have to know that infer their direction. */
static int get_global(int (*ask)(uint64_t *, size_t *, void *, const char *), uint64_t *pointer, size_t *bytes, void *owner,
                      const char *name) {
  GRAFT_IN_CONTEXT_OF(owner);
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  uint64_t base;
  size_t size;
  if (!name || !*name || (!pointer && !bytes)) return GRAFT_INVALID_VALUE;
  if ((r = ask(&base, &size, owner, name))) return r;
  if ((r = remember(base, size, context, false))) return r;
  if (pointer) *pointer = base;
  if (bytes) *bytes = size;
  return 0;
}

GRAFT_EXPORT int cuModuleGetGlobal_v2(uint64_t *pointer, size_t *bytes, void *module, const char *name) {
  int r = get_global(rpc_cuModuleGetGlobal_v2, pointer, bytes, module, name);
  return r == GRAFT_INVALID_HANDLE && graft_object_is_gone(GRAFT_MODULE, module) ? GRAFT_NOT_FOUND : r;
}

GRAFT_EXPORT int cuLibraryGetGlobal(uint64_t *pointer, size_t *bytes, void *library, const char *name) {
  return get_global(rpc_cuLibraryGetGlobal, pointer, bytes, library, name);
}

/* ---- Pools: an attribute is an int or 64 bits wide (CUmemPool_attribute) ---- */

static bool is_wide(int attribute) { return attribute >= 4; }

GRAFT_EXPORT int cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
  uint64_t wide = 0;
  int r = graft_ready();
  if (r || (r = graft_uncaptured())) return r;
  if (!value) return GRAFT_INVALID_VALUE;
  if ((r = rpc_graftPoolGetAttribute(pool, attribute, &wide))) return r;
  memcpy(value, &wide, is_wide(attribute) ? sizeof wide : sizeof(int));
  return 0;
}

GRAFT_EXPORT int cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  uint64_t wide = 0;
  int r = graft_ready();
  if (r || (r = graft_uncaptured())) return r;
  if (!value) return GRAFT_INVALID_VALUE;
  memcpy(&wide, value, is_wide(attribute) ? sizeof wide : sizeof(int));
  return rpc_graftPoolSetAttribute(pool, attribute, wide);
}

/* ---- Host memory ---- */

#define MAPPED 2u       /* CU_MEMHOSTALLOC_DEVICEMAP: kernels use it */
#define OURS (1u << 31) /* the client's own flag: memory from plain mmap */

GRAFT_EXPORT int cuMemHostAlloc(void *pointer, size_t bytes, unsigned int flags) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  if (!pointer || flags & ~7u) return GRAFT_INVALID_VALUE;
  if (!bytes) {
    *(void **)pointer = NULL;
    return 0;
  }
  void *memory = graft_region_allocate_pinned(bytes);
  bool shared = memory, mirrored = false;
  if (!memory && flags & MAPPED) {
    memory = graft_mirror_allocate(bytes, GRAFT_MIRROR_MAPPED);
    mirrored = memory;
  }
  if (!memory) memory = graft_shadow_reserve(bytes);
  if (!memory) {
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return GRAFT_OUT_OF_MEMORY;
    flags |= OURS;
  }
  graft_range_add(&(struct graft_range){.base = (uintptr_t)memory,
                                        .bytes = bytes,
                                        .memory = GRAFT_MEMORY_PINNED,
                                        .flags = flags,
                                        .device = context->u.context.device,
                                        .context = context,
                                        .view = shared || mirrored ? (uintptr_t)memory : 0,
                                        .shared = shared});
  if (!shared) graft_region_lacks(bytes);
  *(void **)pointer = memory;
  return 0;
}

GRAFT_EXPORT int cuMemAllocHost_v2(void *pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

static int free_host(uint64_t address) {
  struct graft_range range;
  void *pointer = (void *)(uintptr_t)address;
  if (!graft_range_remove(address, GRAFT_MEMORY_PINNED, &range)) return GRAFT_INVALID_VALUE;
  /* As in CUDA, freeing waits for copies that use the memory. */
  bool waited = !rpc_graftContextDrain();
  graft_range_remove(range.view, GRAFT_MEMORY_ALIAS, NULL);
  graft_mirror_end(pointer);
  if (!range.shared) graft_region_lacks_no_more(range.bytes);
  if (range.flags & OURS) {
    munmap(pointer, range.bytes);
  } else if (!graft_region_free_pinned(pointer, waited)) {
    graft_shadow_free(pointer); /* unless graft_mirror_end has freed it */
  }
  return graft_range_has_ended(&range) ? GRAFT_INVALID_VALUE : GRAFT_OK; /* the driver has freed it with its context */
}

GRAFT_EXPORT int cuMemFreeHost(void *pointer) {
  int r = graft_usable();
  if (r || !pointer || (r = graft_uncaptured())) return r;
  r = free_host((uintptr_t)pointer);
  return r ? free_elsewhere((uintptr_t)pointer, free_host, r) : r;
}

/* PORTABLE, DEVICEMAP and READ_ONLY; the memory of another device (IOMEMORY) is none of the program's. */
#define REGISTER_FLAGS 11u

GRAFT_EXPORT int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned int flags) {
  struct graft_object *context;
  struct graft_range range;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  if (!pointer || !bytes || bytes > UINTPTR_MAX - (uintptr_t)pointer || flags & ~REGISTER_FLAGS) return GRAFT_INVALID_VALUE;
  if (graft_range_find((uintptr_t)pointer, &range)) return GRAFT_HOST_MEMORY_ALREADY_REGISTERED;
  if (!graft_is_mapped(pointer, bytes)) return GRAFT_INVALID_VALUE;
  graft_range_add(&(struct graft_range){.base = (uintptr_t)pointer,
                                        .bytes = bytes,
                                        .memory = GRAFT_MEMORY_REGISTERED,
                                        .flags = flags,
                                        .device = context->u.context.device,
                                        .context = context});
  return 0;
}

static int unregister(uint64_t address) {
  struct graft_range range;
  if (!graft_range_remove(address, GRAFT_MEMORY_REGISTERED, &range)) {
    bool is_pinned = graft_range_find(address, &range) && range.memory == GRAFT_MEMORY_PINNED;
    return is_pinned ? GRAFT_INVALID_VALUE : GRAFT_HOST_MEMORY_NOT_REGISTERED;
  }
  rpc_graftContextDrain(); /* so that what kernels have written is fetched */
  uint64_t twin = (uintptr_t)graft_mirror_twin((void *)(uintptr_t)address);
  graft_range_remove(range.view, GRAFT_MEMORY_ALIAS, NULL);
  graft_mirror_end((void *)(uintptr_t)address);
  if (twin) graft_range_view(twin, range.view);
  return 0;
}

GRAFT_EXPORT int cuMemHostUnregister(void *pointer) {
  int r = graft_usable();
  if (r || (r = graft_uncaptured())) return r;
  if (!pointer) return GRAFT_INVALID_VALUE;
  r = unregister((uintptr_t)pointer);
  return r ? free_elsewhere((uintptr_t)pointer, unregister, r) : r;
}

static bool pinned(const void *pointer, struct graft_range *range) {
  return graft_range_find((uintptr_t)pointer, range) &&
         (range->memory == GRAFT_MEMORY_REGISTERED || (range->memory == GRAFT_MEMORY_PINNED && !graft_range_has_ended(range)));
}

/* Whether kernels of several servers could get memory of a file that is shared, as that in which NCCL's ranks poll: each server would have a copy
 * of its own until a wait, so that they would poll for ever. */
static bool polls_in_file(const struct graft_range *range) {
  struct graft_file_part file;
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (!graft_several_servers || range->memory != GRAFT_MEMORY_REGISTERED) return false;
  if (!graft_file_part_of((void *)(uintptr_t)range->base, range->bytes, &file)) return false;
  if (!atomic_flag_test_and_set(&said)) {
    graft_say(
        "kernels of several servers cannot share the memory of a file: NCCL needs NCCL_SHM_DISABLE=1, and a channel that shares "
        "memory");
  }
  return true;
}

GRAFT_EXPORT int cuMemHostGetDevicePointer_v2(void *device, void *host, unsigned int flags) {
  struct graft_range range;
  int r = graft_in_context();
  if (r) return r;
  if (device && graft_several_servers && graft_is_beyond_reach((uintptr_t)host)) {
    return graft_not_served("the device's address of host memory of another server");
  }
  if (!device || flags || !pinned(host, &range)) return GRAFT_INVALID_VALUE;
  if (polls_in_file(&range)) return GRAFT_NOT_SUPPORTED;
  struct graft_place place = graft_place_of((uintptr_t)host, false);
  if ((r = graft_place_expose(&place, 1, false, NULL))) return r;
  *(uint64_t *)device = place.device;
  return 0;
}

GRAFT_EXPORT int cuMemHostGetFlags(void *flags, void *host) {
  struct graft_range range;
  int r = graft_in_context();
  if (r) return r;
  if (!flags || !pinned(host, &range)) return GRAFT_INVALID_VALUE;
  *(unsigned *)flags = range.flags & ~OURS;
  return 0;
}

/* ---- Pointer attributes (CUpointer_attribute) ---- */

enum { TYPE_HOST = 1, TYPE_DEVICE = 2 }; /* CUmemorytype */

static int pointer_attribute(void *data, int attribute, uint64_t pointer, bool strict) {
  struct graft_range range;
  bool known = graft_range_find_anywhere(pointer, &range);
  if (known && range.memory == GRAFT_MEMORY_ALIAS) {
    pointer = range.view + (pointer - range.base);
    known = graft_range_find_anywhere(pointer, &range);
  }
  bool managed = known && range.memory == GRAFT_MEMORY_MANAGED;
  bool device = known && (range.memory == GRAFT_MEMORY_DEVICE || managed);
  if (!known && strict) return GRAFT_INVALID_VALUE;
  switch (attribute) {
    case 1: /* CONTEXT */ *(void **)data = known ? range.context : NULL; return 0;
    case 2: /* MEMORY_TYPE */ *(unsigned *)data = !known ? 0 : device ? TYPE_DEVICE : TYPE_HOST; return 0;
    case 3: /* DEVICE_POINTER */
      *(uint64_t *)data = 0;
      /* Memory that the device would have at the same address is not exposed by this question. */
      if (known && !device && !graft_shadow_is_alone(pointer)) {
        return cuMemHostGetDevicePointer_v2(data, (void *)(uintptr_t)pointer, 0);
      }
      *(uint64_t *)data = known ? pointer : 0;
      return 0;
    case 4: /* HOST_POINTER */
      if (strict && device && !managed) return GRAFT_INVALID_VALUE;
      *(uint64_t *)data = known && (!device || managed) ? pointer : 0;
      return 0;
    case 6: /* SYNC_MEMOPS */ *(unsigned *)data = known && range.synchronous; return 0;
    case 7: /* BUFFER_ID */ *(uint64_t *)data = known ? range.serial : 0; return 0;
    case 8: /* IS_MANAGED */ *(unsigned *)data = managed; return 0;
    case 9: /* DEVICE_ORDINAL; -2 is CU_DEVICE_INVALID */ *(int *)data = known ? range.device : -2; return 0;
    case 10: /* IS_LEGACY_CUDA_IPC_CAPABLE */
    case 15: /* IS_GPU_DIRECT_RDMA_CAPABLE */ *(unsigned *)data = 0; return 0;
    case 11: /* RANGE_START_ADDR */ *(uint64_t *)data = known ? range.base : 0; return 0;
    case 12: /* RANGE_SIZE */ *(size_t *)data = known ? range.bytes : 0; return 0;
    case 13: /* MAPPED */ *(unsigned *)data = known; return 0;
    case 14: /* ALLOWED_HANDLE_TYPES */ *(uint64_t *)data = 0; return 0;
    case 16: /* ACCESS_FLAGS: read and write */ *(unsigned *)data = known ? 3 : 0; return 0;
    case 17: /* MEMPOOL_HANDLE */ *(void **)data = NULL; return 0;
    case 18: /* MAPPING_SIZE */ *(size_t *)data = known ? range.bytes : 0; return 0;
    case 19: /* MAPPING_BASE_ADDR */ *(uint64_t *)data = known ? range.base : 0; return 0;
    case 20: /* MEMORY_BLOCK_ID */ *(uint64_t *)data = known ? range.serial : 0; return 0;
    case 21: /* IS_HW_DECOMPRESS_CAPABLE */ *(unsigned *)data = 0; return 0;
    default: return GRAFT_INVALID_VALUE;
  }
}

GRAFT_EXPORT int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer) {
  int r = graft_ready();
  if (r) return r;
  return data ? pointer_attribute(data, attribute, pointer, true) : GRAFT_INVALID_VALUE;
}

#define POINTER_ATTRIBUTES 64 /* more than there are */

GRAFT_EXPORT int cuPointerGetAttributes(unsigned int count, void *attributes, void *data, uint64_t pointer) {
  int r = graft_ready();
  if (r) return r;
  if (!count || count > POINTER_ATTRIBUTES || !attributes || !data) return GRAFT_INVALID_VALUE;
  for (unsigned i = 0; i < count && !r; i++) {
    if (!((void **)data)[i]) return GRAFT_INVALID_VALUE;
    r = pointer_attribute(((void **)data)[i], ((int *)attributes)[i], pointer, false);
  }
  return r;
}

GRAFT_EXPORT int cuPointerSetAttribute(void *value, int attribute, uint64_t pointer) {
  struct graft_range range;
  int r = graft_ready();
  if (r || (r = graft_uncaptured())) return r;
  if (!value || attribute != 6 || !graft_range_find(pointer, &range)) return GRAFT_INVALID_VALUE; /* SYNC_MEMOPS */
  graft_range_synchronous(range.memory == GRAFT_MEMORY_ALIAS ? range.view : range.base, *(unsigned *)value != 0);
  return GRAFT_OK;
}
