/* The data of reads as it arrives: in answers, which are ordered, and on data connections in any order. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/system.h"
#include "session/session.h"
#include "session/state.h"

/* Called with receive_lock held. Waits until no thread receives into the memory. */
void graft_read_drop(struct graft_session *s, uint64_t identity) {
  struct graft_read *r;
  while ((r = graft_reads_find(&s->reads, identity)) && r->writers) pthread_cond_wait(&s->arrival, &s->receive_lock);
  if (!r) return;
  graft_reads_remove(&s->reads, r);
  free(r);
}

/* Waits a moment for data connections; called with receive_lock held. */
static void await_arrival(struct graft_session *s, uint64_t since) {
  uint64_t now = graft_now(), spin = (uint64_t)s->config.spin_microseconds * 1000, waited;
  uint64_t most = s->yields && !graft_crowd_seen(&s->crowd, now) ? GRAFT_YIELD_NANOSECONDS : spin;
  if (now - since < most) {
    uint64_t seen = __atomic_load_n(&s->chunks, __ATOMIC_ACQUIRE);
    pthread_mutex_unlock(&s->receive_lock); /* so that the threads that receive can take it */
    while (__atomic_load_n(&s->chunks, __ATOMIC_ACQUIRE) == seen && (waited = graft_now() - since) < most &&
           !graft_session_dead(s)) {
      if (waited < spin) {
        for (int i = 0; i < 32; i++) __builtin_ia32_pause();
      } else if (!graft_crowd_yield(&s->crowd, graft_now())) {
        break;
      }
    }
    pthread_mutex_lock(&s->receive_lock);
    return;
  }
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec++; /* in case the session ends without a signal */
  pthread_cond_timedwait(&s->arrival, &s->receive_lock, &limit);
}

/* Whether a chunk has overtaken its answer while another read writes to the same memory. Only the answers, which are ordered, say which of the two reads is the later one. Called with receive_lock held. */
static bool is_too_early(const struct graft_session *s, const struct graft_read *r, uint64_t offset, uint64_t bytes) {
  return offset + bytes > r->announced && graft_reads_meet(&s->reads, r, r->to + offset, bytes);
}

uint8_t *graft_read_place(struct graft_session *s, uint64_t read, uint64_t offset, uint64_t bytes, bool apart) {
  uint64_t since = 0; /* when the chunk was found to be too early */
  uint8_t *to = NULL;
  struct graft_read *r;
  pthread_mutex_lock(&s->receive_lock);
  while ((r = graft_reads_find(&s->reads, read)) && offset <= r->bytes && bytes <= r->bytes - offset && !graft_session_dead(s)) {
    if (apart && is_too_early(s, r, offset, bytes)) {
      if (!since) since = graft_now();
      await_arrival(s, since);
      continue;
    }
    to = r->to + offset;
    r->writers++;
    break;
  }
  pthread_mutex_unlock(&s->receive_lock);
  return to;
}

void graft_read_arrived(struct graft_session *s, uint64_t read, uint64_t bytes) {
  pthread_mutex_lock(&s->receive_lock);
  struct graft_read *r = graft_reads_find(&s->reads, read);
  if (r) { /* never NULL: graft_read_drop waits for writers */
    r->writers--;
    r->arrived += bytes;
  }
  __atomic_add_fetch(&s->chunks, 1, __ATOMIC_ACQ_REL);
  pthread_cond_broadcast(&s->arrival);
  pthread_mutex_unlock(&s->receive_lock);
}

bool graft_read_announced(struct graft_session *s, uint64_t read, uint64_t bytes) {
  uint64_t since = graft_now();
  pthread_mutex_lock(&s->receive_lock);
  struct graft_read *r = graft_reads_find(&s->reads, read);
  bool asked = r && bytes <= r->bytes - r->announced;
  if (asked) {
    r->announced += bytes;
    __atomic_add_fetch(&s->chunks, 1, __ATOMIC_ACQ_REL);
    pthread_cond_broadcast(&s->arrival);
  }
  while (asked && (r = graft_reads_find(&s->reads, read)) && r->arrived < r->announced && !graft_session_dead(s))
    await_arrival(s, since);
  if (asked && r && r->announced == r->bytes) graft_read_drop(s, read);
  pthread_mutex_unlock(&s->receive_lock);
  if (!asked) graft_session_die(s, "data for no read under way", 0);
  return !graft_session_dead(s);
}

uint64_t graft_read_expect(void *to, size_t bytes) {
  struct graft_session *s = graft_session_current();
  if (bytes >= GRAFT_APART_LEAST) graft_data_connections_ready(s);
  struct graft_read *read = calloc(1, sizeof *read);
  if (!read) return 0;
  read->to = to;
  read->bytes = bytes;
  pthread_mutex_lock(&s->receive_lock);
  read->identity = ++s->next_read | 1ull << 63;
  graft_reads_add(&s->reads, read);
  pthread_mutex_unlock(&s->receive_lock);
  return read->identity;
}

bool graft_read_pending(const void *memory, size_t bytes) {
  struct graft_session *s = graft_session_current();
  if (!graft_reads_count(&s->reads)) return false;
  pthread_mutex_lock(&s->receive_lock);
  bool pending = graft_reads_meet(&s->reads, NULL, memory, bytes);
  pthread_mutex_unlock(&s->receive_lock);
  return pending;
}

bool graft_reads_await(const void *memory, size_t bytes) {
  struct graft_session *s = graft_session_current();
  if (!graft_reads_count(&s->reads)) return !graft_session_dead(s);
  uint64_t since = graft_now();
  pthread_mutex_lock(&s->receive_lock);
  while (graft_reads_meet(&s->reads, NULL, memory, bytes) && !graft_session_dead(s)) {
    if (s->reading) {
      await_arrival(s, since);
      continue;
    }
    bool ok = graft_read_one(s);
    graft_pass_on(s, NULL, ok);
  }
  pthread_mutex_unlock(&s->receive_lock);
  return !graft_session_dead(s);
}

void graft_read_forget(struct graft_session *s, uint64_t identity) {
  pthread_mutex_lock(&s->receive_lock);
  graft_read_drop(s, identity);
  pthread_mutex_unlock(&s->receive_lock);
}
