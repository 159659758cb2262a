#include "memory/pending.h"

/* Whether a part is of the work of another one, so that what ends the later work ends the earlier, too. */
static bool is_alike(const struct graft_pending_part *a, const struct graft_pending_part *b) {
  return a->is_written == b->is_written && a->context == b->context && a->stream == b->stream;
}

/* Makes a part include another. */
static void include(struct graft_pending_part *part, const struct graft_pending_part *other) {
  if (other->from < part->from) part->from = other->from;
  if (other->to > part->to) part->to = other->to;
  if (other->work > part->work) part->work = other->work;
  if (other->stream != part->stream) part->stream = GRAFT_ANY_STREAM;
  if (other->context != part->context) part->context = NULL;
}

/* Joins the parts of each context, or of all, into one that is read and one that is written. */
static void join(struct graft_pending *pending, bool of_all) {
  unsigned kept = 0;
  for (unsigned i = 0; i < pending->count; i++) {
    struct graft_pending_part part = pending->parts[i];
    unsigned at = 0;
    while (at < kept &&
           (pending->parts[at].is_written != part.is_written || (!of_all && pending->parts[at].context != part.context)))
      at++;
    if (at < kept) {
      include(&pending->parts[at], &part);
    } else {
      pending->parts[kept++] = part;
    }
  }
  pending->count = kept;
}

void graft_behind_add(struct graft_behind *behind, struct graft_over over) {
  struct graft_over *least = NULL;
  for (unsigned i = 0; i < behind->count; i++) {
    struct graft_over *old = &behind->over[i];
    if (old->context == over.context && old->stream == over.stream) {
      if (over.work > old->work) old->work = over.work;
      return;
    }
    if (!least || old->work < least->work) least = old;
  }
  if (behind->count < GRAFT_MOST_BEHIND) {
    behind->over[behind->count++] = over;
  } else if (over.work > least->work) {
    *least = over;
  }
}

void graft_pending_add(struct graft_pending *pending, struct graft_pending_part part) {
  if (part.from >= part.to) return;
  for (unsigned i = 0; i < pending->count; i++) {
    struct graft_pending_part *old = &pending->parts[i];
    if (!is_alike(old, &part) || part.from > old->to || old->from > part.to) continue;
    include(old, &part);
    return;
  }
  if (pending->count == GRAFT_MOST_PENDING) join(pending, false);
  if (pending->count == GRAFT_MOST_PENDING) join(pending, true);
  pending->parts[pending->count++] = part;
}

void graft_pending_end(struct graft_pending *pending, const struct graft_over *over) {
  unsigned kept = 0;
  for (unsigned i = 0; i < pending->count; i++) {
    const struct graft_pending_part *part = &pending->parts[i];
    bool is_of_stream = part->context == over->context && (over->stream == GRAFT_ANY_STREAM || over->stream == part->stream);
    bool is_over = over->context && part->work <= over->work && (!part->work || is_of_stream);
    if (!is_over) pending->parts[kept++] = *part;
  }
  pending->count = kept;
}

void graft_pending_rename(struct graft_pending *pending, uint64_t stream) {
  for (unsigned i = 0; i < pending->count; i++) {
    if (pending->parts[i].stream == stream) pending->parts[i].stream = GRAFT_ANY_STREAM;
  }
}

const struct graft_pending_part *graft_pending_written(const struct graft_pending *pending, size_t from, size_t to) {
  for (unsigned i = 0; i < pending->count; i++) {
    const struct graft_pending_part *part = &pending->parts[i];
    if (part->is_written && part->from < to && from < part->to) return part;
  }
  return NULL;
}

bool graft_pending_next(const struct graft_pending *pending, bool only_written, size_t at, size_t *from, size_t *to) {
  bool found = false;
  for (unsigned i = 0; i < pending->count; i++) {
    const struct graft_pending_part *part = &pending->parts[i];
    if (part->to <= at || (only_written && !part->is_written)) continue;
    size_t start = part->from > at ? part->from : at;
    if (found && start >= *from) continue;
    *from = start;
    *to = part->to;
    found = true;
  }
  for (bool grown = found; grown;) {
    grown = false;
    for (unsigned i = 0; i < pending->count; i++) {
      const struct graft_pending_part *part = &pending->parts[i];
      if ((only_written && !part->is_written) || part->from > *to || part->to <= *to) continue;
      *to = part->to;
      grown = true;
    }
  }
  return found;
}
