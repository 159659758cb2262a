/* What a pointer of the program's means for a copy or a fill: with unified addressing pinned, registered and managed memory may
 * stand wherever device memory may.
 *
 * Host memory is private as long as the device has no use for it: then its bytes are with the program alone, and copies carry
 * them. It is exposed when the device may read or write it by itself (a kernel, a graph, a fill in a capture): from then on
 * it is mirrored (mirror.h), and copies with device memory happen at the server, in the order of their stream. On transports
 * that share memory, pinned and managed memory is shared from the beginning. */
#ifndef GRAFT_PLACE_H
#define GRAFT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/ranges.h"

struct graft_place {
  enum graft_memory memory; /* NONE: pageable */
  uint64_t host;            /* where the program has it, 0 for device memory */
  uint64_t device;          /* where the server and the device have it, 0 if it is private */
  bool mirrored;            /* those are two memories */
  bool synchronous;         /* SYNC_MEMOPS: calls without a stream wait for what they do there */
};

/* The place of a pointer. One that CUDA did not give out is device memory if the program says so, else pageable. */
struct graft_place graft_place_of(uint64_t pointer, bool says_device);
/* Pageable, pinned or registered: not managed, and not the device's. */
bool graft_place_is_host(const struct graft_place *place);
/* Exposes a place to the device: all of pinned or registered memory; of pageable memory so many bytes, for graphs alone. */
int graft_place_expose(struct graft_place *place, size_t bytes);
/* Whether the program decides when some stream goes on, by a host function or a value: then an asynchronous call must not wait. */
bool graft_streams_may_be_held(void);
/* To be called before work is sent that uses so many bytes of a place; graft_mirrors_sent is to be called when it is sent. */
void graft_place_announce(const struct graft_place *place, size_t bytes, bool writes, void *stream);
/* The device's address of a pointer that a stream reads or writes a value at; announced. */
int graft_place_of_value(uint64_t pointer, size_t bytes, bool writes, void *stream, uint64_t *device);

/* Puts the device's addresses into operations of a batch (CUstreamBatchMemOpParams), announced. */
#define GRAFT_OPERATION_BYTES 48u
#define GRAFT_MOST_OPERATIONS 256u
int graft_operations_place(uint8_t *operations, unsigned count, void *stream);

#endif
