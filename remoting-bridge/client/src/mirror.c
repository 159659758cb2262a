#include "mirror.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "graft.h"
#include "region.h"
#include "twin.h"

#define PAGE 4096u
#define PIECE (256u << 10)

struct mirror {
  struct mirror *next;
  uint8_t *host;   /* the program's */
  uint64_t device; /* the device's */
  size_t bytes;
  enum graft_mirror_use use;
  bool shared;     /* the device's is memory of this process too */
  bool allocated;  /* device is from graft_twin_allocate */
  uint8_t *shadow; /* what both were when they were last equal */
};

bool graft_mirrors;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mirror *mirrors;
static bool looked;  /* nothing can have changed here since the last look */
static bool working; /* work was sent that may have written at the device */
static _Thread_local bool inside;

/* A stream of our own per context, so that bringing and fetching wait for nothing else. */
static _Thread_local struct {
  struct graft_object *context;
  void *stream;
} own;

static void *stream(void) {
  struct graft_object *context = graft_context_current();
  if (own.context != context) {
    void *made;
    if (cuStreamCreate(&made, 1)) return NULL; /* CU_STREAM_NON_BLOCKING */
    own.stream = made;
    own.context = context;
  }
  return own.stream;
}

/* The program may have given memory back that a graph still names: then there is nothing to read or write. */
static bool peek(const struct mirror *m, size_t at, uint8_t *to, size_t bytes) {
  if (m->use != GRAFT_MIRROR_GRAPH) {
    memcpy(to, m->host + at, bytes);
    return true;
  }
  struct iovec here = {to, bytes}, there = {m->host + at, bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static bool poke(const struct mirror *m, size_t at, const uint8_t *from, size_t bytes) {
  if (m->use != GRAFT_MIRROR_GRAPH) {
    memcpy(m->host + at, from, bytes);
    return true;
  }
  struct iovec here = {(void *)from, bytes}, there = {m->host + at, bytes};
  return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Whether the copy is under way in a stream now, and not yet there. */
static bool to_device(const struct mirror *m, size_t at, size_t bytes) {
  if (m->shared) {
    memcpy((void *)(uintptr_t)(m->device + at), m->shadow + at, bytes);
    return false;
  }
  if (m->allocated && graft_twin_write(m->device + at, m->shadow + at, bytes)) return false;
  return !rpc_graftWrite(m->device + at, m->shadow + at, bytes, stream());
}

static int from_device(const struct mirror *m, size_t at, uint8_t *to, size_t bytes) {
  if (m->shared) {
    memcpy(to, (void *)(uintptr_t)(m->device + at), bytes);
    return 0;
  }
  if (m->allocated && graft_twin_read(m->device + at, to, bytes)) return graft_dead();
  graft_incoming(to, bytes);
  return rpc_graftRead(m->device + at, bytes, stream());
}

/* Sends what differs from the shadow, page by page, neighbours together. Whether some of it is under way now. */
static bool bring(struct mirror *m) {
  uint8_t *now = malloc(PIECE);
  bool queued = false;
  for (size_t at = 0; now && at < m->bytes; at += PIECE) {
    size_t piece = m->bytes - at < PIECE ? m->bytes - at : PIECE, first = piece;
    if (!peek(m, at, now, piece)) break;
    for (size_t page = 0; page <= piece; page += PAGE) {
      size_t take = piece - page < PAGE ? piece - page : PAGE;
      bool differs = page < piece && memcmp(now + page, m->shadow + at + page, take);
      if (differs) {
        memcpy(m->shadow + at + page, now + page, take);
        if (first == piece) first = page;
      }
      bool last = page + PAGE >= piece;
      if (first < piece && (!differs || last)) {
        size_t end = differs ? page + take : page;
        queued |= to_device(m, at + first, end - first);
        first = piece;
      }
      if (last) break;
    }
  }
  free(now);
  return queued;
}

/* Takes what the device has changed; a page that the program has changed meanwhile stays as it is. */
static void fetch(struct mirror *m) {
  uint8_t *theirs = malloc(PIECE), *ours = malloc(PIECE);
  for (size_t at = 0; theirs && ours && at < m->bytes; at += PIECE) {
    size_t piece = m->bytes - at < PIECE ? m->bytes - at : PIECE;
    if (from_device(m, at, theirs, piece)) break;
    if (!memcmp(theirs, m->shadow + at, piece)) continue;
    if (!peek(m, at, ours, piece)) break;
    for (size_t page = 0; page < piece; page += PAGE) {
      size_t take = piece - page < PAGE ? piece - page : PAGE;
      uint8_t *shadow = m->shadow + at + page;
      if (!memcmp(theirs + page, shadow, take) || memcmp(ours + page, shadow, take)) continue;
      if (!poke(m, at + page, theirs + page, take)) break;
      memcpy(shadow, theirs + page, take);
    }
  }
  free(theirs);
  free(ours);
}

static void bring_all(bool graph) {
  bool queued = false;
  inside = true;
  pthread_mutex_lock(&lock);
  for (struct mirror *m = mirrors; m; m = m->next) {
    if (m->use == GRAFT_MIRROR_MAPPED || (m->use == GRAFT_MIRROR_GRAPH ? graph : !looked)) queued |= bring(m);
  }
  looked = true;
  working = true;
  pthread_mutex_unlock(&lock);
  if (queued) cuStreamSynchronize(stream());
  inside = false;
}

void graft_mirrors_fetch(void) {
  inside = true;
  pthread_mutex_lock(&lock);
  if (working) {
    for (struct mirror *m = mirrors; m; m = m->next) fetch(m);
  }
  looked = false;
  pthread_mutex_unlock(&lock);
  inside = false;
}

void graft_mirrors_bring(void) { bring_all(true); }

/* Work that may read or write memory of the program's. */
static bool is_work(int function) {
  switch (function) {
    case FN_graftRead:
    case FN_graftCopy3DRead:
      return true;
    case FN_cuEventCreate:
    case FN_cuEventDestroy_v2:
    case FN_cuStreamCreate:
    case FN_cuStreamCreateWithPriority:
    case FN_cuStreamDestroy_v2:
    case FN_graftHostFunctionDone:
      return false;
    default:
      return !graft_function_waits[function];
  }
}

void graft_mirrors_before(int function) {
  if (!inside && graft_context_current() && is_work(function)) bring_all(function == FN_cuGraphLaunch);
}

void graft_mirrors_after(int function) {
  if (inside || !graft_context_current()) return;
  switch (function) {
    case FN_cuStreamSynchronize:
    case FN_cuEventSynchronize:
    case FN_graftContextSynchronize:
    case FN_cuStreamQuery:
    case FN_cuEventQuery:
    case FN_graftRead:
    case FN_graftCopy3DRead:
      graft_mirrors_fetch();
      if (function == FN_graftContextSynchronize) working = false;
      break;
    default: break;
  }
}

/* ---- Making and ending them ---- */

static struct mirror *enter(struct mirror wanted) {
  struct mirror *m = malloc(sizeof *m);
  void *shadow = mmap(NULL, wanted.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!m || shadow == MAP_FAILED) {
    free(m);
    if (shadow != MAP_FAILED) munmap(shadow, wanted.bytes);
    return NULL;
  }
  *m = wanted;
  m->shadow = shadow;
  pthread_mutex_lock(&lock);
  m->next = mirrors;
  mirrors = m;
  looked = false;
  graft_mirrors = true;
  pthread_mutex_unlock(&lock);
  return m;
}

void *graft_mirror_allocate(size_t bytes, enum graft_mirror_use use) {
  void *memory = graft_twin_allocate(bytes);
  if (!memory) return NULL;
  struct mirror wanted = {
      .host = memory, .device = (uintptr_t)memory, .bytes = bytes, .use = use, .allocated = true};
  if (!graft_region_holds(memory, bytes) && !enter(wanted)) {
    graft_twin_free(memory);
    return NULL;
  }
  return memory;
}

/* Variables of one module share pages. */
static bool is_adopted(uint64_t page) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (struct mirror *m = mirrors; m && !found; m = m->next) {
    found = !m->allocated && m->device / PAGE * PAGE <= page && page < m->device + m->bytes;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

int graft_mirror_adopt(uint64_t address, size_t bytes, const void *contents, size_t known_bytes) {
  pthread_mutex_lock(&lock);
  bool known = false;
  for (struct mirror *m = mirrors; m; m = m->next) known |= m->device == address && m->bytes >= bytes;
  pthread_mutex_unlock(&lock);
  if (known) return 0;
  for (uint64_t page = address / PAGE * PAGE; page < address + bytes; page += PAGE) {
    void *at = mmap((void *)(uintptr_t)page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED && !is_adopted(page)) {
      graft_say("a managed variable lies at %#llx at the server, where this process has something else", (unsigned long long)address);
      return GRAFT_OUT_OF_MEMORY;
    }
  }
  struct mirror *m = enter((struct mirror){
      .host = (uint8_t *)(uintptr_t)address, .device = address, .bytes = bytes, .use = GRAFT_MIRROR_MANAGED});
  if (!m) return GRAFT_OUT_OF_MEMORY;
  memcpy(m->shadow, contents, known_bytes);
  memcpy(m->host, contents, known_bytes);
  working = true; /* the rest comes with the first fetch */
  return 0;
}

uint64_t graft_mirror_of(const void *host, size_t bytes, enum graft_mirror_use use) {
  pthread_mutex_lock(&lock);
  struct mirror *m = mirrors;
  while (m && !(m->host <= (const uint8_t *)host && (const uint8_t *)host + bytes <= m->host + m->bytes)) m = m->next;
  uint64_t device = m ? m->device + (uint64_t)((const uint8_t *)host - m->host) : 0;
  pthread_mutex_unlock(&lock);
  if (device) return device;
  void *twin = use == GRAFT_MIRROR_MAPPED && graft_twin_complete(host) ? (void *)host : graft_twin_allocate(bytes);
  if (!twin) return 0;
  struct mirror wanted = {.host = (uint8_t *)host,
                          .device = (uintptr_t)twin,
                          .bytes = bytes,
                          .use = use,
                          .shared = graft_region_holds(twin, bytes),
                          .allocated = true};
  if (enter(wanted)) return wanted.device;
  if (twin != host) graft_twin_free(twin);
  return 0;
}

bool graft_mirror_end(const void *host) {
  pthread_mutex_lock(&lock);
  struct mirror **p = &mirrors;
  while (*p && (*p)->host != host) p = &(*p)->next;
  struct mirror *m = *p;
  if (m) *p = m->next;
  pthread_mutex_unlock(&lock);
  if (!m) return false;
  munmap(m->shadow, m->bytes);
  if (m->allocated) graft_twin_free((void *)(uintptr_t)m->device);
  free(m);
  return true;
}
