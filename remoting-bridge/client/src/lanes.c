/* Lanes: connections of the session for bulk data, so that one TCP stream is not the limit.
 *
 * A call whose data travels here says so in its record (session.c) and counts as a transfer; data of a read is announced
 * by an answer. The data itself goes in pieces, each behind a header, on whichever lane is free: a thread for each lane
 * sends, another receives.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "graft.h"
#include "ucx.h"

#define MOST_LANES 16
#define SMALLEST_PIECE (128u << 10)
#define LARGEST_PIECE (1u << 20)
#define LARGEST_UCX_PIECE (8u << 20)
#define MOST_BEGUN 8 /* pieces on their way at once on a lane, where the channel has several */
/* How long a lane's threads look for the next piece after one, and a thread for the next of its data to leave, giving way to
 * others, before they sleep: to be woken costs 0.2 to 0.4 ms in a virtual machine. Not where CPUs are few. */
#define LANE_YIELD_NANOSECONDS 1000000u
#define DONE_YIELD_NANOSECONDS 10000000u

struct head {
  uint64_t identity; /* number of the transfer, or of the read */
  uint64_t offset, bytes;
};

/* A piece that is on its way. */
struct begun {
  struct graft_transfer *of;
  size_t bytes;
  uint64_t mark; /* UCX's */
  struct head head;
};

struct graft_transfer {
  struct graft_transfer *next;
  uint64_t number;
  const uint8_t *data;
  size_t bytes, piece, claimed, sent;
  bool stays; /* nobody waits for it */
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  bool tried;
  int count;
  uint64_t lane_nanoseconds, done_nanoseconds;
  struct graft_wire wires[MOST_LANES];
  struct graft_transfer *first, **end; /* those of which not all is claimed, oldest first */
} l = {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* ---- Sending ---- */

/* Looks without the lock until there may be something to send, or for so long. */
static void look_for_work(void) {
  uint64_t limit = graft_now() + l.lane_nanoseconds;
  while (!__atomic_load_n(&l.first, __ATOMIC_ACQUIRE) && graft_now() < limit) sched_yield();
}

/* Called with the lock held. */
static void is_sent(struct graft_transfer *t, size_t bytes) {
  bool stays = t->stays, all = t->sent + bytes == t->bytes;
  __atomic_store_n(&t->sent, t->sent + bytes, __ATOMIC_RELEASE); /* who waits may free it now */
  if (all && stays) {
    free(t);
  } else if (all) {
    pthread_cond_broadcast(&l.done);
  }
}

/* Over a socket it returns when all is sent. UCX has several pieces on their way: the other end finds the next where it has
 * to look for it, and its thread and this one need not wait for each other. */
static void begin(const struct graft_wire *wire, struct begun *piece, const void *data) {
  bool failed = false;
  piece->mark = 0;
  if (graft_dead()) return;
  if (wire->ucx) {
    graft_ucx_begin(wire->ucx, &piece->head, sizeof piece->head);
    piece->mark = graft_ucx_begin(wire->ucx, data, piece->bytes);
  } else {
    failed = !graft_wire_send_all(wire, &piece->head, sizeof piece->head, true) || !graft_wire_send_all(wire, data, piece->bytes, false);
  }
  if (failed) graft_die("sending bulk data failed", errno);
}

static void *sender(void *lane) {
  const struct graft_wire *wire = lane;
  struct begun begun[MOST_BEGUN];
  unsigned first = 0, count = 0;
  bool soon = false;
  pthread_mutex_lock(&l.lock);
  for (;;) {
    while (count && (!wire->ucx || graft_ucx_is_over(wire->ucx, begun[first].mark))) {
      is_sent(begun[first].of, begun[first].bytes);
      first = (first + 1) % MOST_BEGUN;
      count--;
    }
    if (count && (!l.first || count == MOST_BEGUN)) {
      pthread_mutex_unlock(&l.lock);
      if (!graft_ucx_work(wire->ucx) && !graft_dead()) graft_die("sending bulk data failed", errno);
      pthread_mutex_lock(&l.lock);
      continue;
    }
    if (soon && !l.first) {
      pthread_mutex_unlock(&l.lock);
      look_for_work();
      pthread_mutex_lock(&l.lock);
    }
    while (!l.first) pthread_cond_wait(&l.work, &l.lock);
    soon = true;
    struct graft_transfer *t = l.first;
    size_t at = t->claimed, take = t->bytes - at < t->piece ? t->bytes - at : t->piece;
    t->claimed += take;
    if (t->claimed == t->bytes) {
      __atomic_store_n(&l.first, t->next, __ATOMIC_RELEASE);
      if (!l.first) l.end = &l.first;
    }
    pthread_mutex_unlock(&l.lock);
    struct begun *piece = &begun[(first + count++) % MOST_BEGUN];
    *piece = (struct begun){.of = t, .bytes = take, .head = {t->number, at, take}};
    begin(wire, piece, t->data + at);
    pthread_mutex_lock(&l.lock);
  }
  return NULL;
}

struct graft_transfer *graft_lanes_send(uint64_t number, const void *data, size_t bytes, bool stays) {
  struct graft_transfer *t = malloc(sizeof *t);
  if (!t) {
    graft_die("no memory for a transfer", 0);
    return NULL;
  }
  bool over_ucx = l.wires[0].ucx;
  /* UCX itself has several messages on the way at once, and each piece costs a header and waits of its own. */
  size_t shares = (size_t)l.count * (over_ucx ? 1 : 2), most = over_ucx ? LARGEST_UCX_PIECE : LARGEST_PIECE;
  size_t piece = (bytes / shares + 65535) & ~(size_t)65535;
  if (piece < SMALLEST_PIECE) piece = SMALLEST_PIECE;
  if (piece > most) piece = most;
  /* Behind others it need not be shared for all lanes to have something to do. */
  if (__atomic_load_n(&l.first, __ATOMIC_RELAXED)) piece = LARGEST_PIECE;
  *t = (struct graft_transfer){.number = number, .data = data, .bytes = bytes, .piece = piece, .stays = stays};
  pthread_mutex_lock(&l.lock);
  __atomic_store_n(l.end, t, __ATOMIC_RELEASE);
  l.end = &t->next;
  pthread_cond_broadcast(&l.work);
  pthread_mutex_unlock(&l.lock);
  return stays ? NULL : t;
}

void graft_lanes_wait(struct graft_transfer *t) {
  uint64_t limit = graft_now() + l.done_nanoseconds;
  for (size_t seen = 0, sent; (sent = __atomic_load_n(&t->sent, __ATOMIC_ACQUIRE)) < t->bytes; seen = sent) {
    if (sent != seen) limit = graft_now() + l.done_nanoseconds;
    if (graft_now() >= limit) break;
    sched_yield();
  }
  pthread_mutex_lock(&l.lock);
  while (t->sent < t->bytes) pthread_cond_wait(&l.done, &l.lock);
  pthread_mutex_unlock(&l.lock);
  free(t);
}

/* ---- Receiving ---- */

static bool receive_all(const struct graft_wire *wire, void *to, size_t bytes) {
  bool all = graft_wire_receive_all(wire, to, bytes);
  if (all) graft_stats_received(bytes);
  return all;
}

/* Awake for a moment: behind a piece the next is not far. */
static bool receive_head(const struct graft_wire *wire, struct head *head, bool soon) {
  uint64_t limit = soon ? graft_now() + l.lane_nanoseconds : 0;
  ssize_t n = -1;
  while (soon && (n = graft_wire_try(wire, head, sizeof *head)) < 0 && errno == EAGAIN && graft_now() < limit) sched_yield();
  size_t have = n > 0 ? (size_t)n : 0;
  return n != 0 && receive_all(wire, (uint8_t *)head + have, sizeof *head - have);
}

static void *receiver(void *lane) {
  const struct graft_wire *wire = lane;
  struct head head;
  for (bool soon = false; receive_head(wire, &head, soon); soon = true) {
    uint8_t *to = graft_read_place(head.identity, head.offset, head.bytes, true);
    if (!to) {
      graft_die("data that nobody asked for", 0);
      return NULL;
    }
    bool whole = receive_all(wire, to, head.bytes);
    if (!whole) graft_die("receiving bulk data failed", errno); /* before whoever waits takes it for there */
    graft_read_arrived(head.identity, head.bytes);
    if (!whole) return NULL;
  }
  graft_die("the server closed a connection", 0);
  return NULL;
}

/* ---- Opening ---- */

/* More connections than cores to serve them only get in each other's way. But over UCX one waits now and then for the other end
 * to say where its next message goes: meanwhile another sends. */
static int suitable_count(bool over_ucx) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return processors >= 16 ? 6 : processors >= 8 ? 4 : processors >= 4 || over_ucx ? 2 : 1;
}

/* Called with the lock held. */
static void open_lanes(const struct graft_config *config, const struct graft_session_key *key) {
  l.end = &l.first;
  bool yields = graft_gives_way(config);
  l.lane_nanoseconds = yields ? LANE_YIELD_NANOSECONDS : (uint64_t)config->spin_microseconds * 1000;
  l.done_nanoseconds = yields ? DONE_YIELD_NANOSECONDS : 0;
  int count = config->lanes < 0 ? 1 : config->lanes;
  for (int i = 0; i < count && i < MOST_LANES; i++) {
    char reason[400];
    struct graft_wire *wire = &l.wires[l.count];
    if (!graft_connect_lane(config, key, GRAFT_LANE_BULK, wire, reason, sizeof reason)) {
      if (graft_debug()) graft_say("no connection for bulk data: %s", reason);
      return;
    }
    if (config->lanes < 0) count = suitable_count(wire->ucx);
    if (!graft_start_thread(sender, wire)) {
      graft_wire_close(wire);
      return;
    }
    __atomic_store_n(&l.count, l.count + 1, __ATOMIC_RELEASE);
    if (!graft_start_thread(receiver, wire)) graft_die("no thread for a connection", 0);
  }
}

void graft_lanes_shutdown(void) {
  int count = __atomic_load_n(&l.count, __ATOMIC_ACQUIRE);
  for (int i = 0; i < count; i++) graft_wire_shutdown(&l.wires[i]);
}

bool graft_lanes_ready(const struct graft_config *config, const struct graft_session_key *key) {
  if (!__atomic_load_n(&l.tried, __ATOMIC_ACQUIRE)) {
    pthread_mutex_lock(&l.lock);
    if (!l.tried) {
      open_lanes(config, key);
      __atomic_store_n(&l.tried, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&l.lock);
  }
  return l.count > 0;
}
