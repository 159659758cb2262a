/* A program may have thousands of reads under way. They are found by identity in buckets, and by address in a tree, which holds the reads that overlap no other. The few that overlap another are in a list. */
#include "session/reads.h"

#include <search.h>

static struct graft_read **bucket(struct graft_reads *reads, uint64_t identity) {
  return &reads->buckets[identity % GRAFT_READ_BUCKETS];
}

/* Ranges that overlap are equal; those in the tree never overlap. */
static int compare(const void *left, const void *right) {
  const struct graft_read *l = left, *r = right;
  return l->to + l->bytes <= r->to ? -1 : r->to + r->bytes <= l->to;
}

static bool in_list(const struct graft_reads *reads, const struct graft_read *but, const struct graft_read *place) {
  for (const struct graft_read *r = reads->meeting; r; r = r->next_meeting) {
    if (r != but && !compare(r, place)) return true;
  }
  return false;
}

void graft_reads_add(struct graft_reads *reads, struct graft_read *r) {
  struct graft_read **first = bucket(reads, r->identity), **node = NULL;
  r->next = *first;
  *first = r;
  r->meets = !r->bytes || in_list(reads, NULL, r) || !(node = tsearch(r, &reads->disjoint, compare)) || *node != r;
  if (r->meets) {
    r->next_meeting = reads->meeting;
    reads->meeting = r;
  }
  __atomic_store_n(&reads->count, reads->count + 1, __ATOMIC_RELEASE);
}

struct graft_read *graft_reads_find(const struct graft_reads *reads, uint64_t identity) {
  struct graft_read *r = reads->buckets[identity % GRAFT_READ_BUCKETS];
  while (r && r->identity != identity) r = r->next;
  return r;
}

void graft_reads_remove(struct graft_reads *reads, struct graft_read *r) {
  struct graft_read **p = bucket(reads, r->identity);
  while (*p != r) p = &(*p)->next;
  *p = r->next;
  if (r->meets) {
    for (p = &reads->meeting; *p != r;) p = &(*p)->next_meeting;
    *p = r->next_meeting;
  } else {
    tdelete(r, &reads->disjoint, compare);
  }
  __atomic_store_n(&reads->count, reads->count - 1, __ATOMIC_RELEASE);
}

bool graft_reads_meet(const struct graft_reads *reads, const struct graft_read *but, const void *memory, size_t bytes) {
  struct graft_read place = {.to = (uint8_t *)memory, .bytes = bytes};
  struct graft_read **node = but && !but->meets ? NULL : tfind(&place, &reads->disjoint, compare);
  return node || in_list(reads, but, &place);
}
