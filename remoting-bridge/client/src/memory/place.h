/* What a pointer of the program means for a copy or a fill. With unified addressing, pinned, registered and managed memory may be used wherever device memory may. Host memory is private while the device does not use it: only the program has its bytes, and copies send them. It is exposed when the device may read or write it by itself (a kernel, a graph, a fill in a capture). From then on it is mirrored (mirror.h), and the server copies between it and device memory in the order of the stream. On transports that share memory, pinned and managed memory is shared from the beginning. */
#ifndef GRAFT_PLACE_H
#define GRAFT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/ranges.h"

struct graft_object;

struct graft_place {
  enum graft_memory memory; /* NONE: pageable */
  uint64_t host;            /* where the program has it, 0 for device memory */
  uint64_t device;          /* where the server and the device have it, 0 if it is private */
  bool mirrored;            /* host and device are two copies */
  bool synchronous;         /* SYNC_MEMOPS: calls without a stream wait until they are done */
  uint64_t
      room; /* bytes from here to the end of the allocation, 0 if the client knows none; behind mapped memory there may be more of it */
};

/* The place of a pointer. A pointer that CUDA did not give out is device memory if says_device is set, else pageable memory. */
struct graft_place graft_place_of(uint64_t pointer, bool says_device);
/* INVALID_VALUE if the client must not touch these bytes of a place: they end behind an allocation of the program's, or are no memory of a program. Where the client took a pointer of unknown kind for pageable memory, there must be memory. */
int graft_place_check(const struct graft_place *place, uint64_t bytes, bool is_guess);
/* Whether these bytes of a place are all in memory that the client knows, if they are the device's. */
bool graft_place_is_known(const struct graft_place *place, uint64_t bytes);
/* The result of a call that was sent, on these bytes of a place. If they are not all in memory that the client knows, it waits for the server's result: freed memory and other wrong addresses are an error of this call, not of the next one that waits. */
int graft_place_confirm(const struct graft_place *place, uint64_t bytes, int r);
/* Whether a place is pageable, pinned or registered memory. */
bool graft_place_is_host(const struct graft_place *place);
/* What kind of memory a profiler calls it: enum graft_work_memory. */
uint8_t graft_place_work_memory(const struct graft_place *place);
/* Exposes a place to the device: all of a pinned or registered allocation; of pageable memory only these bytes, for the graph (or executable graph) whose node names them, to write or to read them. Without a graph, pageable memory is that of another server's session, and the caller announces the work on it. */
int graft_place_expose(struct graft_place *place, size_t bytes, bool writes, struct graft_object *graph);
/* Whether a stream may be waiting for the program, by a host function or a value, so that an asynchronous call must not wait for the stream. */
bool graft_streams_may_be_held(void);
/* Announces work that uses these bytes of a place; graft_mirrors_sent is to be called when the work is sent. */
void graft_place_announce(const struct graft_place *place, size_t bytes, bool writes, void *stream);
/* The place, on the device, at which a stream or a node of a graph reads or writes a value. The work is announced. */
int graft_place_of_value(uint64_t pointer, size_t bytes, bool writes, void *stream, struct graft_object *graph,
                         struct graft_place *place);

/* Puts the device's addresses into the operations of a batch (CUstreamBatchMemOpParams), and clears "known" if the client does not know one of them. The work is announced. */
#define GRAFT_OPERATION_BYTES 48u
#define GRAFT_MOST_OPERATIONS 256u
int graft_operations_place(uint8_t *operations, unsigned count, void *stream, struct graft_object *graph, bool *known);

#endif
