/* Reads: data that the program has asked for and that has not arrived. The caller makes sure that one thread at a time uses a list. */
#ifndef GRAFT_READS_H
#define GRAFT_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_read {
  struct graft_read *next, *next_meeting;
  bool meets; /* its memory may overlap that of another read */
  uint64_t identity;
  uint8_t *to;
  size_t bytes;
  size_t announced, arrived; /* bytes that answers have announced; bytes in memory. A data connection may overtake its answer */
  int writers;               /* threads that receive into it */
};

#define GRAFT_READ_BUCKETS 1024

/* All zero at first. */
struct graft_reads {
  struct graft_read *buckets[GRAFT_READ_BUCKETS], *meeting;
  void *disjoint; /* a tree */
  size_t count;
};

void graft_reads_add(struct graft_reads *reads, struct graft_read *read);
/* NULL if there is none. */
struct graft_read *graft_reads_find(const struct graft_reads *reads, uint64_t identity);
void graft_reads_remove(struct graft_reads *reads, struct graft_read *read);
/* Whether any read, or any but that one, writes to a part of this memory. */
bool graft_reads_meet(const struct graft_reads *reads, const struct graft_read *but, const void *memory, size_t bytes);
/* Any thread may ask. */
static inline size_t graft_reads_count(const struct graft_reads *reads) { return __atomic_load_n(&reads->count, __ATOMIC_ACQUIRE); }

#endif
