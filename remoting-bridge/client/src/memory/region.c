#include "memory/region.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/system.h"
#include "graft_rpc.h"
#include "session/parts.h"
#include "session/session.h"
#include "transport/region.h"
#include "transport/ring.h"

#define GRAIN (2ull << 20)
#define SERVED_GRAIN (64ull << 10)
#define PAGE 4096u
#define MIB (1ull << 20)

/* From Linux 5.14 and 6.1; older kernels refuse them, which does no harm. */
#define MADVISE_POPULATE_WRITE 23
#define MADVISE_COLLAPSE 25

static bool insert(struct graft_block **before, uint64_t offset, size_t bytes) {
  struct graft_block *block = malloc(sizeof *block);
  if (!block) return false;
  *block = (struct graft_block){*before, offset, bytes};
  *before = block;
  return true;
}

/* Finds the first gap between the blocks in use. False if there is no room. */
static bool reserve(struct graft_region *r, size_t bytes, uint64_t *offset) {
  uint64_t at = (GRAFT_REGION_CONTROL + GRAIN - 1) / GRAIN * GRAIN;
  struct graft_block **p = &r->blocks;
  while (*p && (*p)->offset - at < bytes) {
    at = (*p)->offset + (*p)->bytes;
    p = &(*p)->next;
  }
  *offset = at;
  return at + bytes <= r->bytes && insert(p, at, bytes);
}

/* Enters an allocation that the server has made. */
static bool note(struct graft_region *r, uint64_t offset, size_t bytes) {
  struct graft_block **p = &r->blocks;
  while (*p && (*p)->offset < offset) p = &(*p)->next;
  return insert(p, offset, bytes);
}

static void drop(struct graft_region *r, uint64_t offset) {
  pthread_mutex_lock(&r->lock);
  struct graft_block **p = &r->blocks;
  while (*p && (*p)->offset != offset) p = &(*p)->next;
  struct graft_block *gone = *p;
  if (gone) *p = gone->next;
  pthread_mutex_unlock(&r->lock);
  free(gone);
}

/* Has the kernel provide memory now: by huge pages, where it has them, with which the device's transfers are 1.5 times as fast. It makes a huge
 * page several times as fast where one of its pages is there than where all are. */
static void provide(uint8_t *memory, size_t bytes) {
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (size_t at = 0; at < bytes; at += GRAIN) madvise(memory + at, PAGE, MADVISE_POPULATE_WRITE);
  if (madvise(memory, bytes, MADVISE_COLLAPSE)) madvise(memory, bytes, MADVISE_POPULATE_WRITE);
}

static void *allocate_shared(struct graft_region *r, size_t bytes) {
  uint64_t offset;
  pthread_mutex_lock(&r->lock);
  bool reserved = reserve(r, bytes, &offset);
  pthread_mutex_unlock(&r->lock);
  if (!reserved) return NULL;
  void *got = graft_region_map(r, offset, bytes);
  if (got) {
    provide(got, bytes);
    if (!rpc_graftRegionMap(offset, bytes)) return got;
    munmap(got, bytes);
  }
  drop(r, offset);
  return NULL;
}

/* One line for each process; returns NULL. */
static void *say_full(const struct graft_region *r, size_t bytes) {
  static bool said;
  if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED)) {
    graft_say(
        "%zu MiB of pinned or managed memory do not fit into what is free of the %zu MiB that this guest shares with the server; "
        "they are copied, which is slower. The descriptor's key 'region' of the guest's vgpu makes the memory larger",
        (bytes + (1u << 20) - 1) >> 20, (size_t)(r->bytes >> 20));
  }
  return NULL;
}

static void *allocate_served(struct graft_region *r, size_t bytes) {
  uint64_t offset;
  if (rpc_graftRegionTake(bytes, &offset)) return say_full(r, bytes);
  bool fits = offset <= r->bytes && bytes <= r->bytes - offset;
  void *got = fits ? graft_region_map(r, offset, bytes) : NULL;
  pthread_mutex_lock(&r->lock);
  bool noted = got && note(r, offset, bytes);
  pthread_mutex_unlock(&r->lock);
  if (noted) {
    memset(got, 0, bytes); /* another process of this guest may have used it */
    return got;
  }
  if (got) munmap(got, bytes);
  rpc_graftRegionUnmap(offset, bytes);
  return NULL;
}

void *graft_region_allocate(size_t bytes) {
  struct graft_region *r = graft_session_region();
  if (!r || !bytes) return NULL;
  if (bytes > r->bytes / 2) return r->served ? say_full(r, bytes) : NULL;
  size_t grain = r->served ? SERVED_GRAIN : GRAIN;
  bytes = (bytes + grain - 1) / grain * grain;
  return r->served ? allocate_served(r, bytes) : allocate_shared(r, bytes);
}

/* The server is told in steps of 1 MiB, so that many small allocations are few calls. */
void graft_region_lacks(size_t bytes) {
  struct graft_region *r = graft_session_region();
  if (!r || !r->served) return;
  pthread_mutex_lock(&r->lock);
  r->lacked += bytes;
  bool tell = r->lacked > r->most_lacked;
  if (tell) r->most_lacked = (r->lacked + MIB - 1) / MIB * MIB;
  uint64_t most = r->most_lacked;
  pthread_mutex_unlock(&r->lock);
  if (tell) rpc_graftRegionLacked(most);
}

void graft_region_lacks_no_more(size_t bytes) {
  struct graft_region *r = graft_session_region();
  if (!r || !r->served) return;
  pthread_mutex_lock(&r->lock);
  r->lacked -= bytes < r->lacked ? bytes : r->lacked;
  pthread_mutex_unlock(&r->lock);
}

static bool free_block(struct graft_region *r, void *pointer) {
  uint64_t offset = (uint64_t)((uint8_t *)pointer - r->memory), bytes = 0;
  pthread_mutex_lock(&r->lock);
  for (struct graft_block *p = r->blocks; p; p = p->next) {
    if (p->offset == offset) bytes = p->bytes;
  }
  pthread_mutex_unlock(&r->lock);
  if (!bytes) return false;
  if (r->served) {
    /* The server divides the region: once it has the offsets back, it may give them to another thread. */
    munmap(pointer, bytes);
    drop(r, offset);
    rpc_graftRegionUnmap(offset, bytes);
  } else {
    /* The server unmaps the memory first; then the pages are returned; only then may the offsets be used again. */
    rpc_graftRegionUnmap(offset, bytes);
    munmap(pointer, bytes);
    fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
    drop(r, offset);
  }
  return true;
}

/* ---- Small pieces. An allocation of its own takes 2 MiB, which the server maps and registers, and some milliseconds. ---- */

#define SLAB_PAGES (GRAIN / PAGE)
#define MOST_PIECE (256u << 10)

struct graft_slab {
  struct graft_slab *next;
  uint8_t *memory;
  unsigned live;                /* the pieces that are not freed */
  uint16_t lengths[SLAB_PAGES]; /* in pages, of the piece that begins there, also if it is freed and stays taken */
  bool taken[SLAB_PAGES];
};

/* Takes pages that follow each other. Returns the first one, SLAB_PAGES if so many are not free. */
static unsigned take_pages(struct graft_slab *slab, unsigned pages) {
  unsigned found = 0;
  for (unsigned i = 0; i < SLAB_PAGES; i++) {
    found = slab->taken[i] ? 0 : found + 1;
    if (found < pages) continue;
    unsigned first = i + 1 - pages;
    memset(slab->taken + first, true, pages);
    slab->lengths[first] = (uint16_t)pages;
    slab->live++;
    return first;
  }
  return SLAB_PAGES;
}

/* Takes a piece of a slab that has room for it. */
static uint8_t *take_piece(struct graft_region *r, unsigned pages) {
  uint8_t *piece = NULL;
  pthread_mutex_lock(&r->lock);
  for (struct graft_slab *slab = r->slabs; slab && !piece; slab = slab->next) {
    unsigned first = take_pages(slab, pages);
    if (first < SLAB_PAGES) piece = slab->memory + (size_t)first * PAGE;
  }
  pthread_mutex_unlock(&r->lock);
  return piece;
}

static bool add_slab(struct graft_region *r) {
  struct graft_slab *slab = calloc(1, sizeof *slab);
  if (slab) slab->memory = allocate_shared(r, GRAIN);
  if (!slab || !slab->memory) {
    free(slab);
    return false;
  }
  pthread_mutex_lock(&r->lock);
  slab->next = r->slabs;
  r->slabs = slab;
  pthread_mutex_unlock(&r->lock);
  return true;
}

void *graft_region_allocate_pinned(size_t bytes) {
  struct graft_region *r = graft_session_region();
  if (!r || r->served || !bytes || bytes > MOST_PIECE) return graft_region_allocate(bytes);
  unsigned pages = (unsigned)((bytes + PAGE - 1) / PAGE);
  uint8_t *piece = take_piece(r, pages);
  if (!piece && add_slab(r)) piece = take_piece(r, pages);
  if (!piece) return NULL;
  memset(piece, 0, (size_t)pages * PAGE);
  return piece;
}

/* Whether another context than the one in which cuMemFreeHost has waited may use what it frees. */
static bool has_several_contexts(void) {
  struct graft_parts *parts = graft_parts(graft_session_current());
  int active = 0;
  for (int i = 0; i < GRAFT_MAX_DEVICES; i++) {
    struct graft_primary_context *primary = &parts->primary_contexts[i];
    pthread_mutex_lock(&primary->lock);
    active += primary->shell != NULL;
    pthread_mutex_unlock(&primary->lock);
  }
  return active > 1 || __atomic_load_n(&parts->has_made_contexts, __ATOMIC_ACQUIRE);
}

/* Frees a piece, whose pages stay taken if work may still use them; false if it is none. A slab of which no piece is in use is given back, for
 * which the server waits for all work, unless it is the only one of them. */
static bool free_piece(struct graft_region *r, const uint8_t *pointer, bool stays_taken) {
  bool found = false;
  struct graft_slab **at = &r->slabs, *empty = NULL;
  pthread_mutex_lock(&r->lock);
  while (*at && (pointer < (*at)->memory || pointer >= (*at)->memory + GRAIN)) at = &(*at)->next;
  struct graft_slab *slab = *at;
  if (slab) {
    unsigned first = (unsigned)((size_t)(pointer - slab->memory) / PAGE);
    found = true;
    if (!stays_taken) memset(slab->taken + first, false, slab->lengths[first]);
    bool is_spare = !--slab->live && !stays_taken;
    for (const struct graft_slab *other = r->slabs; other && is_spare; other = other->next) is_spare = other == slab || other->live;
    if (!slab->live && !is_spare) {
      *at = slab->next;
      empty = slab;
    }
  }
  pthread_mutex_unlock(&r->lock);
  if (empty) free_block(r, empty->memory);
  free(empty);
  return found;
}

static bool release(void *pointer, bool stays_taken) {
  struct graft_region *r = graft_session_region();
  if (!r || (uint8_t *)pointer < r->memory) return false;
  return free_piece(r, pointer, stays_taken) || free_block(r, pointer);
}

bool graft_region_free(void *pointer) { return release(pointer, true); }
bool graft_region_free_pinned(void *pointer, bool waited) { return release(pointer, !waited || has_several_contexts()); }

bool graft_region_holds(const void *pointer, size_t bytes) {
  struct graft_region *r = graft_session_region();
  if (!r || (const uint8_t *)pointer < r->memory) return false;
  uint64_t offset = (uint64_t)((const uint8_t *)pointer - r->memory);
  if (offset >= r->bytes || bytes > r->bytes) return false;
  bool found = false;
  pthread_mutex_lock(&r->lock);
  for (struct graft_block *p = r->blocks; p && !found; p = p->next) {
    found = offset >= p->offset && offset + bytes <= p->offset + p->bytes;
  }
  pthread_mutex_unlock(&r->lock);
  return found;
}
