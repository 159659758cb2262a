/* The session: one ordered stream of records to the server, replies back (wire format: remoting-bridge/api/README.md).
 *
 * Sending: calls write their records into a ring, under send_lock. With shared memory the server takes them out of it;
 * without, a thread of ours, the pump, does and sends them, so that a call that does not wait costs no system call and
 * never meets the pump at a lock. A thread that waits does the pump's work itself while the pump sleeps.
 * Receiving: of the threads that wait, one reads the socket for all; the others sleep until their reply is there.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "graft.h"
#include "grants.h"
#include "mirror.h"
#include "region.h"
#include "ring.h"
#include "ucx.h"

#define MAX_RECORD (1u << 20)
#define BUFFER (2u << 20)
#define SMALL_BULK (64u << 10)
#define FAR_BELL_NANOSECONDS 3000000u
#define FLAG_REPLY 1
#define FLAG_BULK 2
#define FLAG_LANES 4 /* the bulk data comes on lanes */
/* How long a thread that has polled in vain goes on looking, giving way to others, before it sleeps: to be woken costs 0.2
 * to 0.4 ms in a virtual machine, a tenth of a copy of 256 MiB. Native CUDA polls all the time. Not where CPUs are few. */
#define YIELD_NANOSECONDS 10000000u
#define YIELD_CPUS 4
/* How many times longer than a thread that waits the pump polls: a program's next call is often not far. */
#define PUMP_SPINS 4

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
enum { ANSWER_REPLY, ANSWER_DATA, ANSWER_CALLBACK, ANSWER_NOTICE, ANSWER_LANES, ANSWER_OUTPUT };

struct waiter {
  struct waiter *next;
  uint32_t slot;
  bool done;
  int result;
  const struct graft_result *results;
  int count;
  pthread_cond_t wake;
};

static struct {
  struct graft_config config;
  pthread_mutex_t open_lock;
  bool opened;
  int open_result;
  struct graft_wire wire;
  struct graft_session_key key;
  int lane;    /* for callbacks, -1 without */
  bool yields; /* waits for answers by looking and giving way */
  bool bell_is_far; /* the doorbell goes through the guest's network: look at the ring for a while before waiting for it */
  bool shared; /* records go through shared memory, the socket is the doorbell */
  struct graft_ring requests, answers;
  struct graft_bell bell; /* wakes whoever takes requests out of the ring; of shared memory, is heard for answers too */
  int dead; /* 0, or the error that every call returns */
  pid_t sender, receiver; /* who is writing a record, who takes answers; kept while there are mirrors */

  pthread_mutex_t send_lock;
  uint8_t *buffer; /* for a record that the ring has no room for at one place */
  uint32_t next_slot;
  uint64_t transfers;

  pthread_mutex_t pump_lock; /* held by the pump unless it sleeps */
  struct graft_ring pump;
  int pump_bell;

  pthread_mutex_t receive_lock;
  pthread_cond_t listener_wake, arrival;
  uint64_t arrivals, noticed; /* callbacks; noticed belongs to the listener */
  bool reading;
  struct waiter *waiters;
  uint64_t next_read;
  uint64_t pieces; /* how many there were, of reads and of announcements: changes when there is something to look at */
  uint8_t *input;
  size_t input_at, input_end;
  int notice;
} s = {.open_lock = PTHREAD_MUTEX_INITIALIZER,
       .send_lock = PTHREAD_MUTEX_INITIALIZER,
       .pump_lock = PTHREAD_MUTEX_INITIALIZER,
       .receive_lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,
       .listener_wake = PTHREAD_COND_INITIALIZER,
       .arrival = PTHREAD_COND_INITIALIZER,
       .wire = {.fd = -1},
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
bool graft_gives_way(const struct graft_config *config) {
  return config->spin_microseconds && sysconf(_SC_NPROCESSORS_ONLN) >= YIELD_CPUS;
}
bool graft_managed_is_exclusive(void) { return s.config.managed_exclusive; }
bool graft_session_is_open(void) { return __atomic_load_n(&s.opened, __ATOMIC_ACQUIRE) && !s.open_result; }

/* The first failure is told once; from then on every call returns the same error. */
void graft_die(const char *what, int error) {
  int expected = 0;
  if (__atomic_compare_exchange_n(&s.dead, &expected, GRAFT_DEVICE_UNAVAILABLE, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    graft_say("session with %s ended: %s%s%s; the GPU is not available to this process any more", s.config.server, what,
              error ? ": " : "", error ? strerror(error) : "");
    graft_wire_shutdown(&s.wire);
    graft_lanes_shutdown();
  }
}

int graft_dead(void) { return __atomic_load_n(&s.dead, __ATOMIC_ACQUIRE); }

/* ---- Sending ---- */

/* Sends what the ring holds up to a position. Called with pump_lock held. False if there was nothing. */
static bool drain(uint64_t end) {
  bool any = false;
  const uint8_t *data;
  ssize_t have;
  while (s.pump.position < end && (have = graft_ring_peek(&s.pump, &data)) > 0) {
    any = true;
    ssize_t n = graft_dead() ? have : graft_wire_send(&s.wire, data, (size_t)have, false);
    if (n > 0) {
      graft_ring_take(&s.pump, (size_t)n);
    } else if (errno != EINTR) {
      graft_die("sending failed", errno);
    }
  }
  return any;
}

static void *pump(void *unused) {
  (void)unused;
  uint64_t idle_since = graft_now();
  pthread_mutex_lock(&s.pump_lock);
  for (;;) {
    if (drain(UINT64_MAX)) {
      idle_since = graft_now();
    } else if (graft_now() - idle_since < (uint64_t)s.config.spin_microseconds * PUMP_SPINS * 1000) {
      sched_yield();
    } else if (graft_ring_doze(&s.pump)) {
      pthread_mutex_unlock(&s.pump_lock);
      char bells[64];
      graft_wire_before_sleep(&s.wire, s.pump_bell);
      if (recv(s.pump_bell, bells, sizeof bells, 0) < 0 && errno != EINTR) graft_die("the sending thread cannot wait", errno);
      pthread_mutex_lock(&s.pump_lock);
      idle_since = graft_now();
    }
  }
  return NULL;
}

/* Sees to it that what is in the ring up to here is sent now. */
static void push(uint64_t end) {
  /* UCX may keep the sender of much until the server takes it, which may wait for us to receive: that is for the pump. */
  uint64_t sent = __atomic_load_n(&s.requests.control->tail, __ATOMIC_RELAXED);
  bool may_send = !s.wire.ucx || end - sent <= GRAFT_UCX_SURELY_EAGER;
  if (may_send && !pthread_mutex_trylock(&s.pump_lock)) {
    drain(end);
    pthread_mutex_unlock(&s.pump_lock);
  } else if (__atomic_load_n(&s.requests.control->asleep, __ATOMIC_SEQ_CST)) {
    graft_ring_wake(&s.requests, &s.bell);
  }
}

/* A ring of our own for requests, and the thread that sends them. */
static bool start_pump(void) {
  int bells[2];
  uint8_t *memory = mmap(NULL, GRAFT_REGION_CONTROL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells)) return false;
  graft_ring_open(&s.requests, memory + GRAFT_REQUESTS, memory + GRAFT_REQUESTS_DATA, GRAFT_RING_BYTES);
  graft_ring_open(&s.pump, memory + GRAFT_REQUESTS, memory + GRAFT_REQUESTS_DATA, GRAFT_RING_BYTES);
  s.bell = (struct graft_bell){.socket = bells[0], .events.fd = -1};
  s.pump_bell = bells[1];
  return graft_start_thread(pump, NULL);
}

/* ---- Threads ---- */

#define MOST_THREADS 64
static pid_t threads[MOST_THREADS];
static int thread_count;

static void set_thread(pid_t *who) {
  static _Thread_local pid_t self;
  if (!self) self = gettid();
  __atomic_store_n(who, self, __ATOMIC_RELEASE);
}

struct start {
  void *(*run)(void *);
  void *argument;
};

static void *run_thread(void *start) {
  struct start of = *(struct start *)start;
  free(start);
  int index = __atomic_fetch_add(&thread_count, 1, __ATOMIC_ACQ_REL);
  if (index < MOST_THREADS) set_thread(&threads[index]);
  return of.run(of.argument);
}

bool graft_thread_is_ours(pid_t thread) {
  bool ours = __atomic_load_n(&s.sender, __ATOMIC_ACQUIRE) == thread || __atomic_load_n(&s.receiver, __ATOMIC_ACQUIRE) == thread;
  for (int i = 0; i < MOST_THREADS && !ours; i++) ours = __atomic_load_n(&threads[i], __ATOMIC_ACQUIRE) == thread;
  return ours;
}

bool graft_start_thread(void *(*run)(void *), void *argument) {
  struct start *start = malloc(sizeof *start);
  if (!start) return false;
  *start = (struct start){run, argument};
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all); /* the program's signals are not for this thread */
  pthread_sigmask(SIG_SETMASK, &all, &before);
  /* The stack has the system's size: it holds the thread-local memory of the program's libraries as well, of which some have much. */
  int error = pthread_create(&thread, &attributes, run_thread, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (error) free(start);
  errno = error;
  return !error;
}

/* What the calling thread said about its next call. */
static _Thread_local struct {
  void *incoming; /* where the data goes that it brings */
  size_t incoming_bytes;
  bool outgoing_stays;
} next_call;

void graft_incoming(void *to, size_t bytes) {
  next_call.incoming = to;
  next_call.incoming_bytes = bytes;
}

void graft_outgoing_stays(void) { next_call.outgoing_stays = true; }

static int refuse(int error) {
  next_call.incoming = NULL;
  next_call.outgoing_stays = false;
  return error;
}

/* Has calls of its own: what was said about the next one is not about those. */
static bool mirrors_before(int function) {
  void *to = next_call.incoming;
  size_t bytes = next_call.incoming_bytes;
  bool stays = next_call.outgoing_stays;
  next_call.incoming = NULL;
  next_call.outgoing_stays = false;
  bool brought = graft_mirrors_before(function);
  next_call.incoming = to;
  next_call.incoming_bytes = bytes;
  next_call.outgoing_stays = stays;
  return brought;
}

/* Calls that go on when the context has failed: those that end something, and those that are about none. As the driver 580.159
 * answers on an H200. */
static bool outlives_fault(int function) {
  switch (function) {
    case FN_cuGraphCreate:
    case FN_cuGraphDestroy:
    case FN_cuGraphExecDestroy:
    case FN_cuDeviceCanAccessPeer:
    case FN_cuDeviceGetDefaultMemPool:
    case FN_cuMemPoolTrimTo:
    case FN_graftPoolGetAttribute:
    case FN_graftPoolSetAttribute:
    case FN_graftLibraryLoad:
    case FN_graftLibraryLoadKnown:
    case FN_graftKnownCode:
    case FN_graftSnapshot:
    case FN_graftPrimaryContextRelease:
    case FN_graftContextDestroy:
    case FN_graftHostFunctionDone:
    case FN_graftRegionUnmap:
    case FN_graftTwinUnmap:
      return true;
    default: return false;
  }
}

int graft_begin(struct graft_call *call, int function, size_t bytes) {
  if (!graft_session_is_open()) {
    return graft_session_open() ? refuse(GRAFT_NOT_INITIALIZED) : graft_begin(call, function, bytes);
  }
  if (graft_profiling) graft_profile_call(function);
  if (graft_in_child()) return refuse(GRAFT_NOT_INITIALIZED);
  int error = graft_dead();
  if (!error && !outlives_fault(function)) error = graft_context_fault();
  if (error) return refuse(error);
  size_t total = sizeof(struct record) + bytes;
  if (total > MAX_RECORD) return refuse(GRAFT_INVALID_VALUE);
  bool brought = graft_mirrors && mirrors_before(function);
  uint32_t context = graft_context_id();
  if (context && function == FN_cuGraphLaunch) graft_context_set_busy();
  pthread_mutex_lock(&s.send_lock);
  if (graft_mirrors) set_thread(&s.sender);
  uint8_t *start = graft_ring_reserve(&s.requests, total + SMALL_BULK);
  if (!start) start = s.buffer;
  struct record record = {.size = (uint32_t)total, .function = (uint16_t)function, .context = context};
  memcpy(start, &record, sizeof record);
  *call = (struct graft_call){
      .start = start, .at = start + sizeof record, .end = start + total, .function = function, .brought = brought};
  return 0;
}

void graft_bulk(struct graft_call *call, const void *data, size_t bytes) {
  call->bulk = data;
  call->bulk_bytes = bytes;
}

static void put_in_ring(const void *data, size_t bytes) {
  if (!graft_ring_write(&s.requests, &s.bell, data, bytes)) graft_die("the server is gone", 0);
}

/* Completes the record; called with send_lock held. Bulk data that goes over lanes is to be waited for. */
static struct graft_transfer *commit(struct graft_call *call, uint16_t flags) {
  bool stays = next_call.outgoing_stays;
  bool on_lanes = !s.shared && call->bulk_bytes >= GRAFT_LANE_LEAST && graft_lanes_ready(&s.config, &s.key);
  bool waits = flags & FLAG_REPLY;
  size_t bytes = (size_t)(call->end - call->start);
  next_call.outgoing_stays = false;
  if (call->bulk_bytes) flags |= FLAG_BULK;
  if (on_lanes) flags |= FLAG_LANES;
  memcpy(call->start + offsetof(struct record, flags), &flags, sizeof flags);
  memcpy(call->start + offsetof(struct record, slot), &call->slot, sizeof call->slot);
  graft_stats_call(call->function, bytes, call->bulk_bytes);
  bool behind = call->bulk_bytes && call->bulk_bytes <= SMALL_BULK;
  if (behind) {
    memcpy(call->end, call->bulk, call->bulk_bytes);
    bytes += call->bulk_bytes;
  }
  if (call->start == s.buffer) {
    put_in_ring(s.buffer, bytes);
  } else if (graft_ring_publish(&s.requests, bytes) && (s.shared || !waits) && !graft_ring_wake(&s.requests, &s.bell)) {
    graft_die("the server is gone", 0);
  }
  if (on_lanes) return graft_lanes_send(++s.transfers, call->bulk, call->bulk_bytes, stays);
  if (call->bulk_bytes && !behind) put_in_ring(call->bulk, call->bulk_bytes);
  return NULL;
}

/* The call is on its way, or will not be. */
static void let_go(const struct graft_call *call) {
  if (call->brought) graft_mirrors_sent();
  __atomic_store_n(&s.sender, 0, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&s.send_lock);
}

int graft_send(struct graft_call *call) {
  struct graft_transfer *transfer = commit(call, 0);
  let_go(call);
  if (transfer) graft_lanes_wait(transfer);
  return graft_dead();
}

/* ---- Receiving: called by the one thread that reads ---- */

/* Lets others run, if a thread that has polled and then waited so long is not to sleep yet. */
static bool give_way(uint64_t waited) {
  if (!s.yields || waited > YIELD_NANOSECONDS) return false;
  sched_yield();
  return true;
}

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
      if (now > deadline && give_way(now - deadline)) continue;
      if (now > deadline && s.bell_is_far && now - deadline < FAR_BELL_NANOSECONDS) {
        graft_ring_nap(now - deadline);
        continue;
      }
      if (now > deadline && !graft_ring_sleep(&s.answers, &s.bell)) {
        n = -1;
        errno = ECONNRESET;
        break;
      }
    }
    while (!s.shared) {
      n = graft_wire_try(&s.wire, direct ? at : s.input, direct ? bytes : BUFFER);
      if (n >= 0 || (errno != EAGAIN && errno != EINTR)) break;
      uint64_t now = graft_now();
      if (!deadline) deadline = now + (uint64_t)s.config.spin_microseconds * 1000;
      if (now > deadline && !give_way(now - deadline)) graft_wire_wait(&s.wire);
    }
    if (n <= 0) {
      graft_die(n ? "receiving failed" : "the server closed the connection", n ? errno : 0);
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
    graft_die("a reply of a wrong size", 0);
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

/* Called with receive_lock held. Waits until nobody receives into it any more. */
static void drop_read(uint64_t identity) {
  struct graft_read *r;
  while ((r = graft_reads_find(identity)) && r->writers) pthread_cond_wait(&s.arrival, &s.receive_lock);
  if (!r) return;
  graft_reads_remove(r);
  free(r);
}

/* Waits a moment for lanes; called with receive_lock held. */
static void await_arrival(uint64_t since) {
  uint64_t spin = (uint64_t)s.config.spin_microseconds * 1000, most = s.yields ? YIELD_NANOSECONDS : spin, waited;
  if (graft_now() - since < most) {
    uint64_t seen = __atomic_load_n(&s.pieces, __ATOMIC_ACQUIRE);
    pthread_mutex_unlock(&s.receive_lock); /* not to be in the way of those who are waited for */
    while (__atomic_load_n(&s.pieces, __ATOMIC_ACQUIRE) == seen && (waited = graft_now() - since) < most && !graft_dead()) {
      if (waited < spin) {
        for (int i = 0; i < 32; i++) __builtin_ia32_pause();
      } else {
        sched_yield();
      }
    }
    pthread_mutex_lock(&s.receive_lock);
    return;
  }
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec++; /* for a session that dies meanwhile */
  pthread_cond_timedwait(&s.arrival, &s.receive_lock, &limit);
}

/* Whether a piece is ahead of its answer while another read brings data to the same memory: which of them is the last one
 * only the answers say, and those come in order. Called with receive_lock held. */
static bool is_too_early(const struct graft_read *r, uint64_t offset, uint64_t bytes) {
  return offset + bytes > r->announced && graft_reads_meet(r, r->to + offset, bytes);
}

uint8_t *graft_read_place(uint64_t read, uint64_t offset, uint64_t bytes, bool on_lane) {
  uint64_t since = 0; /* when it first was too early */
  uint8_t *to = NULL;
  struct graft_read *r;
  pthread_mutex_lock(&s.receive_lock);
  while ((r = graft_reads_find(read)) && offset <= r->bytes && bytes <= r->bytes - offset && !graft_dead()) {
    if (on_lane && is_too_early(r, offset, bytes)) {
      if (!since) since = graft_now();
      await_arrival(since);
      continue;
    }
    to = r->to + offset;
    r->writers++;
    break;
  }
  pthread_mutex_unlock(&s.receive_lock);
  return to;
}

void graft_read_arrived(uint64_t read, uint64_t bytes) {
  pthread_mutex_lock(&s.receive_lock);
  struct graft_read *r = graft_reads_find(read);
  if (r) { /* always: whoever drops it waits for us */
    r->writers--;
    r->arrived += bytes;
  }
  __atomic_add_fetch(&s.pieces, 1, __ATOMIC_ACQ_REL);
  pthread_cond_broadcast(&s.arrival);
  pthread_mutex_unlock(&s.receive_lock);
}

/* An answer says that so many bytes of a read are sent: returns when they are here. */
static bool read_announced(uint64_t read, uint64_t bytes) {
  uint64_t since = graft_now();
  pthread_mutex_lock(&s.receive_lock);
  struct graft_read *r = graft_reads_find(read);
  bool asked = r && bytes <= r->bytes - r->announced;
  if (asked) {
    r->announced += bytes;
    __atomic_add_fetch(&s.pieces, 1, __ATOMIC_ACQ_REL);
    pthread_cond_broadcast(&s.arrival);
  }
  while (asked && (r = graft_reads_find(read)) && r->arrived < r->announced && !graft_dead()) await_arrival(since);
  if (asked && r && r->announced == r->bytes) drop_read(read);
  pthread_mutex_unlock(&s.receive_lock);
  if (!asked) graft_die("data that nobody asked for", 0);
  return !graft_dead();
}

static bool receive_data(bool on_lanes) {
  uint64_t head[3]; /* read, offset, length */
  if (!receive(head, sizeof head)) return false;
  if (!on_lanes) {
    uint8_t *to = graft_read_place(head[0], head[1], head[2], false);
    if (!to) {
      graft_die("data that nobody asked for", 0);
      return false;
    }
    bool whole = receive(to, head[2]);
    graft_read_arrived(head[0], head[2]);
    if (!whole) return false;
  }
  return read_announced(head[0], head[2]);
}

/* What a kernel printed, or why the driver says that one failed: goes where the program's own output goes, in its order. */
static bool receive_output(size_t bytes) {
  uint64_t head[2]; /* 1 or 2 for standard output or error, length */
  if (!receive(head, sizeof head)) return false;
  bytes -= sizeof head;
  if (head[1] > bytes || bytes - head[1] >= 8) {
    graft_die("output of a wrong size", 0);
    return false;
  }
  FILE *stream = head[0] == STDERR_FILENO ? stderr : stdout;
  char text[512];
  for (size_t left = head[1]; left;) {
    size_t take = left < sizeof text ? left : sizeof text;
    if (!receive(text, take)) return false;
    fwrite(text, 1, take, stream);
    left -= take;
  }
  fflush(stream);
  return skip(bytes - head[1]);
}

/* Reads one answer and hands it to whom it is for. */
static bool receive_one(void) {
  struct answer answer;
  if (!receive(&answer, sizeof answer)) return false;
  if (answer.size < sizeof answer || answer.size > MAX_RECORD || answer.size % 8) {
    graft_die("an answer of a wrong size", 0);
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
        graft_die("a reply to no request", 0);
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
    case ANSWER_LANES:
      if (bytes != 24) break;
      return receive_data(answer.kind == ANSWER_LANES);
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
      graft_die("a callback that nobody asked for", 0);
      return false;
    }
    case ANSWER_NOTICE:
      return skip(bytes);
    case ANSWER_OUTPUT:
      if (bytes < 16) break;
      return receive_output(bytes);
    default:
      break;
  }
  graft_die("an answer of an unknown kind", 0);
  return false;
}

static bool receive_as_receiver(void) {
  if (graft_mirrors) set_thread(&s.receiver);
  bool ok = receive_one();
  __atomic_store_n(&s.receiver, 0, __ATOMIC_RELEASE);
  return ok;
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

/* Called with receive_lock held while nobody reads: takes one answer, without the lock meanwhile. */
static bool read_one(void) {
  s.reading = true;
  pthread_mutex_unlock(&s.receive_lock);
  bool ok = receive_as_receiver();
  pthread_mutex_lock(&s.receive_lock);
  s.reading = false;
  return ok;
}

bool graft_listen(void) {
  pthread_mutex_lock(&s.receive_lock);
  if (graft_dead()) {
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
  bool ok = read_one();
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
    if (graft_dead()) {
      w->result = graft_dead();
      break;
    }
    bool ok = read_one();
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

static int wait_reply(struct graft_call *call, const struct graft_result *results, int count, struct graft_read *read) {
  struct waiter w = {.results = results, .count = count, .wake = PTHREAD_COND_INITIALIZER};
  call->slot = w.slot = ++s.next_slot & 0x7fffffff; /* under send_lock */
  pthread_mutex_lock(&s.receive_lock);
  w.next = s.waiters;
  s.waiters = &w;
  if (read) {
    read->identity = w.slot;
    graft_reads_add(read);
  }
  pthread_mutex_unlock(&s.receive_lock);
  uint64_t start = s.config.stats ? graft_now() : 0;
  struct graft_transfer *transfer = commit(call, FLAG_REPLY);
  uint64_t end = s.requests.position;
  let_go(call);
  if (!s.shared) push(end);
  await(&w);
  if (transfer) graft_lanes_wait(transfer);
  pthread_cond_destroy(&w.wake);
  if (s.config.stats) graft_stats_round_trip(call->function, graft_now() - start);
  if (graft_profiling) graft_profile_waited(call->function);
  return w.result;
}

static int wait_data(struct graft_call *call, const struct graft_result *results, int count) {
  if (!next_call.incoming) return wait_reply(call, results, count, NULL);
  struct graft_read *read = calloc(1, sizeof *read);
  if (!read) {
    let_go(call);
    return refuse(GRAFT_OUT_OF_MEMORY);
  }
  read->to = next_call.incoming;
  read->bytes = next_call.incoming_bytes;
  next_call.incoming = NULL;
  if (!s.shared && read->bytes >= GRAFT_LANE_LEAST) graft_lanes_ready(&s.config, &s.key);
  int r = wait_reply(call, results, count, read);
  graft_read_forget(call->slot);
  return r;
}

/* Results that go to managed memory, which whoever receives them must not wait for: the caller writes them afterwards. */
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
    let_go(call);
    r = refuse(GRAFT_OUT_OF_MEMORY);
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
  bool apart = s.config.managed_exclusive && is_managed(results, count);
  int function = call->function;
  uint64_t first = 0; /* parameter */
  if (call->end - call->start >= (ptrdiff_t)(sizeof(struct record) + sizeof first)) {
    memcpy(&first, call->start + sizeof(struct record), sizeof first);
  }
  int r = (apart ? wait_apart : wait_data)(call, results, count);
  if (!r && graft_mirrors) graft_mirrors_after(function, first);
  if (r) graft_context_answered(r);
  return r;
}

uint64_t graft_read_expect(void *to, size_t bytes) {
  if (!s.shared && bytes >= GRAFT_LANE_LEAST) graft_lanes_ready(&s.config, &s.key);
  struct graft_read *read = calloc(1, sizeof *read);
  if (!read) return 0;
  read->to = to;
  read->bytes = bytes;
  pthread_mutex_lock(&s.receive_lock);
  read->identity = ++s.next_read | 1ull << 63;
  graft_reads_add(read);
  pthread_mutex_unlock(&s.receive_lock);
  return read->identity;
}

bool graft_read_pending(const void *memory, size_t bytes) {
  if (!graft_reads_count()) return false;
  pthread_mutex_lock(&s.receive_lock);
  bool pending = graft_reads_meet(NULL, memory, bytes);
  pthread_mutex_unlock(&s.receive_lock);
  return pending;
}

bool graft_reads_await(const void *memory, size_t bytes) {
  if (!graft_reads_count()) return !graft_dead();
  uint64_t since = graft_now();
  pthread_mutex_lock(&s.receive_lock);
  while (graft_reads_meet(NULL, memory, bytes) && !graft_dead()) {
    if (s.reading) {
      await_arrival(since);
      continue;
    }
    bool ok = read_one();
    pass_on(NULL, ok);
  }
  pthread_mutex_unlock(&s.receive_lock);
  return !graft_dead();
}

void graft_read_forget(uint64_t identity) {
  pthread_mutex_lock(&s.receive_lock);
  drop_read(identity);
  pthread_mutex_unlock(&s.receive_lock);
}

/* ---- The callbacks' lane ---- */

int graft_session_connect(enum graft_lane lane) {
  char reason[400];
  struct graft_wire wire;
  bool open = graft_connect_lane(&s.config, &s.key, lane, &wire, reason, sizeof reason);
  if (!open && graft_debug()) graft_say("no further connection: %s", reason);
  return wire.fd;
}

bool graft_lane_open(void) {
  if (s.lane < 0) s.lane = graft_session_connect(GRAFT_LANE_CALLBACKS);
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

/* Beside the driver's functions, for programs that want to know: the address in use, NULL without a session. */
GRAFT_EXPORT const char *graftChannel(void) { return graft_session_is_open() ? s.config.server : NULL; }

GRAFT_EXPORT const char *graftVersion(void) { return GRAFT_VERSION; }

/* Those that client and server share. False if they share no memory. */
static bool open_rings(void) {
  uint8_t *region = graft_region_rings(), *granted = graft_grants_rings();
  if (region) {
    graft_ring_open(&s.requests, region + GRAFT_REQUESTS, region + GRAFT_REQUESTS_DATA, GRAFT_RING_BYTES);
    graft_ring_open(&s.answers, region + GRAFT_ANSWERS, region + GRAFT_ANSWERS_DATA, GRAFT_RING_BYTES);
  } else if (granted) {
    graft_ring_open(&s.requests, granted + GRAFT_GRANTED_REQUESTS, granted + GRAFT_GRANTED_REQUESTS_DATA, GRAFT_GRANTED_RING_BYTES);
    graft_ring_open(&s.answers, granted + GRAFT_GRANTED_ANSWERS, granted + GRAFT_GRANTED_ANSWERS_DATA, GRAFT_GRANTED_RING_BYTES);
  }
  s.bell = (struct graft_bell){s.wire.fd, graft_grants_events()};
  s.bell_is_far = graft_region_is_guests();
  return region || granted;
}

static int open_now(void) {
  char reason[400];
  if (!graft_config_read(&s.config, reason, sizeof reason)) {
    graft_say("%s", reason);
    return GRAFT_NO_DEVICE;
  }
  s.buffer = malloc(BUFFER);
  s.input = malloc(BUFFER);
  if (!s.buffer || !s.input) return GRAFT_OUT_OF_MEMORY;
  if (!graft_connect_best(&s.config, &s.key, &s.wire, reason, sizeof reason)) {
    graft_say("%s", reason);
    return GRAFT_NO_DEVICE;
  }
  s.yields = graft_gives_way(&s.config);
  if (s.config.stats) graft_stats_enable();
  graft_profile_enable();
  s.shared = open_rings();
  if (!s.shared && !start_pump()) {
    graft_say("cannot start the thread that sends: %s", strerror(errno));
    return GRAFT_OUT_OF_MEMORY;
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
