/* A flag in a call's record (send.c) says that the call's bulk data is sent on data connections; this data is a transfer. The data of a read is announced by an answer. Transfers and reads are sent in chunks, each behind a header, on whichever connection is free. Each connection has one thread that sends and one that receives. */
#include "session/data_connections.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/config.h"
#include "base/system.h"
#include "session/session.h"
#include "session/state.h"
#include "session/stats.h"
#include "transport/transport.h"

#define SMALLEST_CHUNK (128u << 10)
#define LARGEST_CHUNK (1u << 20) /* while another transfer is under way */
#define MOST_BEGUN 8             /* chunks under way on a connection, where the transport allows several */
/* How long a connection's threads poll for the next chunk, and a thread polls for its data to be sent, before they sleep. They yield the CPU between polls. Waking a thread takes 0.2 to 0.4 ms in a virtual machine. Machines with few CPUs do not poll. */
#define NEXT_YIELD_NANOSECONDS 1000000u
#define DONE_YIELD_NANOSECONDS 10000000u

struct head {
  uint64_t identity; /* number of the transfer, or of the read */
  uint64_t offset, bytes;
};

/* A chunk under way. */
struct begun {
  struct graft_transfer *of;
  size_t bytes;
  uint64_t mark; /* by which the transport identifies it */
  struct head head;
};

struct graft_transfer {
  struct graft_transfer *next;
  uint64_t number;
  const uint8_t *data;
  size_t bytes, chunk, claimed, sent;
};

/* ---- Sending ---- */

/* Yields the CPU, so that a thread which began to poll at this time polls on. Without doing so it returns false when the time for polling is over: that is the configured one, and longer only while a CPU is left, or for a moment. */
static bool polls_on(struct graft_session *session, uint64_t began) {
  uint64_t now = graft_now(), polled = now - began;
  if (polled >= session->data.next_nanoseconds) return false;
  if (polled >= (uint64_t)session->config.spin_microseconds * 1000) return graft_crowd_polls_on(&session->crowd, polled, now);
  sched_yield();
  return true;
}

/* Polls, without the lock, until there may be something to send or the time for polling is over. */
static void look_for_work(struct graft_session *session) {
  uint64_t began = graft_now();
  while (!__atomic_load_n(&session->data.first, __ATOMIC_ACQUIRE) && polls_on(session, began)) continue;
}

/* Counts bytes of a transfer that were sent. Called with the lock held. */
static void is_sent(struct graft_data_connections *d, struct graft_transfer *t, size_t bytes) {
  bool all = t->sent + bytes == t->bytes;
  __atomic_store_n(&t->sent, t->sent + bytes, __ATOMIC_RELEASE); /* from here on the thread that waits may free the transfer */
  if (all) pthread_cond_broadcast(&d->done);
}

static void begin(const struct graft_data_connection *to, struct begun *chunk, const void *data) {
  const struct graft_connection *c = &to->connection;
  chunk->mark = 0;
  if (graft_session_dead(to->session)) return;
  if (!c->transport->begin(c, &chunk->head, sizeof chunk->head, data, chunk->bytes, &chunk->mark)) {
    graft_session_die(to->session, "sending bulk data failed", errno);
  }
}

static void *sender(void *connection) {
  const struct graft_data_connection *to = connection;
  const struct graft_connection *c = &to->connection;
  struct graft_data_connections *d = &to->session->data;
  struct begun begun[MOST_BEGUN];
  unsigned first = 0, count = 0;
  bool soon = false;
  pthread_mutex_lock(&d->lock);
  for (;;) {
    while (count && c->transport->is_over(c, begun[first].mark)) {
      is_sent(d, begun[first].of, begun[first].bytes);
      first = (first + 1) % MOST_BEGUN;
      count--;
    }
    if (count && (!d->first || count == MOST_BEGUN)) {
      pthread_mutex_unlock(&d->lock);
      if (!c->transport->work(c) && !graft_session_dead(to->session))
        graft_session_die(to->session, "sending bulk data failed", errno);
      pthread_mutex_lock(&d->lock);
      continue;
    }
    if (soon && !d->first) {
      pthread_mutex_unlock(&d->lock);
      look_for_work(to->session);
      pthread_mutex_lock(&d->lock);
    }
    while (!d->first) pthread_cond_wait(&d->work, &d->lock);
    soon = true;
    struct graft_transfer *t = d->first;
    size_t at = t->claimed, take = t->bytes - at < t->chunk ? t->bytes - at : t->chunk;
    t->claimed += take;
    if (t->claimed == t->bytes) {
      __atomic_store_n(&d->first, t->next, __ATOMIC_RELEASE);
      if (!d->first) d->end = &d->first;
    }
    pthread_mutex_unlock(&d->lock);
    struct begun *chunk = &begun[(first + count++) % MOST_BEGUN];
    *chunk = (struct begun){.of = t, .bytes = take, .head = {t->number, at, take}};
    begin(to, chunk, t->data + at);
    pthread_mutex_lock(&d->lock);
  }
  return NULL;
}

struct graft_transfer *graft_data_connections_send(struct graft_session *session, uint64_t number, const void *data, size_t bytes) {
  struct graft_data_connections *d = &session->data;
  struct graft_transfer *t = malloc(sizeof *t);
  if (!t) {
    graft_session_die(session, "no memory for a transfer", 0);
    return NULL;
  }
  const struct graft_transport *transport = d->each[0].connection.transport;
  size_t shares = (size_t)(__atomic_load_n(&d->count, __ATOMIC_RELAXED) * transport->chunks_per_connection);
  size_t chunk = (bytes / shares + 65535) & ~(size_t)65535;
  if (chunk < SMALLEST_CHUNK) chunk = SMALLEST_CHUNK;
  if (chunk > transport->largest_chunk) chunk = transport->largest_chunk;
  /* While other transfers wait, every connection is busy without small chunks. */
  if (__atomic_load_n(&d->first, __ATOMIC_RELAXED)) chunk = LARGEST_CHUNK;
  *t = (struct graft_transfer){.number = number, .data = data, .bytes = bytes, .chunk = chunk};
  pthread_mutex_lock(&d->lock);
  __atomic_store_n(d->end, t, __ATOMIC_RELEASE);
  d->end = &t->next;
  pthread_cond_broadcast(&d->work);
  pthread_mutex_unlock(&d->lock);
  return t;
}

void graft_data_connections_wait(struct graft_session *session, struct graft_transfer *t) {
  struct graft_data_connections *d = &session->data;
  uint64_t now = graft_now(), limit = now + d->done_nanoseconds;
  for (size_t seen = 0, sent; (sent = __atomic_load_n(&t->sent, __ATOMIC_ACQUIRE)) < t->bytes; seen = sent) {
    if (sent != seen) limit = now + d->done_nanoseconds;
    if (now >= limit || !graft_crowd_yield(&session->crowd, now)) break;
    now = graft_now();
  }
  pthread_mutex_lock(&d->lock);
  while (t->sent < t->bytes) pthread_cond_wait(&d->done, &d->lock);
  pthread_mutex_unlock(&d->lock);
  free(t);
}

/* ---- Receiving ---- */

static bool receive_all(const struct graft_connection *c, void *to, size_t bytes) {
  bool all = graft_connection_receive_all(c, to, bytes);
  if (all) graft_stats_received(bytes);
  return all;
}

/* Polls for a moment, since the next chunk usually follows soon. */
static bool receive_head(const struct graft_data_connection *from, struct head *head, bool soon) {
  const struct graft_connection *c = &from->connection;
  uint64_t began = graft_now();
  ssize_t n = -1;
  while (soon && (n = c->transport->try(c, head, sizeof *head)) < 0 && errno == EAGAIN && polls_on(from->session, began)) continue;
  size_t have = n > 0 ? (size_t)n : 0;
  return n != 0 && receive_all(c, (uint8_t *)head + have, sizeof *head - have);
}

static void *receiver(void *connection) {
  const struct graft_data_connection *from = connection;
  struct graft_session *session = from->session;
  struct head head;
  for (bool soon = false; receive_head(from, &head, soon); soon = true) {
    uint8_t *to = graft_read_place(session, head.identity, head.offset, head.bytes, true);
    if (!to) {
      graft_session_die(session, "data for no read under way", 0);
      return NULL;
    }
    bool whole = receive_all(&from->connection, to, head.bytes);
    if (!whole)
      graft_session_die(session, "receiving bulk data failed",
                        errno); /* before the waiting thread is told that the data has arrived */
    graft_read_arrived(session, head.identity, head.bytes);
    if (!whole) return NULL;
  }
  graft_session_die(session, "the server closed a connection", 0);
  return NULL;
}

/* ---- Opening ---- */

/* More connections than cores slow each other down. */
static int suitable_count(const struct graft_transport *transport) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return processors >= 16 ? 6 : processors >= 8 ? 4 : processors >= 4 ? 2 : transport->least_connections;
}

static bool connect_one(struct graft_session *session, struct graft_connection *connection) {
  char reason[400];
  bool open = graft_connect_further(&session->config, &session->key, GRAFT_FOR_BULK_DATA, connection, reason, sizeof reason);
  if (!open && session->config.debug) graft_say("no connection for bulk data: %s", reason);
  return open;
}

/* Starts the threads of a connection. Called with the lock held. */
static bool add(struct graft_session *session, const struct graft_connection *connection) {
  struct graft_data_connections *d = &session->data;
  struct graft_data_connection *next = &d->each[d->count];
  *next = (struct graft_data_connection){session, *connection};
  if (!graft_start_thread(sender, next)) {
    graft_connection_close(&next->connection);
    return false;
  }
  __atomic_store_n(&d->count, d->count + 1, __ATOMIC_SEQ_CST);
  if (!graft_start_thread(receiver, next)) graft_session_die(session, "no thread for a connection", 0);
  /* If the session has ended meanwhile, its end has shut down the connections that it saw. */
  if (__atomic_load_n(&session->dead, __ATOMIC_SEQ_CST)) graft_connection_shutdown(&next->connection);
  return true;
}

static void *open_apart(void *argument) {
  struct graft_session *session = argument;
  struct graft_connection connection;
  if (!connect_one(session, &connection)) return NULL;
  pthread_mutex_lock(&session->data.lock);
  add(session, &connection);
  pthread_mutex_unlock(&session->data.lock);
  return NULL;
}

static void open_in_turn(struct graft_session *session, int count) {
  struct graft_connection connection;
  for (int i = 0; i < count; i++) {
    if (!connect_one(session, &connection) || !add(session, &connection)) return;
  }
}

/* Opening a connection takes four round trips. If the server is far away, no call waits for that: bulk data goes with its records until the first connection is open. Called with the lock held. */
static void open_all(struct graft_session *session) {
  struct graft_data_connections *d = &session->data;
  const struct graft_config *config = &session->config;
  d->end = &d->first;
  bool yields = graft_gives_way(config);
  d->next_nanoseconds = yields ? NEXT_YIELD_NANOSECONDS : (uint64_t)config->spin_microseconds * 1000;
  d->done_nanoseconds = yields ? DONE_YIELD_NANOSECONDS : 0;
  int count = config->data_connections < 0 ? suitable_count(session->connection.transport) : config->data_connections;
  if (count > GRAFT_MOST_DATA_CONNECTIONS) count = GRAFT_MOST_DATA_CONNECTIONS;
  bool is_far = graft_session_is_far(session);
  if (!is_far) open_in_turn(session, count);
  for (int i = 0; is_far && i < count && graft_start_thread(open_apart, session); i++) continue;
}

void graft_data_connections_shutdown(struct graft_session *session) {
  struct graft_data_connections *d = &session->data;
  int count = __atomic_load_n(&d->count, __ATOMIC_SEQ_CST);
  for (int i = 0; i < count; i++) graft_connection_shutdown(&d->each[i].connection);
}

bool graft_data_connections_ready(struct graft_session *session) {
  struct graft_data_connections *d = &session->data;
  if (!graft_connection_can(&session->connection, GRAFT_TRANSPORT_DATA_CONNECTIONS)) return false;
  if (!__atomic_load_n(&d->tried, __ATOMIC_ACQUIRE)) {
    pthread_mutex_lock(&d->lock);
    if (!d->tried) {
      open_all(session);
      __atomic_store_n(&d->tried, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&d->lock);
  }
  return __atomic_load_n(&d->count, __ATOMIC_ACQUIRE) > 0;
}
