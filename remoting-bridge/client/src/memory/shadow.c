#include "memory/shadow.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "graft_rpc.h"
#include "memory/merge.h"
#include "memory/region.h"
#include "session/parts.h"
#include "session/session.h"
#include "session/stats.h"
#include "transport/exchange.h"

/* Addresses that loaders, heaps, the JVM and CUDA do not use, in both processes. */
#define BASE 0x300000000000ull
#define END 0x400000000000ull
/* The first address that is given out. A launch exposes pinned memory whose address is among its parameters, also where two numbers of 32 bits
 * in a structure make up that address by chance: the sizes 3 and 12,288 are the address BASE + 3. The lower half of this address is 2.4
 * billion, which is no likely size. */
#define FIRST 0x39c790000000ull
#define GRAIN (2ull << 20)
#define TRIES 64
#define HUGE_FROM (1u << 20) /* bytes; smaller blocks would waste most of a huge page */

struct graft_shadow_mapping {
  struct graft_shadow_mapping *next;
  uint64_t address, bytes;
  bool alone; /* the server has no memory there */
};

static uint64_t top = FIRST; /* of this process's address space, in which all sessions have their mappings; atomic */

static struct graft_shadow_mappings *current(void) { return &graft_parts(graft_session_current())->shadow_mappings; }

/* Where to try next. */
static uint64_t next_address(uint64_t bytes) {
  uint64_t at = __atomic_fetch_add(&top, bytes, __ATOMIC_RELAXED);
  if (at + bytes <= END) return at;
  __atomic_store_n(&top, BASE + bytes, __ATOMIC_RELAXED); /* two threads may get the same address: one of them tries another */
  return BASE;
}

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
  struct graft_shadow_mapping *mapping = malloc(sizeof *mapping);
  void *got = NULL;
  struct graft_shadow_mappings *mappings = current();
  pthread_mutex_lock(&mappings->lock);
  for (int i = 0; mapping && i < TRIES && !got; i++) {
    uint64_t address = next_address(bytes);
    got = alone ? map_here(address, bytes) : map_both(address, bytes);
  }
  if (got) {
    /* Copies between processes pin pages one by one, and threads that pin the same pages wait for each other; huge pages are fewer. */
    if (alone && size >= HUGE_FROM) madvise(got, bytes, MADV_HUGEPAGE);
    *mapping = (struct graft_shadow_mapping){mappings->first, (uintptr_t)got, bytes, alone};
    mappings->first = mapping;
  } else {
    free(mapping);
  }
  pthread_mutex_unlock(&mappings->lock);
  return got;
}

void *graft_shadow_pair(size_t bytes) { return allocate(bytes, false); }

void *graft_shadow_allocate(size_t bytes) {
  return graft_session_shares_memory() && bytes ? graft_region_allocate(bytes) : graft_shadow_pair(bytes);
}

void *graft_shadow_reserve(size_t bytes) { return allocate(bytes, true); }

/* Called with the lock held. */
static struct graft_shadow_mapping *find(const struct graft_shadow_mappings *mappings, uint64_t address) {
  struct graft_shadow_mapping *mapping = mappings->first;
  while (mapping && address - mapping->address >= mapping->bytes) mapping = mapping->next;
  return mapping;
}

bool graft_shadow_is_alone(uint64_t address) {
  if (address - BASE >= END - BASE) return false;
  struct graft_shadow_mappings *mappings = current();
  pthread_mutex_lock(&mappings->lock);
  const struct graft_shadow_mapping *mapping = find(mappings, address);
  bool alone = mapping && mapping->alone;
  pthread_mutex_unlock(&mappings->lock);
  return alone;
}

bool graft_shadow_complete(const void *pointer) {
  struct graft_shadow_mappings *mappings = current();
  pthread_mutex_lock(&mappings->lock);
  struct graft_shadow_mapping *mapping = find(mappings, (uintptr_t)pointer);
  bool done =
      mapping && mapping->address == (uintptr_t)pointer && mapping->alone && !rpc_graftTwinMap(mapping->address, mapping->bytes);
  if (done) mapping->alone = false;
  pthread_mutex_unlock(&mappings->lock);
  return done;
}

bool graft_shadow_free(void *pointer) {
  if (graft_region_free(pointer)) return true;
  struct graft_shadow_mappings *mappings = current();
  pthread_mutex_lock(&mappings->lock);
  struct graft_shadow_mapping **p = &mappings->first;
  while (*p && (*p)->address != (uintptr_t)pointer) p = &(*p)->next;
  struct graft_shadow_mapping *mapping = *p;
  if (mapping) *p = mapping->next;
  pthread_mutex_unlock(&mappings->lock);
  if (!mapping) return false;
  if (!mapping->alone) rpc_graftTwinUnmap(mapping->address, mapping->bytes);
  munmap(pointer, mapping->bytes);
  free(mapping);
  return true;
}

/* ---- Copies to and from the server's side, over a connection that waits for no call and for no GPU. The server answers in order. ---- */

#define MOST (1u << 20) /* the most that the server accepts at a time */
/* Their answers fit into the socket's buffer, so that the server never waits for this process to read them while this process sends. */
#define MOST_UNANSWERED 64u
#define PIECE ((size_t)256 << 10) /* of what is read; a processor's cache has room for a piece and what it is compared with */
#define AHEAD 2u                  /* pieces that the server has been asked for */
enum { READ, WRITE, MERGE };

static bool use(bool done) {
  if (!done) graft_die("the connection for mirrored memory failed", errno);
  return done;
}

/* Called with the connection locked, as the following functions. "More" follows the data. */
static bool ask(struct graft_wire wire, uint16_t function, uint64_t address, const void *out, size_t bytes, const void *more,
                size_t more_bytes) {
  struct {
    uint32_t size;
    uint16_t function, flags;
    uint32_t slot, context;
    uint64_t address, bytes;
  } record = {.size = sizeof record, .function = function, .address = address, .bytes = bytes};
  return use(graft_exchange(wire, &record, sizeof record, NULL, 0) && graft_exchange(wire, out, out ? bytes : 0, NULL, 0) &&
             graft_exchange(wire, more, more_bytes, NULL, 0));
}

static bool receive(struct graft_wire wire, void *in, size_t bytes) {
  uint8_t answer[16];
  return use(graft_exchange(wire, NULL, 0, answer, sizeof answer) && graft_exchange(wire, NULL, 0, in, bytes));
}

/* Receives the answers to what was written. */
static bool settle(struct graft_wire wire) {
  struct graft_shadow_mappings *mappings = current();
  bool done = true;
  for (; mappings->unanswered && done && !graft_dead(); mappings->unanswered--) done = receive(wire, NULL, 0);
  return done && !graft_dead();
}

static bool put(uint16_t function, uint64_t address, const uint8_t *out, const uint8_t *mask, size_t bytes) {
  struct graft_wire wire = graft_session_shadow_lock();
  for (size_t at = 0; wire.fd >= 0 && at < bytes && !graft_dead(); at += MOST) {
    size_t chunk = bytes - at < MOST ? bytes - at : MOST;
    if (current()->unanswered >= MOST_UNANSWERED && !settle(wire)) break;
    ask(wire, function, address + at, out + at, chunk, mask ? mask + at / GRAFT_WORD : NULL, mask ? chunk / GRAFT_WORD : 0);
    current()->unanswered++;
    graft_stats_brought(chunk);
  }
  graft_session_shadow_unlock();
  return wire.fd >= 0;
}

bool graft_shadow_write(uint64_t address, const void *from, size_t bytes) { return put(WRITE, address, from, NULL, bytes); }

bool graft_shadow_merge(uint64_t address, const void *from, const uint8_t *mask, size_t words) {
  return put(MERGE, address, from, mask, words * GRAFT_WORD);
}

void graft_shadow_finish(void) {
  if (!current()->unanswered) return; /* the caller's own writes, which no other thread has ended */
  struct graft_wire wire = graft_session_shadow_lock();
  settle(wire);
  graft_session_shadow_unlock();
}

bool graft_shadow_read_each(uint64_t address, size_t bytes,
                            bool (*take)(void *context, size_t at, const uint8_t *data, size_t bytes), void *context) {
  struct graft_wire wire = graft_session_shadow_lock();
  uint8_t **piece = &current()->piece;
  if (!*piece) *piece = malloc(PIECE);
  if (!*piece) graft_die("no memory to read mirrored memory", 0);
  bool going = *piece && wire.fd >= 0;
  size_t asked = 0, at = 0;
  while (!graft_dead() && (going ? at < bytes : at < asked)) {
    for (size_t next; going && asked < bytes && asked - at < AHEAD * PIECE; asked += next) {
      next = bytes - asked < PIECE ? bytes - asked : PIECE;
      if (!ask(wire, READ, address + asked, NULL, next, NULL, 0)) break;
    }
    size_t next = bytes - at < PIECE ? bytes - at : PIECE;
    if (!settle(wire) || !receive(wire, *piece, next)) break;
    graft_stats_fetched(next);
    going = going && take(context, at, *piece, next);
    at += next;
  }
  graft_session_shadow_unlock();
  return wire.fd >= 0;
}

static bool keep(void *to, size_t at, const uint8_t *data, size_t bytes) {
  memcpy((uint8_t *)to + at, data, bytes);
  return true;
}

bool graft_shadow_read(uint64_t address, void *to, size_t bytes) { return graft_shadow_read_each(address, bytes, keep, to); }
