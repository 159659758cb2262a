#include "memory/ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/objects.h"
#include "session/parts.h"
#include "session/session.h"

static uint64_t last_serial; /* of the process: a program tells the memory of all sessions apart by it */

static struct graft_ranges *current(void) { return &graft_parts(graft_session_current())->ranges; }

/* Index of the first range with a base above the address. */
static size_t above(const struct graft_ranges *table, uint64_t address) {
  const struct graft_range *ranges = table->each;
  size_t low = 0, high = table->count;
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

/* Whether a range is of device memory that has ended unnoticed, as a variable ends with its module: the driver has given other memory its place. */
static bool is_replaced(const struct graft_range *range, const struct graft_range *by) {
  bool meet = range->base < by->base + by->bytes && by->base < range->base + range->bytes;
  return meet && range->base != by->base && range->memory == GRAFT_MEMORY_DEVICE && !range->of_graph;
}

static void remove_at(struct graft_ranges *table, size_t at) {
  memmove(table->each + at, table->each + at + 1, (table->count - at - 1) * sizeof *table->each);
  table->count--;
}

static void remove_replaced(struct graft_ranges *table, const struct graft_range *by) {
  size_t at = above(table, by->base);
  while (at < table->count && is_replaced(&table->each[at], by)) remove_at(table, at);
  if (at && is_replaced(&table->each[at - 1], by)) remove_at(table, at - 1);
}

void graft_range_add(const struct graft_range *range) {
  struct graft_ranges *table = current();
  pthread_rwlock_wrlock(&table->lock);
  if (range->memory == GRAFT_MEMORY_DEVICE && !range->of_graph) remove_replaced(table, range);
  if (table->count == table->room) {
    size_t grown = table->room ? 2 * table->room : 256;
    struct graft_range *p = realloc(table->each, grown * sizeof *p);
    if (!p) {
      pthread_rwlock_unlock(&table->lock);
      return;
    }
    table->each = p;
    table->room = grown;
  }
  size_t at = above(table, range->base);
  if (at && table->each[at - 1].base == range->base) {
    at--; /* a range at the same address is replaced */
  } else {
    memmove(table->each + at + 1, table->each + at, (table->count - at) * sizeof *table->each);
    table->count++;
  }
  table->each[at] = *range;
  table->each[at].ends = range->context ? range->context->u.context.ends : 0;
  table->each[at].serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
  pthread_rwlock_unlock(&table->lock);
}

void graft_range_view(uint64_t base, uint64_t view) {
  struct graft_ranges *table = current();
  struct graft_range range = {0};
  pthread_rwlock_wrlock(&table->lock);
  size_t at = above(table, base);
  if (at && table->each[at - 1].base == base) {
    table->each[at - 1].view = view;
    range = table->each[at - 1];
  }
  pthread_rwlock_unlock(&table->lock);
  if (range.bytes && view != base) {
    range.base = view;
    range.view = base;
    range.memory = GRAFT_MEMORY_ALIAS;
    graft_range_add(&range);
  }
}

bool graft_range_remove(uint64_t base, enum graft_memory memory, struct graft_range *out) {
  struct graft_ranges *table = current();
  pthread_rwlock_wrlock(&table->lock);
  size_t at = above(table, base);
  bool found = at && table->each[at - 1].base == base && table->each[at - 1].memory == memory;
  if (found) {
    if (out) *out = table->each[at - 1];
    remove_at(table, at - 1);
  }
  pthread_rwlock_unlock(&table->lock);
  return found;
}

void graft_range_remove_within(uint64_t base, uint64_t bytes) {
  struct graft_ranges *table = current();
  pthread_rwlock_wrlock(&table->lock);
  size_t kept = 0;
  for (size_t i = 0; i < table->count; i++) {
    bool within = table->each[i].memory == GRAFT_MEMORY_DEVICE && table->each[i].base - base < bytes;
    if (!within) table->each[kept++] = table->each[i];
  }
  table->count = kept;
  pthread_rwlock_unlock(&table->lock);
}

void graft_range_remove_of(const struct graft_object *context) {
  struct graft_ranges *table = &graft_parts(context->session)->ranges;
  pthread_rwlock_wrlock(&table->lock);
  size_t kept = 0;
  for (size_t i = 0; i < table->count; i++) {
    const struct graft_range *range = &table->each[i];
    bool ends =
        range->memory == GRAFT_MEMORY_DEVICE && range->context == context && !range->mapped && !range->of_graph && !range->lasts;
    if (!ends) table->each[kept++] = *range;
  }
  table->count = kept;
  pthread_rwlock_unlock(&table->lock);
}

bool graft_range_has_ended(const struct graft_range *range) {
  const struct graft_object *context = range->lasts ? NULL : range->context;
  return context && (context->u.context.destroyed || context->u.context.ends != range->ends);
}

static bool find(struct graft_ranges *table, uint64_t address, struct graft_range *out) {
  pthread_rwlock_rdlock(&table->lock);
  size_t at = above(table, address);
  bool found = at && address - table->each[at - 1].base < table->each[at - 1].bytes;
  if (found) *out = table->each[at - 1];
  pthread_rwlock_unlock(&table->lock);
  return found;
}

bool graft_range_find(uint64_t address, struct graft_range *out) { return find(current(), address, out); }

bool graft_range_meets(struct graft_ranges *table, uint64_t base, uint64_t bytes) {
  pthread_rwlock_rdlock(&table->lock);
  bool meets = false;
  for (size_t at = above(table, base); !meets && at < table->count && table->each[at].base - base < bytes; at++) {
    meets = table->each[at].memory == GRAFT_MEMORY_DEVICE;
  }
  size_t at = above(table, base);
  meets |= at && table->each[at - 1].memory == GRAFT_MEMORY_DEVICE && base - table->each[at - 1].base < table->each[at - 1].bytes;
  pthread_rwlock_unlock(&table->lock);
  return meets;
}

bool graft_range_find_anywhere(uint64_t address, struct graft_range *out) {
  bool found = graft_range_find(address, out);
  for (struct graft_session *s = graft_session_next(NULL); s && !found; s = graft_session_next(s)) {
    found = find(&graft_parts(s)->ranges, address, out);
  }
  return found;
}

void graft_range_synchronous(uint64_t base, bool synchronous) {
  struct graft_ranges *table = current();
  pthread_rwlock_wrlock(&table->lock);
  size_t at = above(table, base);
  if (at && table->each[at - 1].base == base) table->each[at - 1].synchronous = synchronous;
  pthread_rwlock_unlock(&table->lock);
}

void graft_range_hint(uint64_t base, const struct graft_hints *hints) {
  struct graft_ranges *table = current();
  pthread_rwlock_wrlock(&table->lock);
  size_t at = above(table, base);
  if (at && table->each[at - 1].base == base) table->each[at - 1].hints = *hints;
  pthread_rwlock_unlock(&table->lock);
}
