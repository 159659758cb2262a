/* Fills. Those without a stream are synchronous if the program can see the memory ("API synchronization behavior": fills of pinned and of managed memory are synchronous). The client waits for them, since a wait in the server's driver would hold up the session's other calls. */
#include <string.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "api/work.h"
#include "graft_rpc.h"
#include "memory/elsewhere.h"
#include "memory/mirror.h"
#include "memory/place.h"
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

/* Whether the server must fill the memory; else the fill is done, and *r is its result. */
static bool begin(uint64_t *to, size_t pitch, const void *value, size_t size, size_t width, size_t height, void *stream, bool wait,
                  bool *is_seen, int *r) {
  struct graft_object *context;
  struct graft_place place = graft_place_of(*to, true);
  size_t bytes = width && height ? pitch * (height - 1) + width * size : 0;
  *is_seen = place.host || place.synchronous;
  if ((*r = graft_context_need_for(stream, &context))) return false;
  if (bytes && !*to) *r = GRAFT_INVALID_VALUE;
  if (!*r) *r = graft_place_check(&place, bytes, false);
  if (*r) return false;
  /* An asynchronous call must not wait for something that the program does after it. */
  bool queued = !wait && bytes && !place.device && graft_streams_may_be_held();
  struct graft_object *graph = place.device ? NULL : graft_stream_captures(stream);
  if ((queued || graph) && (*r = graft_place_expose(&place, bytes, graph))) return false;
  if (!place.device && (*to % size || (height > 1 && (pitch % size || pitch < width * size)))) *r = GRAFT_INVALID_VALUE;
  if (!place.device) {
    if (!*r && bytes) *r = fill_here(place.host, pitch, value, size, width, height, stream);
    return false;
  }
  if (!wait) graft_context_set_busy(context);
  graft_place_announce(&place, bytes, true, stream);
  *to = place.device;
  return true;
}

static int end(int r, bool is_seen, bool wait) {
  graft_mirrors_sent();
  return r || !is_seen || !wait ? r : cuStreamSynchronize(NULL);
}

#define FILL(bits, type)                                                                                                          \
  static int fill##bits(uint64_t to, size_t pitch, type value, size_t width, size_t height, void *stream, bool wait, bool rows) { \
    int r;                                                                                                                        \
    bool seen;                                                                                                                    \
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
    if (!begin(&to, pitch, &value, sizeof value, width, height, stream, wait, &seen, &r)) {                                       \
      graft_work_drop(span);                                                                                                      \
      return r;                                                                                                                   \
    }                                                                                                                             \
    if (wait && !seen) {                                                                                                          \
      r = rows ? rpc_cuMemsetD2D##bits##_v2(to, pitch, value, width, height) : rpc_cuMemsetD##bits##_v2(to, value, width);        \
    } else {                                                                                                                      \
      r = rows ? rpc_cuMemsetD2D##bits##Async(to, pitch, value, width, height, stream)                                            \
               : rpc_cuMemsetD##bits##Async(to, value, width, stream);                                                            \
    }                                                                                                                             \
    graft_work_end(span, r);                                                                                                      \
    return end(r, seen, wait);                                                                                                    \
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
