/* A byte stream between two processes through shared memory: one ring each way, and a doorbell.
 *
 * A ring's control has its positions and flags in cache lines of their own; on shm and ivshmem a header page is before them.
 * Positions count bytes since the start and never wrap; the peer's are checked after they are read, so that a peer that
 * writes nonsense ends its own session and nothing else.
 */
#ifndef GRAFT_RING_H
#define GRAFT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GRAFT_REGION_MAGIC 0x48535247u /* "GRSH" */
#define GRAFT_REGION_VERSION 1
#define GRAFT_REGION_BYTES (1ull << 40) /* sparse: memory is used as it is touched */
#define GRAFT_RING_BYTES (4u << 20)
#define GRAFT_REQUESTS 4096 /* control of the ring from client to server */
#define GRAFT_ANSWERS 8192  /* control of the ring from server to client */
#define GRAFT_REQUESTS_DATA (1u << 20)
#define GRAFT_ANSWERS_DATA (GRAFT_REQUESTS_DATA + GRAFT_RING_BYTES)
#define GRAFT_REGION_CONTROL (GRAFT_ANSWERS_DATA + GRAFT_RING_BYTES) /* what both ends map at once */

/* The doorbell where Xen's event channels are used. */
struct graft_events {
  int fd; /* -1 without */
  uint32_t port;
};

/* How the peer is woken: by a byte on a socket, or by an event. When the socket is closed, the peer is gone. */
struct graft_bell {
  int socket;
  struct graft_events events;
};

struct graft_ring_control {
  uint64_t head; /* written by the producer */
  uint8_t pad0[56];
  uint64_t tail; /* written by the consumer */
  uint8_t pad1[56];
  uint32_t asleep; /* set by the consumer before it waits for the doorbell */
  uint8_t pad2[60];
};

struct graft_ring {
  struct graft_ring_control *control;
  uint8_t *data;
  size_t bytes;      /* a power of two */
  uint64_t position; /* this end's position: head of a producer, tail of a consumer */
  uint64_t tail;     /* of a producer: the consumer's position when it was last read */
};

void graft_ring_open(struct graft_ring *ring, uint8_t *control, uint8_t *data, size_t bytes);
/* Contiguous room for this many bytes, to be filled and published. NULL if the ring has none at the moment. */
uint8_t *graft_ring_reserve(struct graft_ring *ring, size_t bytes);
/* Publishes bytes that were written where graft_ring_reserve said. True if the consumer sleeps and must be woken by graft_ring_wake. */
bool graft_ring_publish(struct graft_ring *ring, size_t bytes);
/* Rings the bell of a consumer that sleeps. False if the peer is gone. */
bool graft_ring_wake(struct graft_ring *ring, const struct graft_bell *bell);
/* The contiguous bytes that can be read, without taking them. 0 if there are none, -1 if the peer's position is impossible. */
ssize_t graft_ring_peek(struct graft_ring *ring, const uint8_t **data);
/* Takes bytes that graft_ring_peek returned. */
void graft_ring_take(struct graft_ring *ring, size_t bytes);
/* Writes bytes; waits while the ring is full. False if the peer is gone or its position is impossible. */
bool graft_ring_write(struct graft_ring *ring, const struct graft_bell *bell, const void *data, size_t bytes);
/* Takes up to this many bytes; 0 if there are none now, -1 if the peer's position is impossible. */
ssize_t graft_ring_read(struct graft_ring *ring, void *to, size_t bytes);
/* Marks the consumer as asleep. False if data has arrived meanwhile. */
bool graft_ring_doze(struct graft_ring *ring);
/* Sleeps before the next poll, longer the more time has passed. */
void graft_ring_nap(uint64_t waited_nanoseconds);
/* Sleeps until there may be something to read. False if the peer is gone. */
bool graft_ring_sleep(struct graft_ring *ring, const struct graft_bell *bell);

#endif
