/* The pump: the thread that sends requests, on transports whose server does not read the ring of requests itself. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/system.h"
#include "session/state.h"
#include "transport/transport.h"

/* The pump polls so many times longer than a thread that waits for an answer, since a program's next call often follows soon. */
#define PUMP_SPINS 4

/* Sends the contents of the ring up to a position. Called with pump_lock held. False if there was nothing to send. */
static bool drain(struct graft_session *s, uint64_t end) {
  const struct graft_connection *c = &s->connection;
  bool any = false;
  const uint8_t *data;
  ssize_t have;
  while (s->pump.position < end && (have = graft_ring_peek(&s->pump, &data)) > 0) {
    any = true;
    ssize_t n = graft_session_dead(s) ? have : c->transport->send(c, data, (size_t)have, false);
    if (n > 0) {
      graft_ring_take(&s->pump, (size_t)n);
    } else if (errno != EINTR) {
      graft_session_die(s, "sending failed", errno);
    }
  }
  return any;
}

static void *pump(void *session) {
  struct graft_session *s = session;
  uint64_t idle_since = graft_now();
  pthread_mutex_lock(&s->pump_lock);
  for (;;) {
    if (drain(s, UINT64_MAX)) {
      idle_since = graft_now();
    } else if (graft_now() - idle_since < (uint64_t)s->config.spin_microseconds * PUMP_SPINS * 1000) {
      sched_yield();
    } else if (graft_ring_doze(&s->pump)) {
      pthread_mutex_unlock(&s->pump_lock);
      char bells[64];
      s->connection.transport->before_sleep(&s->connection, s->pump_bell);
      if (recv(s->pump_bell, bells, sizeof bells, 0) < 0 && errno != EINTR) {
        graft_session_die(s, "the sending thread cannot wait", errno);
      }
      pthread_mutex_lock(&s->pump_lock);
      idle_since = graft_now();
    }
  }
  return NULL;
}

void graft_pump_push(struct graft_session *s, uint64_t end) {
  uint64_t sent = __atomic_load_n(&s->requests.control->tail, __ATOMIC_RELAXED);
  bool may_send = end - sent <= s->connection.transport->sends_alone;
  if (may_send && !pthread_mutex_trylock(&s->pump_lock)) {
    drain(s, end);
    pthread_mutex_unlock(&s->pump_lock);
  } else if (__atomic_load_n(&s->requests.control->asleep, __ATOMIC_SEQ_CST)) {
    graft_ring_wake(&s->requests, &s->bell);
  }
}

bool graft_pump_start(struct graft_session *s) {
  int bells[2];
  uint8_t *memory = mmap(NULL, GRAFT_REGION_CONTROL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells)) return false;
  graft_ring_open(&s->requests, memory + GRAFT_REQUESTS, memory + GRAFT_REQUESTS_DATA, GRAFT_RING_BYTES);
  graft_ring_open(&s->pump, memory + GRAFT_REQUESTS, memory + GRAFT_REQUESTS_DATA, GRAFT_RING_BYTES);
  s->bell = (struct graft_bell){.socket = bells[0], .events.fd = -1};
  s->pump_bell = bells[1];
  return graft_start_thread(pump, s);
}
