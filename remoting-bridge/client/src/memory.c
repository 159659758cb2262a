/* Memory: allocations, copies, and what a pointer is. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "graft.h"
#include "mirror.h"
#include "region.h"
#include "staging.h"
#include "tables.h"
#include "twin.h"

static void remember(uint64_t base, size_t bytes, struct graft_object *context) {
  graft_range_add(&(struct graft_range){
      .base = base, .bytes = bytes, .memory = GRAFT_MEMORY_DEVICE, .device = context->u.context.device, .context = context});
}

/* ---- Device memory ---- */

GRAFT_EXPORT int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!pointer || !bytes) return GRAFT_INVALID_VALUE;
  r = rpc_cuMemAlloc_v2(pointer, bytes);
  if (!r) remember(*pointer, bytes, context);
  return r;
}

GRAFT_EXPORT int cuMemAllocPitch_v2(uint64_t *pointer, size_t *pitch, size_t width, size_t height, unsigned int element) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!pointer || !pitch || !width || !height) return GRAFT_INVALID_VALUE;
  r = rpc_cuMemAllocPitch_v2(pointer, pitch, width, height, element);
  if (!r) remember(*pointer, *pitch * height, context);
  return r;
}

GRAFT_EXPORT int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!pointer) return GRAFT_INVALID_VALUE;
  r = rpc_cuMemAllocAsync(pointer, bytes, stream);
  if (!r && *pointer) remember(*pointer, bytes, context);
  return r;
}

GRAFT_EXPORT int cuMemAllocFromPoolAsync(uint64_t *pointer, size_t bytes, void *pool, void *stream) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!pointer) return GRAFT_INVALID_VALUE;
  r = rpc_cuMemAllocFromPoolAsync(pointer, bytes, pool, stream);
  if (!r && *pointer) remember(*pointer, bytes, context);
  return r;
}

/* Whether it is memory that may be freed. A graph's is there again after its next launch. */
static bool forget(uint64_t pointer) {
  struct graft_range range;
  bool found = graft_range_find(pointer, &range) && range.base == pointer && range.memory == GRAFT_MEMORY_DEVICE &&
               !range.opened;
  return found && (range.of_graph || graft_range_remove(pointer, GRAFT_MEMORY_DEVICE, NULL));
}

GRAFT_EXPORT int cuMemFree_v2(uint64_t pointer) {
  int r = graft_ready();
  if (r || !pointer) return r;
  return forget(pointer) ? rpc_cuMemFree_v2(pointer) : graft_managed_free(pointer);
}

GRAFT_EXPORT int cuMemFreeAsync(uint64_t pointer, void *stream) {
  int r = graft_ready();
  if (r || !pointer) return r;
  return forget(pointer) ? rpc_cuMemFreeAsync(pointer, stream) : GRAFT_INVALID_VALUE;
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
  int r = graft_ready();
  if (r) return r;
  if (!graft_range_find(pointer, &range)) return GRAFT_NOT_FOUND;
  if (base) *(uint64_t *)base = range.base;
  if (bytes) *(size_t *)bytes = range.bytes;
  return 0;
}

/* Mapped virtual memory is device memory as long as it is mapped. */
GRAFT_EXPORT int cuMemMap(uint64_t pointer, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
  int r = graft_ready();
  if (r) return r;
  if ((r = rpc_cuMemMap(pointer, bytes, offset, handle, flags))) return r;
  struct graft_object *context = graft_context_current();
  graft_range_add(&(struct graft_range){.base = pointer,
                                        .bytes = bytes,
                                        .memory = GRAFT_MEMORY_DEVICE,
                                        .device = context ? context->u.context.device : 0,
                                        .context = context});
  return 0;
}

GRAFT_EXPORT int cuMemUnmap(uint64_t pointer, size_t bytes) {
  int r = graft_ready();
  if (r) return r;
  graft_range_remove_within(pointer, bytes);
  return rpc_cuMemUnmap(pointer, bytes);
}

/* Variables of modules are device memory too: a copy that infers its direction has to know them. */
static int get_global(int (*ask)(uint64_t *, size_t *, void *, const char *), uint64_t *pointer, size_t *bytes, void *owner,
                      const char *name) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  uint64_t base;
  size_t size;
  if (!name || (!pointer && !bytes)) return GRAFT_INVALID_VALUE;
  if ((r = ask(&base, &size, owner, name))) return r;
  remember(base, size, context);
  if (pointer) *pointer = base;
  if (bytes) *bytes = size;
  return 0;
}

GRAFT_EXPORT int cuModuleGetGlobal_v2(uint64_t *pointer, size_t *bytes, void *module, const char *name) {
  return get_global(rpc_cuModuleGetGlobal_v2, pointer, bytes, module, name);
}

GRAFT_EXPORT int cuLibraryGetGlobal(uint64_t *pointer, size_t *bytes, void *library, const char *name) {
  return get_global(rpc_cuLibraryGetGlobal, pointer, bytes, library, name);
}

/* ---- Pools: an attribute is an int or 64 bits wide (CUmemPool_attribute) ---- */

static bool is_wide(int attribute) { return attribute >= 4; }

GRAFT_EXPORT int cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
  uint64_t wide = 0;
  int r = graft_ready();
  if (r) return r;
  if (!value) return GRAFT_INVALID_VALUE;
  if ((r = rpc_graftPoolGetAttribute(pool, attribute, &wide))) return r;
  memcpy(value, &wide, is_wide(attribute) ? sizeof wide : sizeof(int));
  return 0;
}

GRAFT_EXPORT int cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  uint64_t wide = 0;
  int r = graft_ready();
  if (r) return r;
  if (!value) return GRAFT_INVALID_VALUE;
  memcpy(&wide, value, is_wide(attribute) ? sizeof wide : sizeof(int));
  return rpc_graftPoolSetAttribute(pool, attribute, wide);
}

/* ---- Host memory ---- */

#define MAPPED 2u      /* CU_MEMHOSTALLOC_DEVICEMAP: kernels use it */
#define OURS (1u << 31) /* a flag of our own: of no other kind than what mmap gives */

GRAFT_EXPORT int cuMemHostAlloc(void *pointer, size_t bytes, unsigned int flags) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!pointer || flags & ~7u) return GRAFT_INVALID_VALUE;
  if (!bytes) {
    *(void **)pointer = NULL;
    return 0;
  }
  void *memory = graft_region_allocate(bytes);
  if (!memory && flags & MAPPED) memory = graft_mirror_allocate(bytes, GRAFT_MIRROR_MAPPED);
  if (!memory) memory = graft_twin_reserve(bytes);
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
                                        .context = context});
  *(void **)pointer = memory;
  return 0;
}

GRAFT_EXPORT int cuMemAllocHost_v2(void *pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

GRAFT_EXPORT int cuMemFreeHost(void *pointer) {
  struct graft_range range;
  int r = graft_ready();
  if (r) return r;
  if (!pointer) return 0;
  if (!graft_range_remove((uintptr_t)pointer, GRAFT_MEMORY_PINNED, &range)) return GRAFT_INVALID_VALUE;
  /* CUDA's own free waits for copies that still use the memory. */
  rpc_graftContextSynchronize();
  graft_mirror_end(pointer);
  if (range.flags & OURS) {
    munmap(pointer, range.bytes);
  } else {
    graft_twin_free(pointer); /* unless its mirror's end was that already */
  }
  return 0;
}

GRAFT_EXPORT int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned int flags) {
  struct graft_object *context;
  struct graft_range range;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!pointer || !bytes) return GRAFT_INVALID_VALUE;
  if (graft_range_find((uintptr_t)pointer, &range)) return GRAFT_HOST_MEMORY_ALREADY_REGISTERED;
  graft_range_add(&(struct graft_range){.base = (uintptr_t)pointer,
                                        .bytes = bytes,
                                        .memory = GRAFT_MEMORY_REGISTERED,
                                        .flags = flags,
                                        .device = context->u.context.device,
                                        .context = context});
  return 0;
}

GRAFT_EXPORT int cuMemHostUnregister(void *pointer) {
  int r = graft_ready();
  if (r) return r;
  if (!graft_range_remove((uintptr_t)pointer, GRAFT_MEMORY_REGISTERED, NULL)) return GRAFT_HOST_MEMORY_NOT_REGISTERED;
  rpc_graftContextSynchronize(); /* what kernels have written to it comes back now or never */
  graft_mirror_end(pointer);
  return 0;
}

static bool pinned(const void *pointer, struct graft_range *range) {
  return graft_range_find((uintptr_t)pointer, range) &&
         (range->memory == GRAFT_MEMORY_PINNED || range->memory == GRAFT_MEMORY_REGISTERED);
}

GRAFT_EXPORT int cuMemHostGetDevicePointer_v2(void *device, void *host, unsigned int flags) {
  struct graft_range range;
  int r = graft_ready();
  if (r) return r;
  if (!device || flags || !pinned(host, &range)) return GRAFT_INVALID_VALUE;
  if (graft_region_holds(host, 1)) { /* one address for all, as with real unified addressing */
    *(uint64_t *)device = (uintptr_t)host;
    return 0;
  }
  uint64_t base = graft_mirror_of((void *)(uintptr_t)range.base, range.bytes, GRAFT_MIRROR_MAPPED);
  if (!base) return GRAFT_OUT_OF_MEMORY;
  *(uint64_t *)device = base + ((uintptr_t)host - range.base);
  return 0;
}

GRAFT_EXPORT int cuMemHostGetFlags(void *flags, void *host) {
  struct graft_range range;
  int r = graft_ready();
  if (r) return r;
  if (!flags || !pinned(host, &range)) return GRAFT_INVALID_VALUE;
  *(unsigned *)flags = range.flags & ~OURS;
  return 0;
}

/* ---- Copies ---- */

/* From here on a copy is staged through the shared region; smaller ones travel behind their record. */
#define STAGED (32u << 10)

bool graft_only_here(uint64_t pointer) {
  struct graft_range range;
  const void *host = (const void *)(uintptr_t)pointer;
  if (!pinned(host, &range) || graft_region_holds(host, 1)) return false;
  return range.memory == GRAFT_MEMORY_REGISTERED || !(range.flags & MAPPED); /* mapped: mirror.c */
}

static bool is_managed(uint64_t pointer) {
  struct graft_range range;
  return graft_range_find(pointer, &range) && range.memory == GRAFT_MEMORY_MANAGED;
}

/* Host memory that a copy had better leave to the server, so that nothing here touches it while work is under way. */
static bool is_for_the_device(const void *host) { return graft_managed_is_exclusive() && is_managed((uintptr_t)host); }

static int copy_there(uint64_t to, uint64_t from, size_t bytes, void *stream, bool wait) {
  int r = cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
  return r || !wait ? r : cuStreamSynchronize(stream);
}

/* At the server it is host memory, whose copies without a stream do not wait for kernels of other streams (seen on an H200,
 * driver 580), where those of managed memory do. */
static int copy_managed(uint64_t to, uint64_t from, size_t bytes, void *stream, bool wait) {
  int r = wait ? rpc_graftContextSynchronize() : GRAFT_OK;
  return r ? r : copy_there(to, from, bytes, stream, wait);
}

/* Keeps its place in the stream: what was queued before has to be over. */
static int host_to_host(void *to, const void *from, size_t bytes, void *stream) {
  int r = cuStreamSynchronize(stream);
  if (!r) memmove(to, from, bytes);
  return r;
}

/* In a graph a copy reads or writes host memory at each launch: it gets the device's view of it. 0 outside a capture. */
static uint64_t seen_by_graph(const void *host, size_t bytes, void *stream) {
  if (!graft_stream_captures(stream) || graft_region_holds(host, bytes)) return 0;
  return graft_mirror_of(host, bytes, GRAFT_MIRROR_GRAPH);
}

static int send_to_device(uint64_t to, const void *from, size_t bytes, void *stream, bool wait) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || !bytes) return r;
  if (!from) return GRAFT_INVALID_VALUE;
  if (graft_only_here(to)) return host_to_host((void *)(uintptr_t)to, from, bytes, stream);
  if (is_for_the_device(from)) return copy_managed(to, (uintptr_t)from, bytes, stream, wait);
  uint64_t seen = wait ? 0 : seen_by_graph(from, bytes, stream);
  if (seen) return rpc_cuMemcpyDtoDAsync_v2(to, seen, bytes, stream);
  if (graft_region_holds(from, bytes)) {
    r = rpc_graftCopyFromRegion(to, (uintptr_t)from, bytes, stream);
    return r || !wait ? r : cuStreamSynchronize(stream);
  }
  /* The data leaves now, not when the stream comes to the copy: an earlier copy of the stream may still write it. */
  if (graft_read_pending(from, bytes) && (r = cuStreamSynchronize(stream))) return r;
  if (bytes > STAGED && graft_staging_ready()) return graft_stage_to_device(to, from, bytes, stream);
  struct graft_range range;
  if (!wait && pinned(from, &range)) graft_outgoing_stays();
  return rpc_graftWrite(to, from, bytes, stream);
}

static int host_to_device(uint64_t to, const void *from, size_t bytes, void *stream, bool wait) {
  if (!graft_profiling || !bytes) return send_to_device(to, from, bytes, stream, wait);
  uint64_t start = graft_profile_transfer_begin();
  int r = send_to_device(to, from, bytes, stream, wait);
  graft_profile_transfer_end(start, true, from, bytes);
  return r;
}

static int fetch_from_device(void *to, uint64_t from, size_t bytes, void *stream, bool wait) {
  struct graft_object *context;
  struct graft_range range;
  int r = graft_context_need(&context);
  if (r || !bytes) return r;
  if (!to) return GRAFT_INVALID_VALUE;
  if (graft_only_here(from)) return host_to_host(to, (const void *)(uintptr_t)from, bytes, stream);
  if (is_for_the_device(to)) return copy_managed((uintptr_t)to, from, bytes, stream, wait);
  uint64_t seen = wait ? 0 : seen_by_graph(to, bytes, stream);
  if (seen) return rpc_cuMemcpyDtoDAsync_v2(seen, from, bytes, stream);
  if (graft_region_holds(to, bytes)) {
    r = rpc_graftCopyToRegion((uintptr_t)to, from, bytes, stream);
    return r || !wait ? r : cuStreamSynchronize(stream);
  }
  if (bytes > STAGED && graft_staging_ready()) return graft_stage_from_device(to, from, bytes, stream);
  if (wait || !pinned(to, &range)) {
    graft_incoming(to, bytes);
    return rpc_graftRead(from, bytes, stream);
  }
  uint64_t read = graft_read_expect(to, bytes);
  if (!read) return GRAFT_OUT_OF_MEMORY;
  r = rpc_graftReadAsync(from, bytes, stream, read);
  if (r) graft_read_forget(read);
  return r;
}

static int device_to_host(void *to, uint64_t from, size_t bytes, void *stream, bool wait) {
  if (!graft_profiling || !bytes) return fetch_from_device(to, from, bytes, stream, wait);
  uint64_t start = graft_profile_transfer_begin();
  int r = fetch_from_device(to, from, bytes, stream, wait);
  graft_profile_transfer_end(start, false, to, bytes);
  return r;
}

GRAFT_EXPORT int cuMemcpyHtoD_v2(uint64_t to, void *from, size_t bytes) { return host_to_device(to, from, bytes, NULL, true); }

GRAFT_EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, void *from, size_t bytes, void *stream) {
  return host_to_device(to, from, bytes, stream, false);
}

GRAFT_EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  return device_to_host(to, from, bytes, NULL, true);
}

GRAFT_EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  return device_to_host(to, from, bytes, stream, false);
}

static bool on_device(uint64_t pointer) {
  struct graft_range range;
  return graft_range_find(pointer, &range) && (range.memory == GRAFT_MEMORY_DEVICE || range.memory == GRAFT_MEMORY_MANAGED);
}

/* The direction follows from what the pointers are (unified addressing). */
static int copy(uint64_t to, uint64_t from, size_t bytes, void *stream, bool wait) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || !bytes) return r;
  bool to_device = on_device(to), from_device = on_device(from);
  if (to_device && from_device) {
    /* The program may look at managed memory as soon as a copy to it that it waits for has returned. */
    return copy_there(to, from, bytes, stream, wait && is_managed(to));
  }
  if (to_device) return host_to_device(to, (const void *)(uintptr_t)from, bytes, stream, wait);
  if (from_device) return device_to_host((void *)(uintptr_t)to, from, bytes, stream, wait);
  if (!to || !from) return GRAFT_INVALID_VALUE;
  if (!wait && graft_stream_captures(stream)) return graft_not_served("a captured copy from host to host");
  return host_to_host((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, stream);
}

GRAFT_EXPORT int cuMemcpy(uint64_t to, uint64_t from, size_t bytes) { return copy(to, from, bytes, NULL, true); }

GRAFT_EXPORT int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return copy(to, from, bytes, stream, false);
}

/* Between devices of one session: addresses say which. */
GRAFT_EXPORT int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes,
                                   void *stream) {
  if (!graft_object(GRAFT_CONTEXT, to_context) || !graft_object(GRAFT_CONTEXT, from_context)) return GRAFT_INVALID_CONTEXT;
  return copy(to, from, bytes, stream, false);
}

GRAFT_EXPORT int cuMemcpyPeer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes) {
  if (!graft_object(GRAFT_CONTEXT, to_context) || !graft_object(GRAFT_CONTEXT, from_context)) return GRAFT_INVALID_CONTEXT;
  return copy(to, from, bytes, NULL, true);
}

/* A batch has no order of its own: one after the other is one of those that it may have. Attributes are hints. */
GRAFT_EXPORT int cuMemcpyBatchAsync_v2(void *to, void *from, void *sizes, size_t count, void *attributes, void *indices,
                                       size_t attribute_count, void *stream) {
  (void)attributes, (void)indices, (void)attribute_count;
  if (!to || !from || !sizes || !count || !stream) return GRAFT_INVALID_VALUE;
  int r = 0;
  for (size_t i = 0; i < count && !r; i++) {
    r = copy(((uint64_t *)to)[i], ((uint64_t *)from)[i], ((size_t *)sizes)[i], stream, false);
  }
  return r;
}

GRAFT_EXPORT int cuMemcpyBatchAsync(void *to, void *from, void *sizes, size_t count, void *attributes, void *indices,
                                    size_t attribute_count, void *failed, void *stream) {
  int r = cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, attribute_count, stream);
  if (r && failed) *(size_t *)failed = SIZE_MAX; /* which one is not known */
  return r;
}

/* ---- Fills: those without a stream are over when they return if the program can see the memory ---- */

static int filled(int r, uint64_t at) { return r || !is_managed(at) ? r : cuStreamSynchronize(NULL); }

GRAFT_EXPORT int cuMemsetD8_v2(uint64_t at, unsigned char value, size_t count) {
  return filled(rpc_cuMemsetD8_v2(at, value, count), at);
}
GRAFT_EXPORT int cuMemsetD16_v2(uint64_t at, unsigned short value, size_t count) {
  return filled(rpc_cuMemsetD16_v2(at, value, count), at);
}
GRAFT_EXPORT int cuMemsetD32_v2(uint64_t at, unsigned int value, size_t count) {
  return filled(rpc_cuMemsetD32_v2(at, value, count), at);
}
GRAFT_EXPORT int cuMemsetD2D8_v2(uint64_t at, size_t pitch, unsigned char value, size_t width, size_t height) {
  return filled(rpc_cuMemsetD2D8_v2(at, pitch, value, width, height), at);
}
GRAFT_EXPORT int cuMemsetD2D16_v2(uint64_t at, size_t pitch, unsigned short value, size_t width, size_t height) {
  return filled(rpc_cuMemsetD2D16_v2(at, pitch, value, width, height), at);
}
GRAFT_EXPORT int cuMemsetD2D32_v2(uint64_t at, size_t pitch, unsigned int value, size_t width, size_t height) {
  return filled(rpc_cuMemsetD2D32_v2(at, pitch, value, width, height), at);
}

/* ---- Pitched and array copies: host operands travel packed ---- */

enum { TYPE_HOST = 1, TYPE_DEVICE = 2, TYPE_ARRAY = 3, TYPE_UNIFIED = 4 };

/* CUDA_MEMCPY3D (driver API reference); reserved fields are pointers here too. */
struct copy3d {
  size_t src_x, src_y, src_z, src_lod;
  unsigned src_type;
  const void *src_host;
  uint64_t src_device;
  void *src_array, *reserved0;
  size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod;
  unsigned dst_type;
  void *dst_host;
  uint64_t dst_device;
  void *dst_array, *reserved1;
  size_t dst_pitch, dst_height;
  size_t width, height, depth;
};
/* CUDA_MEMCPY2D. */
struct copy2d {
  size_t src_x, src_y;
  unsigned src_type;
  const void *src_host;
  uint64_t src_device;
  void *src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  unsigned dst_type;
  void *dst_host;
  uint64_t dst_device;
  void *dst_array;
  size_t dst_pitch;
  size_t width, height;
};
_Static_assert(sizeof(struct copy3d) == 200 && sizeof(struct copy2d) == 128, "as in cuda.h");

static void unify(unsigned *type, const void **host, uint64_t *device) {
  if (*type != TYPE_UNIFIED) return;
  *type = on_device(*device) ? TYPE_DEVICE : TYPE_HOST;
  if (*type == TYPE_HOST) *host = (const void *)(uintptr_t)*device;
}

/* Walks the rows of a host operand. */
static void rows(uint8_t *host, size_t pitch, size_t height, const struct copy3d *c, size_t x, size_t y, size_t z,
                 uint8_t *packed, bool pack) {
  for (size_t k = 0; k < c->depth; k++) {
    for (size_t j = 0; j < c->height; j++) {
      uint8_t *row = host + ((z + k) * height + y + j) * pitch + x;
      if (pack) {
        memcpy(packed, row, c->width);
      } else {
        memcpy(row, packed, c->width);
      }
      packed += c->width;
    }
  }
}

/* Host memory from the operand's base to the end of its last row, as a device address. */
static int host_seen_by_graph(unsigned *type, const void *host, uint64_t *device, size_t pitch, size_t height, size_t x,
                              size_t y, size_t z, const struct copy3d *c) {
  if (*type != TYPE_HOST) return 0;
  if (!host) return GRAFT_INVALID_VALUE;
  size_t bytes = ((z + c->depth - 1) * height + y + c->height - 1) * pitch + x + c->width;
  *device = graft_region_holds(host, bytes) ? (uintptr_t)host : graft_mirror_of(host, bytes, GRAFT_MIRROR_GRAPH);
  *type = TYPE_DEVICE;
  return *device ? GRAFT_OK : GRAFT_OUT_OF_MEMORY;
}

static int of_graph(struct copy3d *c, void **source, void **target) {
  unify(&c->src_type, &c->src_host, &c->src_device);
  const void *dst_host = c->dst_host;
  unify(&c->dst_type, &dst_host, &c->dst_device);
  *source = c->src_type == TYPE_ARRAY ? c->src_array : NULL;
  *target = c->dst_type == TYPE_ARRAY ? c->dst_array : NULL;
  c->src_array = c->dst_array = NULL;
  if (!c->width || !c->height || !c->depth) return 0;
  if (!c->src_pitch) c->src_pitch = c->src_x + c->width;
  if (!c->dst_pitch) c->dst_pitch = c->dst_x + c->width;
  if (!c->src_height) c->src_height = c->src_y + c->height;
  if (!c->dst_height) c->dst_height = c->dst_y + c->height;
  int r = host_seen_by_graph(&c->src_type, c->src_host, &c->src_device, c->src_pitch, c->src_height, c->src_x, c->src_y,
                             c->src_z, c);
  if (!r) {
    r = host_seen_by_graph(&c->dst_type, dst_host, &c->dst_device, c->dst_pitch, c->dst_height, c->dst_x, c->dst_y, c->dst_z,
                           c);
  }
  c->src_host = c->dst_host = NULL;
  return r;
}

int graft_copy_of_graph(uint8_t copy[200], void **source, void **target) {
  struct copy3d c;
  memcpy(&c, copy, sizeof c);
  int r = of_graph(&c, source, target);
  memcpy(copy, &c, sizeof c);
  return r;
}

void graft_copy_set_arrays(uint8_t copy[200], void *source, void *target) {
  struct copy3d c;
  memcpy(&c, copy, sizeof c);
  c.src_array = source;
  c.dst_array = target;
  memcpy(copy, &c, sizeof c);
}

static int copy3d(struct copy3d c, void *stream, bool wait) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!c.width || !c.height || !c.depth) return 0;
  unify(&c.src_type, &c.src_host, &c.src_device);
  const void *dst_host = c.dst_host;
  unify(&c.dst_type, &dst_host, &c.dst_device);
  c.dst_host = (void *)dst_host;
  if (!c.src_pitch) c.src_pitch = c.src_x + c.width;
  if (!c.dst_pitch) c.dst_pitch = c.dst_x + c.width;
  if (!c.src_height) c.src_height = c.src_y + c.height;
  if (!c.dst_height) c.dst_height = c.dst_y + c.height;
  void *src_array = c.src_type == TYPE_ARRAY ? c.src_array : NULL;
  void *dst_array = c.dst_type == TYPE_ARRAY ? c.dst_array : NULL;
  c.src_array = c.dst_array = NULL;
  size_t bytes = c.width * c.height * c.depth;
  bool from_host = c.src_type == TYPE_HOST, to_host = c.dst_type == TYPE_HOST;
  if ((from_host && !c.src_host) || (to_host && !c.dst_host)) return GRAFT_INVALID_VALUE;
  if (!from_host && !to_host) return rpc_graftCopy3D(&c, src_array, dst_array, NULL, 0, stream);
  if (!wait && graft_stream_captures(stream)) {
    void *none;
    r = of_graph(&c, &none, &none);
    return r ? r : rpc_graftCopy3D(&c, src_array, dst_array, NULL, 0, stream);
  }
  uint8_t *packed = malloc(bytes);
  if (!packed) return GRAFT_OUT_OF_MEMORY;
  if (from_host) {
    rows((uint8_t *)c.src_host, c.src_pitch, c.src_height, &c, c.src_x, c.src_y, c.src_z, packed, true);
    c.src_x = c.src_y = c.src_z = 0;
    c.src_pitch = c.width;
    c.src_height = c.height;
    c.src_host = NULL;
  }
  if (!to_host) {
    r = rpc_graftCopy3D(&c, src_array, dst_array, packed, bytes, stream);
  } else {
    struct copy3d to = c;
    if (from_host) {
      if ((r = cuStreamSynchronize(stream))) goto out;
    } else {
      c.dst_x = c.dst_y = c.dst_z = 0;
      c.dst_pitch = c.width;
      c.dst_height = c.height;
      c.dst_host = NULL;
      graft_incoming(packed, bytes);
      if ((r = rpc_graftCopy3DRead(&c, src_array, bytes, stream))) goto out;
    }
    rows(to.dst_host, to.dst_pitch, to.dst_height, &to, to.dst_x, to.dst_y, to.dst_z, packed, false);
  }
  (void)wait; /* a host operand is read or written before this returns */
out:
  free(packed);
  return r;
}

/* CUDA_MEMCPY3D_PEER has contexts where CUDA_MEMCPY3D has reserved fields; addresses say as much. */
GRAFT_EXPORT int cuMemcpy3DPeerAsync(void *p, void *stream) { return cuMemcpy3DAsync_v2(p, stream); }
GRAFT_EXPORT int cuMemcpy3DPeer(void *p) { return cuMemcpy3D_v2(p); }

static int copy2d(const void *p, void *stream, bool wait) {
  if (!p) return GRAFT_INVALID_VALUE;
  struct copy2d c;
  memcpy(&c, p, sizeof c);
  return copy3d((struct copy3d){.src_x = c.src_x,
                                .src_y = c.src_y,
                                .src_type = c.src_type,
                                .src_host = c.src_host,
                                .src_device = c.src_device,
                                .src_array = c.src_array,
                                .src_pitch = c.src_pitch,
                                .dst_x = c.dst_x,
                                .dst_y = c.dst_y,
                                .dst_type = c.dst_type,
                                .dst_host = c.dst_host,
                                .dst_device = c.dst_device,
                                .dst_array = c.dst_array,
                                .dst_pitch = c.dst_pitch,
                                .width = c.width,
                                .height = c.height,
                                .depth = 1},
                stream, wait);
}

GRAFT_EXPORT int cuMemcpy2D_v2(void *c) { return copy2d(c, NULL, true); }
GRAFT_EXPORT int cuMemcpy2DUnaligned_v2(void *c) { return copy2d(c, NULL, true); }
GRAFT_EXPORT int cuMemcpy2DAsync_v2(void *c, void *stream) { return copy2d(c, stream, false); }

GRAFT_EXPORT int cuMemcpy3D_v2(void *p) {
  if (!p) return GRAFT_INVALID_VALUE;
  struct copy3d c;
  memcpy(&c, p, sizeof c);
  return copy3d(c, NULL, true);
}

GRAFT_EXPORT int cuMemcpy3DAsync_v2(void *p, void *stream) {
  if (!p) return GRAFT_INVALID_VALUE;
  struct copy3d c;
  memcpy(&c, p, sizeof c);
  return copy3d(c, stream, false);
}

static int array_copy(void *array, size_t offset, void *host, size_t bytes, void *stream, bool to_array) {
  struct copy3d c = {.width = bytes, .height = 1, .depth = 1};
  if (to_array) {
    c.src_type = TYPE_HOST;
    c.src_host = host;
    c.dst_type = TYPE_ARRAY;
    c.dst_array = array;
    c.dst_x = offset;
  } else {
    c.src_type = TYPE_ARRAY;
    c.src_array = array;
    c.src_x = offset;
    c.dst_type = TYPE_HOST;
    c.dst_host = host;
  }
  return copy3d(c, stream, true);
}

GRAFT_EXPORT int cuMemcpyHtoA_v2(void *array, size_t offset, void *host, size_t bytes) {
  return array_copy(array, offset, host, bytes, NULL, true);
}
GRAFT_EXPORT int cuMemcpyAtoH_v2(void *host, void *array, size_t offset, size_t bytes) {
  return array_copy(array, offset, host, bytes, NULL, false);
}
GRAFT_EXPORT int cuMemcpyHtoAAsync_v2(void *array, size_t offset, void *host, size_t bytes, void *stream) {
  return array_copy(array, offset, host, bytes, stream, true);
}
GRAFT_EXPORT int cuMemcpyAtoHAsync_v2(void *host, void *array, size_t offset, size_t bytes, void *stream) {
  return array_copy(array, offset, host, bytes, stream, false);
}

/* ---- Pointer attributes (CUpointer_attribute) ---- */

static int pointer_attribute(void *data, int attribute, uint64_t pointer, bool strict) {
  struct graft_range range;
  bool known = graft_range_find(pointer, &range);
  bool managed = known && range.memory == GRAFT_MEMORY_MANAGED;
  bool device = known && (range.memory == GRAFT_MEMORY_DEVICE || managed);
  if (!known && strict) return GRAFT_INVALID_VALUE;
  switch (attribute) {
    case 1: /* CONTEXT */
      *(void **)data = known ? range.context : NULL;
      return 0;
    case 2: /* MEMORY_TYPE */
      *(unsigned *)data = !known ? 0 : device ? TYPE_DEVICE : TYPE_HOST;
      return 0;
    case 3: /* DEVICE_POINTER */
      *(uint64_t *)data = 0;
      if (known && !device) return cuMemHostGetDevicePointer_v2(data, (void *)(uintptr_t)pointer, 0);
      *(uint64_t *)data = known ? pointer : 0;
      return 0;
    case 4: /* HOST_POINTER */
      if (strict && device && !managed) return GRAFT_INVALID_VALUE;
      *(uint64_t *)data = known && (!device || managed) ? pointer : 0;
      return 0;
    case 6: /* SYNC_MEMOPS */
      *(unsigned *)data = 0;
      return 0;
    case 7: /* BUFFER_ID */
      *(uint64_t *)data = known ? range.serial : 0;
      return 0;
    case 8: /* IS_MANAGED */
      *(unsigned *)data = managed;
      return 0;
    case 9: /* DEVICE_ORDINAL; -2 is CU_DEVICE_INVALID */
      *(int *)data = known ? range.device : -2;
      return 0;
    case 10: /* IS_LEGACY_CUDA_IPC_CAPABLE */
    case 15: /* IS_GPU_DIRECT_RDMA_CAPABLE */
      *(unsigned *)data = 0;
      return 0;
    case 11: /* RANGE_START_ADDR */
      *(uint64_t *)data = known ? range.base : 0;
      return 0;
    case 12: /* RANGE_SIZE */
      *(size_t *)data = known ? range.bytes : 0;
      return 0;
    case 13: /* MAPPED */
      *(unsigned *)data = known;
      return 0;
    case 14: /* ALLOWED_HANDLE_TYPES */
      *(uint64_t *)data = 0;
      return 0;
    case 16: /* ACCESS_FLAGS: read and write */
      *(unsigned *)data = known ? 3 : 0;
      return 0;
    case 17: /* MEMPOOL_HANDLE */
      *(void **)data = NULL;
      return 0;
    case 18: /* MAPPING_SIZE */
      *(size_t *)data = known ? range.bytes : 0;
      return 0;
    case 19: /* MAPPING_BASE_ADDR */
      *(uint64_t *)data = known ? range.base : 0;
      return 0;
    case 20: /* MEMORY_BLOCK_ID */
      *(uint64_t *)data = known ? range.serial : 0;
      return 0;
    default:
      return strict ? GRAFT_INVALID_VALUE : GRAFT_NOT_SUPPORTED;
  }
}

GRAFT_EXPORT int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer) {
  int r = graft_ready();
  if (r) return r;
  return data ? pointer_attribute(data, attribute, pointer, true) : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuPointerGetAttributes(unsigned int count, void *attributes, void *data, uint64_t pointer) {
  int r = graft_ready();
  if (r) return r;
  if (!count || !attributes || !data) return GRAFT_INVALID_VALUE;
  for (unsigned i = 0; i < count && !r; i++) {
    r = pointer_attribute(((void **)data)[i], ((int *)attributes)[i], pointer, false);
  }
  return r;
}

GRAFT_EXPORT int cuPointerSetAttribute(void *value, int attribute, uint64_t pointer) {
  struct graft_range range;
  int r = graft_ready();
  if (r) return r;
  /* SYNC_MEMOPS: copies that the host does not wait for are synchronous already where it matters. */
  return value && attribute == 6 && graft_range_find(pointer, &range) ? GRAFT_OK : GRAFT_INVALID_VALUE;
}
