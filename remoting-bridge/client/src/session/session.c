/* Making, opening and ending sessions, and what the rest of the client asks a session. */
#include "session/session.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/contexts.h"
#include "api/devices.h"
#include "api/profile.h"
#include "api/rpc.h"
#include "api/trace.h"
#include "base/config.h"
#include "base/environment.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "session/state.h"
#include "session/stats.h"
#include "transport/compression.h"
#include "transport/region.h"
#include "transport/transport.h"

#define YIELD_CPUS 4
/* A server whose answer to the greeting took this long is far away, or busy. */
#define FAR_NANOSECONDS 10000000u

_Static_assert(!offsetof(struct graft_session, parts), "graft_parts relies on it");

struct graft_session graft_default_session;
struct graft_session *graft_first_session = &graft_default_session;

static struct {
  pthread_mutex_t lock;
  struct graft_session *first, *last;
} sessions = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void init_adaptive(pthread_mutex_t *lock) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static void init_parts(struct graft_parts *p) {
  graft_objects_init(&p->objects);
  p->devices.driver_version = GRAFT_CUDA_VERSION;
  for (int i = 0; i < GRAFT_MAX_DEVICES; i++) pthread_mutex_init(&p->primary_contexts[i].lock, NULL);
  pthread_mutex_init(&p->host_functions.lock, NULL);
  pthread_cond_init(&p->host_functions.wake, NULL);
  pthread_rwlock_init(&p->ranges.lock, NULL);
  pthread_mutex_init(&p->ranges.exposing, NULL);
  pthread_mutex_init(&p->mirrors.lock, NULL);
  pthread_cond_init(&p->mirrors.is_brought, NULL);
  pthread_mutex_init(&p->mirrors.pages, NULL);
  pthread_mutex_init(&p->mirrors.order, NULL);
  pthread_mutex_init(&p->shadow_mappings.lock, NULL);
  pthread_mutex_init(&p->staging.lock, NULL);
  pthread_mutex_init(&p->textures.lock, NULL);
  pthread_mutex_init(&p->known_code.lock, NULL);
  pthread_mutex_init(&p->known_data.lock, NULL);
}

void graft_session_init(struct graft_session *s) {
  init_parts(&s->parts);
  pthread_mutex_init(&s->open_lock, NULL);
  pthread_mutex_init(&s->send_lock, NULL);
  pthread_mutex_init(&s->pump_lock, NULL);
  init_adaptive(&s->receive_lock);
  pthread_cond_init(&s->listener_wake, NULL);
  pthread_cond_init(&s->arrival, NULL);
  s->connection.fd = -1;
  s->callbacks.fd = -1;
  pthread_mutex_init(&s->shadow_lock, NULL);
  s->shadow.fd = -1;
  init_adaptive(&s->data.lock);
  pthread_cond_init(&s->data.work, NULL);
  pthread_cond_init(&s->data.done, NULL);
  pthread_mutex_lock(&sessions.lock);
  __atomic_store_n(sessions.last ? &sessions.last->next : &sessions.first, s, __ATOMIC_RELEASE);
  sessions.last = s;
  pthread_mutex_unlock(&sessions.lock);
}

__attribute__((constructor)) static void prepare(void) { graft_session_init(&graft_default_session); }

struct graft_session *graft_session_next(const struct graft_session *s) {
  return __atomic_load_n(s ? &s->next : &sessions.first, __ATOMIC_ACQUIRE);
}

bool graft_gives_way(const struct graft_config *config) {
  return config->spin_microseconds && sysconf(_SC_NPROCESSORS_ONLN) >= YIELD_CPUS;
}

int graft_debug(void) { return graft_session_current()->config.debug; }
bool graft_managed_is_exclusive(void) { return graft_session_current()->config.managed_exclusive; }
bool graft_session_shares_memory(void) {
  return graft_connection_can(&graft_session_current()->connection, GRAFT_TRANSPORT_SHARED_MEMORY);
}
const struct graft_config *graft_session_config(void) { return &graft_session_current()->config; }
bool graft_session_is_far(const struct graft_session *s) { return s->key.greeting_nanoseconds >= FAR_NANOSECONDS; }

double graft_session_rate(void) {
  const struct graft_session *s = graft_session_current();
  double all = graft_compression_rate(&s->connection);
  int count = __atomic_load_n(&s->data.count, __ATOMIC_ACQUIRE);
  for (int i = 0; i < count && all >= 0; i++) {
    double rate = graft_compression_rate(&s->data.each[i].connection);
    if (rate > 0) all += rate;
  }
  return all;
}

struct graft_region *graft_session_region(void) {
  return graft_session_current()->connection.region;
}

bool graft_session_is_open(const struct graft_session *s) {
  return __atomic_load_n(&s->opened, __ATOMIC_ACQUIRE) && !s->open_result;
}

bool graft_thread_is_ours(pid_t thread) {
  bool ours = graft_is_own_thread(thread);
  for (const struct graft_session *s = graft_session_next(NULL); s && !ours; s = graft_session_next(s)) {
    ours = __atomic_load_n(&s->sender, __ATOMIC_ACQUIRE) == thread || __atomic_load_n(&s->receiver, __ATOMIC_ACQUIRE) == thread;
  }
  return ours;
}

/* ---- Ending ---- */

/* Only the first failure is printed; every later call returns the same error. */
void graft_session_die(struct graft_session *s, const char *what, int error) {
  int expected = 0;
  if (__atomic_compare_exchange_n(&s->dead, &expected, GRAFT_DEVICE_UNAVAILABLE, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)) {
    graft_say("session with %s ended: %s%s%s; the GPU is not available to this process any more", s->config.server, what,
              error ? ": " : "", error ? strerror(error) : "");
    graft_connection_shutdown(&s->connection);
    graft_data_connections_shutdown(s);
  }
}

void graft_die(const char *what, int error) { graft_session_die(graft_session_current(), what, error); }
int graft_dead(void) { return graft_session_dead(graft_session_current()); }

/* ---- Further connections ---- */

static struct graft_connection connect_further(const struct graft_session *s, enum graft_purpose purpose) {
  char reason[400];
  struct graft_connection connection;
  bool open = graft_connect_further(&s->config, &s->key, purpose, &connection, reason, sizeof reason);
  if (!open && s->config.debug) graft_say("no further connection: %s", reason);
  return connection;
}

struct graft_wire graft_session_shadow_lock(void) {
  struct graft_session *s = graft_session_current();
  pthread_mutex_lock(&s->shadow_lock);
  if (!s->shadow_tried) s->shadow = connect_further(s, GRAFT_FOR_SHADOW_MAPPINGS);
  s->shadow_tried = true;
  return graft_connection_wire(&s->shadow);
}

void graft_session_shadow_unlock(void) { pthread_mutex_unlock(&graft_session_current()->shadow_lock); }

bool graft_callbacks_open(struct graft_session *s) {
  if (s->callbacks.fd < 0) s->callbacks = connect_further(s, GRAFT_FOR_CALLBACKS);
  return s->callbacks.fd >= 0;
}

bool graft_callback_done(const struct graft_session *s, uint64_t callback) {
  struct {
    struct graft_record record;
    uint64_t callback;
  } message = {{.size = sizeof message, .function = FN_graftHostFunctionDone}, callback};
  return s->callbacks.fd >= 0 && graft_connection_send_all(&s->callbacks, &message, sizeof message, false);
}

/* ---- Opening ---- */

/* Not a function of CUDA: the address in use, NULL without a session. */
GRAFT_EXPORT const char *graftChannel(void) {
  const struct graft_session *s = graft_session_current();
  return graft_session_is_open(s) ? s->config.server : NULL;
}

/* How many servers the program has, and how many of them were reached. */
GRAFT_EXPORT int graftServers(int *reached) {
  int all = 0;
  *reached = 0;
  for (struct graft_session *s = graft_session_next(NULL); s; s = graft_session_next(s)) {
    all++;
    *reached += graft_session_is_open(s);
  }
  return all;
}

/* The version of Graft that this client came with. */
GRAFT_EXPORT const char *graftVersion(void) { return GRAFT_VERSION; }

static int open_now(struct graft_session *s) {
  char reason[400];
  if (!graft_config_read(&s->config, s->server, reason, sizeof reason)) {
    graft_say("%s", reason);
    return GRAFT_NO_DEVICE;
  }
  s->buffer = malloc(GRAFT_SESSION_BUFFER);
  s->input = malloc(GRAFT_SESSION_BUFFER);
  if (!s->buffer || !s->input) return GRAFT_OUT_OF_MEMORY;
  if (!graft_connect_best(&s->config, &s->key, &s->connection, reason, sizeof reason)) {
    graft_say("%s", reason);
    return GRAFT_NO_DEVICE;
  }
  s->yields = graft_gives_way(&s->config);
  if (s->config.stats) graft_stats_enable();
  graft_profile_enable();
  graft_trace_enable();
  s->server_takes = graft_connection_can(&s->connection, GRAFT_TRANSPORT_RINGS);
  if (s->server_takes) {
    s->connection.transport->requests(&s->connection, &s->requests, &s->bell);
  } else if (!graft_pump_start(s)) {
    graft_say("cannot start the thread that sends: %s", strerror(errno));
    return GRAFT_OUT_OF_MEMORY;
  }
  return 0;
}

/* The number of the batch job that this process belongs to, as Slurm, PBS or LSF tells it; "" if there is none. */
static const char *batch_job(void) {
  static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    const char *job = getenv(variables[i]);
    if (job && *job) return job;
  }
  return "";
}

/* Called with open_lock held, once. */
static void open_once(struct graft_session *s) {
  graft_environment_read();
  s->open_result = open_now(s);
  __atomic_store_n(&s->opened, true, __ATOMIC_RELEASE);
  if (s->open_result) return;
  struct graft_session *before = graft_session_use(s);
  rpc_graftProgram_v2((unsigned)getpid(), program_invocation_short_name, batch_job()); /* for the server's operators */
  int r = graft_devices_load(s);
  graft_session_use(before);
  if (r) s->open_result = r;
}

int graft_session_open(struct graft_session *s) {
  if (graft_in_child()) return GRAFT_NOT_INITIALIZED;
  if (__atomic_load_n(&s->opened, __ATOMIC_ACQUIRE)) return s->open_result;
  pthread_mutex_lock(&s->open_lock);
  if (!s->opened) open_once(s);
  pthread_mutex_unlock(&s->open_lock);
  return s->open_result;
}
