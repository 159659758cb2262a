/* Reads: what the program has asked for and does not have yet. A program may queue thousands: they are found by what they are
 * called, and by where they go in a tree of those that meet no other; the few that do are in a list.
 */
#include <search.h>

#include "graft.h"

#define BUCKETS 1024

static struct graft_read *buckets[BUCKETS], *meeting;
static void *disjoint; /* a tree */
static size_t count;

static struct graft_read **bucket(uint64_t identity) { return &buckets[identity % BUCKETS]; }

/* The same where two meet: in the tree none do. */
static int compare(const void *left, const void *right) {
  const struct graft_read *l = left, *r = right;
  return l->to + l->bytes <= r->to ? -1 : r->to + r->bytes <= l->to;
}

static bool in_list(const struct graft_read *but, const struct graft_read *place) {
  for (const struct graft_read *r = meeting; r; r = r->next_meeting) {
    if (r != but && !compare(r, place)) return true;
  }
  return false;
}

void graft_reads_add(struct graft_read *r) {
  struct graft_read **first = bucket(r->identity), **node = NULL;
  r->next = *first;
  *first = r;
  r->meets = !r->bytes || in_list(NULL, r) || !(node = tsearch(r, &disjoint, compare)) || *node != r;
  if (r->meets) {
    r->next_meeting = meeting;
    meeting = r;
  }
  __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
}

struct graft_read *graft_reads_find(uint64_t identity) {
  struct graft_read *r = *bucket(identity);
  while (r && r->identity != identity) r = r->next;
  return r;
}

void graft_reads_remove(struct graft_read *r) {
  struct graft_read **p = bucket(r->identity);
  while (*p != r) p = &(*p)->next;
  *p = r->next;
  if (r->meets) {
    for (p = &meeting; *p != r;) p = &(*p)->next_meeting;
    *p = r->next_meeting;
  } else {
    tdelete(r, &disjoint, compare);
  }
  __atomic_store_n(&count, count - 1, __ATOMIC_RELEASE);
}

bool graft_reads_meet(const struct graft_read *but, const void *memory, size_t bytes) {
  struct graft_read place = {.to = (uint8_t *)memory, .bytes = bytes};
  struct graft_read **node = but && !but->meets ? NULL : tfind(&place, &disjoint, compare);
  return node || in_list(but, &place);
}

size_t graft_reads_count(void) { return __atomic_load_n(&count, __ATOMIC_ACQUIRE); }
