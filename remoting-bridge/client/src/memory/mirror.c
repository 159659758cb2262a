/* When mirrors are brought up to date: to the device before work is sent, from the device after the program has waited. */
#include "memory/mirror.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "graft_rpc.h"
#include "memory/mirror_state.h"
#include "memory/ordering.h"
#include "memory/pageable.h"
#include "memory/paging.h"
#include "memory/place.h"
#include "memory/shadow.h"
#include "session/parts.h"
#include "session/session.h"

bool graft_mirrors;

/* The number of the last wait when the calling thread last brought managed memory. */
static _Thread_local uint64_t looked;
static _Thread_local bool inside;
/* The stream of the kernel that the calling thread launches next, or GRAFT_ANY_STREAM. */
static _Thread_local uint64_t launching = GRAFT_ANY_STREAM;
/* What the graph names that the calling thread launches next. */
static _Thread_local const struct graft_pageable *launching_parts;
/* The list in which the calling thread has announced work that it has not sent; the work that was sent when it began to wait. */
static _Thread_local struct graft_mirror_list *announced;
static _Thread_local uint64_t sent_before;
/* What else is over when the calling thread's next wait has ended. */
static _Thread_local const struct graft_behind *waited_behind;
static _Thread_local const struct graft_ordering_wait *waited_event;

struct graft_mirror_list *graft_mirror_list(void) {
  return &graft_parts(graft_session_current())->mirrors;
}

void graft_mirror_count_wait(struct graft_mirror_list *list) {
  static uint64_t last;
  list->waits = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* A thread of the client must not wait for work, since others wait for that thread: it gets the page as it was last. The memory was refreshed before a host function began. */
static bool at_once(uint64_t address, pid_t thread) {
  if (!graft_thread_is_ours(thread)) return false;
  bool given = false;
  for (struct graft_session *s = graft_session_next(NULL); s && !given; s = graft_session_next(s)) {
    given = graft_mirror_return(&graft_parts(s)->mirrors, address, GRAFT_CHUNK_EARLY);
  }
  if (!given) graft_paging_wake(address);
  return true;
}

/* ---- Work is announced before it is sent, so that memory is brought for it, and fetched when it is over ---- */

/* Called with the lock held. Announced work must be sent before it can be waited for. */
static void finish_work(struct graft_mirror_list *list) {
  while (__atomic_load_n(&list->leaving, __ATOMIC_ACQUIRE)) sched_yield();
  graft_mirrors_work(list);
  if (list->over == list->works) return;
  for (int i = 0; i < GRAFT_MIRROR_CONTEXTS && list->contexts[i]; i++) {
    if (!graft_context_set(list->contexts[i])) rpc_graftContextDrain();
    list->contexts[i] = NULL;
  }
  list->over = list->works;
}

/* Waits for all work and gives the program the chunk that it has touched. False if the chunk does not belong to the session. */
static bool give_current(struct graft_session *session, uint64_t address) {
  struct graft_mirror_list *list = &graft_parts(session)->mirrors;
  graft_session_use(session);
  pthread_mutex_lock(&list->lock);
  struct graft_mirror *m = graft_mirror_exclusive_at(list, address);
  if (m) {
    finish_work(list);
    graft_mirror_refresh(m, (address - (uintptr_t)m->host) / GRAFT_MIRROR_CHUNK * GRAFT_MIRROR_CHUNK);
  }
  bool given = graft_mirror_return(list, address, GRAFT_CHUNK_HERE);
  pthread_mutex_unlock(&list->lock);
  return given;
}

static void touched(uint64_t address) {
  bool given = false;
  inside = true;
  for (struct graft_session *s = graft_session_next(NULL); s && !given; s = graft_session_next(s)) given = give_current(s, address);
  if (!given) graft_paging_wake(address);
}

/* Called with the lock held. */
static void remember_context(struct graft_mirror_list *list) {
  struct graft_object *context = graft_context_current();
  for (int i = 0; i < GRAFT_MIRROR_CONTEXTS; i++) {
    if (!list->contexts[i]) list->contexts[i] = context;
    if (list->contexts[i] == context) return;
  }
}

/* Called with the lock held. */
static void announce(struct graft_mirror_list *list, bool is_sent_next) {
  /* In this order, which graft_mirrors_work relies on. */
  if (is_sent_next && !announced) { /* else it is the second operand of one copy */
    __atomic_add_fetch(&list->leaving, 1, __ATOMIC_SEQ_CST);
    announced = list;
  }
  __atomic_add_fetch(&list->works, 1, __ATOMIC_SEQ_CST);
  remember_context(list);
}

/* Called with the lock held, after announce. */
static void mark(const struct graft_mirror_list *list, struct graft_mirror *m, size_t from, size_t to, bool writes,
                 uint64_t stream) {
  graft_pending_add(
      &m->pending,
      (struct graft_pending_part){
          .from = from, .to = to, .is_written = writes, .work = list->works, .stream = stream, .context = graft_context_current()});
}

void graft_mirrors_sent(void) {
  if (!announced) return;
  __atomic_sub_fetch(&announced->leaving, 1, __ATOMIC_ACQ_REL);
  announced = NULL;
}

void graft_mirrors_launching(void *handle) {
  struct graft_session *session;
  if (graft_stream_id(handle, &launching, &session)) launching = GRAFT_ANY_STREAM;
}

void graft_mirrors_launching_graph(const struct graft_pageable *parts) { launching_parts = parts; }

struct graft_object *graft_mirrors_behind(const struct graft_pageable *parts) {
  struct graft_mirror_list *list = graft_mirror_list();
  struct graft_object *context = NULL;
  pthread_mutex_lock(&list->lock);
  for (const struct graft_pageable *p = parts; p && !context; p = p->next) {
    for (const struct graft_mirror *m = list->first; m && !context; m = m->next) {
      bool is_other = p->device - m->device >= m->bytes, overlaps = m->host < p->host + p->bytes && p->host < m->host + m->bytes;
      if (!is_other || !overlaps) continue;
      size_t from = p->host > m->host ? (size_t)(p->host - m->host) : 0;
      const struct graft_pending_part *written = graft_pending_written(&m->pending, from, (size_t)(p->host + p->bytes - m->host));
      if (written) context = written->context ? written->context : graft_context_current();
    }
  }
  pthread_mutex_unlock(&list->lock);
  return context;
}

/* Called with the lock held. */
static struct graft_mirror *mirror_at(const struct graft_mirror_list *list, uint64_t device) {
  struct graft_mirror *m = list->first;
  while (m && device - m->device >= m->bytes) m = m->next;
  return m;
}

/*
 * Waits until the device's side has what was brought, by this thread and by others: both sides are equal to a thread that compares after another one has sent.
 * What goes by the connection for shadow mappings is there before the lock is released. A thread that runs host functions waits for its own copies alone, since
 * what the others wait for may be behind the host function.
 */
static void end_bringing(struct graft_mirror_list *list, bool queued, bool waits_for_others) {
  uint64_t brought = list->brought;
  graft_shadow_finish();
  if (queued) {
    list->bringing++;
    pthread_mutex_unlock(&list->lock);
    graft_stream_wait(graft_mirror_stream());
    pthread_mutex_lock(&list->lock);
    if (!--list->bringing) {
      list->brought++;
      pthread_cond_broadcast(&list->is_brought);
    }
  }
  while (waits_for_others && list->bringing && list->brought == brought) pthread_cond_wait(&list->is_brought, &list->lock);
  pthread_mutex_unlock(&list->lock);
  inside = false;
}

/* Brings the pageable memory that the graph to be launched names. Called with the lock held. */
static bool bring_parts(const struct graft_mirror_list *list) {
  bool queued = false;
  for (const struct graft_pageable *p = launching_parts; p; p = p->next) {
    struct graft_mirror *m = mirror_at(list, p->device);
    if (!m || m->use != GRAFT_MIRROR_GRAPH) continue;
    size_t at = p->device - m->device;
    queued |= graft_mirror_bring(m, at, at + p->bytes);
    mark(list, m, at, at + p->bytes, p->is_written, launching);
  }
  launching_parts = NULL;
  return queued;
}

/* Brings what may be used by kernels, if one is to be launched: all memory that the device can see, but for pageable memory, which only the graphs use that name it. Else what queued work may use. */
static void bring_all(bool launches) {
  struct graft_mirror_list *list = graft_mirror_list();
  inside = true;
  pthread_mutex_lock(&list->lock);
  announce(list, launches);
  bool queued = bring_parts(list);
  for (struct graft_mirror *m = list->first; m; m = m->next) {
    bool is_managed = m->use == GRAFT_MIRROR_MANAGED, is_whole = launches && m->use == GRAFT_MIRROR_MAPPED;
    if (m->chunks) {
      queued |= graft_mirror_bring_exclusive(m);
    } else if (is_whole || (is_managed && looked != list->waits)) {
      queued |= graft_mirror_bring(m, 0, m->bytes);
    } else if (!is_managed && !launches) {
      queued |= graft_mirror_bring_pending(m);
    }
    if (launches && m->use != GRAFT_MIRROR_GRAPH) mark(list, m, 0, m->bytes, true, launching);
  }
  launching = GRAFT_ANY_STREAM;
  looked = list->waits;
  end_bringing(list, queued, launches);
}

void graft_mirror_announce(uint64_t device, size_t bytes, bool writes, void *handle) {
  bool queued = false;
  struct graft_mirror_list *list = graft_mirror_list();
  struct graft_session *session;
  uint64_t id;
  if (graft_stream_id(handle, &id, &session)) id = GRAFT_ANY_STREAM;
  inside = true;
  pthread_mutex_lock(&list->lock);
  struct graft_mirror *m = mirror_at(list, device);
  if (m) {
    size_t at = device - m->device;
    if (bytes > m->bytes - at) bytes = m->bytes - at; /* the server refuses the rest */
    announce(list, true);
    queued = m->chunks ? graft_mirror_bring_exclusive(m) : graft_mirror_bring(m, at, at + bytes);
    mark(list, m, at, at + bytes, writes, id);
  }
  end_bringing(list, queued, true);
}

/* While none is leaving, all work that has a number is sent. */
uint64_t graft_mirrors_work(struct graft_mirror_list *list) {
  uint64_t works = __atomic_load_n(&list->works, __ATOMIC_SEQ_CST), sent = __atomic_load_n(&list->sent, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&list->leaving, __ATOMIC_SEQ_CST)) return sent;
  while (sent < works && !__atomic_compare_exchange_n(&list->sent, &sent, works, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
  return works;
}

void graft_mirrors_waiting(const struct graft_behind *behind) { waited_behind = behind; }

void graft_mirrors_waiting_for(const struct graft_ordering_wait *event) { waited_event = event; }

void graft_mirrors_forget_stream(struct graft_session *session, uint64_t id) {
  if (!graft_mirrors) return;
  struct graft_mirror_list *list = &graft_parts(session)->mirrors;
  pthread_mutex_lock(&list->lock);
  for (struct graft_mirror *m = list->first; m; m = m->next) graft_pending_rename(&m->pending, id);
  pthread_mutex_unlock(&list->lock);
}

/* Brings what the program has written since it sent the work that it waits for now, where queued work may use it, since a kernel or a stream may poll it. Remembers what was sent by now, which is over when the wait is. */
static void begin_wait(void) {
  struct graft_mirror_list *list = graft_mirror_list();
  bool queued = false;
  inside = true;
  pthread_mutex_lock(&list->lock);
  sent_before = graft_mirrors_work(list);
  for (struct graft_mirror *m = list->first; m; m = m->next) {
    if (m->chunks) continue; /* whoever touched it with the lock held would wait for a thread that needs the lock */
    if (m->use == GRAFT_MIRROR_MAPPED) queued |= graft_mirror_bring_pending(m);
  }
  end_bringing(list, queued, true);
}

bool graft_mirror_is_settled(uint64_t device, size_t bytes) {
  struct graft_mirror_list *list = graft_mirror_list();
  pthread_mutex_lock(&list->lock);
  const struct graft_mirror *m = mirror_at(list, device);
  size_t at = m ? device - m->device : 0;
  bool settled = m && !m->chunks && bytes <= m->bytes - at && !graft_pending_written(&m->pending, at, at + bytes);
  pthread_mutex_unlock(&list->lock);
  return settled;
}

/* Fetches what work may have written, and forgets what is over. */
static void fetch_all(bool exclusive, const struct graft_behind *behind) {
  struct graft_mirror_list *list = graft_mirror_list();
  inside = true;
  pthread_mutex_lock(&list->lock);
  for (struct graft_mirror *m = list->first; m; m = m->next) {
    graft_mirror_fetch(m);
    for (size_t at = 0; exclusive && m->chunks && at < m->bytes; at += GRAFT_MIRROR_CHUNK) graft_mirror_refresh(m, at);
    for (unsigned i = 0; i < behind->count; i++) graft_pending_end(&m->pending, &behind->over[i]);
  }
  graft_mirror_count_wait(list);
  pthread_mutex_unlock(&list->lock);
  inside = false;
}

/* Exclusive memory is fetched when the program touches it. */
void graft_mirrors_fetch(void) { fetch_all(false, &(struct graft_behind){0}); }

void graft_mirrors_before_host_function(const struct graft_behind *behind) { fetch_all(true, behind); }

/* The work behind the host function was sent before; nothing is sent now that an event or a wait must not overlook. */
void graft_mirrors_after_host_function(void) { bring_all(false); }

/* Whether a function waits for work, or asks whether it is done. */
static bool is_wait(int function) {
  switch (function) {
    case FN_cuStreamSynchronize:
    case FN_cuEventSynchronize:
    case FN_graftContextSynchronize:
    case FN_graftContextDrain:
    case FN_cuStreamQuery:
    case FN_cuEventQuery: return true;
    default: return false;
  }
}

static void before(int function) {
  unsigned traits = graft_function_traits[function];
  /* Copies, fills and values that streams write or wait for announce what they use; kernels and graphs may use any memory. */
  if (traits & GRAFT_LAUNCHES) {
    bring_all(true);
  } else if (is_wait(function)) {
    begin_wait();
  }
}

static void after(int function, uint64_t first) {
  struct graft_behind behind = waited_behind ? *waited_behind : (struct graft_behind){0};
  struct graft_over over = {.context = graft_context_current(), .stream = first, .work = sent_before};
  switch (function) {
    case FN_cuStreamSynchronize:
    case FN_cuStreamQuery:
      graft_behind_add(&behind, over);
      fetch_all(false, &behind);
      break;
    case FN_graftContextSynchronize:
    case FN_graftContextDrain:
      over.stream = GRAFT_ANY_STREAM;
      fetch_all(false, &(struct graft_behind){1, {over}});
      break;
    case FN_cuEventSynchronize:
    case FN_cuEventQuery:
      if (waited_event) graft_ordering_wait_end(waited_event, &behind);
      fetch_all(false, &behind);
      break;
    case FN_graftRead:
    case FN_graftCopy3DRead: graft_mirrors_fetch(); break;
    default: break;
  }
}

/* Whether a call concerns mirrors. A call to another session than the thread's does, without regard to the current context. */
static bool has_mirrors(const struct graft_session *session) {
  return !inside && (session != graft_session_current() || graft_context_current());
}

bool graft_mirrors_before(struct graft_session *session, int function) {
  if (function == FN_cuCtxRecordEvent) graft_ordering_is_lost();
  if (!has_mirrors(session)) return false;
  struct graft_session *was = graft_session_use(session);
  before(function);
  graft_session_use(was);
  return announced;
}

void graft_mirrors_after(struct graft_session *session, int function, uint64_t first) {
  if (!has_mirrors(session)) return;
  struct graft_session *was = graft_session_use(session);
  after(function, first);
  graft_session_use(was);
}

bool graft_mirror_exclusive(void) { return graft_paging_start(at_once, touched); }
