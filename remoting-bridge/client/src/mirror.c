#include "mirror.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "graft.h"
#include "paging.h"
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
  uint8_t *pieces; /* of exclusive memory: where each piece is; NULL for other memory */
  uint8_t *dirty;  /* of exclusive memory: pages that are to be sent */
  bool watched;    /* exclusive memory that was away once; until then its first pages come from the kernel */
};

/* Exclusive memory is the program's or the device's: its pages are taken away before work is sent, and a thread that touches
 * one waits until no work is under way. */
enum piece {
  HERE,
  AWAY,
  EARLY /* here again, while work may be under way */
};

bool graft_mirrors;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mirror *mirrors;
static bool looked;  /* nothing can have changed here since the last look */
static bool working; /* work was sent that may have written at the device */
static int leaving;  /* calls whose memory was brought, and which are not sent yet */
static _Thread_local bool inside;

/* Pieces, shadows of exclusive memory, and the list: never held while anything is waited for. */
static pthread_mutex_t pages = PTHREAD_MUTEX_INITIALIZER;

/* Where work was sent since exclusive memory was there last. */
#define CONTEXTS 64
static struct graft_object *contexts[CONTEXTS];

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

/* More changed places in a page than this are data for the next work, and no words for a kernel that runs. */
#define MOST_RUNS 16

/* Sends the words of a page that the program has changed, and nothing beside them: a kernel may write there at this time. */
static void bring_words(struct mirror *m, size_t at, size_t bytes) {
  uint8_t now[PAGE];
  size_t starts[MOST_RUNS], ends[MOST_RUNS], runs = 0;
  if (!memcmp(m->host + at, m->shadow + at, bytes)) return;
  memcpy(now, m->host + at, bytes);
  for (size_t i = 0; i < bytes; i += 4) {
    size_t word = bytes - i < 4 ? bytes - i : 4;
    if (!memcmp(now + i, m->shadow + at + i, word)) continue;
    if (runs && ends[runs - 1] == i) {
      ends[runs - 1] = i + word;
    } else if (runs == MOST_RUNS) {
      return;
    } else {
      starts[runs] = i;
      ends[runs++] = i + word;
    }
  }
  for (size_t i = 0; i < runs; i++) {
    memcpy(m->shadow + at + starts[i], now + starts[i], ends[i] - starts[i]);
    to_device(m, at + starts[i], ends[i] - starts[i]);
  }
}

static size_t whole_pages(const struct mirror *m) { return (m->bytes + PAGE - 1) / PAGE * PAGE; }

/* Takes exclusive memory from the program. What differs goes to the shadow and is marked, so that nobody has to wait for its
 * sending who wants only the shadow. */
static void take(struct mirror *m) {
  bool any = false;
  pthread_mutex_lock(&pages);
  for (size_t i = 0; i * PIECE < m->bytes; i++) any |= m->pieces[i] != AWAY;
  if (any && !m->watched) m->watched = graft_paging_watch(m->host, whole_pages(m));
  uint8_t *taken = any && m->watched ? graft_paging_take(m->host, whole_pages(m)) : NULL;
  if (any && !taken) graft_die("cannot take the pages of managed memory", errno);
  for (size_t at = 0; taken && at < m->bytes; at += PAGE) {
    size_t bytes = m->bytes - at < PAGE ? m->bytes - at : PAGE;
    if (m->pieces[at / PIECE] == AWAY || !memcmp(taken + at, m->shadow + at, bytes)) continue;
    memcpy(m->shadow + at, taken + at, bytes);
    m->dirty[at / PAGE] = true;
  }
  if (taken) memset(m->pieces, AWAY, (m->bytes + PIECE - 1) / PIECE);
  pthread_mutex_unlock(&pages);
  if (taken) munmap(taken, whole_pages(m));
}

/* The same as bring for exclusive memory. */
static bool bring_exclusive(struct mirror *m) {
  bool queued = false;
  take(m);
  for (size_t at = 0, end; at < m->bytes; at = end) {
    for (end = at; end < m->bytes && end - at < PIECE && m->dirty[end / PAGE]; end += PAGE) m->dirty[end / PAGE] = false;
    if (end == at) {
      end += PAGE;
    } else {
      queued |= to_device(m, at, (end < m->bytes ? end : m->bytes) - at);
    }
  }
  return queued;
}

/* Takes what the device has changed; a page that the program has changed meanwhile stays as it is. */
static void fetch(struct mirror *m) {
  uint8_t *theirs = malloc(PIECE), *ours = malloc(PIECE);
  for (size_t at = 0; theirs && ours && at < m->bytes; at += PIECE) {
    size_t piece = m->bytes - at < PIECE ? m->bytes - at : PIECE;
    if (m->pieces && m->pieces[at / PIECE] != EARLY) continue;
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

/* A piece that the program does not have: the shadow becomes what the device has. */
static void refresh(struct mirror *m, size_t at) {
  uint8_t *theirs = malloc(PIECE);
  size_t piece = m->bytes - at < PIECE ? m->bytes - at : PIECE;
  if (theirs && !from_device(m, at, theirs, piece)) {
    pthread_mutex_lock(&pages);
    if (m->pieces[at / PIECE] == AWAY) memcpy(m->shadow + at, theirs, piece);
    pthread_mutex_unlock(&pages);
  }
  free(theirs);
}

/* Exclusive memory at an address; called with the lock of the list or of pages held. */
static struct mirror *exclusive_at(uint64_t address) {
  struct mirror *m = mirrors;
  while (m && !(m->pieces && address - (uintptr_t)m->host < whole_pages(m))) m = m->next;
  return m;
}

/* Gives the program the piece around an address, as the shadow has it. */
static void give(uint64_t address, enum piece how) {
  pthread_mutex_lock(&pages);
  struct mirror *m = exclusive_at(address);
  size_t at = m ? (address - (uintptr_t)m->host) / PIECE * PIECE : 0;
  if (m && m->pieces[at / PIECE] == AWAY) {
    size_t rest = whole_pages(m) - at;
    graft_paging_put(m->host + at, m->shadow + at, rest < PIECE ? rest : PIECE);
    m->pieces[at / PIECE] = (uint8_t)how;
  } else if (m) { /* here by now, unless the program itself has dropped the page */
    at = (address - (uintptr_t)m->host) / PAGE * PAGE;
    graft_paging_put(m->host + at, m->shadow + at, PAGE);
  } else {
    graft_paging_wake(address);
  }
  pthread_mutex_unlock(&pages);
}

/* The client itself must not wait for work while others wait for it: it is given what was there last. A host function's
 * memory was refreshed before it began. */
static bool at_once(uint64_t address, pid_t thread) {
  bool ours = graft_thread_is_ours(thread);
  if (ours) give(address, EARLY);
  return ours;
}

/* Called with the lock held. */
static void finish_work(void) {
  /* Until what was brought is under way, nobody can wait for it. */
  while (__atomic_load_n(&leaving, __ATOMIC_ACQUIRE)) sched_yield();
  if (!working) return;
  for (int i = 0; i < CONTEXTS && contexts[i]; i++) {
    if (!cuCtxSetCurrent(contexts[i])) rpc_graftContextSynchronize();
    contexts[i] = NULL;
  }
  working = false;
}

static void touched(uint64_t address) {
  inside = true;
  pthread_mutex_lock(&lock);
  struct mirror *m = exclusive_at(address);
  if (m) {
    finish_work();
    refresh(m, (address - (uintptr_t)m->host) / PIECE * PIECE);
  }
  give(address, HERE);
  pthread_mutex_unlock(&lock);
}

/* Called with the lock held. */
static void remember_context(void) {
  struct graft_object *context = graft_context_current();
  for (int i = 0; i < CONTEXTS; i++) {
    if (!contexts[i]) contexts[i] = context;
    if (contexts[i] == context) return;
  }
}

static void bring_all(bool graph) {
  bool queued = false;
  inside = true;
  pthread_mutex_lock(&lock);
  for (struct mirror *m = mirrors; m; m = m->next) {
    if (m->pieces) {
      queued |= bring_exclusive(m);
    } else if (m->use == GRAFT_MIRROR_MAPPED || (m->use == GRAFT_MIRROR_GRAPH ? graph : !looked)) {
      queued |= bring(m);
    }
  }
  looked = true;
  working = true;
  remember_context();
  __atomic_add_fetch(&leaving, 1, __ATOMIC_ACQ_REL);
  pthread_mutex_unlock(&lock);
  if (queued) cuStreamSynchronize(stream());
  inside = false;
}

/* What the program has written since it sent the work that it waits for now: a kernel may wait for it. */
static void bring_signals(void) {
  inside = true;
  pthread_mutex_lock(&lock);
  for (struct mirror *m = mirrors; working && m; m = m->next) {
    for (size_t at = 0; m->use == GRAFT_MIRROR_MAPPED && at < m->bytes; at += PAGE) {
      bring_words(m, at, m->bytes - at < PAGE ? m->bytes - at : PAGE);
    }
  }
  pthread_mutex_unlock(&lock);
  inside = false;
}

void graft_mirrors_sent(void) { __atomic_sub_fetch(&leaving, 1, __ATOMIC_ACQ_REL); }

static void fetch_all(bool exclusive) {
  inside = true;
  pthread_mutex_lock(&lock);
  if (working) {
    for (struct mirror *m = mirrors; m; m = m->next) {
      fetch(m);
      for (size_t at = 0; exclusive && m->pieces && at < m->bytes; at += PIECE) refresh(m, at);
    }
  }
  looked = false;
  pthread_mutex_unlock(&lock);
  inside = false;
}

/* Exclusive memory comes when it is touched. */
void graft_mirrors_fetch(void) { fetch_all(false); }

void graft_mirrors_before_host_function(void) { fetch_all(true); }

void graft_mirrors_after_host_function(void) {
  bring_all(true);
  graft_mirrors_sent();
}

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

/* Waits for work, or asks whether it is done. */
static bool is_wait(int function) {
  switch (function) {
    case FN_cuStreamSynchronize:
    case FN_cuEventSynchronize:
    case FN_graftContextSynchronize:
    case FN_cuStreamQuery:
    case FN_cuEventQuery:
      return true;
    default: return false;
  }
}

bool graft_mirrors_before(int function) {
  if (inside || !graft_context_current()) return false;
  bool work = is_work(function);
  if (work) {
    bring_all(function == FN_cuGraphLaunch);
  } else if (is_wait(function)) {
    bring_signals();
  }
  return work;
}

void graft_mirrors_after(int function) {
  if (inside || !graft_context_current()) return;
  if (!is_wait(function) && function != FN_graftRead && function != FN_graftCopy3DRead) return;
  graft_mirrors_fetch();
  if (function == FN_graftContextSynchronize) working = false;
}

/* ---- Making and ending them ---- */

static void discard(struct mirror *m) {
  if (m->shadow) munmap(m->shadow, m->bytes);
  free(m->pieces);
  free(m->dirty);
  free(m);
}

static struct mirror *enter(struct mirror wanted, bool exclusive) {
  struct mirror *m = malloc(sizeof *m);
  if (!m) return NULL;
  *m = wanted;
  void *shadow = mmap(NULL, wanted.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (shadow != MAP_FAILED) m->shadow = shadow;
  bool ready = m->shadow;
  if (ready && exclusive) {
    m->pieces = calloc((m->bytes + PIECE - 1) / PIECE, 1);
    m->dirty = calloc((m->bytes + PAGE - 1) / PAGE, 1);
    ready = m->pieces && m->dirty;
  }
  if (!ready) {
    discard(m);
    return NULL;
  }
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&pages);
  m->next = mirrors;
  mirrors = m;
  pthread_mutex_unlock(&pages);
  looked = false;
  graft_mirrors = true;
  pthread_mutex_unlock(&lock);
  return m;
}

bool graft_mirror_exclusive(void) { return graft_paging_start(at_once, touched); }

void *graft_mirror_allocate_exclusive(size_t bytes) {
  void *memory = graft_twin_pair(bytes);
  if (!memory) return NULL;
  struct mirror wanted = {
      .host = memory, .device = (uintptr_t)memory, .bytes = bytes, .use = GRAFT_MIRROR_MANAGED, .allocated = true};
  if (enter(wanted, true)) return memory;
  graft_twin_free(memory);
  return NULL;
}

void *graft_mirror_allocate(size_t bytes, enum graft_mirror_use use) {
  void *memory = graft_twin_allocate(bytes);
  if (!memory) return NULL;
  struct mirror wanted = {
      .host = memory, .device = (uintptr_t)memory, .bytes = bytes, .use = use, .allocated = true};
  if (!graft_region_holds(memory, bytes) && !enter(wanted, false)) {
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
      .host = (uint8_t *)(uintptr_t)address, .device = address, .bytes = bytes, .use = GRAFT_MIRROR_MANAGED}, false);
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
  if (enter(wanted, false)) return wanted.device;
  if (twin != host) graft_twin_free(twin);
  return 0;
}

bool graft_mirror_end(const void *host) {
  pthread_mutex_lock(&lock);
  struct mirror **p = &mirrors;
  while (*p && (*p)->host != host) p = &(*p)->next;
  struct mirror *m = *p;
  pthread_mutex_lock(&pages);
  if (m) *p = m->next;
  pthread_mutex_unlock(&pages);
  pthread_mutex_unlock(&lock);
  if (!m) return false;
  if (m->allocated) graft_twin_free((void *)(uintptr_t)m->device);
  discard(m);
  return true;
}
