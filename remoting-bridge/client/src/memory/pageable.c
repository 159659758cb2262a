#include "memory/pageable.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "api/objects.h"
#include "api/rpc.h"
#include "memory/mirror.h"

struct graft_pageable_list {
  struct graft_pageable *first;
  unsigned graphs; /* that have this list */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct graft_pageable_list **place_in(struct graft_object *graph) {
  return graph->kind == GRAFT_EXEC ? &graph->u.exec.parts : &graph->u.graph.parts;
}

/* The graph's list, which is made if there is none. NULL if there is no memory for it. Called with the lock held. */
static struct graft_pageable_list *list_of(struct graft_object *graph) {
  struct graft_pageable_list **list = place_in(graph);
  if (!*list && (*list = calloc(1, sizeof **list))) (*list)->graphs = 1;
  return *list;
}

/* Called with the lock held. */
static void leave(struct graft_object *graph) {
  struct graft_pageable_list *list = *place_in(graph);
  *place_in(graph) = NULL;
  if (!list || --list->graphs) return;
  while (list->first) {
    struct graft_pageable *part = list->first;
    list->first = part->next;
    free(part);
  }
  free(list);
}

static bool overlap(const struct graft_pageable *part, const uint8_t *host, size_t bytes) {
  return part->host < host + bytes && host < part->host + part->bytes;
}

/* How far the device's addresses are from the program's, which tells mirrors of the same bytes apart. */
static uint64_t distance(const struct graft_pageable *part) { return part->device - (uintptr_t)part->host; }

/* Adds a part, unless the list has it. Called with the lock held. */
static int add(struct graft_pageable_list *list, const struct graft_pageable *part) {
  if (!list) return GRAFT_OUT_OF_MEMORY;
  bool has = false;
  for (const struct graft_pageable *p = list->first; p; p = p->next) {
    if (!overlap(p, part->host, part->bytes)) continue;
    bool is_same = distance(p) == distance(part);
    if (!is_same && (p->is_written || part->is_written)) return GRAFT_NOT_SUPPORTED;
    has |= is_same && p->is_written >= part->is_written && p->host <= part->host && part->host + part->bytes <= p->host + p->bytes;
  }
  struct graft_pageable *added = has ? NULL : malloc(sizeof *added);
  if (!added) return has ? GRAFT_OK : GRAFT_OUT_OF_MEMORY;
  *added = *part;
  added->next = list->first;
  list->first = added;
  return GRAFT_OK;
}

static int refused(int r) {
  return r == GRAFT_NOT_SUPPORTED
             ? graft_not_served(
                   "pageable memory of which a graph writes one part and uses another that overlaps it (pinned "
                   "memory is)")
             : r;
}

/* A part that overlaps one of the graph's gets the same mirror. It needs it if one of both is written; any other part may have any mirror. */
int graft_pageable_of(struct graft_object *graph, const void *host, size_t bytes, bool writes, uint64_t *device) {
  uint64_t wanted = 0;
  bool is_needed = false;
  pthread_mutex_lock(&lock);
  const struct graft_pageable_list *list = *place_in(graph);
  for (const struct graft_pageable *p = list ? list->first : NULL; p && !is_needed; p = p->next) {
    if (!overlap(p, host, bytes)) continue;
    wanted = distance(p) + (uintptr_t)host;
    is_needed = writes || p->is_written;
  }
  pthread_mutex_unlock(&lock);
  struct graft_pageable part = {.host = host, .bytes = bytes, .is_written = writes};
  part.device = graft_mirror_of_pageable(host, bytes, wanted);
  if (!part.device && is_needed) return refused(GRAFT_NOT_SUPPORTED);
  if (!part.device && wanted) part.device = graft_mirror_of_pageable(host, bytes, 0);
  if (!part.device) return GRAFT_OUT_OF_MEMORY;
  pthread_mutex_lock(&lock);
  int r = add(list_of(graph), &part);
  pthread_mutex_unlock(&lock);
  *device = part.device;
  return refused(r);
}

int graft_pageable_copy(struct graft_object *to, const struct graft_object *from) {
  int r = GRAFT_OK;
  pthread_mutex_lock(&lock);
  const struct graft_pageable_list *source = *place_in((struct graft_object *)from);
  for (const struct graft_pageable *p = source ? source->first : NULL; p && !r; p = p->next) r = add(list_of(to), p);
  pthread_mutex_unlock(&lock);
  return refused(r);
}

void graft_pageable_share(struct graft_object *part, struct graft_object *whole) {
  pthread_mutex_lock(&lock);
  struct graft_pageable_list *list = list_of(whole);
  if (list && *place_in(part) != list) {
    leave(part);
    *place_in(part) = list;
    list->graphs++;
  }
  pthread_mutex_unlock(&lock);
}

void graft_pageable_drop(struct graft_object *graph) {
  pthread_mutex_lock(&lock);
  leave(graph);
  pthread_mutex_unlock(&lock);
}

const struct graft_pageable *graft_pageable_parts(const struct graft_object *exec) {
  return exec->u.exec.parts ? exec->u.exec.parts->first : NULL;
}
