/* The data of mirrors: differences are sent in chunks, and the base of the comparison is updated. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "graft_rpc.h"
#include "memory/merge.h"
#include "memory/mirror.h"
#include "memory/mirror_state.h"
#include "memory/paging.h"
#include "memory/place.h"
#include "memory/shadow.h"
#include "memory/staging.h"
#include "session/session.h"

static _Thread_local struct {
  struct graft_object *context;
  uint32_t id; /* of the context, since a primary context is made again behind the same handle */
  void *stream;
} own;

void *graft_mirror_stream(void) {
  struct graft_object *context = graft_context_current();
  if (own.context != context || (context && own.id != context->id)) {
    void *made;
    if (cuStreamCreate(&made, 1)) return NULL; /* CU_STREAM_NON_BLOCKING */
    own.stream = made;
    own.context = context;
    own.id = context ? context->id : 0;
  }
  return own.stream;
}

/* The program may have freed memory that a graph still names; then reading or writing it fails. */
static bool peek(const struct graft_mirror *m, size_t at, uint8_t *to, size_t bytes) {
  if (m->use != GRAFT_MIRROR_GRAPH) {
    memcpy(to, m->host + at, bytes);
    return true;
  }
  struct iovec here = {to, bytes}, there = {m->host + at, bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* Runs of bytes that the device has changed, which one system call writes to the memory that a graph names: a call for each would take longer than the graph. The base has them once they are written. */
struct runs {
  struct iovec here[512], there[512];
  size_t count;
  ssize_t bytes;
};

static bool poke_runs(const struct graft_mirror *m, struct runs *runs) {
  bool done = !runs->count || process_vm_writev(getpid(), runs->here, runs->count, runs->there, runs->count, 0) == runs->bytes;
  for (size_t i = 0; done && i < runs->count; i++) {
    memcpy(m->base + ((uint8_t *)runs->there[i].iov_base - m->host), runs->here[i].iov_base, runs->here[i].iov_len);
  }
  runs->count = 0;
  runs->bytes = 0;
  return done;
}

static bool poke(const struct graft_mirror *m, size_t at, const uint8_t *from, size_t bytes, struct runs *runs) {
  runs->here[runs->count] = (struct iovec){(void *)from, bytes};
  runs->there[runs->count++] = (struct iovec){m->host + at, bytes};
  runs->bytes += (ssize_t)bytes;
  return runs->count < sizeof runs->here / sizeof *runs->here || poke_runs(m, runs);
}

/* Memory for a chunk; NULL, and a dead session, if there is none. */
static uint8_t *chunk_in(uint8_t **kept) {
  if (!*kept) *kept = malloc(GRAFT_MIRROR_CHUNK);
  if (!*kept) graft_die("no memory to compare mirrored memory", 0);
  return *kept;
}

/* Whether copies may go through the memory that client and server share. */
static bool region_serves(const struct graft_mirror *m) {
  return !m->chunks && graft_session_shares_memory() && !graft_streams_may_be_held();
}

/* Copies through the memory that client and server share, which the session's calls have to carry out: they may be held up by a host function or a value that a stream waits for. False if that cannot be done. */
static bool by_region(const struct graft_mirror *m, size_t at, uint8_t *host, size_t bytes, bool down) {
  enum { SMALL = 32 << 10 }; /* fits into the ring of requests or answers beside others */
  int r = 0;
  if (!region_serves(m)) return false;
  void *stream = graft_mirror_stream();
  if (bytes > SMALL) return graft_stage_mirror(m->device + at, host, bytes, down, stream, &r) && !r;
  if (!down) return !rpc_graftWrite(m->device + at, host, bytes, stream);
  graft_incoming(host, bytes);
  return !rpc_graftRead(m->device + at, bytes, stream);
}

/* Returns whether the copy is under way in a stream, and not done. */
static bool to_device(const struct graft_mirror *m, size_t at, size_t bytes) {
  if (m->shared) {
    memcpy((void *)(uintptr_t)(m->device + at), m->base + at, bytes);
    return false;
  }
  if (by_region(m, at, m->base + at, bytes, false)) return true;
  if (m->allocated && graft_shadow_write(m->device + at, m->base + at, bytes)) return false;
  return !rpc_graftWrite(m->device + at, m->base + at, bytes, graft_mirror_stream());
}

static int from_device(const struct graft_mirror *m, size_t at, uint8_t *to, size_t bytes) {
  if (m->shared) {
    memcpy(to, (void *)(uintptr_t)(m->device + at), bytes);
    return 0;
  }
  if (by_region(m, at, to, bytes, true)) return 0;
  if (m->allocated && graft_shadow_read(m->device + at, to, bytes)) return graft_dead();
  graft_incoming(to, bytes);
  return rpc_graftRead(m->device + at, bytes, graft_mirror_stream());
}

/* The same for the bytes that a mask marks, since work under way may write the bytes beside them. */
static bool merge_to_device(const struct graft_mirror *m, size_t at, size_t words, const uint8_t *now, const uint8_t *mask) {
  if (m->shared) {
    graft_merge((uint8_t *)(uintptr_t)(m->device + at), now, mask, words);
    return false;
  }
  if (m->allocated && graft_shadow_merge(m->device + at, now, mask, words)) return false;
  bool queued = false;
  for (size_t i = 0, end; i < words * GRAFT_WORD; i = end) {
    for (end = i; end < words * GRAFT_WORD && mask[end / 8] & 1u << end % 8; end++) {}
    if (end > i) queued |= !rpc_graftWrite(m->device + at + i, now + i, end - i, graft_mirror_stream());
    if (end == i) end++;
  }
  return queued;
}

/* Sends whole pages that differ, adjacent ones together, as the base has them. Allowed while no work writes there. */
static bool bring_pages(struct graft_mirror *m, size_t at, size_t chunk, const uint8_t *now) {
  bool queued = false;
  for (size_t page = 0, end; page < chunk; page = end + GRAFT_PAGE) {
    for (end = page; end < chunk; end += GRAFT_PAGE) {
      size_t take = chunk - end < GRAFT_PAGE ? chunk - end : GRAFT_PAGE;
      if (!memcmp(now + end, m->base + at + end, take)) break;
      memcpy(m->base + at + end, now + end, take);
    }
    if (end > chunk) end = chunk;
    if (end > page) queued |= to_device(m, at + page, end - page);
  }
  return queued;
}

/* Sends the changed bytes alone. */
static bool bring_bytes(struct graft_mirror *m, size_t at, size_t chunk, const uint8_t *now) {
  uint8_t mask[GRAFT_MIRROR_CHUNK / GRAFT_WORD];
  size_t first = 0, end = graft_merge_mask(now, m->base + at, chunk, mask, &first);
  if (!end) return false;
  memcpy(m->base + at, now, chunk);
  return merge_to_device(m, at + first * GRAFT_WORD, end - first, now + first * GRAFT_WORD, mask + first);
}

/* The bytes of the chunk at an offset, in whole pages, that are to be compared as far as another offset. */
static size_t chunk_of(const struct graft_mirror *m, size_t at, size_t to) {
  size_t end = (to + GRAFT_PAGE - 1) / GRAFT_PAGE * GRAFT_PAGE;
  if (end > m->bytes) end = m->bytes;
  return end - at < GRAFT_MIRROR_CHUNK ? end - at : GRAFT_MIRROR_CHUNK;
}

bool graft_mirror_bring(struct graft_mirror *m, size_t from, size_t to) {
  uint8_t *now = chunk_in(&graft_mirror_list()->ours);
  bool queued = false;
  for (size_t at = from / GRAFT_PAGE * GRAFT_PAGE, chunk; now && at < to; at += chunk) {
    chunk = chunk_of(m, at, to);
    bool is_of_graph = m->use == GRAFT_MIRROR_GRAPH;
    if (!graft_pending_written(&m->pending, at, at + chunk)) {
      if (is_of_graph && !peek(m, at, now, chunk)) break;
      queued |= bring_pages(m, at, chunk, is_of_graph ? now : m->host + at);
    } else if (is_of_graph || memcmp(m->host + at, m->base + at, chunk)) {
      if (!peek(m, at, now, chunk)) break;
      queued |= bring_bytes(m, at, chunk, now);
    }
  }
  return queued;
}

static size_t whole_pages(const struct graft_mirror *m) { return (m->bytes + GRAFT_PAGE - 1) / GRAFT_PAGE * GRAFT_PAGE; }

/* Takes exclusive memory from the program. What differs is copied to the base and marked dirty, so that a thread that needs only the base does not wait until it is sent. */
static void graft_mirror_take(struct graft_mirror *m) {
  struct graft_mirror_list *list = graft_mirror_list();
  bool any = false;
  pthread_mutex_lock(&list->pages);
  for (size_t i = 0; i * GRAFT_MIRROR_CHUNK < m->bytes; i++) any |= m->chunks[i] != GRAFT_CHUNK_AWAY;
  if (any && !m->watched) m->watched = graft_paging_watch(m->host, whole_pages(m));
  uint8_t *taken = any && m->watched ? graft_paging_take(m->host, whole_pages(m)) : NULL;
  if (any && !taken) graft_die("cannot take the pages of managed memory", errno);
  for (size_t at = 0; taken && at < m->bytes; at += GRAFT_PAGE) {
    size_t bytes = m->bytes - at < GRAFT_PAGE ? m->bytes - at : GRAFT_PAGE;
    if (m->chunks[at / GRAFT_MIRROR_CHUNK] == GRAFT_CHUNK_AWAY || !memcmp(taken + at, m->base + at, bytes)) continue;
    memcpy(m->base + at, taken + at, bytes);
    m->dirty[at / GRAFT_PAGE] = true;
  }
  if (taken) memset(m->chunks, GRAFT_CHUNK_AWAY, (m->bytes + GRAFT_MIRROR_CHUNK - 1) / GRAFT_MIRROR_CHUNK);
  pthread_mutex_unlock(&list->pages);
  if (taken) munmap(taken, whole_pages(m));
}

bool graft_mirror_bring_pending(struct graft_mirror *m) {
  bool queued = false;
  for (size_t from, to = 0; graft_pending_next(&m->pending, false, to, &from, &to);) queued |= graft_mirror_bring(m, from, to);
  return queued;
}

bool graft_mirror_bring_exclusive(struct graft_mirror *m) {
  bool queued = false;
  graft_mirror_take(m);
  for (size_t at = 0, end; at < m->bytes; at = end) {
    for (end = at; end < m->bytes && end - at < GRAFT_MIRROR_CHUNK && m->dirty[end / GRAFT_PAGE]; end += GRAFT_PAGE)
      m->dirty[end / GRAFT_PAGE] = false;
    if (end == at) {
      end += GRAFT_PAGE;
    } else {
      queued |= to_device(m, at, (end < m->bytes ? end : m->bytes) - at);
    }
  }
  return queued;
}

/* Takes the bytes that the device has changed; those that the program has changed meanwhile stay as they are. */
static bool take_chunk(struct graft_mirror *m, size_t at, size_t bytes, const uint8_t *theirs, uint8_t *ours) {
  uint8_t *base = m->base + at;
  if (m->use != GRAFT_MIRROR_GRAPH) {
    for (size_t page = 0; page < bytes; page += GRAFT_PAGE) {
      size_t take = bytes - page < GRAFT_PAGE ? bytes - page : GRAFT_PAGE;
      if (memcmp(theirs + page, base + page, take)) graft_merge_take(m->host + at + page, base + page, theirs + page, take);
    }
    return true;
  }
  if (!memcmp(theirs, base, bytes)) return true;
  if (!peek(m, at, ours, bytes)) return false;
  struct runs runs;
  runs.count = 0;
  runs.bytes = 0;
  for (size_t run = 0, length; (length = graft_merge_run(theirs, ours, base, bytes, &run)); run += length) {
    if (!poke(m, at + run, theirs + run, length, &runs)) return false;
  }
  return poke_runs(m, &runs);
}

/* Where what is fetched belongs. */
struct fetch {
  struct graft_mirror *mirror;
  size_t from;
  uint8_t *ours;
  bool right; /* whether the program's memory was still there */
};

static bool take_piece(void *context, size_t at, const uint8_t *data, size_t bytes) {
  struct fetch *fetch = context;
  fetch->right = take_chunk(fetch->mirror, fetch->from + at, bytes, data, fetch->ours);
  return fetch->right;
}

/* Fetches the pages between two offsets. */
static bool fetch_part(struct graft_mirror *m, size_t from, size_t to, uint8_t *theirs, uint8_t *ours) {
  struct fetch fetch = {m, from / GRAFT_PAGE * GRAFT_PAGE, ours, true};
  size_t end = (to + GRAFT_PAGE - 1) / GRAFT_PAGE * GRAFT_PAGE;
  if (end > m->bytes) end = m->bytes;
  bool by_connection = !m->shared && m->allocated && !region_serves(m);
  if (by_connection && graft_shadow_read_each(m->device + fetch.from, end - fetch.from, take_piece, &fetch)) {
    return fetch.right && !graft_dead();
  }
  for (size_t at = fetch.from, bytes; fetch.right && at < end; at += bytes) {
    bytes = chunk_of(m, at, to);
    fetch.right = !from_device(m, at, theirs, bytes) && take_chunk(m, at, bytes, theirs, ours);
  }
  return fetch.right;
}

void graft_mirror_fetch(struct graft_mirror *m) {
  if (!m->chunks && !graft_pending_written(&m->pending, 0, m->bytes)) return;
  struct graft_mirror_list *list = graft_mirror_list();
  uint8_t *theirs = chunk_in(&list->theirs), *ours = chunk_in(&list->ours);
  bool right = theirs && ours;
  for (size_t at = 0; right && m->chunks && at < m->bytes; at += GRAFT_MIRROR_CHUNK) {
    if (m->chunks[at / GRAFT_MIRROR_CHUNK] == GRAFT_CHUNK_EARLY)
      right = fetch_part(m, at, at + chunk_of(m, at, m->bytes), theirs, ours);
  }
  for (size_t from, to = 0; right && !m->chunks && graft_pending_next(&m->pending, true, to, &from, &to);) {
    right = fetch_part(m, from, to, theirs, ours);
  }
}

void graft_mirror_refresh(struct graft_mirror *m, size_t at) {
  struct graft_mirror_list *list = graft_mirror_list();
  uint8_t *theirs = chunk_in(&list->theirs);
  size_t chunk = m->bytes - at < GRAFT_MIRROR_CHUNK ? m->bytes - at : GRAFT_MIRROR_CHUNK;
  if (theirs && !from_device(m, at, theirs, chunk)) {
    pthread_mutex_lock(&list->pages);
    if (m->chunks[at / GRAFT_MIRROR_CHUNK] == GRAFT_CHUNK_AWAY) memcpy(m->base + at, theirs, chunk);
    pthread_mutex_unlock(&list->pages);
  }
}

struct graft_mirror *graft_mirror_exclusive_at(const struct graft_mirror_list *list, uint64_t address) {
  struct graft_mirror *m = list->first;
  while (m && !(m->chunks && address - (uintptr_t)m->host < whole_pages(m))) m = m->next;
  return m;
}

bool graft_mirror_return(struct graft_mirror_list *list, uint64_t address, enum graft_chunk_state how) {
  pthread_mutex_lock(&list->pages);
  struct graft_mirror *m = graft_mirror_exclusive_at(list, address);
  size_t at = m ? (address - (uintptr_t)m->host) / GRAFT_MIRROR_CHUNK * GRAFT_MIRROR_CHUNK : 0;
  if (m && m->chunks[at / GRAFT_MIRROR_CHUNK] == GRAFT_CHUNK_AWAY) {
    size_t rest = whole_pages(m) - at;
    graft_paging_put(m->host + at, m->base + at, rest < GRAFT_MIRROR_CHUNK ? rest : GRAFT_MIRROR_CHUNK);
    m->chunks[at / GRAFT_MIRROR_CHUNK] = (uint8_t)how;
  } else if (m) { /* not taken; but the program may have dropped the page itself */
    at = (address - (uintptr_t)m->host) / GRAFT_PAGE * GRAFT_PAGE;
    graft_paging_put(m->host + at, m->base + at, GRAFT_PAGE);
  }
  pthread_mutex_unlock(&list->pages);
  return m;
}
