#include "mirror.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "graft.h"
#include "memory/merge.h"
#include "memory/paging.h"
#include "memory/region.h"
#include "memory/shadow.h"

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
  /* Where queued work may write at the device, as far as it is not known to be over: offsets, none if equal. */
  size_t written, written_end;
  uint64_t work;   /* the number of the last such work */
  uint64_t graph;  /* how many graphs had been instantiated when a node named it last */
  uint64_t stream; /* of all of it, or ANY_STREAM */
  struct graft_object *context; /* the same, NULL for several */
};

#define ANY_STREAM UINT64_MAX

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
static uint64_t graphs; /* how many have been instantiated */
static uint64_t waits; /* how often the program has waited: since then it may have written to managed memory */
static _Thread_local uint64_t looked; /* the number of waits when the calling thread's work was last given what was written */
static uint64_t works; /* how many pieces of work have been announced that use mirrored memory */
static uint64_t sent;  /* all up to this number are sent, as far as anybody has looked */
static uint64_t over;  /* all up to this number are over */
static int leaving;    /* calls that are announced and not sent yet */
static _Thread_local bool inside;
/* What the calling thread has announced and not sent; what was sent when it began to wait. */
static _Thread_local bool announced;
static _Thread_local uint64_t sent_before;

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

/* The same for the bytes that a mask marks, from a word on: work under way may write the bytes beside them. */
static bool merge_to_device(const struct mirror *m, size_t at, size_t words, const uint8_t *now, const uint8_t *mask) {
  if (m->shared) {
    graft_merge((uint8_t *)(uintptr_t)(m->device + at), now, mask, words);
    return false;
  }
  if (m->allocated && graft_twin_merge(m->device + at, now, mask, words)) return false;
  bool queued = false;
  for (size_t i = 0, end; i < words * GRAFT_WORD; i = end) {
    for (end = i; end < words * GRAFT_WORD && mask[end / 8] & 1u << end % 8; end++) {}
    if (end > i) queued |= !rpc_graftWrite(m->device + at + i, now + i, end - i, stream());
    if (end == i) end++;
  }
  return queued;
}

/* Sends whole pages with differences, neighbours together: nothing at the device writes there now. */
static bool bring_pages(struct mirror *m, size_t at, size_t piece, const uint8_t *now) {
  bool queued = false;
  for (size_t page = 0, end; page < piece; page = end + PAGE) {
    for (end = page; end < piece; end += PAGE) {
      size_t take = piece - end < PAGE ? piece - end : PAGE;
      if (!memcmp(now + end, m->shadow + at + end, take)) break;
      memcpy(m->shadow + at + end, now + end, take);
    }
    if (end > piece) end = piece;
    if (end > page) queued |= to_device(m, at + page, end - page);
  }
  return queued;
}

/* Sends the changed bytes alone. */
static bool bring_bytes(struct mirror *m, size_t at, size_t piece, const uint8_t *now) {
  uint8_t mask[PIECE / GRAFT_WORD];
  size_t first = 0, end = graft_merge_mask(now, m->shadow + at, piece, mask, &first);
  if (!end) return false;
  memcpy(m->shadow + at, now, piece);
  return merge_to_device(m, at + first * GRAFT_WORD, end - first, now + first * GRAFT_WORD, mask + first);
}

static bool may_be_written(const struct mirror *m) { return m->written != m->written_end; }

/* Sends what differs from the shadow between two offsets. Whether some of it is under way now. */
static bool bring(struct mirror *m, size_t from, size_t to) {
  uint8_t *now = malloc(PIECE);
  bool queued = false;
  if (!now) graft_die("no memory to look at mirrored memory", 0);
  for (size_t at = from / PAGE * PAGE; now && at < to; at += PIECE) {
    size_t piece = m->bytes - at < PIECE ? m->bytes - at : PIECE;
    if (m->use != GRAFT_MIRROR_GRAPH && !memcmp(m->host + at, m->shadow + at, piece)) continue;
    if (!peek(m, at, now, piece)) break;
    queued |= (may_be_written(m) ? bring_bytes : bring_pages)(m, at, piece, now);
  }
  free(now);
  return queued;
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

/* Takes the bytes that the device has changed; those that the program has changed meanwhile stay as they are. */
static bool fetch_piece(struct mirror *m, size_t at, size_t bytes, uint8_t *theirs, uint8_t *ours) {
  uint8_t *shadow = m->shadow + at;
  if (from_device(m, at, theirs, bytes)) return false;
  if (!memcmp(theirs, shadow, bytes)) return true;
  if (!peek(m, at, ours, bytes)) return false;
  for (size_t run = 0, length; (length = graft_merge_run(theirs, ours, shadow, bytes, &run)); run += length) {
    if (!poke(m, at + run, theirs + run, length)) return false;
    memcpy(shadow + run, theirs + run, length);
  }
  return true;
}

/* Takes what work may have written; of exclusive memory what the program has early. */
static void fetch(struct mirror *m) {
  size_t from = m->pieces ? 0 : m->written / PAGE * PAGE, to = m->pieces ? m->bytes : m->written_end;
  if (from >= to) return;
  uint8_t *theirs = malloc(PIECE), *ours = malloc(PIECE);
  if (!theirs || !ours) graft_die("no memory to look at mirrored memory", 0);
  for (size_t at = from; theirs && ours && at < to; at += PIECE) {
    if (m->pieces && m->pieces[at / PIECE] != EARLY) continue;
    if (!fetch_piece(m, at, m->bytes - at < PIECE ? m->bytes - at : PIECE, theirs, ours)) break;
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

/* ---- Work: announced before it is sent, so that memory is brought for it and looked at when it is over ---- */

/* Called with the lock held. Until what was announced is sent, nobody can wait for it. */
static void finish_work(void) {
  while (__atomic_load_n(&leaving, __ATOMIC_ACQUIRE)) sched_yield();
  sent = works;
  if (over == works) return;
  for (int i = 0; i < CONTEXTS && contexts[i]; i++) {
    if (!cuCtxSetCurrent(contexts[i])) rpc_graftContextSynchronize();
    contexts[i] = NULL;
  }
  over = works;
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

/* Called with the lock held. */
static void announce(void) {
  works++;
  remember_context();
  if (announced) return; /* the second operand of one copy */
  announced = true;
  __atomic_add_fetch(&leaving, 1, __ATOMIC_ACQ_REL);
}

/* Called with the lock held, after announce. */
static void mark(struct mirror *m, size_t from, size_t to, uint64_t stream_id) {
  struct graft_object *context = graft_context_current();
  if (!may_be_written(m)) {
    m->written = from;
    m->written_end = to;
  }
  if (from < m->written) m->written = from;
  if (to > m->written_end) m->written_end = to;
  m->stream = !m->work || m->stream == stream_id ? stream_id : ANY_STREAM;
  m->context = !m->work || m->context == context ? context : NULL;
  m->work = works;
}

void graft_mirrors_sent(void) {
  if (!announced) return;
  announced = false;
  __atomic_sub_fetch(&leaving, 1, __ATOMIC_ACQ_REL);
}

/* Kernels reach all memory that the device can see. */
static void bring_all(bool graph, bool writes) {
  bool queued = false;
  inside = true;
  pthread_mutex_lock(&lock);
  announce();
  for (struct mirror *m = mirrors; m; m = m->next) {
    if (m->pieces) {
      queued |= bring_exclusive(m);
    } else if (m->use == GRAFT_MIRROR_MAPPED || (m->use == GRAFT_MIRROR_GRAPH ? graph : looked != waits)) {
      queued |= bring(m, 0, m->bytes);
    }
    if (writes && (m->use != GRAFT_MIRROR_GRAPH || graph)) mark(m, 0, m->bytes, ANY_STREAM);
  }
  looked = waits;
  pthread_mutex_unlock(&lock);
  if (queued) cuStreamSynchronize(stream());
  inside = false;
}

void graft_mirror_announce(uint64_t device, size_t bytes, bool writes, void *handle) {
  bool queued = false;
  uint64_t id;
  if (graft_stream_id(handle, &id)) id = ANY_STREAM;
  inside = true;
  pthread_mutex_lock(&lock);
  struct mirror *m = mirrors;
  while (m && (device < m->device || device - m->device >= m->bytes)) m = m->next;
  if (m) {
    size_t at = device - m->device;
    if (bytes > m->bytes - at) bytes = m->bytes - at; /* the server refuses the rest */
    announce();
    queued = m->pieces ? bring_exclusive(m) : bring(m, at, at + bytes);
    if (writes) mark(m, at, at + bytes, id);
  }
  pthread_mutex_unlock(&lock);
  if (queued) cuStreamSynchronize(stream());
  inside = false;
}

/* What the program has written since it sent the work that it waits for now: a kernel may wait for it. And what was sent by now:
 * that is over when the wait is. */
static void begin_wait(void) {
  bool queued = false;
  inside = true;
  pthread_mutex_lock(&lock);
  if (!__atomic_load_n(&leaving, __ATOMIC_ACQUIRE)) sent = works;
  sent_before = sent;
  for (struct mirror *m = mirrors; m; m = m->next) {
    if (m->use == GRAFT_MIRROR_MAPPED) queued |= bring(m, 0, m->bytes);
  }
  pthread_mutex_unlock(&lock);
  if (queued) cuStreamSynchronize(stream());
  inside = false;
}

/* What is over when a wait is: what was sent before to one stream, or to the whole context; or nothing that is known. */
enum covers { NOTHING, ONE_STREAM, WHOLE_CONTEXT };

static void fetch_all(bool exclusive, enum covers covers, uint64_t stream_id) {
  struct graft_object *context = graft_context_current();
  inside = true;
  pthread_mutex_lock(&lock);
  for (struct mirror *m = mirrors; m; m = m->next) {
    fetch(m);
    for (size_t at = 0; exclusive && m->pieces && at < m->bytes; at += PIECE) refresh(m, at);
    bool covered = covers != NOTHING && m->work <= sent_before &&
                   (!m->work || (m->context == context && (covers == WHOLE_CONTEXT || m->stream == stream_id)));
    if (covered) m->work = m->written = m->written_end = 0;
  }
  waits++;
  pthread_mutex_unlock(&lock);
  inside = false;
}

/* Exclusive memory comes when it is touched. */
void graft_mirrors_fetch(void) { fetch_all(false, NOTHING, 0); }

void graft_mirrors_before_host_function(void) { fetch_all(true, NOTHING, 0); }

void graft_mirrors_after_host_function(void) {
  bring_all(true, false);
  graft_mirrors_sent();
}

/* Work that may read or write any memory. Copies, fills and values that streams write or wait for announce what they use. */
static bool reaches_all(int function) {
  return function == FN_graftLaunch || function == FN_graftLaunchEx || function == FN_cuGraphLaunch;
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
  if (reaches_all(function)) {
    bring_all(function == FN_cuGraphLaunch, true);
  } else if (is_wait(function)) {
    begin_wait();
  }
  return announced;
}

void graft_mirrors_after(int function, uint64_t first) {
  if (inside || !graft_context_current()) return;
  switch (function) {
    case FN_cuStreamSynchronize:
    case FN_cuStreamQuery: fetch_all(false, ONE_STREAM, first); break;
    case FN_graftContextSynchronize: fetch_all(false, WHOLE_CONTEXT, 0); break;
    case FN_cuEventSynchronize:
    case FN_cuEventQuery:
    case FN_graftRead:
    case FN_graftCopy3DRead: graft_mirrors_fetch(); break;
    default: break;
  }
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
  waits++;
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
  /* The rest comes with the first fetch. */
  m->written_end = bytes;
  return 0;
}

/* What is brought for graphs alone will not do for other work. Called with the lock held. */
static struct mirror *mirror_with(const uint8_t *host, size_t bytes, enum graft_mirror_use use) {
  struct mirror *m = mirrors;
  while (m && !(m->host <= host && host + bytes <= m->host + m->bytes && (m->use != GRAFT_MIRROR_GRAPH || use == m->use))) m = m->next;
  return m;
}

void graft_mirrors_instantiated(void) {
  pthread_mutex_lock(&lock);
  graphs++;
  pthread_mutex_unlock(&lock);
}

/* Whether part of it has a mirror that nodes of a graph being made use: two mirrors of the same bytes are equal between the
 * launches of a graph, and not within one. Called with the lock held. */
static bool meets_graph(const uint8_t *host, size_t bytes) {
  bool meets = false;
  for (struct mirror *m = mirrors; m && !meets; m = m->next) {
    meets = m->use == GRAFT_MIRROR_GRAPH && m->graph == graphs && m->host < host + bytes && host < m->host + m->bytes;
  }
  return meets;
}

uint64_t graft_mirror_of(const void *host, size_t bytes, enum graft_mirror_use use) {
  pthread_mutex_lock(&lock);
  struct mirror *m = mirror_with(host, bytes, use);
  uint64_t device = m ? m->device + (uint64_t)((const uint8_t *)host - m->host) : 0;
  if (m) m->graph = graphs;
  bool meets = !m && use == GRAFT_MIRROR_GRAPH && meets_graph(host, bytes);
  pthread_mutex_unlock(&lock);
  if (meets) graft_not_served("parts of pageable memory that meet in one graph: pin it");
  if (device || meets) return device;
  void *twin = use == GRAFT_MIRROR_MAPPED && graft_twin_complete(host) ? (void *)host : graft_twin_allocate(bytes);
  if (!twin) return 0;
  struct mirror wanted = {.host = (uint8_t *)host,
                          .device = (uintptr_t)twin,
                          .bytes = bytes,
                          .use = use,
                          .graph = graphs,
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
