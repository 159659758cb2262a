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

/* The doorbell where there are event channels of Xen. */
struct graft_events {
  int fd; /* -1 without */
  uint32_t port;
};

/* How the peer is woken: by a byte on a socket, or by an event. The end of the socket is the end of the peer. */
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
  uint64_t position; /* our own: head of a producer, tail of a consumer */
  uint64_t tail;     /* a producer's: the consumer's position when it last looked */
};

void graft_ring_open(struct graft_ring *ring, uint8_t *control, uint8_t *data, size_t bytes);
/* Room for this many bytes at one place, to be filled and published; NULL if the ring has none just now. */
uint8_t *graft_ring_reserve(struct graft_ring *ring, size_t bytes);
/* Shows the consumer the bytes that were put where graft_ring_reserve said. True if the consumer sleeps: graft_ring_wake wakes it. */
bool graft_ring_publish(struct graft_ring *ring, size_t bytes);
/* Rings the bell of a consumer that sleeps. False if the peer is gone. */
bool graft_ring_wake(struct graft_ring *ring, const struct graft_bell *bell);
/* The bytes that can be read at one place, without taking them; 0 if there are none, -1 if the peer's position is impossible. */
ssize_t graft_ring_peek(struct graft_ring *ring, const uint8_t **data);
/* Takes bytes that graft_ring_peek showed. */
void graft_ring_take(struct graft_ring *ring, size_t bytes);
/* Puts bytes in; waits while the ring is full. False if the peer is gone or lies. */
bool graft_ring_write(struct graft_ring *ring, const struct graft_bell *bell, const void *data, size_t bytes);
/* Takes up to this many bytes; 0 if there are none now, -1 if the peer's position is impossible. */
ssize_t graft_ring_read(struct graft_ring *ring, void *to, size_t bytes);
/* Says that the consumer sleeps from now on. False if something has come meanwhile. */
bool graft_ring_doze(struct graft_ring *ring);
/* Sleeps a little before the next look, the longer the more time has gone by. */
void graft_ring_nap(uint64_t waited_nanoseconds);
/* Sleeps until there may be something to read. False if the peer is gone. */
bool graft_ring_sleep(struct graft_ring *ring, const struct graft_bell *bell);

#endif
