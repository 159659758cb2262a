/* When mirrors are brought and fetched: before work is sent, and after the program has waited. */
#include "memory/mirror.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "graft_rpc.h"
#include "memory/mirror_state.h"
#include "memory/paging.h"
#include "session/session.h"

bool graft_mirrors;
struct graft_mirror_list graft_mirror_list = {.lock = PTHREAD_MUTEX_INITIALIZER, .pages = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local uint64_t looked; /* the number of waits when the calling thread's work was last given what was written */
static uint64_t works;                /* how many units of work have been announced that use mirrored memory */
static uint64_t sent;                 /* all up to this number are sent, as far as anybody has looked */
static uint64_t over;                 /* all up to this number are over */
static int leaving;                   /* calls that are announced and not sent yet */
static _Thread_local bool inside;
/* What the calling thread has announced and not sent; what was sent when it began to wait. */
static _Thread_local bool announced;
static _Thread_local uint64_t sent_before;

/* Where work was sent since exclusive memory was there last. */
#define CONTEXTS 64
static struct graft_object *contexts[CONTEXTS];

/* The client itself must not wait for work while others wait for it: it is given what was there last. A host function's
 * memory was refreshed before it began. */
static bool at_once(uint64_t address, pid_t thread) {
  bool ours = graft_thread_is_ours(thread);
  if (ours) graft_mirror_return(address, GRAFT_CHUNK_EARLY);
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
  pthread_mutex_lock(&graft_mirror_list.lock);
  struct graft_mirror *m = graft_mirror_exclusive_at(address);
  if (m) {
    finish_work();
    graft_mirror_refresh(m, (address - (uintptr_t)m->host) / GRAFT_MIRROR_CHUNK * GRAFT_MIRROR_CHUNK);
  }
  graft_mirror_return(address, GRAFT_CHUNK_HERE);
  pthread_mutex_unlock(&graft_mirror_list.lock);
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
static void mark(struct graft_mirror *m, size_t from, size_t to, uint64_t stream_id) {
  struct graft_object *context = graft_context_current();
  if (!graft_mirror_may_be_written(m)) {
    m->written = from;
    m->written_end = to;
  }
  if (from < m->written) m->written = from;
  if (to > m->written_end) m->written_end = to;
  m->stream = !m->work || m->stream == stream_id ? stream_id : GRAFT_ANY_STREAM;
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
  pthread_mutex_lock(&graft_mirror_list.lock);
  announce();
  for (struct graft_mirror *m = graft_mirror_list.first; m; m = m->next) {
    if (m->chunks) {
      queued |= graft_mirror_bring_exclusive(m);
    } else if (m->use == GRAFT_MIRROR_MAPPED || (m->use == GRAFT_MIRROR_GRAPH ? graph : looked != graft_mirror_list.waits)) {
      queued |= graft_mirror_bring(m, 0, m->bytes);
    }
    if (writes && (m->use != GRAFT_MIRROR_GRAPH || graph)) mark(m, 0, m->bytes, GRAFT_ANY_STREAM);
  }
  looked = graft_mirror_list.waits;
  pthread_mutex_unlock(&graft_mirror_list.lock);
  if (queued) cuStreamSynchronize(graft_mirror_stream());
  inside = false;
}

void graft_mirror_announce(uint64_t device, size_t bytes, bool writes, void *handle) {
  bool queued = false;
  uint64_t id;
  if (graft_stream_id(handle, &id)) id = GRAFT_ANY_STREAM;
  inside = true;
  pthread_mutex_lock(&graft_mirror_list.lock);
  struct graft_mirror *m = graft_mirror_list.first;
  while (m && (device < m->device || device - m->device >= m->bytes)) m = m->next;
  if (m) {
    size_t at = device - m->device;
    if (bytes > m->bytes - at) bytes = m->bytes - at; /* the server refuses the rest */
    announce();
    queued = m->chunks ? graft_mirror_bring_exclusive(m) : graft_mirror_bring(m, at, at + bytes);
    if (writes) mark(m, at, at + bytes, id);
  }
  pthread_mutex_unlock(&graft_mirror_list.lock);
  if (queued) cuStreamSynchronize(graft_mirror_stream());
  inside = false;
}

/* What the program has written since it sent the work that it waits for now: a kernel may wait for it. And what was sent by now:
 * that is over when the wait is. */
static void begin_wait(void) {
  bool queued = false;
  inside = true;
  pthread_mutex_lock(&graft_mirror_list.lock);
  if (!__atomic_load_n(&leaving, __ATOMIC_ACQUIRE)) sent = works;
  sent_before = sent;
  for (struct graft_mirror *m = graft_mirror_list.first; m; m = m->next) {
    if (m->use == GRAFT_MIRROR_MAPPED) queued |= graft_mirror_bring(m, 0, m->bytes);
  }
  pthread_mutex_unlock(&graft_mirror_list.lock);
  if (queued) cuStreamSynchronize(graft_mirror_stream());
  inside = false;
}

/* What is over when a wait is: what was sent before to one stream, or to the whole context; or nothing that is known. */
enum covers { NOTHING, ONE_STREAM, WHOLE_CONTEXT };

static void fetch_all(bool exclusive, enum covers covers, uint64_t stream_id) {
  struct graft_object *context = graft_context_current();
  inside = true;
  pthread_mutex_lock(&graft_mirror_list.lock);
  for (struct graft_mirror *m = graft_mirror_list.first; m; m = m->next) {
    graft_mirror_fetch(m);
    for (size_t at = 0; exclusive && m->chunks && at < m->bytes; at += GRAFT_MIRROR_CHUNK) graft_mirror_refresh(m, at);
    bool covered = covers != NOTHING && m->work <= sent_before &&
                   (!m->work || (m->context == context && (covers == WHOLE_CONTEXT || m->stream == stream_id)));
    if (covered) m->work = m->written = m->written_end = 0;
  }
  graft_mirror_list.waits++;
  pthread_mutex_unlock(&graft_mirror_list.lock);
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
    case FN_cuEventQuery: return true;
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

bool graft_mirror_exclusive(void) { return graft_paging_start(at_once, touched); }
