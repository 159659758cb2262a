/* Shared by the transports with rings: one ring in each direction, in memory that client and server map, and a doorbell. */
#ifndef GRAFT_RING_CHANNEL_H
#define GRAFT_RING_CHANNEL_H

#include "transport/ring.h"
#include "transport/transport.h"

/* Reading the clock costs about as much as polling a ring so many times. */
#define GRAFT_RING_TRIES 64

/* graft_connection.state of such a transport. */
struct graft_ring_channel {
  struct graft_ring requests, answers;
  struct graft_bell bell; /* wakes the server, and is rung by it */
  bool bell_is_far;       /* it goes through the guest's network, so that threads poll the ring for longer */
};

/* Where the rings are within memory that both ends map. */
struct graft_ring_layout {
  size_t requests, requests_data, answers, answers_data, bytes;
};

/* Opens the rings of a connection; events.fd is -1 where its socket is the doorbell. False without memory. */
bool graft_ring_channel_open(struct graft_connection *connection, uint8_t *memory, const struct graft_ring_layout *layout,
                             struct graft_events events, bool bell_is_far);
/* The rings that lie in a region (ring.h). */
extern const struct graft_ring_layout graft_region_layout;

/* Operations of a transport. */
void graft_ring_channel_close(struct graft_connection *connection);
ssize_t graft_ring_channel_try(const struct graft_connection *connection, void *to, size_t bytes);
bool graft_ring_channel_wait(const struct graft_connection *connection, uint64_t waited_nanoseconds);
void graft_ring_channel_requests(const struct graft_connection *connection, struct graft_ring *ring, struct graft_bell *bell);

#endif
