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

struct mapping {
  struct mapping *next;
  uint64_t address, bytes;
  bool alone; /* the server has none there */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *mappings;
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
  struct mapping *mapping = malloc(sizeof *mapping);
  void *got = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; mapping && i < TRIES && !got; i++) {
    if (bytes > END - top) top = BASE;
    uint64_t address = top;
    top += bytes;
    got = alone ? map_here(address, bytes) : map_both(address, bytes);
  }
  if (got) {
    /* Who copies between processes pins the pages one by one, and threads that do so with the same pages wait for each other. */
    if (alone && size >= HUGE_FROM) madvise(got, bytes, MADV_HUGEPAGE);
    *mapping = (struct mapping){mappings, (uintptr_t)got, bytes, alone};
    mappings = mapping;
  } else {
    free(mapping);
  }
  pthread_mutex_unlock(&lock);
  return got;
}

void *graft_shadow_pair(size_t bytes) { return allocate(bytes, false); }

void *graft_shadow_allocate(size_t bytes) {
  return graft_session_shares_memory() && bytes ? graft_region_allocate(bytes) : graft_shadow_pair(bytes);
}

void *graft_shadow_reserve(size_t bytes) { return allocate(bytes, true); }

/* Called with the lock held. */
static struct mapping *find(uint64_t address) {
  struct mapping *mapping = mappings;
  while (mapping && address - mapping->address >= mapping->bytes) mapping = mapping->next;
  return mapping;
}

bool graft_shadow_is_alone(uint64_t address) {
  if (address - BASE >= END - BASE) return false;
  pthread_mutex_lock(&lock);
  const struct mapping *mapping = find(address);
  bool alone = mapping && mapping->alone;
  pthread_mutex_unlock(&lock);
  return alone;
}

bool graft_shadow_complete(const void *pointer) {
  pthread_mutex_lock(&lock);
  struct mapping *mapping = find((uintptr_t)pointer);
  bool done =
      mapping && mapping->address == (uintptr_t)pointer && mapping->alone && !rpc_graftTwinMap(mapping->address, mapping->bytes);
  if (done) mapping->alone = false;
  pthread_mutex_unlock(&lock);
  return done;
}

bool graft_shadow_free(void *pointer) {
  if (graft_region_free(pointer)) return true;
  pthread_mutex_lock(&lock);
  struct mapping **p = &mappings;
  while (*p && (*p)->address != (uintptr_t)pointer) p = &(*p)->next;
  struct mapping *mapping = *p;
  if (mapping) *p = mapping->next;
  pthread_mutex_unlock(&lock);
  if (!mapping) return false;
  if (!mapping->alone) rpc_graftTwinUnmap(mapping->address, mapping->bytes);
  munmap(pointer, mapping->bytes);
  free(mapping);
  return true;
}

/* ---- Copies of what the server's process has there, over a connection that waits for no call and for no GPU ---- */

#define MOST (1u << 20) /* as the server takes at a time */
enum { READ, WRITE, MERGE };

/* Called with the connection locked. "More" follows the data. */
static bool exchange(int fd, uint16_t function, uint64_t address, const void *out, void *in, size_t bytes, const void *more,
                     size_t more_bytes) {
  struct {
    uint32_t size;
    uint16_t function, flags;
    uint32_t slot, context;
    uint64_t address, bytes;
  } record = {.size = sizeof record, .function = function, .address = address, .bytes = bytes};
  uint8_t answer[16];
  bool done = graft_exchange(fd, &record, sizeof record, NULL, 0) && graft_exchange(fd, out, out ? bytes : 0, NULL, 0) &&
              graft_exchange(fd, more, more_bytes, NULL, 0) && graft_exchange(fd, NULL, 0, answer, sizeof answer) &&
              graft_exchange(fd, NULL, 0, in, in ? bytes : 0);
  if (!done) graft_die("the connection for mirrored memory failed", errno);
  return done;
}

static bool copy(uint16_t function, uint64_t address, const uint8_t *out, uint8_t *in, const uint8_t *mask, size_t bytes) {
  int fd = graft_session_shadow_lock();
  for (size_t at = 0; fd >= 0 && at < bytes && !graft_dead(); at += MOST) {
    size_t chunk = bytes - at < MOST ? bytes - at : MOST;
    exchange(fd, function, address + at, out ? out + at : NULL, in ? in + at : NULL, chunk, mask ? mask + at / GRAFT_WORD : NULL,
             mask ? chunk / GRAFT_WORD : 0);
  }
  graft_session_shadow_unlock();
  return fd >= 0;
}

bool graft_shadow_write(uint64_t address, const void *from, size_t bytes) { return copy(WRITE, address, from, NULL, NULL, bytes); }

bool graft_shadow_read(uint64_t address, void *to, size_t bytes) { return copy(READ, address, NULL, to, NULL, bytes); }

bool graft_shadow_merge(uint64_t address, const void *from, const uint8_t *mask, size_t words) {
  return copy(MERGE, address, from, NULL, mask, words * GRAFT_WORD);
}
