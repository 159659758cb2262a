/* The parts of a mirror that queued work may read or write and that is not known to be over. */
#ifndef GRAFT_PENDING_H
#define GRAFT_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;

#define GRAFT_ANY_STREAM UINT64_MAX
#define GRAFT_MOST_PENDING 32u

struct graft_pending_part {
  size_t from, to; /* offsets */
  bool is_written;
  uint64_t work;                /* the number of the last work on it; 0 for what any wait ends */
  uint64_t stream;              /* the stream of all its work, or GRAFT_ANY_STREAM */
  struct graft_object *context; /* the context of all its work, NULL for several */
};

struct graft_pending {
  unsigned count;
  struct graft_pending_part parts[GRAFT_MOST_PENDING];
};

/* Work that a wait has shown to be over: up to a number, that of one stream or of the whole context. */
struct graft_over {
  struct graft_object *context; /* NULL: none */
  uint64_t stream;              /* GRAFT_ANY_STREAM: all of the context */
  uint64_t work;
};

#define GRAFT_MOST_BEHIND 8u

/* Work of several streams that is over at some point. */
struct graft_behind {
  unsigned count;
  struct graft_over over[GRAFT_MOST_BEHIND];
};

/* Adds what is over. If there are too many streams, the one with the earliest work is left out. */
void graft_behind_add(struct graft_behind *behind, struct graft_over over);

/* Adds a part. If there are too many, those of each context become one that is read and one that is written, from their first byte to their last. */
void graft_pending_add(struct graft_pending *pending, struct graft_pending_part part);
/* Drops the parts whose work is over. */
void graft_pending_end(struct graft_pending *pending, const struct graft_over *over);
/* A stream is gone whose id another one may get: a wait for that one does not end the work of this one. */
void graft_pending_rename(struct graft_pending *pending, uint64_t stream);
/* A part between two offsets that work may write, or NULL. */
const struct graft_pending_part *graft_pending_written(const struct graft_pending *pending, size_t from, size_t to);
/* The next bytes from an offset on that work may use, or only write, however many parts have them. False if there are none. */
bool graft_pending_next(const struct graft_pending *pending, bool only_written, size_t at, size_t *from, size_t *to);

#endif
