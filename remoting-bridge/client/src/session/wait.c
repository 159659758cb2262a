/* Waiting for the server. One of the waiting threads receives for all of them, and passes the role on when its own reply has come. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/profile.h"
#include "api/rpc.h"
#include "api/trace.h"
#include "base/system.h"
#include "memory/mirror.h"
#include "memory/ranges.h"
#include "session/session.h"
#include "session/state.h"
#include "session/stats.h"

static bool receive_as_receiver(struct graft_session *s) {
  if (graft_mirrors) graft_note_thread(&s->receiver);
  bool ok = graft_receive_one(s);
  __atomic_store_n(&s->receiver, 0, __ATOMIC_RELEASE);
  return ok;
}

void graft_pass_on(struct graft_session *s, const struct graft_waiter *leaving, bool ok) {
  bool passed = false;
  for (struct graft_waiter *o = s->waiters; o && !(ok && passed); o = o->next) {
    if (o != leaving && !o->done) {
      pthread_cond_signal(&o->wake);
      passed = true;
    }
  }
  pthread_cond_signal(&s->listener_wake);
}

bool graft_read_one(struct graft_session *s) {
  s->reading = true;
  pthread_mutex_unlock(&s->receive_lock);
  bool ok = receive_as_receiver(s);
  pthread_mutex_lock(&s->receive_lock);
  s->reading = false;
  return ok;
}

bool graft_listen(struct graft_session *s) {
  pthread_mutex_lock(&s->receive_lock);
  if (graft_session_dead(s)) {
    pthread_mutex_unlock(&s->receive_lock);
    return false;
  }
  if (s->arrivals != s->noticed) { /* a callback came while the listener was busy */
    s->noticed = s->arrivals;
    pthread_mutex_unlock(&s->receive_lock);
    return true;
  }
  if (s->reading) {
    pthread_cond_wait(&s->listener_wake, &s->receive_lock);
    pthread_mutex_unlock(&s->receive_lock);
    return true;
  }
  bool ok = graft_read_one(s);
  graft_pass_on(s, NULL, ok);
  pthread_mutex_unlock(&s->receive_lock);
  return ok;
}

static void await(struct graft_session *s, struct graft_waiter *w) {
  pthread_mutex_lock(&s->receive_lock);
  while (!w->done) {
    if (s->reading) { /* that thread may be writing our results, so this one must not leave */
      pthread_cond_wait(&w->wake, &s->receive_lock);
      continue;
    }
    if (graft_session_dead(s)) {
      w->result = graft_session_dead(s);
      break;
    }
    bool ok = graft_read_one(s);
    if (!ok || w->done) graft_pass_on(s, w, ok);
  }
  for (struct graft_waiter **p = &s->waiters; *p; p = &(*p)->next) {
    if (*p == w) {
      *p = w->next;
      break;
    }
  }
  pthread_mutex_unlock(&s->receive_lock);
}

static int wait_reply(struct graft_call *call, const struct graft_result *results, int count, struct graft_read *read) {
  struct graft_session *s = call->session;
  struct graft_waiter w = {.results = results, .count = count, .wake = PTHREAD_COND_INITIALIZER};
  call->slot = w.slot = ++s->next_slot & 0x7fffffff; /* under send_lock */
  pthread_mutex_lock(&s->receive_lock);
  w.next = s->waiters;
  s->waiters = &w;
  if (read) {
    read->identity = w.slot;
    graft_reads_add(&s->reads, read);
  }
  pthread_mutex_unlock(&s->receive_lock);
  uint64_t start = s->config.stats ? graft_now() : 0;
  struct graft_transfer *transfer = graft_call_commit(call, GRAFT_RECORD_REPLY);
  uint64_t end = s->requests.position;
  graft_call_let_go(call);
  if (!s->server_takes) graft_pump_push(s, end);
  await(s, &w);
  if (transfer) graft_data_connections_wait(s, transfer);
  pthread_cond_destroy(&w.wake);
  if (s->config.stats) graft_stats_round_trip(call->function, graft_now() - start);
  if (graft_profiling) graft_profile_waited(call->function);
  if (graft_tracing) graft_trace_call(call->function, call->began, true, call->bulk_bytes + (read ? read->bytes : 0));
  return w.result;
}

static int wait_data(struct graft_call *call, const struct graft_result *results, int count) {
  size_t bytes;
  void *incoming = graft_take_incoming(&bytes);
  if (!incoming) return wait_reply(call, results, count, NULL);
  struct graft_read *read = calloc(1, sizeof *read);
  if (!read) {
    graft_call_let_go(call);
    return graft_call_refuse(GRAFT_OUT_OF_MEMORY);
  }
  read->to = incoming;
  read->bytes = bytes;
  if (bytes >= GRAFT_APART_LEAST) graft_data_connections_ready(call->session);
  int r = wait_reply(call, results, count, read);
  graft_read_forget(call->session, call->slot);
  return r;
}

/* Results for exclusive managed memory are received into other memory, since the receiving thread must not wait for pages; the caller copies them. */
static int wait_apart(struct graft_call *call, const struct graft_result *results, int count) {
  struct graft_result apart[count];
  int r = 0, ready = 0;
  for (; ready < count; ready++) {
    apart[ready] = results[ready];
    if (results[ready].to && !(apart[ready].to = malloc(results[ready].bytes + 1))) break;
  }
  if (ready == count) {
    r = wait_data(call, apart, count);
  } else {
    graft_call_let_go(call);
    r = graft_call_refuse(GRAFT_OUT_OF_MEMORY);
  }
  for (int i = 0; i < ready; i++) {
    if (!results[i].to) continue;
    if (!r) memcpy(results[i].to, apart[i].to, results[i].bytes);
    free(apart[i].to);
  }
  return r;
}

static bool is_managed(const struct graft_result *results, int count) {
  struct graft_range range;
  bool found = false;
  for (int i = 0; i < count && !found; i++) {
    found = graft_range_find((uintptr_t)results[i].to, &range) && range.memory == GRAFT_MEMORY_MANAGED;
  }
  return found;
}

int graft_wait(struct graft_call *call, const struct graft_result *results, int count) {
  bool apart = call->session->config.managed_exclusive && is_managed(results, count);
  int function = call->function;
  uint64_t first = 0; /* parameter */
  if (call->end - call->start >= (ptrdiff_t)(sizeof(struct graft_record) + sizeof first)) {
    memcpy(&first, call->start + sizeof(struct graft_record), sizeof first);
  }
  int r = (apart ? wait_apart : wait_data)(call, results, count);
  if (!r && graft_mirrors) graft_mirrors_after(call->session, function, first);
  if (r) graft_context_answered(call->session, r);
  return r;
}
