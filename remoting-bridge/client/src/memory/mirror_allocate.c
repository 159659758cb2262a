/* Making and ending mirrors. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/rpc.h"
#include "base/system.h"
#include "memory/mirror.h"
#include "memory/mirror_state.h"
#include "memory/region.h"
#include "memory/shadow.h"
#include "session/session.h"

static void discard(struct graft_mirror *m) {
  while (m->twins) {
    struct graft_mirror_twin *twin = m->twins;
    m->twins = twin->next;
    free(twin);
  }
  if (m->base) munmap(m->base, m->bytes);
  free(m->chunks);
  free(m->dirty);
  free(m);
}

static struct graft_mirror *enter(struct graft_mirror wanted, bool exclusive) {
  struct graft_mirror_list *list = graft_mirror_list();
  struct graft_mirror *m = malloc(sizeof *m);
  if (!m) return NULL;
  *m = wanted;
  void *base = mmap(NULL, wanted.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base != MAP_FAILED) m->base = base;
  bool ready = m->base;
  if (ready && exclusive) {
    m->chunks = calloc((m->bytes + GRAFT_MIRROR_CHUNK - 1) / GRAFT_MIRROR_CHUNK, 1);
    m->dirty = calloc((m->bytes + GRAFT_PAGE - 1) / GRAFT_PAGE, 1);
    ready = m->chunks && m->dirty;
  }
  if (!ready) {
    discard(m);
    return NULL;
  }
  pthread_mutex_lock(&list->lock);
  pthread_mutex_lock(&list->pages);
  m->next = list->first;
  list->first = m;
  pthread_mutex_unlock(&list->pages);
  graft_mirror_count_wait(list);
  graft_mirrors = true;
  pthread_mutex_unlock(&list->lock);
  return m;
}

void *graft_mirror_allocate_exclusive(size_t bytes) {
  void *memory = graft_shadow_pair(bytes);
  if (!memory) return NULL;
  struct graft_mirror wanted = {
      .host = memory, .device = (uintptr_t)memory, .bytes = bytes, .use = GRAFT_MIRROR_MANAGED, .allocated = true};
  if (enter(wanted, true)) return memory;
  graft_shadow_free(memory);
  return NULL;
}

/* Makes a mirror of a new shadow mapping, which it needs unless that is shared memory. */
static void *mirror_in(void *memory, size_t bytes, enum graft_mirror_use use) {
  if (!memory) return NULL;
  struct graft_mirror wanted = {.host = memory, .device = (uintptr_t)memory, .bytes = bytes, .use = use, .allocated = true};
  if (!graft_region_holds(memory, bytes) && !enter(wanted, false)) {
    graft_shadow_free(memory);
    return NULL;
  }
  return memory;
}

void *graft_mirror_allocate(size_t bytes, enum graft_mirror_use use) { return mirror_in(graft_shadow_allocate(bytes), bytes, use); }

void *graft_mirror_allocate_beyond(size_t bytes, enum graft_mirror_use use) {
  return graft_session_shares_memory() ? mirror_in(graft_shadow_pair(bytes), bytes, use) : NULL;
}

/* Variables of one module share pages. */
static bool is_adopted(uint64_t page) {
  struct graft_mirror_list *list = graft_mirror_list();
  bool found = false;
  pthread_mutex_lock(&list->lock);
  for (struct graft_mirror *m = list->first; m && !found; m = m->next) {
    found = !m->allocated && m->device / GRAFT_PAGE * GRAFT_PAGE <= page && page < m->device + m->bytes;
  }
  pthread_mutex_unlock(&list->lock);
  return found;
}

int graft_mirror_adopt(uint64_t address, size_t bytes, const void *contents, size_t known_bytes) {
  struct graft_mirror_list *list = graft_mirror_list();
  pthread_mutex_lock(&list->lock);
  bool known = false;
  for (struct graft_mirror *m = list->first; m; m = m->next) known |= m->device == address && m->bytes >= bytes;
  pthread_mutex_unlock(&list->lock);
  if (known) return 0;
  for (uint64_t page = address / GRAFT_PAGE * GRAFT_PAGE; page < address + bytes; page += GRAFT_PAGE) {
    void *at =
        mmap((void *)(uintptr_t)page, GRAFT_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED && !is_adopted(page)) {
      graft_say("the server has a managed variable at %#llx, where this process has mapped something else",
                (unsigned long long)address);
      return GRAFT_OUT_OF_MEMORY;
    }
  }
  struct graft_mirror *m = enter(
      (struct graft_mirror){.host = (uint8_t *)(uintptr_t)address, .device = address, .bytes = bytes, .use = GRAFT_MIRROR_MANAGED},
      false);
  if (!m) return GRAFT_OUT_OF_MEMORY;
  memcpy(m->base, contents, known_bytes);
  memcpy(m->host, contents, known_bytes);
  /* The rest comes with the first fetch. */
  graft_pending_add(&m->pending, (struct graft_pending_part){.to = bytes, .is_written = true});
  return 0;
}

/* The mirror of the same part of a file at another address, which has this address from now on, too. Called with the lock held. */
static struct graft_mirror *join(struct graft_mirror_list *list, const void *host, const struct graft_file_part *file) {
  struct graft_mirror *m = list->first;
  while (m && !graft_file_part_is_same(&m->file, file)) m = m->next;
  struct graft_mirror_twin *twin = m ? malloc(sizeof *twin) : NULL;
  if (!m) return NULL;
  if (!twin) graft_die("no memory for an address of mirrored memory", 0);
  *twin = (struct graft_mirror_twin){m->twins, (uint8_t *)host};
  m->twins = twin;
  return m;
}

/* The largest mirror of the bytes, and of their address at the device if one is wanted. A mirror for graphs is no use for other work, which brings it too late. Called with the lock held. */
static uint64_t found(const struct graft_mirror_list *list, const uint8_t *host, size_t bytes, bool graph, uint64_t wanted) {
  size_t most = 0;
  uint64_t device = 0;
  for (const struct graft_mirror *m = list->first; m; m = m->next) {
    bool has = m->host <= host && host + bytes <= m->host + m->bytes && (graph || m->use != GRAFT_MIRROR_GRAPH);
    uint64_t at = m->device + (uint64_t)(host - m->host);
    if (!has || m->bytes <= most || (wanted && at != wanted)) continue;
    most = m->bytes;
    device = at;
  }
  return device;
}

static uint64_t make(const void *host, size_t bytes, enum graft_mirror_use use, struct graft_file_part file) {
  void *shadow = use == GRAFT_MIRROR_MAPPED && graft_shadow_complete(host) ? (void *)host : graft_shadow_allocate(bytes);
  if (!shadow) return 0;
  struct graft_mirror wanted = {.host = (uint8_t *)host,
                                .device = (uintptr_t)shadow,
                                .bytes = bytes,
                                .use = use,
                                .shared = graft_region_holds(shadow, bytes),
                                .allocated = true,
                                .file = file};
  if (enter(wanted, false)) return wanted.device;
  if (shadow != host) graft_shadow_free(shadow);
  return 0;
}

uint64_t graft_mirror_of(const void *host, size_t bytes) {
  struct graft_mirror_list *list = graft_mirror_list();
  struct graft_file_part file = {0};
  bool is_of_file = !graft_shadow_is_alone((uintptr_t)host) && graft_file_part_of(host, bytes, &file);
  pthread_mutex_lock(&list->lock);
  const struct graft_mirror *joined = is_of_file ? join(list, host, &file) : NULL;
  uint64_t device = joined ? joined->device : found(list, host, bytes, false, 0);
  pthread_mutex_unlock(&list->lock);
  return device ? device : make(host, bytes, GRAFT_MIRROR_MAPPED, file);
}

uint64_t graft_mirror_of_pageable(const void *host, size_t bytes, uint64_t wanted) {
  struct graft_mirror_list *list = graft_mirror_list();
  pthread_mutex_lock(&list->lock);
  uint64_t device = found(list, host, bytes, true, wanted);
  pthread_mutex_unlock(&list->lock);
  return device || wanted ? device : make(host, bytes, GRAFT_MIRROR_GRAPH, (struct graft_file_part){0});
}

void graft_mirror_attach(const void *host, bool attached) {
  struct graft_mirror_list *list = graft_mirror_list();
  pthread_mutex_lock(&list->lock);
  for (struct graft_mirror *m = list->first; m; m = m->next) {
    if (m->host != host || m->use == GRAFT_MIRROR_GRAPH) continue;
    /* Where memory is shared, the client reports CONCURRENT_MANAGED_ACCESS: programs may always touch managed memory. Exclusive memory (chunks) is taken from the program instead. */
    m->use = attached || (graft_session_shares_memory() && !m->chunks) ? GRAFT_MIRROR_MAPPED : GRAFT_MIRROR_MANAGED;
    graft_mirror_count_wait(list); /* the next work compares what the program has written while the memory was attached */
  }
  pthread_mutex_unlock(&list->lock);
}

/* Takes an address from a mirror that has another. False if no such mirror has it. Called with the lock held. */
static bool leave(const struct graft_mirror_list *list, const void *host) {
  for (struct graft_mirror *m = list->first; m; m = m->next) {
    struct graft_mirror_twin **p = &m->twins;
    while (*p && (*p)->host != host && m->host != host) p = &(*p)->next;
    struct graft_mirror_twin *twin = *p;
    if (!twin) continue;
    if (m->host == host) m->host = twin->host;
    *p = twin->next;
    free(twin);
    return true;
  }
  return false;
}

void *graft_mirror_twin(const void *host) {
  struct graft_mirror_list *list = graft_mirror_list();
  void *twin = NULL;
  pthread_mutex_lock(&list->lock);
  for (const struct graft_mirror *m = list->first; m && !twin; m = m->next) {
    bool has = m->host == host;
    for (const struct graft_mirror_twin *t = m->twins; t && !has; t = t->next) has = t->host == host;
    if (has && m->twins) twin = m->host == host ? m->twins->host : m->host;
  }
  pthread_mutex_unlock(&list->lock);
  return twin;
}

bool graft_mirror_end(const void *host) {
  struct graft_mirror_list *list = graft_mirror_list();
  pthread_mutex_lock(&list->lock);
  if (leave(list, host)) {
    pthread_mutex_unlock(&list->lock);
    return true;
  }
  struct graft_mirror **p = &list->first;
  while (*p && (*p)->host != host) p = &(*p)->next;
  struct graft_mirror *m = *p;
  pthread_mutex_lock(&list->pages);
  if (m) *p = m->next;
  pthread_mutex_unlock(&list->pages);
  pthread_mutex_unlock(&list->lock);
  if (!m) return false;
  if (m->allocated) graft_shadow_free((void *)(uintptr_t)m->device);
  discard(m);
  return true;
}
