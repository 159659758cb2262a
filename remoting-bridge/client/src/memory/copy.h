/* Shared by copies of one and of several dimensions. */
#ifndef GRAFT_COPY_H
#define GRAFT_COPY_H

#include "memory/place.h"

/* Returns when no copy that was queued before still writes this private memory, which the calling thread is about to read or write in place of the stream. */
int graft_copy_settle(const void *private, size_t bytes, void *stream);
/* For an asynchronous copy: exposes the source if something may write it before the stream reaches the copy, so that it is read only then. */
int graft_copy_defer(struct graft_place *from, size_t bytes, void *stream);

/* The result of an asynchronous copy that was sent. If the server reads host memory in place, it waits until the server has given the copy to the driver, as the call has natively when it returns: programs such as NVIDIA's nvJPEG 11.8 write that memory right after the call. Other host memory has been sent when the call returns. */
int graft_copy_begun(const struct graft_place *from, int r);
/* Exposes the target of an asynchronous copy if a stream may be held up, so that the call need not wait for the data. */
int graft_copy_defer_target(struct graft_place *to, size_t bytes);
/* Whether a synchronous copy of private memory to the device must be waited for. A copy of pinned memory must; a copy of more than 64 KiB of pageable memory must if earlier work is not over ("API synchronization behavior"). */
bool graft_copy_waits(const struct graft_place *from, size_t bytes);

#endif
