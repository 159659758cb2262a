#include "memory/shadow.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "graft_rpc.h"
#include "memory/merge.h"
#include "memory/region.h"
#include "session/session.h"
#include "transport/exchange.h"

/* Far from what loaders, heaps, the JVM and CUDA use, in both processes; tried upwards. */
#define BASE 0x300000000000ull
#define END 0x400000000000ull
#define GRAIN (2ull << 20)
#define TRIES 64
#define HUGE_FROM (1u << 20) /* bytes: at most as much again is lost to the last huge page */

struct twin {
  struct twin *next;
  uint64_t address, bytes;
  bool alone; /* the server has none there */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct twin *twins;
static uint64_t top = BASE;

static void *map_here(uint64_t address, uint64_t bytes) {
  void *wanted = (void *)(uintptr_t)address;
  void *got = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return got;
  if (got != MAP_FAILED) munmap(got, bytes);
  return NULL;
}

static void *map_both(uint64_t address, uint64_t bytes) {
  void *got = map_here(address, bytes);
  if (!got || !rpc_graftTwinMap(address, bytes)) return got;
  munmap(got, bytes);
  return NULL;
}

static void *allocate(size_t size, bool alone) {
  if (!size || size > END - BASE) return NULL;
  uint64_t bytes = (size + GRAIN - 1) / GRAIN * GRAIN;
  struct twin *twin = malloc(sizeof *twin);
  void *got = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; twin && i < TRIES && !got; i++) {
    if (bytes > END - top) top = BASE;
    uint64_t address = top;
    top += bytes;
    got = alone ? map_here(address, bytes) : map_both(address, bytes);
  }
  if (got) {
    /* Who copies between processes pins the pages one by one, and threads that do so with the same pages wait for each other. */
    if (alone && size >= HUGE_FROM) madvise(got, bytes, MADV_HUGEPAGE);
    *twin = (struct twin){twins, (uintptr_t)got, bytes, alone};
    twins = twin;
  } else {
    free(twin);
  }
  pthread_mutex_unlock(&lock);
  return got;
}

void *graft_twin_pair(size_t bytes) { return allocate(bytes, false); }

void *graft_twin_allocate(size_t bytes) {
  return graft_session_shares_memory() && bytes ? graft_region_allocate(bytes) : graft_twin_pair(bytes);
}

void *graft_twin_reserve(size_t bytes) { return allocate(bytes, true); }

/* Called with the lock held. */
static struct twin *find(uint64_t address) {
  struct twin *twin = twins;
  while (twin && address - twin->address >= twin->bytes) twin = twin->next;
  return twin;
}

bool graft_twin_is_alone(uint64_t address) {
  if (address - BASE >= END - BASE) return false;
  pthread_mutex_lock(&lock);
  const struct twin *twin = find(address);
  bool alone = twin && twin->alone;
  pthread_mutex_unlock(&lock);
  return alone;
}

bool graft_twin_complete(const void *pointer) {
  pthread_mutex_lock(&lock);
  struct twin *twin = find((uintptr_t)pointer);
  bool done = twin && twin->address == (uintptr_t)pointer && twin->alone && !rpc_graftTwinMap(twin->address, twin->bytes);
  if (done) twin->alone = false;
  pthread_mutex_unlock(&lock);
  return done;
}

bool graft_twin_free(void *pointer) {
  if (graft_region_free(pointer)) return true;
  pthread_mutex_lock(&lock);
  struct twin **p = &twins;
  while (*p && (*p)->address != (uintptr_t)pointer) p = &(*p)->next;
  struct twin *twin = *p;
  if (twin) *p = twin->next;
  pthread_mutex_unlock(&lock);
  if (!twin) return false;
  if (!twin->alone) rpc_graftTwinUnmap(twin->address, twin->bytes);
  munmap(pointer, twin->bytes);
  free(twin);
  return true;
}

/* ---- Copies of what the server's process has there, over a connection that waits for no call and for no GPU ---- */

#define MOST (1u << 20) /* as the server takes at a time */
enum { READ, WRITE, MERGE };

static struct {
  pthread_mutex_t lock;
  bool tried;
  int fd;
} lane = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* Called with the lock held. More is what follows the data. */
static bool exchange(uint16_t function, uint64_t address, const void *out, void *in, size_t bytes, const void *more, size_t more_bytes) {
  struct {
    uint32_t size;
    uint16_t function, flags;
    uint32_t slot, context;
    uint64_t address, bytes;
  } record = {.size = sizeof record, .function = function, .address = address, .bytes = bytes};
  uint8_t answer[16];
  bool done = graft_exchange(lane.fd, &record, sizeof record, NULL, 0) && graft_exchange(lane.fd, out, out ? bytes : 0, NULL, 0) &&
              graft_exchange(lane.fd, more, more_bytes, NULL, 0) &&
              graft_exchange(lane.fd, NULL, 0, answer, sizeof answer) && graft_exchange(lane.fd, NULL, 0, in, in ? bytes : 0);
  if (!done) graft_die("the connection for mirrored memory failed", errno);
  return done;
}

/* False if there is no such connection. Called with the lock held. */
static bool open_lane(void) {
  if (!lane.tried) {
    lane.fd = graft_session_connect_shadow();
    lane.tried = true;
  }
  return lane.fd >= 0;
}

static bool copy(uint16_t function, uint64_t address, const uint8_t *out, uint8_t *in, const uint8_t *mask, size_t bytes) {
  pthread_mutex_lock(&lane.lock);
  bool open = open_lane();
  for (size_t at = 0; open && at < bytes && !graft_dead(); at += MOST) {
    size_t piece = bytes - at < MOST ? bytes - at : MOST;
    exchange(function, address + at, out ? out + at : NULL, in ? in + at : NULL, piece, mask ? mask + at / GRAFT_WORD : NULL,
             mask ? piece / GRAFT_WORD : 0);
  }
  pthread_mutex_unlock(&lane.lock);
  return open;
}

bool graft_twin_write(uint64_t address, const void *from, size_t bytes) {
  return copy(WRITE, address, from, NULL, NULL, bytes);
}

bool graft_twin_read(uint64_t address, void *to, size_t bytes) { return copy(READ, address, NULL, to, NULL, bytes); }

bool graft_twin_merge(uint64_t address, const void *from, const uint8_t *mask, size_t words) {
  return copy(MERGE, address, from, NULL, mask, words * GRAFT_WORD);
}
