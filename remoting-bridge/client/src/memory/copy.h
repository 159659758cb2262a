/* What copies of one dimension and of several have in common. */
#ifndef GRAFT_COPY_H
#define GRAFT_COPY_H

#include "memory/place.h"

/* Before the program's own thread reads or writes private memory in the place of a stream: returns when no copy that was queued
 * before still writes it. */
int graft_copy_settle(const void *private, size_t bytes, void *stream);
/* For a copy that is not waited for: if something may write its source before the stream comes to it, the source is exposed, and
 * looked at when the stream is there. */
int graft_copy_defer(struct graft_place *from, size_t bytes, void *stream);

/* The same for its target, which a stream would write only when it is there. */
int graft_copy_defer_target(struct graft_place *to, size_t bytes);
/* Whether a copy of private memory to the device that is not asynchronous has to be waited for: that of pinned memory is
 * synchronous, that of pageable memory waits for the work before it, except for up to 64 KiB ("API synchronization behavior"). */
bool graft_copy_waits(const struct graft_place *from, size_t bytes);

#endif
