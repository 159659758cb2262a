/* Receives answers and hands them to waiting calls, to the memory of reads, to host functions, and to the program's output. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "base/system.h"
#include "session/state.h"
#include "session/stats.h"
#include "transport/transport.h"

/* Yields the CPU, unless the thread has waited so long that it should sleep. If other threads want the CPU, it keeps it and sleeps sooner. */
static bool give_way(struct graft_session *s, uint64_t waited, uint64_t now) {
  return s->yields && waited <= GRAFT_YIELD_NANOSECONDS && graft_crowd_polls_on(&s->crowd, waited, now);
}

/* Receives at least one byte: polls for the configured time, then polls and yields the CPU, then sleeps. */
static ssize_t receive_some(struct graft_session *s, void *to, size_t bytes) {
  const struct graft_connection *c = &s->connection;
  const struct graft_transport *transport = c->transport;
  uint64_t deadline = 0;
  for (unsigned i = 1;; i++) {
    ssize_t n = transport->try(c, to, bytes);
    if (n >= 0 || (errno != EAGAIN && errno != EINTR)) return n;
    if (i % transport->tries) continue;
    uint64_t now = graft_now();
    if (!deadline) deadline = now + (uint64_t)s->config.spin_microseconds * 1000;
    if (now <= deadline || give_way(s, now - deadline, now)) continue;
    if (!transport->wait(c, now - deadline)) {
      errno = ECONNRESET;
      return -1;
    }
  }
}

static bool receive(struct graft_session *s, void *to, size_t bytes) {
  uint8_t *at = to;
  while (bytes) {
    size_t have = s->input_end - s->input_at;
    if (have) {
      size_t take = have < bytes ? have : bytes;
      memcpy(at, s->input + s->input_at, take);
      s->input_at += take;
      at += take;
      bytes -= take;
      continue;
    }
    bool direct = bytes >= GRAFT_SESSION_BUFFER / 8;
    ssize_t n = receive_some(s, direct ? at : s->input, direct ? bytes : GRAFT_SESSION_BUFFER);
    if (n <= 0) {
      graft_session_die(s, n ? "receiving failed" : "the server closed the connection", n ? errno : 0);
      return false;
    }
    graft_stats_received((size_t)n);
    if (direct) {
      at += n;
      bytes -= (size_t)n;
    } else {
      s->input_at = 0;
      s->input_end = (size_t)n;
    }
  }
  return true;
}

static bool skip(struct graft_session *s, size_t bytes) {
  uint8_t waste[256];
  while (bytes) {
    size_t take = bytes < sizeof waste ? bytes : sizeof waste;
    if (!receive(s, waste, take)) return false;
    bytes -= take;
  }
  return true;
}

static bool receive_results(struct graft_session *s, const struct graft_waiter *w, size_t bytes) {
  size_t expected = 0;
  for (int i = 0; i < w->count; i++) expected += w->results[i].to ? graft_padded(w->results[i].bytes) : 0;
  /* The answer of a call that failed early has no results. */
  if (!bytes) return true;
  if (bytes != expected) {
    graft_session_die(s, "a reply of a wrong size", 0);
    return false;
  }
  for (int i = 0; i < w->count; i++) {
    const struct graft_result *r = &w->results[i];
    if (!r->to) continue;
    if (r->kind < 0) {
      if (!receive(s, r->to, r->bytes) || !skip(s, graft_padded(r->bytes) - r->bytes)) return false;
    } else {
      for (size_t n = 0; n < r->bytes / 8; n++) {
        uint64_t id;
        if (!receive(s, &id, 8)) return false;
        ((void **)r->to)[n] = graft_object_adopt(s, r->kind, id);
      }
    }
  }
  return true;
}

static bool receive_data(struct graft_session *s, bool apart) {
  uint64_t head[3]; /* read, offset, length */
  if (!receive(s, head, sizeof head)) return false;
  if (!apart) {
    uint8_t *to = graft_read_place(s, head[0], head[1], head[2], false);
    if (!to) {
      graft_session_die(s, "data for no read under way", 0);
      return false;
    }
    bool whole = receive(s, to, head[2]);
    graft_read_arrived(s, head[0], head[2]);
    if (!whole) return false;
  }
  return graft_read_announced(s, head[0], head[2]);
}

/* Output of a kernel, or of the driver about a kernel that failed, is written to the program's own streams, in order with the program's output. */
static bool receive_output(struct graft_session *s, size_t bytes) {
  uint64_t head[2]; /* 1 or 2 for standard output or error, length */
  if (!receive(s, head, sizeof head)) return false;
  bytes -= sizeof head;
  if (head[1] > bytes || bytes - head[1] >= 8) {
    graft_session_die(s, "output of a wrong size", 0);
    return false;
  }
  FILE *stream = head[0] == STDERR_FILENO ? stderr : stdout;
  char text[512];
  for (size_t left = head[1]; left;) {
    size_t take = left < sizeof text ? left : sizeof text;
    if (!receive(s, text, take)) return false;
    fwrite(text, 1, take, stream);
    left -= take;
  }
  fflush(stream);
  return skip(s, bytes - head[1]);
}

bool graft_receive_one(struct graft_session *s) {
  struct graft_answer_head answer;
  if (!receive(s, &answer, sizeof answer)) return false;
  if (answer.size < sizeof answer || answer.size > GRAFT_MAX_RECORD || answer.size % 8) {
    graft_session_die(s, "an answer of a wrong size", 0);
    return false;
  }
  size_t bytes = answer.size - sizeof answer;
  switch (answer.kind) {
    case GRAFT_ANSWER_REPLY: {
      pthread_mutex_lock(&s->receive_lock);
      struct graft_waiter *w = s->waiters;
      while (w && w->slot != answer.slot) w = w->next;
      pthread_mutex_unlock(&s->receive_lock);
      if (!w) {
        graft_session_die(s, "a reply to an unknown request", 0);
        return false;
      }
      if (!receive_results(s, w, bytes)) return false;
      pthread_mutex_lock(&s->receive_lock);
      w->result = answer.result;
      w->done = true;
      pthread_cond_signal(&w->wake);
      pthread_mutex_unlock(&s->receive_lock);
      return true;
    }
    case GRAFT_ANSWER_DATA:
    case GRAFT_ANSWER_DATA_APART:
      if (bytes != 24) break;
      return receive_data(s, answer.kind == GRAFT_ANSWER_DATA_APART);
    case GRAFT_ANSWER_CALLBACK: {
      uint64_t identity;
      if (bytes != 8) break;
      if (!receive(s, &identity, 8)) return false;
      if (graft_callback_arrived(s, identity)) {
        pthread_mutex_lock(&s->receive_lock);
        s->arrivals++;
        pthread_cond_signal(&s->listener_wake);
        pthread_mutex_unlock(&s->receive_lock);
        return true;
      }
      graft_session_die(s, "a callback for no host function under way", 0);
      return false;
    }
    case GRAFT_ANSWER_NOTICE: return skip(s, bytes);
    case GRAFT_ANSWER_OUTPUT:
      if (bytes < 16) break;
      return receive_output(s, bytes);
    default: break;
  }
  graft_session_die(s, "an answer of an unknown kind", 0);
  return false;
}
