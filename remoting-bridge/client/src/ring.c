#include "ring.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

void graft_ring_open(struct graft_ring *ring, uint8_t *region, size_t control, size_t data) {
  ring->control = (struct graft_ring_control *)(region + control);
  ring->data = region + data;
  ring->position = 0;
}

static bool peer_gone(int doorbell) {
  struct pollfd p = {.fd = doorbell, .events = 0};
  return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR);
}

bool graft_ring_write(struct graft_ring *ring, int doorbell, const void *data, size_t bytes) {
  const uint8_t *from = data;
  unsigned full = 0;
  while (bytes) {
    uint64_t used = ring->position - __atomic_load_n(&ring->control->tail, __ATOMIC_ACQUIRE);
    if (used > GRAFT_RING_BYTES) return false;
    size_t room = GRAFT_RING_BYTES - used;
    if (!room) {
      /* The other end is far behind: this is no time to hurry. */
      struct timespec pause = {0, 20000};
      if (++full % 64 == 0 && peer_gone(doorbell)) return false;
      if (full > 100) nanosleep(&pause, NULL);
      continue;
    }
    size_t at = ring->position % GRAFT_RING_BYTES;
    size_t take = bytes < room ? bytes : room;
    if (take > GRAFT_RING_BYTES - at) take = GRAFT_RING_BYTES - at;
    memcpy(ring->data + at, from, take);
    ring->position += take;
    from += take;
    bytes -= take;
    /* Sequentially consistent: either the consumer sees the new head, or we see that it sleeps. */
    __atomic_store_n(&ring->control->head, ring->position, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->control->asleep, __ATOMIC_SEQ_CST) &&
        __atomic_exchange_n(&ring->control->asleep, 0, __ATOMIC_SEQ_CST)) {
      char bell = 1;
      if (send(doorbell, &bell, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN) return false;
    }
  }
  return true;
}

ssize_t graft_ring_read(struct graft_ring *ring, void *to, size_t bytes) {
  uint64_t have = __atomic_load_n(&ring->control->head, __ATOMIC_ACQUIRE) - ring->position;
  if (!have) return 0;
  if (have > GRAFT_RING_BYTES) return -1;
  size_t at = ring->position % GRAFT_RING_BYTES;
  size_t take = bytes < have ? bytes : (size_t)have;
  if (take > GRAFT_RING_BYTES - at) take = GRAFT_RING_BYTES - at;
  memcpy(to, ring->data + at, take);
  ring->position += take;
  __atomic_store_n(&ring->control->tail, ring->position, __ATOMIC_RELEASE);
  return (ssize_t)take;
}

bool graft_ring_sleep(struct graft_ring *ring, int doorbell) {
  __atomic_store_n(&ring->control->asleep, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&ring->control->head, __ATOMIC_SEQ_CST) != ring->position) {
    __atomic_store_n(&ring->control->asleep, 0, __ATOMIC_SEQ_CST);
    return true;
  }
  struct pollfd p = {.fd = doorbell, .events = POLLIN};
  char bells[64];
  if (poll(&p, 1, -1) < 0) return errno == EINTR;
  ssize_t n = recv(doorbell, bells, sizeof bells, MSG_DONTWAIT);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}
