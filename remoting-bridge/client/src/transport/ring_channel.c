#include "transport/ring_channel.h"

#include <errno.h>
#include <stdlib.h>

#define FAR_BELL_NANOSECONDS 3000000u

const struct graft_ring_layout graft_region_layout = {GRAFT_REQUESTS, GRAFT_REQUESTS_DATA, GRAFT_ANSWERS, GRAFT_ANSWERS_DATA,
                                                      GRAFT_RING_BYTES};

bool graft_ring_channel_open(struct graft_connection *connection, uint8_t *memory, const struct graft_ring_layout *layout,
                             struct graft_events events, bool bell_is_far) {
  struct graft_ring_channel *channel = calloc(1, sizeof *channel);
  if (!channel) return false;
  graft_ring_open(&channel->requests, memory + layout->requests, memory + layout->requests_data, layout->bytes);
  graft_ring_open(&channel->answers, memory + layout->answers, memory + layout->answers_data, layout->bytes);
  channel->bell = (struct graft_bell){connection->fd, events};
  channel->bell_is_far = bell_is_far;
  connection->state = channel;
  return true;
}

void graft_ring_channel_close(struct graft_connection *connection) {
  free(connection->state);
  connection->state = NULL;
}

ssize_t graft_ring_channel_try(const struct graft_connection *connection, void *to, size_t bytes) {
  struct graft_ring_channel *channel = connection->state;
  ssize_t n = graft_ring_read(&channel->answers, to, bytes);
  if (n > 0) return n;
  errno = n ? EPROTO : EAGAIN;
  return -1;
}

bool graft_ring_channel_wait(const struct graft_connection *connection, uint64_t waited_nanoseconds) {
  struct graft_ring_channel *channel = connection->state;
  if (channel->bell_is_far && waited_nanoseconds < FAR_BELL_NANOSECONDS) {
    graft_ring_nap(waited_nanoseconds);
    return true;
  }
  return graft_ring_sleep(&channel->answers, &channel->bell);
}

void graft_ring_channel_requests(const struct graft_connection *connection, struct graft_ring *ring, struct graft_bell *bell) {
  const struct graft_ring_channel *channel = connection->state;
  *ring = channel->requests;
  *bell = channel->bell;
}
