#include "transport/ring.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "transport/xen.h"

void graft_ring_open(struct graft_ring *ring, uint8_t *control, uint8_t *data, size_t bytes) {
  ring->control = (struct graft_ring_control *)control;
  ring->data = data;
  ring->bytes = bytes;
  ring->position = ring->tail = 0;
}

static bool peer_gone(const struct graft_bell *bell) {
  struct pollfd p = {.fd = bell->socket, .events = POLLRDHUP};
  return poll(&p, 1, 0) > 0;
}

/* False if the peer is gone. */
static bool ring_bell(const struct graft_bell *bell) {
  if (bell->events.fd >= 0) {
    struct ioctl_evtchn_notify notify = {bell->events.port};
    return !ioctl(bell->events.fd, IOCTL_EVTCHN_NOTIFY, &notify);
  }
  char one = 1;
  return send(bell->socket, &one, 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 || errno == EAGAIN;
}

/* The room in the ring. The consumer's position is read again only if the last known one leaves too little. */
static size_t room(struct graft_ring *ring, size_t wanted) {
  uint64_t used = ring->position - ring->tail;
  if (ring->bytes - used >= wanted) return ring->bytes - used;
  ring->tail = __atomic_load_n(&ring->control->tail, __ATOMIC_ACQUIRE);
  used = ring->position - ring->tail;
  return used > ring->bytes ? SIZE_MAX : ring->bytes - used;
}

uint8_t *graft_ring_reserve(struct graft_ring *ring, size_t bytes) {
  size_t at = ring->position % ring->bytes, free_bytes = room(ring, bytes);
  if (ring->bytes - at < bytes || free_bytes < bytes || free_bytes == SIZE_MAX) return NULL;
  return ring->data + at;
}

bool graft_ring_publish(struct graft_ring *ring, size_t bytes) {
  ring->position += bytes;
  /* Sequentially consistent: either the consumer sees the new head, or the producer sees that the consumer sleeps. */
  __atomic_store_n(&ring->control->head, ring->position, __ATOMIC_SEQ_CST);
  return __atomic_load_n(&ring->control->asleep, __ATOMIC_SEQ_CST);
}

bool graft_ring_wake(struct graft_ring *ring, const struct graft_bell *bell) {
  if (!__atomic_exchange_n(&ring->control->asleep, 0, __ATOMIC_SEQ_CST)) return true;
  return ring_bell(bell);
}

bool graft_ring_write(struct graft_ring *ring, const struct graft_bell *bell, const void *data, size_t bytes) {
  const uint8_t *from = data;
  unsigned full = 0;
  while (bytes) {
    size_t free_bytes = room(ring, 1);
    if (free_bytes == SIZE_MAX) return false;
    if (!free_bytes) {
      /* The consumer is far behind: poll less often. */
      struct timespec pause = {0, 20000};
      if (++full % 64 == 0 && peer_gone(bell)) return false;
      if (full > 100) nanosleep(&pause, NULL);
      continue;
    }
    size_t at = ring->position % ring->bytes;
    size_t take = bytes < free_bytes ? bytes : free_bytes;
    if (take > ring->bytes - at) take = ring->bytes - at;
    memcpy(ring->data + at, from, take);
    from += take;
    bytes -= take;
    if (graft_ring_publish(ring, take) && !graft_ring_wake(ring, bell)) return false;
  }
  return true;
}

ssize_t graft_ring_peek(struct graft_ring *ring, const uint8_t **data) {
  uint64_t have = __atomic_load_n(&ring->control->head, __ATOMIC_ACQUIRE) - ring->position;
  if (have > ring->bytes) return -1;
  size_t at = ring->position % ring->bytes;
  *data = ring->data + at;
  return (ssize_t)(have > ring->bytes - at ? ring->bytes - at : have);
}

void graft_ring_take(struct graft_ring *ring, size_t bytes) {
  ring->position += bytes;
  __atomic_store_n(&ring->control->tail, ring->position, __ATOMIC_RELEASE);
}

ssize_t graft_ring_read(struct graft_ring *ring, void *to, size_t bytes) {
  const uint8_t *data;
  ssize_t have = graft_ring_peek(ring, &data);
  if (have <= 0) return have;
  size_t take = bytes < (size_t)have ? bytes : (size_t)have;
  memcpy(to, data, take);
  graft_ring_take(ring, take);
  return (ssize_t)take;
}

bool graft_ring_doze(struct graft_ring *ring) {
  __atomic_store_n(&ring->control->asleep, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ring->control->head, __ATOMIC_SEQ_CST) == ring->position) return true;
  __atomic_store_n(&ring->control->asleep, 0, __ATOMIC_SEQ_CST);
  return false;
}

void graft_ring_nap(uint64_t waited_nanoseconds) {
  uint64_t length = waited_nanoseconds / 8;
  if (length < 10000) length = 10000;
  if (length > 200000) length = 200000;
  struct timespec pause = {0, (long)length};
  nanosleep(&pause, NULL);
}

bool graft_ring_sleep(struct graft_ring *ring, const struct graft_bell *bell) {
  if (!graft_ring_doze(ring)) return true;
  struct pollfd p[] = {{.fd = bell->socket, .events = POLLIN}, {.fd = bell->events.fd, .events = POLLIN}};
  if (poll(p, 2, -1) < 0) return errno == EINTR;
  uint32_t port; /* there is only one; it sends no event until it is written back */
  if (p[1].revents && read(p[1].fd, &port, sizeof port) == sizeof port && write(p[1].fd, &port, sizeof port) < 0) return false;
  if (!p[0].revents) return true;
  char bells[64];
  ssize_t n = recv(bell->socket, bells, sizeof bells, MSG_DONTWAIT);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}
