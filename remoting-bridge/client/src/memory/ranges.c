/* What every pointer is that a program got from CUDA: a sorted table of ranges. */
#include "memory/ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct graft_range *ranges;
static size_t count, room;
static uint64_t last_serial;

/* Index of the first range with a base above the address. */
static size_t above(uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (ranges[middle].base <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void graft_range_add(const struct graft_range *range) {
  pthread_rwlock_wrlock(&lock);
  if (count == room) {
    size_t grown = room ? 2 * room : 256;
    struct graft_range *p = realloc(ranges, grown * sizeof *p);
    if (!p) {
      pthread_rwlock_unlock(&lock);
      return;
    }
    ranges = p;
    room = grown;
  }
  size_t at = above(range->base);
  if (at && ranges[at - 1].base == range->base) {
    at--; /* the same address again: it replaces what was there */
  } else {
    memmove(ranges + at + 1, ranges + at, (count - at) * sizeof *ranges);
    count++;
  }
  ranges[at] = *range;
  ranges[at].serial = ++last_serial;
  pthread_rwlock_unlock(&lock);
}

void graft_range_view(uint64_t base, uint64_t view) {
  struct graft_range range = {0};
  pthread_rwlock_wrlock(&lock);
  size_t at = above(base);
  if (at && ranges[at - 1].base == base) {
    ranges[at - 1].view = view;
    range = ranges[at - 1];
  }
  pthread_rwlock_unlock(&lock);
  if (range.bytes && view != base) {
    range.base = view;
    range.view = base;
    range.memory = GRAFT_MEMORY_ALIAS;
    graft_range_add(&range);
  }
}

bool graft_range_remove(uint64_t base, enum graft_memory memory, struct graft_range *out) {
  pthread_rwlock_wrlock(&lock);
  size_t at = above(base);
  bool found = at && ranges[at - 1].base == base && ranges[at - 1].memory == memory;
  if (found) {
    if (out) *out = ranges[at - 1];
    memmove(ranges + at - 1, ranges + at, (count - at) * sizeof *ranges);
    count--;
  }
  pthread_rwlock_unlock(&lock);
  return found;
}

void graft_range_remove_within(uint64_t base, uint64_t bytes) {
  pthread_rwlock_wrlock(&lock);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    bool within = ranges[i].memory == GRAFT_MEMORY_DEVICE && ranges[i].base - base < bytes;
    if (!within) ranges[kept++] = ranges[i];
  }
  count = kept;
  pthread_rwlock_unlock(&lock);
}

bool graft_range_find(uint64_t address, struct graft_range *out) {
  pthread_rwlock_rdlock(&lock);
  size_t at = above(address);
  bool found = at && address - ranges[at - 1].base < ranges[at - 1].bytes;
  if (found) *out = ranges[at - 1];
  pthread_rwlock_unlock(&lock);
  return found;
}

void graft_range_synchronous(uint64_t base, bool synchronous) {
  pthread_rwlock_wrlock(&lock);
  size_t at = above(base);
  if (at && ranges[at - 1].base == base) ranges[at - 1].synchronous = synchronous;
  pthread_rwlock_unlock(&lock);
}

void graft_range_hint(uint64_t base, const struct graft_hints *hints) {
  pthread_rwlock_wrlock(&lock);
  size_t at = above(base);
  if (at && ranges[at - 1].base == base) ranges[at - 1].hints = *hints;
  pthread_rwlock_unlock(&lock);
}
