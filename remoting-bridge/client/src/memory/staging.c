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
#include "session/parts.h"
#include "session/session.h"

#define CHUNK (2u << 20)
#define CHUNKS GRAFT_STAGING_CHUNKS
#define FLAG_STRIDE 64

/* ---- Helper threads for large copies ---- */

#define HELPERS 3
#define SLICE (128u << 10)
#define PARALLEL (1u << 20)
#define LINGER_NANOSECONDS 200000

/* One for the process and not one for each session, since it divides the process's cores. */
static struct {
  pthread_mutex_t one_job; /* held during a job; a second copy at the same time runs without helpers */
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool started;
  int helpers, asleep;
  uint8_t *to;
  const uint8_t *from;
  size_t bytes;
  uint64_t generation; /* even: no job; odd: a job is under way */
  size_t taken, done;
  int inside;
} pool = {.one_job = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

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
      /* The job may be over by now; then its memory must not be touched. */
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

/* Called with pool.one_job held. */
static void copy_with_helpers(void *to, const void *from, size_t bytes) {
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

static void copy(void *to, const void *from, size_t bytes) {
  if (bytes < PARALLEL || pthread_mutex_trylock(&pool.one_job)) {
    memcpy(to, from, bytes);
    return;
  }
  if (!pool.started) start_pool();
  if (pool.helpers) {
    copy_with_helpers(to, from, bytes);
  } else {
    memcpy(to, from, bytes);
  }
  pthread_mutex_unlock(&pool.one_job);
}

/* ---- Staging ---- */

static struct graft_staging *current(void) { return &graft_parts(graft_session_current())->staging; }

/* Called with the lock held. */
static bool is_ready(struct graft_staging *staging) {
  if (!staging->tried) {
    staging->tried = true;
    staging->memory = graft_region_allocate((size_t)CHUNK * (CHUNKS + 1));
    if (staging->memory) staging->flags = staging->memory + (size_t)CHUNK * CHUNKS;
  }
  return staging->memory;
}

bool graft_staging_ready(void) {
  if (!graft_session_shares_memory()) return false;
  struct graft_staging *staging = current();
  pthread_mutex_lock(&staging->lock);
  bool ready = is_ready(staging);
  pthread_mutex_unlock(&staging->lock);
  return ready;
}

static uint32_t *flag_of(const struct graft_staging *staging, unsigned chunk) {
  return (uint32_t *)(void *)(staging->flags + chunk * FLAG_STRIDE);
}

/* Waits until the device has finished with a chunk. After an error in the stream it never does. */
static int wait_chunk(const struct graft_staging *staging, unsigned chunk, void *stream) {
  uint64_t start = 0;
  for (unsigned i = 0; __atomic_load_n(flag_of(staging, chunk), __ATOMIC_ACQUIRE) != staging->uses[chunk]; i++) {
    if (i % 1024) {
      __builtin_ia32_pause();
      continue;
    }
    uint64_t now = graft_now();
    if (!start) start = now;
    if (now - start > 2000000) {
      int r = rpc_cuStreamQuery(stream);
      if (r && r != GRAFT_NOT_READY) {
        /* The queued copies are lost: reset the flags. */
        for (unsigned p = 0; p < CHUNKS; p++) __atomic_store_n(flag_of(staging, p), staging->uses[p], __ATOMIC_RELEASE);
        return r;
      }
      struct timespec pause = {0, 50000};
      nanosleep(&pause, NULL);
    }
  }
  return 0;
}

static int mark(struct graft_staging *staging, unsigned chunk, void *stream) {
  return rpc_graftSignal((uintptr_t)flag_of(staging, chunk), ++staging->uses[chunk], stream);
}

static uint8_t *memory_of(const struct graft_staging *staging, unsigned chunk) { return staging->memory + (size_t)chunk * CHUNK; }

/* Called with the lock held, as from_device is. */
static int to_device(struct graft_staging *staging, uint64_t to, const void *from, size_t bytes, void *stream) {
  int r = 0;
  for (size_t at = 0; at < bytes && !r; at += CHUNK) {
    unsigned chunk = staging->next++ % CHUNKS;
    size_t take = bytes - at < CHUNK ? bytes - at : CHUNK;
    if ((r = wait_chunk(staging, chunk, stream))) break;
    copy(memory_of(staging, chunk), (const uint8_t *)from + at, take);
    r = rpc_graftCopyFromRegion(to + at, (uintptr_t)memory_of(staging, chunk), take, stream);
    if (!r) r = mark(staging, chunk, stream);
  }
  return r;
}

static int from_device(struct graft_staging *staging, void *to, uint64_t from, size_t bytes, void *stream) {
  int r = 0;
  size_t asked = 0, got = 0;
  unsigned first = staging->next, ahead = 0;
  while (got < bytes && !r) {
    while (asked < bytes && ahead < CHUNKS && !r) {
      unsigned chunk = staging->next++ % CHUNKS;
      size_t take = bytes - asked < CHUNK ? bytes - asked : CHUNK;
      if ((r = wait_chunk(staging, chunk, stream))) break;
      r = rpc_graftCopyToRegion((uintptr_t)memory_of(staging, chunk), from + asked, take, stream);
      if (!r) r = mark(staging, chunk, stream);
      asked += take;
      ahead++;
    }
    if (r) break;
    unsigned chunk = first++ % CHUNKS;
    size_t take = bytes - got < CHUNK ? bytes - got : CHUNK;
    if ((r = wait_chunk(staging, chunk, stream))) break;
    copy((uint8_t *)to + got, memory_of(staging, chunk), take);
    got += take;
    ahead--;
  }
  return r;
}

int graft_stage_to_device(uint64_t to, const void *from, size_t bytes, void *stream) {
  struct graft_staging *staging = current();
  pthread_mutex_lock(&staging->lock);
  int r = to_device(staging, to, from, bytes, stream);
  pthread_mutex_unlock(&staging->lock);
  return r;
}

bool graft_stage_mirror(uint64_t device, uint8_t *host, size_t bytes, bool down, void *stream, int *result) {
  struct graft_staging *staging = current();
  if (pthread_mutex_trylock(&staging->lock)) return false;
  bool ready = is_ready(staging);
  if (ready) *result = down ? from_device(staging, host, device, bytes, stream) : to_device(staging, device, host, bytes, stream);
  pthread_mutex_unlock(&staging->lock);
  return ready;
}

int graft_stage_from_device(void *to, uint64_t from, size_t bytes, void *stream) {
  struct graft_staging *staging = current();
  pthread_mutex_lock(&staging->lock);
  int r = from_device(staging, to, from, bytes, stream);
  pthread_mutex_unlock(&staging->lock);
  if (!r && graft_mirrors) graft_mirrors_fetch(); /* the program has waited */
  return r;
}
