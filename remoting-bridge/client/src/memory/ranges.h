/* A sorted table of the memory that CUDA has returned to the program, to classify pointers. Each session has a table, since two
 * servers may return the same addresses. The functions use the table of the calling thread's session unless stated otherwise. */
#ifndef GRAFT_RANGES_H
#define GRAFT_RANGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;

enum graft_memory {
  GRAFT_MEMORY_NONE,
  GRAFT_MEMORY_DEVICE,
  GRAFT_MEMORY_PINNED,
  GRAFT_MEMORY_REGISTERED,
  GRAFT_MEMORY_MANAGED,
  GRAFT_MEMORY_ALIAS, /* where the device has a mirror of pinned or registered memory that the program has elsewhere */
};
/* Advice about managed memory (managed.c); places are devices, -1 the host, -2 none. */
struct graft_hints {
  bool read_mostly, fetched;
  int home, reader, fetched_to;
};
struct graft_range {
  uint64_t base;
  uint64_t bytes;
  enum graft_memory memory;
  unsigned flags;
  int device;
  struct graft_object *context;
  uint64_t serial;
  unsigned ends;    /* of the context, when the memory was made: set by graft_range_add */
  bool lasts;       /* of a library's variable or of a pool, which no context ends */
  unsigned opened;  /* of another process's memory: how many times it was opened */
  bool mapped;      /* virtual memory, which further mappings may follow without a gap */
  bool of_graph;    /* comes and goes with the launches of a graph */
  uint64_t view;    /* of host memory: the device's address, 0 without; of an alias: the program's address */
  bool shared;      /* program and device share the memory, without a mirror */
  bool synchronous; /* SYNC_MEMOPS: copies and fills without a stream wait until they are done */
  struct graft_hints hints;
};
struct graft_ranges {
  pthread_rwlock_t lock; /* guards the table */
  struct graft_range *each;
  size_t count, room;
  pthread_mutex_t exposing; /* held while a range is exposed to the device (place.c), so that no memory gets two mirrors */
};

void graft_range_add(const struct graft_range *range);
bool graft_range_remove(uint64_t base, enum graft_memory memory, struct graft_range *out);
/* Removes device memory that begins within these bytes. */
void graft_range_remove_within(uint64_t base, uint64_t bytes);
/* Removes the device memory of a context, which ends with it. Reserved addresses and the memory of graphs and pools do not. */
void graft_range_remove_of(const struct graft_object *context);
/* Whether a range's context is gone. Pinned and managed memory is readable and writable until the program frees it, but is no longer CUDA's. */
bool graft_range_has_ended(const struct graft_range *range);
bool graft_range_find(uint64_t address, struct graft_range *out);
/* The same in any session; the calling thread's comes first. */
bool graft_range_find_anywhere(uint64_t address, struct graft_range *out);
/* Whether a table has device memory within these bytes. */
bool graft_range_meets(struct graft_ranges *table, uint64_t base, uint64_t bytes);
void graft_range_hint(uint64_t base, const struct graft_hints *hints);
void graft_range_synchronous(uint64_t base, bool synchronous);
/* Sets the device's address of host memory. */
void graft_range_view(uint64_t base, uint64_t view);

#endif
