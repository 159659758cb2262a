/* The session: one ordered stream of records to the server, replies back (wire format: remoting-bridge/api/README.md).
 *
 * Sending: records gather in a buffer under send_lock. A call that waits ships the buffer itself; for calls that do
 * not, a flusher thread ships it a moment later. Only one thread ships at a time (shipping), and while bulk data
 * follows a record nobody may add another (sealed).
 * Receiving: of the threads that wait, one reads the socket for all; the others sleep until their reply is there.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "graft.h"
#include "region.h"
#include "ring.h"

#define MAX_RECORD (1u << 20)
#define BUFFER (2u << 20)
#define SMALL_BULK (64u << 10)
#define FLAG_REPLY 1
#define FLAG_BULK 2

struct record {
  uint32_t size;
  uint16_t function, flags;
  uint32_t slot, context;
};
struct answer {
  uint32_t size;
  uint16_t kind, reserved;
  uint32_t slot;
  int32_t result;
};
enum { ANSWER_REPLY, ANSWER_DATA, ANSWER_CALLBACK, ANSWER_NOTICE };

struct waiter {
  struct waiter *next;
  uint32_t slot;
  bool done;
  int result;
  const struct graft_result *results;
  int count;
  pthread_cond_t wake;
};

struct read {
  struct read *next;
  uint64_t identity;
  uint8_t *to;
  size_t bytes, arrived;
};

static struct {
  struct graft_config config;
  pthread_mutex_t open_lock;
  bool opened;
  int open_result;
  int fd;
  uint64_t identity;
  int lane; /* a second connection, -1 without */
  bool shared; /* records go through shared memory, the socket is the doorbell */
  struct graft_ring requests, answers;
  int dead; /* 0, or the error that every call returns */

  pthread_mutex_t send_lock;
  pthread_cond_t send_turn, flush_wake;
  uint8_t *buffer, *spare;
  size_t filled;
  bool shipping, sealed, flusher_asleep, flusher_started, closing;
  uint32_t next_slot;

  pthread_mutex_t receive_lock;
  pthread_cond_t listener_wake;
  uint64_t arrivals, noticed; /* callbacks; noticed belongs to the listener */
  bool reading;
  struct waiter *waiters;
  struct read *reads;
  uint64_t next_read;
  uint8_t *input;
  size_t input_at, input_end;
  int notice;
} s = {.open_lock = PTHREAD_MUTEX_INITIALIZER,
       .send_lock = PTHREAD_MUTEX_INITIALIZER,
       .send_turn = PTHREAD_COND_INITIALIZER,
       .flush_wake = PTHREAD_COND_INITIALIZER,
       .receive_lock = PTHREAD_MUTEX_INITIALIZER,
       .listener_wake = PTHREAD_COND_INITIALIZER,
       .fd = -1,
       .lane = -1};

uint64_t graft_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void graft_say(const char *format, ...) {
  char line[640];
  va_list arguments;
  va_start(arguments, format);
  int n = snprintf(line, sizeof line, "graft: ");
  n += vsnprintf(line + n, sizeof line - (size_t)n - 1, format, arguments);
  va_end(arguments);
  if (n > (int)sizeof line - 2) n = (int)sizeof line - 2;
  line[n++] = '\n';
  if (write(STDERR_FILENO, line, (size_t)n) < 0) return; /* nowhere left to say it */
}

int graft_debug(void) { return s.config.debug; }
bool graft_session_is_open(void) { return __atomic_load_n(&s.opened, __ATOMIC_ACQUIRE) && !s.open_result; }

/* The first failure is told once; from then on every call returns the same error. */
static void die(const char *what, int error) {
  int expected = 0;
  if (__atomic_compare_exchange_n(&s.dead, &expected, GRAFT_DEVICE_UNAVAILABLE, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    graft_say("session with %s ended: %s%s%s; the GPU is not available to this process any more", s.config.server, what,
              error ? ": " : "", error ? strerror(error) : "");
    if (s.fd >= 0) shutdown(s.fd, SHUT_RDWR);
  }
}

static int dead(void) { return __atomic_load_n(&s.dead, __ATOMIC_ACQUIRE); }

/* ---- Sending ---- */

static bool write_all(const void *data, size_t bytes, const void *more, size_t more_bytes) {
  if (s.shared) {
    if (graft_ring_write(&s.requests, s.fd, data, bytes) && graft_ring_write(&s.requests, s.fd, more, more_bytes)) return true;
    die("the server is gone", 0);
    return false;
  }
  struct iovec parts[2] = {{(void *)data, bytes}, {(void *)more, more_bytes}};
  int first = bytes ? 0 : 1;
  while (parts[0].iov_len || parts[1].iov_len) {
    struct msghdr message = {.msg_iov = parts + first, .msg_iovlen = (size_t)(2 - first)};
    ssize_t n = sendmsg(s.fd, &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      die("sending failed", errno);
      return false;
    }
    for (int i = first; i < 2 && n > 0; i++) {
      size_t take = (size_t)n < parts[i].iov_len ? (size_t)n : parts[i].iov_len;
      parts[i].iov_base = (char *)parts[i].iov_base + take;
      parts[i].iov_len -= take;
      n -= (ssize_t)take;
    }
    if (!parts[0].iov_len) first = 1;
  }
  return true;
}

/* Ships the buffer and then bulk data. Called with send_lock held; releases it while it writes. */
static void ship(const void *bulk, size_t bulk_bytes) {
  while (s.shipping) pthread_cond_wait(&s.send_turn, &s.send_lock);
  if (!s.filled && !bulk_bytes) return;
  s.shipping = true;
  uint8_t *data = s.buffer;
  size_t bytes = s.filled;
  s.buffer = s.spare;
  s.spare = data;
  __atomic_store_n(&s.filled, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&s.send_lock);
  if (!dead()) write_all(data, bytes, bulk, bulk_bytes);
  pthread_mutex_lock(&s.send_lock);
  s.shipping = false;
  pthread_cond_broadcast(&s.send_turn);
}

void graft_flush(void) {
  if (!graft_session_is_open()) return;
  pthread_mutex_lock(&s.send_lock);
  ship(NULL, 0);
  pthread_mutex_unlock(&s.send_lock);
}

/* Ships what asynchronous calls leave behind. It polls for a while after work, so that a burst costs one wake-up. */
static void *flusher(void *unused) {
  (void)unused;
  uint64_t idle_since = graft_now();
  for (;;) {
    if (__atomic_load_n(&s.filled, __ATOMIC_ACQUIRE)) {
      graft_flush();
      idle_since = graft_now();
    } else if (graft_now() - idle_since < (uint64_t)s.config.spin_microseconds * 1000) {
      sched_yield();
    } else {
      pthread_mutex_lock(&s.send_lock);
      s.flusher_asleep = true;
      while (!s.filled) pthread_cond_wait(&s.flush_wake, &s.send_lock);
      s.flusher_asleep = false;
      pthread_mutex_unlock(&s.send_lock);
      idle_since = graft_now();
    }
  }
  return NULL;
}

bool graft_start_thread(void *(*run)(void *)) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  sigfillset(&all); /* the program's signals are not for this thread */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = !pthread_create(&thread, &attributes, run, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return started;
}

int graft_begin(struct graft_call *call, int function, size_t bytes) {
  if (!graft_session_is_open()) return graft_session_open() ? GRAFT_NOT_INITIALIZED : graft_begin(call, function, bytes);
  if (graft_in_child()) return GRAFT_NOT_INITIALIZED;
  int error = dead();
  if (error) return error;
  size_t total = sizeof(struct record) + bytes;
  if (total > MAX_RECORD) return GRAFT_INVALID_VALUE;
  uint32_t context = graft_context_id();
  pthread_mutex_lock(&s.send_lock);
  while (s.sealed || s.filled + total + SMALL_BULK > BUFFER) {
    if (s.sealed) {
      pthread_cond_wait(&s.send_turn, &s.send_lock);
    } else {
      ship(NULL, 0);
    }
  }
  uint8_t *at = s.buffer + s.filled;
  struct record record = {.size = (uint32_t)total, .function = (uint16_t)function, .context = context};
  memcpy(at, &record, sizeof record);
  *call = (struct graft_call){.at = at + sizeof record, .end = at + total, .function = function};
  return 0;
}

void graft_bulk(struct graft_call *call, const void *data, size_t bytes) {
  call->bulk = data;
  call->bulk_bytes = bytes;
}

/* Completes the record; called with send_lock held. */
static void commit(struct graft_call *call, uint16_t flags) {
  uint8_t *at = s.buffer + s.filled;
  struct record record;
  memcpy(&record, at, sizeof record);
  record.flags = (uint16_t)(flags | (call->bulk_bytes ? FLAG_BULK : 0));
  record.slot = call->slot;
  memcpy(at, &record, sizeof record);
  size_t filled = s.filled + record.size;
  graft_stats_call(call->function, record.size, call->bulk_bytes);
  if (call->bulk_bytes && call->bulk_bytes <= SMALL_BULK) {
    memcpy(s.buffer + filled, call->bulk, call->bulk_bytes);
    filled += call->bulk_bytes;
    call->bulk_bytes = 0;
  }
  __atomic_store_n(&s.filled, filled, __ATOMIC_RELEASE);
  if (call->bulk_bytes) {
    s.sealed = true;
    ship(call->bulk, call->bulk_bytes);
    s.sealed = false;
    pthread_cond_broadcast(&s.send_turn);
  }
}

int graft_send(struct graft_call *call) {
  commit(call, 0);
  if (s.filled) {
    if (!s.flusher_started) {
      ship(NULL, 0);
    } else if (s.flusher_asleep) {
      s.flusher_asleep = false;
      pthread_cond_signal(&s.flush_wake);
    }
  }
  pthread_mutex_unlock(&s.send_lock);
  return dead();
}

/* ---- Receiving: called by the one thread that reads ---- */

static bool receive(void *to, size_t bytes) {
  uint8_t *at = to;
  while (bytes) {
    size_t have = s.input_end - s.input_at;
    if (have) {
      size_t take = have < bytes ? have : bytes;
      memcpy(at, s.input + s.input_at, take);
      s.input_at += take;
      at += take;
      bytes -= take;
      continue;
    }
    bool direct = bytes >= BUFFER / 8;
    ssize_t n = 0;
    uint64_t deadline = 0;
    for (unsigned i = 1; s.shared; i++) {
      n = graft_ring_read(&s.answers, direct ? at : s.input, direct ? bytes : BUFFER);
      if (n) break;
      if (i % 64) { /* a look at the clock costs as much as many at the ring */

        continue;
      }
      uint64_t now = graft_now();
      if (!deadline) deadline = now + (uint64_t)s.config.spin_microseconds * 1000;
      if (now > deadline && !graft_ring_sleep(&s.answers, s.fd)) {
        n = -1;
        errno = ECONNRESET;
        break;
      }
    }
    while (!s.shared) {
      n = recv(s.fd, direct ? at : s.input, direct ? bytes : BUFFER, MSG_DONTWAIT);
      if (n >= 0 || (errno != EAGAIN && errno != EINTR)) break;
      uint64_t now = graft_now();
      if (!deadline) deadline = now + (uint64_t)s.config.spin_microseconds * 1000;
      if (now > deadline) {
        struct pollfd wait = {.fd = s.fd, .events = POLLIN};
        poll(&wait, 1, -1);
      }
    }
    if (n <= 0) {
      die(n ? "receiving failed" : "the server closed the connection", n ? errno : 0);
      return false;
    }
    graft_stats_received((size_t)n);
    if (direct) {
      at += n;
      bytes -= (size_t)n;
    } else {
      s.input_at = 0;
      s.input_end = (size_t)n;
    }
  }
  return true;
}

static bool skip(size_t bytes) {
  uint8_t waste[256];
  while (bytes) {
    size_t take = bytes < sizeof waste ? bytes : sizeof waste;
    if (!receive(waste, take)) return false;
    bytes -= take;
  }
  return true;
}

static bool receive_results(const struct waiter *w, size_t bytes) {
  size_t expected = 0;
  for (int i = 0; i < w->count; i++) expected += w->results[i].to ? graft_padded(w->results[i].bytes) : 0;
  /* A call that failed before it had results comes back bare. */
  if (!bytes) return true;
  if (bytes != expected) {
    die("a reply of a wrong size", 0);
    return false;
  }
  for (int i = 0; i < w->count; i++) {
    const struct graft_result *r = &w->results[i];
    if (!r->to) continue;
    if (r->kind < 0) {
      if (!receive(r->to, r->bytes) || !skip(graft_padded(r->bytes) - r->bytes)) return false;
    } else {
      for (size_t n = 0; n < r->bytes / 8; n++) {
        uint64_t id;
        if (!receive(&id, 8)) return false;
        ((void **)r->to)[n] = graft_object_adopt(r->kind, id);
      }
    }
  }
  return true;
}

static bool receive_data(void) {
  uint64_t head[3]; /* read, offset, length */
  if (!receive(head, sizeof head)) return false;
  pthread_mutex_lock(&s.receive_lock);
  struct read *r = s.reads;
  while (r && r->identity != head[0]) r = r->next;
  bool fits = r && head[1] <= r->bytes && head[2] <= r->bytes - head[1];
  uint8_t *to = fits ? r->to + head[1] : NULL;
  pthread_mutex_unlock(&s.receive_lock);
  if (!fits) {
    die("data that nobody asked for", 0);
    return false;
  }
  if (!receive(to, head[2])) return false;
  pthread_mutex_lock(&s.receive_lock);
  for (struct read **p = &s.reads; *p; p = &(*p)->next) {
    if ((*p)->identity == head[0]) {
      (*p)->arrived += head[2];
      if ((*p)->arrived >= (*p)->bytes) {
        struct read *gone = *p;
        *p = gone->next;
        free(gone);
      }
      break;
    }
  }
  pthread_mutex_unlock(&s.receive_lock);
  return true;
}

/* Reads one answer and hands it to whom it is for. */
static bool receive_one(void) {
  struct answer answer;
  if (!receive(&answer, sizeof answer)) return false;
  if (answer.size < sizeof answer || answer.size > MAX_RECORD || answer.size % 8) {
    die("an answer of a wrong size", 0);
    return false;
  }
  size_t bytes = answer.size - sizeof answer;
  switch (answer.kind) {
    case ANSWER_REPLY: {
      pthread_mutex_lock(&s.receive_lock);
      struct waiter *w = s.waiters;
      while (w && w->slot != answer.slot) w = w->next;
      pthread_mutex_unlock(&s.receive_lock);
      if (!w) {
        die("a reply to no request", 0);
        return false;
      }
      if (!receive_results(w, bytes)) return false;
      pthread_mutex_lock(&s.receive_lock);
      w->result = answer.result;
      w->done = true;
      pthread_cond_signal(&w->wake);
      pthread_mutex_unlock(&s.receive_lock);
      return true;
    }
    case ANSWER_DATA:
      if (bytes != 24) break;
      return receive_data();
    case ANSWER_CALLBACK: {
      uint64_t identity;
      if (bytes != 8) break;
      if (!receive(&identity, 8)) return false;
      if (graft_callback_arrived(identity)) {
        pthread_mutex_lock(&s.receive_lock);
        s.arrivals++;
        pthread_cond_signal(&s.listener_wake);
        pthread_mutex_unlock(&s.receive_lock);
        return true;
      }
      die("a callback that nobody asked for", 0);
      return false;
    }
    case ANSWER_NOTICE:
      return skip(bytes);
    default:
      break;
  }
  die("an answer of an unknown kind", 0);
  return false;
}

/* Called with receive_lock held when the reading thread leaves: somebody else has to read, or to learn that it is over. */
static void pass_on(const struct waiter *leaving, bool ok) {
  bool passed = false;
  for (struct waiter *o = s.waiters; o && !(ok && passed); o = o->next) {
    if (o != leaving && !o->done) {
      pthread_cond_signal(&o->wake);
      passed = true;
    }
  }
  pthread_cond_signal(&s.listener_wake);
}

bool graft_listen(void) {
  pthread_mutex_lock(&s.receive_lock);
  if (dead()) {
    pthread_mutex_unlock(&s.receive_lock);
    return false;
  }
  if (s.arrivals != s.noticed) { /* one came while the listener was not looking */
    s.noticed = s.arrivals;
    pthread_mutex_unlock(&s.receive_lock);
    return true;
  }
  if (s.reading) {
    pthread_cond_wait(&s.listener_wake, &s.receive_lock);
    pthread_mutex_unlock(&s.receive_lock);
    return true;
  }
  s.reading = true;
  pthread_mutex_unlock(&s.receive_lock);
  bool ok = receive_one();
  pthread_mutex_lock(&s.receive_lock);
  s.reading = false;
  pass_on(NULL, ok);
  pthread_mutex_unlock(&s.receive_lock);
  return ok;
}

static void await(struct waiter *w) {
  pthread_mutex_lock(&s.receive_lock);
  while (!w->done) {
    if (s.reading) { /* it may be filling in our results: never leave before it is done */
      pthread_cond_wait(&w->wake, &s.receive_lock);
      continue;
    }
    if (dead()) {
      w->result = dead();
      break;
    }
    s.reading = true;
    pthread_mutex_unlock(&s.receive_lock);
    bool ok = receive_one();
    pthread_mutex_lock(&s.receive_lock);
    s.reading = false;
    if (!ok || w->done) pass_on(w, ok);
  }
  for (struct waiter **p = &s.waiters; *p; p = &(*p)->next) {
    if (*p == w) {
      *p = w->next;
      break;
    }
  }
  pthread_mutex_unlock(&s.receive_lock);
}

/* What the next call that waits brings as data, set by graft_incoming for the calling thread. */
static _Thread_local struct {
  void *to;
  size_t bytes;
} incoming;

void graft_incoming(void *to, size_t bytes) {
  incoming.to = to;
  incoming.bytes = bytes;
}

static int wait_reply(struct graft_call *call, const struct graft_result *results, int count, struct read *read) {
  struct waiter w = {.results = results, .count = count, .wake = PTHREAD_COND_INITIALIZER};
  call->slot = w.slot = ++s.next_slot & 0x7fffffff; /* under send_lock */
  pthread_mutex_lock(&s.receive_lock);
  w.next = s.waiters;
  s.waiters = &w;
  if (read) {
    read->identity = w.slot;
    read->next = s.reads;
    s.reads = read;
  }
  pthread_mutex_unlock(&s.receive_lock);
  uint64_t start = s.config.stats ? graft_now() : 0;
  commit(call, FLAG_REPLY);
  ship(NULL, 0);
  pthread_mutex_unlock(&s.send_lock);
  await(&w);
  pthread_cond_destroy(&w.wake);
  if (s.config.stats) graft_stats_round_trip(call->function, graft_now() - start);
  return w.result;
}

int graft_wait(struct graft_call *call, const struct graft_result *results, int count) {
  if (!incoming.to) return wait_reply(call, results, count, NULL);
  struct read *read = calloc(1, sizeof *read);
  if (!read) {
    pthread_mutex_unlock(&s.send_lock);
    return GRAFT_OUT_OF_MEMORY;
  }
  read->to = incoming.to;
  read->bytes = incoming.bytes;
  incoming.to = NULL;
  int r = wait_reply(call, results, count, read);
  graft_read_forget(call->slot);
  return r;
}

uint64_t graft_read_expect(void *to, size_t bytes) {
  struct read *read = calloc(1, sizeof *read);
  if (!read) return 0;
  read->to = to;
  read->bytes = bytes;
  pthread_mutex_lock(&s.receive_lock);
  read->identity = ++s.next_read | 1ull << 63;
  read->next = s.reads;
  s.reads = read;
  pthread_mutex_unlock(&s.receive_lock);
  return read->identity;
}

void graft_read_forget(uint64_t identity) {
  pthread_mutex_lock(&s.receive_lock);
  for (struct read **p = &s.reads; *p; p = &(*p)->next) {
    if ((*p)->identity == identity) {
      struct read *gone = *p;
      *p = gone->next;
      free(gone);
      break;
    }
  }
  pthread_mutex_unlock(&s.receive_lock);
}

/* ---- The lane ---- */

bool graft_lane_open(void) {
  char reason[400];
  if (s.lane < 0) s.lane = graft_connect_socket(&s.config, &s.identity, reason, sizeof reason);
  if (s.lane < 0 && graft_debug()) graft_say("no second connection: %s", reason);
  return s.lane >= 0;
}

bool graft_lane_done(uint64_t callback) {
  struct {
    struct record record;
    uint64_t callback;
  } message = {{.size = sizeof message, .function = FN_graftHostFunctionDone}, callback};
  return s.lane >= 0 && send(s.lane, &message, sizeof message, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

/* ---- Opening ---- */

static int open_now(void) {
  char reason[400];
  if (!graft_config_read(&s.config, reason, sizeof reason)) {
    graft_say("%s", reason);
    return GRAFT_NO_DEVICE;
  }
  s.buffer = malloc(BUFFER);
  s.spare = malloc(BUFFER);
  s.input = malloc(BUFFER);
  if (!s.buffer || !s.spare || !s.input) return GRAFT_OUT_OF_MEMORY;
  s.fd = graft_connect_best(&s.config, &s.identity, reason, sizeof reason);
  if (s.fd < 0) {
    graft_say("%s", reason);
    return GRAFT_NO_DEVICE;
  }
  if (s.config.stats) graft_stats_enable();
  uint8_t *region = graft_region_rings();
  if (region) {
    graft_ring_open(&s.requests, region, GRAFT_REQUESTS, GRAFT_REQUESTS_DATA);
    graft_ring_open(&s.answers, region, GRAFT_ANSWERS, GRAFT_ANSWERS_DATA);
    s.shared = true;
  } else {
    s.flusher_started = graft_start_thread(flusher);
  }
  return 0;
}

int graft_session_open(void) {
  if (graft_in_child()) return GRAFT_NOT_INITIALIZED;
  if (__atomic_load_n(&s.opened, __ATOMIC_ACQUIRE)) return s.open_result;
  pthread_mutex_lock(&s.open_lock);
  if (!s.opened) {
    s.open_result = open_now();
    __atomic_store_n(&s.opened, true, __ATOMIC_RELEASE);
    if (!s.open_result) {
      int r = graft_devices_load();
      if (r) {
        s.open_result = r;
      }
    }
  }
  pthread_mutex_unlock(&s.open_lock);
  return s.open_result;
}
