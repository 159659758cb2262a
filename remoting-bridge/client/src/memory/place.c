#include "memory/place.h"

#include <pthread.h>

#include "api/rpc.h"
#include "api/streams.h"
#include "api/work.h"
#include "base/system.h"
#include "memory/elsewhere.h"
#include "memory/mirror.h"
#include "memory/pageable.h"
#include "memory/ranges.h"
#include "session/parts.h"
#include "session/session.h"

struct graft_place graft_place_of(uint64_t pointer, bool says_device) {
  struct graft_range range;
  bool known = graft_range_find(pointer, &range);
  if (known && range.memory == GRAFT_MEMORY_ALIAS) {
    pointer = range.view + (pointer - range.base);
    known = graft_range_find(pointer, &range);
  }
  if (!known && graft_several_servers && graft_host_memory_elsewhere(&pointer)) {
    return (struct graft_place){.memory = GRAFT_MEMORY_NONE, .host = pointer};
  }
  if (!known) {
    return says_device ? (struct graft_place){.memory = GRAFT_MEMORY_DEVICE, .device = pointer}
                       : (struct graft_place){.memory = GRAFT_MEMORY_NONE, .host = pointer};
  }
  if (range.memory == GRAFT_MEMORY_DEVICE) {
    return (struct graft_place){.memory = GRAFT_MEMORY_DEVICE,
                                .device = pointer,
                                .synchronous = range.synchronous,
                                .room = range.mapped ? UINT64_MAX : range.bytes - (pointer - range.base)};
  }
  uint64_t offset = pointer - range.base;
  return (struct graft_place){.memory = range.memory,
                              .host = pointer,
                              .device = range.view ? range.view + offset : 0,
                              .mirrored = range.view && !range.shared,
                              .synchronous = range.synchronous,
                              .room = range.bytes - offset};
}

#define USER_END (1ull << 47) /* of the addresses that Linux gives to programs */

int graft_place_check(const struct graft_place *place, uint64_t bytes, bool is_guess) {
  bool right = true;
  if (place->memory == GRAFT_MEMORY_PINNED || place->memory == GRAFT_MEMORY_MANAGED) {
    right = bytes <= place->room;
  } else if (place->memory == GRAFT_MEMORY_NONE && bytes) {
    const uint8_t *first = (const uint8_t *)(uintptr_t)place->host;
    right = place->host < USER_END && bytes <= USER_END - place->host;
    if (right && is_guess) right = graft_is_mapped(first, 1) && graft_is_mapped(first + bytes - 1, 1);
  }
  return right ? GRAFT_OK : GRAFT_INVALID_VALUE;
}

bool graft_place_is_known(const struct graft_place *place, uint64_t bytes) {
  return place->memory != GRAFT_MEMORY_DEVICE || bytes <= place->room;
}

int graft_place_confirm(const struct graft_place *place, uint64_t bytes, int r) {
  return r || graft_place_is_known(place, bytes) ? r : graft_calls_executed();
}

bool graft_place_is_host(const struct graft_place *place) {
  return place->memory == GRAFT_MEMORY_NONE || place->memory == GRAFT_MEMORY_PINNED || place->memory == GRAFT_MEMORY_REGISTERED;
}

uint8_t graft_place_work_memory(const struct graft_place *place) {
  if (place->memory == GRAFT_MEMORY_NONE) return GRAFT_WORK_PAGEABLE;
  if (place->memory == GRAFT_MEMORY_MANAGED) return GRAFT_WORK_MANAGED;
  return graft_place_is_host(place) ? GRAFT_WORK_PINNED : GRAFT_WORK_DEVICE;
}

bool graft_streams_may_be_held(void) { return graft_values_are_waited_for() || graft_callbacks_may_come(); }

static int expose_range(uint64_t pointer) {
  struct graft_range range;
  pthread_mutex_t *exposing = &graft_parts(graft_session_current())->ranges.exposing;
  int r = GRAFT_OK;
  pthread_mutex_lock(exposing);
  if (!graft_range_find(pointer, &range)) {
    r = GRAFT_INVALID_VALUE;
  } else if (!range.view) {
    void *base = (void *)(uintptr_t)range.base;
    /* Data of earlier copies has to arrive first. */
    uint64_t view = graft_reads_await(base, range.bytes) ? graft_mirror_of(base, range.bytes) : 0;
    if (view) {
      graft_range_view(range.base, view);
    } else {
      r = graft_dead() ? graft_dead() : GRAFT_OUT_OF_MEMORY;
    }
  }
  pthread_mutex_unlock(exposing);
  return r;
}

int graft_place_expose(struct graft_place *place, size_t bytes, bool writes, struct graft_object *graph) {
  if (place->device) return GRAFT_OK;
  if (place->memory == GRAFT_MEMORY_NONE) {
    const void *host = (void *)(uintptr_t)place->host;
    place->mirrored = true;
    if (graph) return graft_pageable_of(graph, host, bytes, writes, &place->device);
    place->device = graft_mirror_of_pageable(host, bytes, 0);
    return place->device ? GRAFT_OK : GRAFT_OUT_OF_MEMORY;
  }
  int r = expose_range(place->host);
  if (!r) *place = graft_place_of(place->host, false);
  return r;
}

void graft_place_announce(const struct graft_place *place, size_t bytes, bool writes, void *stream) {
  if (place->mirrored) graft_mirror_announce(place->device, bytes, writes, stream);
}

int graft_place_of_value(uint64_t pointer, size_t bytes, bool writes, void *stream, struct graft_object *graph,
                         struct graft_place *place) {
  *place = graft_place_of(pointer, true);
  int r = graft_place_expose(place, bytes, writes, graph);
  if (!r) graft_place_announce(place, bytes, writes, stream);
  return r;
}
