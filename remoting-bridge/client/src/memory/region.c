#include "memory/region.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/system.h"
#include "graft_rpc.h"
#include "session/session.h"
#include "transport/region.h"
#include "transport/ring.h"

#define GRAIN (2ull << 20)
#define SERVED_GRAIN (64ull << 10)

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
  for (struct graft_block **p = &r->blocks; *p; p = &(*p)->next) {
    if ((*p)->offset == offset) {
      struct graft_block *gone = *p;
      *p = gone->next;
      free(gone);
      return;
    }
  }
}

static void *allocate_shared(struct graft_region *r, size_t bytes) {
  uint64_t offset;
  pthread_mutex_lock(&r->lock);
  bool reserved = reserve(r, bytes, &offset);
  pthread_mutex_unlock(&r->lock);
  if (!reserved) return NULL;
  void *got = graft_region_map(r, offset, bytes);
  if (got) {
    /* With huge pages, where the kernel provides them, the device's transfers are 1.5 times as fast. */
    madvise(got, bytes, MADV_HUGEPAGE);
    if (!madvise(got, bytes, MADVISE_POPULATE_WRITE)) madvise(got, bytes, MADVISE_COLLAPSE);
    if (!rpc_graftRegionMap(offset, bytes)) return got;
    munmap(got, bytes);
  }
  pthread_mutex_lock(&r->lock);
  drop(r, offset);
  pthread_mutex_unlock(&r->lock);
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

bool graft_region_free(void *pointer) {
  struct graft_region *r = graft_session_region();
  if (!r || (uint8_t *)pointer < r->memory) return false;
  uint64_t offset = (uint64_t)((uint8_t *)pointer - r->memory), bytes = 0;
  pthread_mutex_lock(&r->lock);
  for (struct graft_block *p = r->blocks; p; p = p->next) {
    if (p->offset == offset) bytes = p->bytes;
  }
  pthread_mutex_unlock(&r->lock);
  if (!bytes) return false;
  /* The server unmaps the memory first; then the pages are returned; only then may the offsets be used again. */
  rpc_graftRegionUnmap(offset, bytes);
  munmap(pointer, bytes);
  if (!r->served) fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
  pthread_mutex_lock(&r->lock);
  drop(r, offset);
  pthread_mutex_unlock(&r->lock);
  return true;
}

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
