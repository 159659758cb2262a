/* Pitched and array copies. An operand is an array, memory that the server has, or private memory, which is sent packed. */
#include "memory/copy3d.h"

#include <stdlib.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "api/work.h"
#include "graft_rpc.h"
#include "memory/array.h"
#include "memory/copy.h"
#include "memory/elsewhere.h"
#include "memory/mirror.h"
#include "memory/place.h"
#include "session/session.h"

enum {
  TYPE_HOST = 1,
  TYPE_DEVICE = 2,
  TYPE_ARRAY = 3,
  TYPE_UNIFIED = 4
}; /* CUmemorytype; UNIFIED has its address where device memory has */

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

/* One side of a copy. */
struct side {
  bool array;
  struct graft_place place; /* of the first byte, unless it is an array */
  size_t bytes;             /* from there to the last one */
  size_t pitch, slice;
};

static struct side side_of(unsigned type, const void *host, uint64_t device, size_t x, size_t y, size_t z, size_t pitch,
                           size_t height, const struct copy3d *c) {
  if (type == TYPE_ARRAY) return (struct side){.array = true};
  struct side side = {.pitch = pitch, .slice = pitch * height};
  uint64_t base = type == TYPE_HOST ? (uintptr_t)host : device;
  size_t slices, rows;
  bool too_far = __builtin_mul_overflow(c->depth - 1, side.slice, &slices) || __builtin_mul_overflow(c->height - 1, pitch, &rows) ||
                 __builtin_add_overflow(slices, rows, &side.bytes) || __builtin_add_overflow(side.bytes, c->width, &side.bytes);
  if (too_far) side.bytes = SIZE_MAX;
  if (base) side.place = graft_place_of(base + z * side.slice + y * pitch + x, type == TYPE_DEVICE);
  return side;
}

static bool is_missing(const struct side *side) { return !side->array && !side->place.host && !side->place.device; }

/* Fills in what the descriptor leaves out, and finds its two sides. */
static int sides(struct copy3d *c, struct side *from, struct side *to) {
  size_t bytes;
  if (!c->src_type || !c->dst_type || c->src_type > TYPE_UNIFIED || c->dst_type > TYPE_UNIFIED ||
      __builtin_mul_overflow(c->width, c->height, &bytes) || __builtin_mul_overflow(bytes, c->depth, &bytes) || bytes >> 47) {
    return GRAFT_INVALID_VALUE;
  }
  if (!c->src_pitch) c->src_pitch = c->src_x + c->width;
  if (!c->dst_pitch) c->dst_pitch = c->dst_x + c->width;
  if (!c->src_height) c->src_height = c->src_y + c->height;
  if (!c->dst_height) c->dst_height = c->dst_y + c->height;
  *from = side_of(c->src_type, c->src_host, c->src_device, c->src_x, c->src_y, c->src_z, c->src_pitch, c->src_height, c);
  *to = side_of(c->dst_type, c->dst_host, c->dst_device, c->dst_x, c->dst_y, c->dst_z, c->dst_pitch, c->dst_height, c);
  if (is_missing(from) || is_missing(to)) return GRAFT_INVALID_VALUE;
  int r = from->array ? GRAFT_OK : graft_place_check(&from->place, from->bytes, c->src_type == TYPE_UNIFIED);
  return r || to->array ? r : graft_place_check(&to->place, to->bytes, c->dst_type == TYPE_UNIFIED);
}

/* Names a side by the device's address of its first byte, since a mirror may begin there. */
static void name_source(struct copy3d *c, const struct side *from) {
  c->src_host = NULL;
  if (from->array || !from->place.device) return;
  c->src_type = TYPE_DEVICE;
  c->src_device = from->place.device;
  c->src_x = c->src_y = c->src_z = 0;
}
static void name_target(struct copy3d *c, const struct side *to) {
  c->dst_host = NULL;
  if (to->array || !to->place.device) return;
  c->dst_type = TYPE_DEVICE;
  c->dst_device = to->place.device;
  c->dst_x = c->dst_y = c->dst_z = 0;
}

static int expose(struct side *side, bool writes, struct graft_object *graph) {
  return side->array ? GRAFT_OK : graft_place_expose(&side->place, side->bytes, writes, graph);
}

/* In a graph the device must have both sides. */
static int of_graph(struct graft_object *graph, struct copy3d *c, void **source, void **target) {
  struct side from, to;
  *source = c->src_type == TYPE_ARRAY ? c->src_array : NULL;
  *target = c->dst_type == TYPE_ARRAY ? c->dst_array : NULL;
  c->src_array = c->dst_array = NULL;
  if (!c->width || !c->height || !c->depth) return GRAFT_OK;
  int r = sides(c, &from, &to);
  if (!r) r = expose(&from, false, graph);
  if (!r) r = expose(&to, true, graph);
  if (r) return r;
  name_source(c, &from);
  name_target(c, &to);
  return GRAFT_OK;
}

int graft_copy_of_graph(struct graft_object *graph, uint8_t copy[200], void **source, void **target) {
  struct copy3d c;
  memcpy(&c, copy, sizeof c);
  int r = of_graph(graph, &c, source, target);
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

static void copy_rows(uint8_t *to, size_t to_pitch, size_t to_slice, const uint8_t *from, size_t from_pitch, size_t from_slice,
                      const struct copy3d *c) {
  for (size_t k = 0; k < c->depth; k++) {
    for (size_t j = 0; j < c->height; j++) {
      memmove(to + k * to_slice + j * to_pitch, from + k * from_slice + j * from_pitch, c->width);
    }
  }
}

static uint8_t *here(const struct side *side) { return (uint8_t *)(uintptr_t)side->place.host; }

static int host_to_host(const struct copy3d *c, const struct side *from, const struct side *to, void *stream) {
  int r = graft_stream_reach(stream);
  if (r) return r;
  if (!graft_reads_await(here(from), from->bytes) || !graft_reads_await(here(to), to->bytes)) return graft_dead();
  copy_rows(here(to), to->pitch, to->slice, here(from), from->pitch, from->slice, c);
  return GRAFT_OK;
}

/* Describes the packed side, whose rows follow each other. */
static int from_private(struct copy3d *c, const struct side *from, void *target, void *stream) {
  size_t bytes = c->width * c->height * c->depth;
  int r = graft_copy_settle(here(from), from->bytes, stream);
  if (r) return r;
  uint8_t *packed = malloc(bytes);
  if (!packed) return GRAFT_OUT_OF_MEMORY;
  copy_rows(packed, c->width, c->width * c->height, here(from), from->pitch, from->slice, c);
  c->src_type = TYPE_HOST;
  c->src_x = c->src_y = c->src_z = 0;
  c->src_pitch = c->width;
  c->src_height = c->height;
  r = rpc_graftCopy3D(c, NULL, target, packed, bytes, stream);
  free(packed);
  return r;
}

static int to_private(struct copy3d *c, const struct side *to, void *source, void *stream) {
  size_t bytes = c->width * c->height * c->depth;
  uint8_t *packed = malloc(bytes);
  if (!packed) return GRAFT_OUT_OF_MEMORY;
  c->dst_type = TYPE_HOST;
  c->dst_x = c->dst_y = c->dst_z = 0;
  c->dst_pitch = c->width;
  c->dst_height = c->height;
  graft_incoming(packed, bytes);
  int r = rpc_graftCopy3DRead(c, source, bytes, stream);
  if (!r && !graft_reads_await(here(to), to->bytes)) r = graft_dead();
  if (!r) copy_rows(here(to), to->pitch, to->slice, packed, c->width, c->width * c->height, c);
  free(packed);
  return r;
}

static void announce(const struct side *side, bool writes, void *stream) {
  if (!side->array) graft_place_announce(&side->place, side->bytes, writes, stream);
}

/* Waits for a synchronous copy if the program can see an operand, or has asked for it (SYNC_MEMOPS). */
static bool is_seen(const struct side *from, const struct side *to) {
  bool source = !from->array && ((from->place.device && from->place.host) || from->place.synchronous);
  return source || (!to->array && (to->place.host || to->place.synchronous));
}

static int copy3d(struct copy3d c, void *stream, bool wait);

/* The session of a side; NULL for host memory, and for what the client does not know. */
static struct graft_session *session_of(unsigned type, const void *host, uint64_t device, const void *array) {
  const struct graft_object *object = type == TYPE_ARRAY ? graft_object(GRAFT_ARRAY, array) : NULL;
  if (type == TYPE_ARRAY) return object ? object->session : NULL;
  return graft_session_of_memory(type == TYPE_HOST ? (uintptr_t)host : device);
}

/* Copies between two servers, through packed rows in this process. */
static int copy3d_between(struct copy3d c, struct graft_session *source, struct graft_session *target, void *stream) {
  size_t bytes;
  struct graft_visit visit;
  if (__builtin_mul_overflow(c.width, c.height, &bytes) || __builtin_mul_overflow(bytes, c.depth, &bytes) || bytes >> 47) {
    return GRAFT_INVALID_VALUE;
  }
  if (!bytes) return GRAFT_OK;
  if (graft_stream_captures(stream)) return GRAFT_STREAM_CAPTURE_UNSUPPORTED;
  uint8_t *packed = malloc(bytes);
  if (!packed) return GRAFT_OUT_OF_MEMORY;
  struct copy3d in = c, out = c;
  in.dst_type = out.src_type = TYPE_HOST;
  in.dst_host = packed;
  out.src_host = packed;
  in.dst_x = in.dst_y = in.dst_z = out.src_x = out.src_y = out.src_z = 0;
  in.dst_pitch = out.src_pitch = c.width;
  in.dst_height = out.src_height = c.height;
  int r;
  if (!graft_visit_begin(&visit, source, stream, &r))
    r = copy3d(in, stream, true);
  else if (!r)
    r = graft_visit_end(&visit, copy3d(in, visit.stream, true));
  if (!r && !graft_visit_begin(&visit, target, stream, &r))
    r = copy3d(out, stream, true);
  else if (!r)
    r = graft_visit_end(&visit, copy3d(out, visit.stream, true));
  free(packed);
  return r;
}

/* A copy of which a part belongs to another server than the current context. False if there is none. */
static bool copy3d_elsewhere(const struct copy3d *c, void *stream, bool wait, int *r) {
  struct graft_session *source = session_of(c->src_type, c->src_host, c->src_device, c->src_array);
  struct graft_session *target = session_of(c->dst_type, c->dst_host, c->dst_device, c->dst_array);
  struct graft_visit visit;
  if (source && target && source != target) {
    struct graft_object *context;
    *r = graft_context_need(&context);
    if (!*r) *r = copy3d_between(*c, source, target, stream);
    return true;
  }
  if (!graft_visit_begin(&visit, target ? target : source, stream, r)) return false;
  if (!*r) *r = graft_visit_end(&visit, copy3d(*c, visit.stream, wait || visit.settles));
  return true;
}

/* Whether a copy may go beyond an array, which the server's result tells. */
static bool is_beyond(const struct copy3d *c, void *source, void *target) {
  struct graft_box from = {c->src_x, c->src_y, c->src_z, c->width, c->height, c->depth};
  struct graft_box to = {c->dst_x, c->dst_y, c->dst_z, c->width, c->height, c->depth};
  return (source && !graft_array_holds(source, &from)) || (target && !graft_array_holds(target, &to));
}

static int copy3d(struct copy3d c, void *stream, bool wait) {
  GRAFT_IN_CONTEXT_OF(stream);
  int r;
  if (graft_several_servers && copy3d_elsewhere(&c, stream, wait, &r)) return r;
  struct graft_object *context;
  struct side from, to;
  void *source, *target;
  r = graft_context_need_for(stream, &context);
  if (r || !c.width || !c.height || !c.depth) return r;
  struct graft_object *graph = wait ? NULL : graft_stream_captures(stream);
  if (graph) {
    r = of_graph(graph, &c, &source, &target);
    return r ? r : rpc_graftCopy3D(&c, source, target, NULL, 0, stream);
  }
  source = c.src_type == TYPE_ARRAY ? c.src_array : NULL;
  target = c.dst_type == TYPE_ARRAY ? c.dst_array : NULL;
  c.src_array = c.dst_array = NULL;
  if ((r = sides(&c, &from, &to))) return r;
  if ((from.array && !source) || (to.array && !target)) return GRAFT_INVALID_VALUE;
  bool beyond = is_beyond(&c, source, target);
  bool host_source = !from.array && graft_place_is_host(&from.place), host_target = !to.array && graft_place_is_host(&to.place);
  if (host_source && host_target) return host_to_host(&c, &from, &to, stream);
  if (host_source && !wait && (r = graft_copy_defer(&from.place, from.bytes, stream))) return r;
  if (host_target && !wait && (r = graft_copy_defer_target(&to.place, to.bytes))) return r;
  if (!wait) graft_context_set_busy(context);
  bool waits = wait && is_seen(&from, &to);
  struct graft_work work = {.kind = GRAFT_WORK_COPY,
                            .stream = stream,
                            .bytes = c.width * c.height * c.depth,
                            .from = from.array ? GRAFT_WORK_ARRAY : graft_place_work_memory(&from.place),
                            .to = to.array ? GRAFT_WORK_ARRAY : graft_place_work_memory(&to.place)};
  struct graft_span *span = graft_work_begin(&work);
  name_source(&c, &from);
  name_target(&c, &to);
  announce(&from, false, stream);
  announce(&to, true, stream);
  if (!from.array && !from.place.device) {
    r = from_private(&c, &from, target, stream);
    waits |= wait && graft_copy_waits(&from.place, from.bytes);
  } else if (!to.array && !to.place.device) {
    r = to_private(&c, &to, source, stream);
    waits = false;
  } else {
    r = rpc_graftCopy3D(&c, source, target, NULL, 0, stream);
  }
  graft_mirrors_sent();
  graft_work_end(span, r);
  if (!wait) r = graft_copy_begun(&from.place, r);
  r = graft_place_confirm(&from.place, from.bytes, graft_place_confirm(&to.place, to.bytes, r));
  if (!r && beyond) r = graft_calls_executed();
  return r || !waits ? r : graft_stream_wait(stream);
}

/* CUDA_MEMCPY3D_PEER has contexts where CUDA_MEMCPY3D has reserved fields; the addresses identify the devices. */
GRAFT_EXPORT int cuMemcpy3DPeerAsync(void *p, void *stream) {
  int r = p ? graft_not_for_captures(stream) : GRAFT_OK;
  return r ? r : cuMemcpy3DAsync_v2(p, stream);
}
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

/* Of arrays of one dimension. */
GRAFT_EXPORT int cuMemcpyDtoA_v2(void *array, size_t offset, uint64_t from, size_t bytes) {
  return copy3d((struct copy3d){.src_type = TYPE_DEVICE,
                                .src_device = from,
                                .dst_type = TYPE_ARRAY,
                                .dst_array = array,
                                .dst_x = offset,
                                .width = bytes,
                                .height = 1,
                                .depth = 1},
                NULL, true);
}
GRAFT_EXPORT int cuMemcpyAtoD_v2(uint64_t to, void *array, size_t offset, size_t bytes) {
  return copy3d((struct copy3d){.src_type = TYPE_ARRAY,
                                .src_array = array,
                                .src_x = offset,
                                .dst_type = TYPE_DEVICE,
                                .dst_device = to,
                                .width = bytes,
                                .height = 1,
                                .depth = 1},
                NULL, true);
}

GRAFT_EXPORT int cuMemcpyAtoA_v2(void *to, size_t to_offset, void *from, size_t from_offset, size_t bytes) {
  return copy3d((struct copy3d){.src_type = TYPE_ARRAY,
                                .src_array = from,
                                .src_x = from_offset,
                                .dst_type = TYPE_ARRAY,
                                .dst_array = to,
                                .dst_x = to_offset,
                                .width = bytes,
                                .height = 1,
                                .depth = 1},
                NULL, true);
}

static int array_copy(void *array, size_t offset, void *host, size_t bytes, void *stream, bool wait, bool to_array) {
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
  return copy3d(c, stream, wait);
}

GRAFT_EXPORT int cuMemcpyHtoA_v2(void *array, size_t offset, void *host, size_t bytes) {
  return array_copy(array, offset, host, bytes, NULL, true, true);
}
GRAFT_EXPORT int cuMemcpyAtoH_v2(void *host, void *array, size_t offset, size_t bytes) {
  return array_copy(array, offset, host, bytes, NULL, true, false);
}
GRAFT_EXPORT int cuMemcpyHtoAAsync_v2(void *array, size_t offset, void *host, size_t bytes, void *stream) {
  return array_copy(array, offset, host, bytes, stream, false, true);
}
GRAFT_EXPORT int cuMemcpyAtoHAsync_v2(void *host, void *array, size_t offset, size_t bytes, void *stream) {
  return array_copy(array, offset, host, bytes, stream, false, false);
}
