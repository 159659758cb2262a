#include "memory/staging.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/rpc.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "memory/mirror.h"
#include "memory/region.h"
#include "session/session.h"

#define CHUNK (2u << 20)
#define CHUNKS 8
#define FLAG_STRIDE 64

/* Each chunk of the staging memory belongs to one copy at a time. The device itself writes a chunk's number of uses to
 * its flag, in stream order behind the copy, so that the server need not be asked whether a chunk is free. */
static struct {
  pthread_mutex_t lock;
  bool tried;
  uint8_t *memory;
  uint8_t *flags;
  uint32_t uses[CHUNKS];
  unsigned next;
} staging = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- A few helpers for large copies ---- */

#define HELPERS 3
#define SLICE (128u << 10)
#define PARALLEL (1u << 20)
#define LINGER_NANOSECONDS 200000

static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool started;
  int helpers, asleep;
  uint8_t *to;
  const uint8_t *from;
  size_t bytes;
  uint64_t generation; /* even: no job; odd: a job is out */
  size_t taken, done;
  int inside;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void slices(void) {
  uint8_t *to = pool.to;
  const uint8_t *from = pool.from;
  size_t bytes = pool.bytes;
  for (;;) {
    size_t at = __atomic_fetch_add(&pool.taken, SLICE, __ATOMIC_ACQ_REL);
    if (at >= bytes) return;
    size_t take = bytes - at < SLICE ? bytes - at : SLICE;
    memcpy(to + at, from + at, take);
    __atomic_fetch_add(&pool.done, take, __ATOMIC_ACQ_REL);
  }
}

static void *helper(void *unused) {
  (void)unused;
  uint64_t seen = 0, idle_since = graft_now();
  for (;;) {
    uint64_t generation = __atomic_load_n(&pool.generation, __ATOMIC_ACQUIRE);
    if (generation & 1 && generation != seen) {
      __atomic_add_fetch(&pool.inside, 1, __ATOMIC_SEQ_CST);
      /* The job may be over by now: then its memory is none of our business. */
      if (__atomic_load_n(&pool.generation, __ATOMIC_SEQ_CST) == generation) slices();
      __atomic_sub_fetch(&pool.inside, 1, __ATOMIC_SEQ_CST);
      seen = generation;
      idle_since = graft_now();
    } else if (graft_now() - idle_since > LINGER_NANOSECONDS) {
      pthread_mutex_lock(&pool.lock);
      pool.asleep++;
      while (!(pool.generation & 1) || pool.generation == seen) pthread_cond_wait(&pool.wake, &pool.lock);
      pool.asleep--;
      pthread_mutex_unlock(&pool.lock);
      idle_since = graft_now();
    }
  }
  return NULL;
}

static void start_pool(void) {
  pool.started = true;
  cpu_set_t cpus;
  int count = sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : CPU_COUNT(&cpus);
  for (int i = 0; i < HELPERS && i < count - 2; i++) {
    if (graft_start_thread(helper, NULL)) pool.helpers++;
  }
}

/* Called with staging.lock held: there is one job at a time. */
void graft_copy(void *to, const void *from, size_t bytes) {
  if (bytes >= PARALLEL && !pool.started) start_pool();
  if (bytes < PARALLEL || !pool.helpers) {
    memcpy(to, from, bytes);
    return;
  }
  pthread_mutex_lock(&pool.lock);
  pool.to = to;
  pool.from = from;
  pool.bytes = bytes;
  pool.done = 0;
  __atomic_store_n(&pool.taken, 0, __ATOMIC_RELEASE);
  __atomic_add_fetch(&pool.generation, 1, __ATOMIC_SEQ_CST);
  if (pool.asleep) pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  slices();
  while (__atomic_load_n(&pool.done, __ATOMIC_ACQUIRE) < bytes) sched_yield();
  __atomic_add_fetch(&pool.generation, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&pool.inside, __ATOMIC_SEQ_CST)) sched_yield();
}

/* ---- Staging ---- */

bool graft_staging_ready(void) {
  if (!graft_session_shares_memory()) return false;
  pthread_mutex_lock(&staging.lock);
  if (!staging.tried) {
    staging.tried = true;
    staging.memory = graft_region_allocate((size_t)CHUNK * (CHUNKS + 1));
    if (staging.memory) staging.flags = staging.memory + (size_t)CHUNK * CHUNKS;
  }
  bool ready = staging.memory != NULL;
  pthread_mutex_unlock(&staging.lock);
  return ready;
}

static uint32_t *flag_of(unsigned chunk) { return (uint32_t *)(void *)(staging.flags + chunk * FLAG_STRIDE); }

/* Waits until the device has finished with a chunk. After an error in the stream it never does. */
static int wait_chunk(unsigned chunk, void *stream) {
  uint64_t start = 0;
  for (unsigned i = 0; __atomic_load_n(flag_of(chunk), __ATOMIC_ACQUIRE) != staging.uses[chunk]; i++) {
    if (i % 1024) {
      __builtin_ia32_pause();
      continue;
    }
    uint64_t now = graft_now();
    if (!start) start = now;
    if (now - start > 2000000) {
      int r = cuStreamQuery(stream);
      if (r && r != GRAFT_NOT_READY) {
        /* What was queued is lost: start over with clean flags. */
        for (unsigned p = 0; p < CHUNKS; p++) __atomic_store_n(flag_of(p), staging.uses[p], __ATOMIC_RELEASE);
        return r;
      }
      struct timespec pause = {0, 50000};
      nanosleep(&pause, NULL);
    }
  }
  return 0;
}

static int mark(unsigned chunk, void *stream) { return rpc_graftSignal((uintptr_t)flag_of(chunk), ++staging.uses[chunk], stream); }

static uint8_t *memory_of(unsigned chunk) { return staging.memory + (size_t)chunk * CHUNK; }

int graft_stage_to_device(uint64_t to, const void *from, size_t bytes, void *stream) {
  int r = 0;
  pthread_mutex_lock(&staging.lock);
  for (size_t at = 0; at < bytes && !r; at += CHUNK) {
    unsigned chunk = staging.next++ % CHUNKS;
    size_t take = bytes - at < CHUNK ? bytes - at : CHUNK;
    if ((r = wait_chunk(chunk, stream))) break;
    graft_copy(memory_of(chunk), (const uint8_t *)from + at, take);
    r = rpc_graftCopyFromRegion(to + at, (uintptr_t)memory_of(chunk), take, stream);
    if (!r) r = mark(chunk, stream);
  }
  pthread_mutex_unlock(&staging.lock);
  return r;
}

int graft_stage_from_device(void *to, uint64_t from, size_t bytes, void *stream) {
  int r = 0;
  size_t asked = 0, got = 0;
  pthread_mutex_lock(&staging.lock);
  unsigned first = staging.next, ahead = 0;
  while (got < bytes && !r) {
    while (asked < bytes && ahead < CHUNKS && !r) {
      unsigned chunk = staging.next++ % CHUNKS;
      size_t take = bytes - asked < CHUNK ? bytes - asked : CHUNK;
      if ((r = wait_chunk(chunk, stream))) break;
      r = rpc_graftCopyToRegion((uintptr_t)memory_of(chunk), from + asked, take, stream);
      if (!r) r = mark(chunk, stream);
      asked += take;
      ahead++;
    }
    if (r) break;
    unsigned chunk = first++ % CHUNKS;
    size_t take = bytes - got < CHUNK ? bytes - got : CHUNK;
    if ((r = wait_chunk(chunk, stream))) break;
    graft_copy((uint8_t *)to + got, memory_of(chunk), take);
    got += take;
    ahead--;
  }
  pthread_mutex_unlock(&staging.lock);
  if (!r && graft_mirrors) graft_mirrors_fetch(); /* the program has waited */
  return r;
}
