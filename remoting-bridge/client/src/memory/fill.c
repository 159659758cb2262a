/* Fills. Those without a stream are synchronous if the program can see the memory ("API synchronization behavior": fills of pinned and of managed memory are synchronous). The client waits for them, since a wait in the server's driver would hold up the session's other calls. */
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "api/work.h"
#include "graft_rpc.h"
#include "memory/elsewhere.h"
#include "memory/mirror.h"
#include "memory/place.h"
#include "memory/virtual.h"
#include "session/session.h"

/* Fills private memory in the calling thread once the stream has reached the fill. */
static int fill_here(uint64_t to, size_t pitch, const void *value, size_t size, size_t width, size_t height, void *stream) {
  int r = graft_stream_reach(stream);
  if (r) return r;
  if (!graft_reads_await((void *)(uintptr_t)to, pitch * (height - 1) + width * size)) return graft_dead();
  for (size_t y = 0; y < height; y++) {
    uint8_t *at = (uint8_t *)(uintptr_t)to + y * pitch;
    for (size_t x = 0; x < width; x++) memcpy(at + x * size, value, size);
  }
  return GRAFT_OK;
}

/* From the first byte to the last; SIZE_MAX if no memory is so large. */
static size_t extent(size_t pitch, size_t size, size_t width, size_t height) {
  size_t rows, row, bytes;
  if (!width || !height) return 0;
  bool too_far = __builtin_mul_overflow(pitch, height - 1, &rows) || __builtin_mul_overflow(width, size, &row) ||
                 __builtin_add_overflow(rows, row, &bytes);
  return too_far ? SIZE_MAX : bytes;
}

/* Whether the server must fill the memory; else the fill is done, and *r is its result. */
static bool begin(uint64_t *to, size_t pitch, const void *value, size_t size, size_t width, size_t height, void *stream, bool wait,
                  size_t bytes, struct graft_place *of, int *r) {
  struct graft_object *context;
  struct graft_place place = graft_place_of(*to, true);
  *of = place;
  if ((*r = graft_context_need_for(stream, &context))) return false;
  if (bytes && !*to) *r = GRAFT_INVALID_VALUE;
  if (!*r) *r = graft_place_check(&place, bytes, false);
  if (*r) return false;
  /* An asynchronous call must not wait for something that the program does after it. */
  bool queued = !wait && bytes && !place.device && graft_streams_may_be_held();
  struct graft_object *graph = place.device ? NULL : graft_stream_captures(stream);
  if ((queued || graph) && (*r = graft_place_expose(&place, bytes, true, graph))) return false;
  if (!place.device && (*to % size || (height > 1 && (pitch % size || pitch < width * size)))) *r = GRAFT_INVALID_VALUE;
  if (!place.device) {
    if (!*r && bytes) *r = fill_here(place.host, pitch, value, size, width, height, stream);
    return false;
  }
  /* A capture takes any address, which only the instantiation of its graph needs: XLA captures what cuDNN does without a workspace, to look at its kernels. */
  if (!wait && bytes && place.memory == GRAFT_MEMORY_DEVICE && !place.room && graft_stream_captures(stream)) {
    uint64_t nowhere = graft_nowhere(place.device, bytes);
    if (nowhere) place.device = nowhere;
  }
  if (!wait) graft_context_set_busy(context);
  graft_place_announce(&place, bytes, true, stream);
  *to = place.device;
  return true;
}

static bool is_seen(const struct graft_place *place) { return place->host || place->synchronous; }

static int end(int r, const struct graft_place *place, size_t bytes, bool wait) {
  graft_mirrors_sent();
  r = graft_place_confirm(place, bytes, r);
  return r || !is_seen(place) || !wait ? r : graft_stream_wait(NULL);
}

#define FILL(bits, type)                                                                                                          \
  static int fill##bits(uint64_t to, size_t pitch, type value, size_t width, size_t height, void *stream, bool wait, bool rows) { \
    int r;                                                                                                                        \
    GRAFT_IN_CONTEXT_OF(stream);                                                                                                  \
    size_t bytes = extent(pitch, sizeof value, width, height);                                                                    \
    struct graft_place place;                                                                                                     \
    struct graft_visit visit;                                                                                                     \
    if (graft_several_servers && graft_visit_begin(&visit, graft_session_of_memory(to), stream, &r)) {                            \
      return r ? r : graft_visit_end(&visit, fill##bits(to, pitch, value, width, height, visit.stream, wait, rows));              \
    }                                                                                                                             \
    struct graft_work work = {.kind = GRAFT_WORK_FILL,                                                                            \
                              .stream = stream,                                                                                   \
                              .bytes = width * height * sizeof value,                                                             \
                              .value = value,                                                                                     \
                              .to = GRAFT_WORK_DEVICE};                                                                           \
    struct graft_span *span = graft_work_begin(&work);                                                                            \
    if (!begin(&to, pitch, &value, sizeof value, width, height, stream, wait, bytes, &place, &r)) {                               \
      graft_work_drop(span);                                                                                                      \
      return r;                                                                                                                   \
    }                                                                                                                             \
    if (wait && !is_seen(&place)) {                                                                                               \
      r = rows ? rpc_cuMemsetD2D##bits##_v2(to, pitch, value, width, height) : rpc_cuMemsetD##bits##_v2(to, value, width);        \
    } else {                                                                                                                      \
      r = rows ? rpc_cuMemsetD2D##bits##Async(to, pitch, value, width, height, stream)                                            \
               : rpc_cuMemsetD##bits##Async(to, value, width, stream);                                                            \
    }                                                                                                                             \
    graft_work_end(span, r);                                                                                                      \
    return end(r, &place, bytes, wait);                                                                                           \
  }                                                                                                                               \
  GRAFT_EXPORT int cuMemsetD##bits##_v2(uint64_t to, type value, size_t count) {                                                  \
    return fill##bits(to, 0, value, count, 1, NULL, true, false);                                                                 \
  }                                                                                                                               \
  GRAFT_EXPORT int cuMemsetD##bits##Async(uint64_t to, type value, size_t count, void *stream) {                                  \
    return fill##bits(to, 0, value, count, 1, stream, false, false);                                                              \
  }                                                                                                                               \
  GRAFT_EXPORT int cuMemsetD2D##bits##_v2(uint64_t to, size_t pitch, type value, size_t width, size_t height) {                   \
    return fill##bits(to, pitch, value, width, height, NULL, true, true);                                                         \
  }                                                                                                                               \
  GRAFT_EXPORT int cuMemsetD2D##bits##Async(uint64_t to, size_t pitch, type value, size_t width, size_t height, void *stream) {   \
    return fill##bits(to, pitch, value, width, height, stream, false, true);                                                      \
  }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
