#include "memory/ordering.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/streams.h"
#include "memory/mirror.h"
#include "memory/mirror_state.h"
#include "session/parts.h"
#include "session/session.h"

static bool lost; /* atomic */

void graft_ordering_is_lost(void) { __atomic_store_n(&lost, true, __ATOMIC_RELEASE); }

void graft_ordering_begin(struct graft_ordering *ordering, void *event) {
  struct graft_object *object = graft_mirrors ? graft_object(GRAFT_EVENT, event) : NULL;
  *ordering = (struct graft_ordering){.list = object ? &graft_parts(object->session)->mirrors : NULL, .event = object};
  if (!ordering->list) return;
  pthread_mutex_lock(&ordering->list->order);
  ordering->is_known = graft_captures_none(&ordering->captures);
  ordering->work = graft_mirrors_work(ordering->list);
}

/* Whether the call has had its effect at once, and is known to be the event's last one. */
static bool is_known(const struct graft_ordering *ordering, int result) {
  uint64_t captures;
  graft_captures_none(&captures);
  return !result && ordering->is_known && captures == ordering->captures && !ordering->event->u.event.shared &&
         !__atomic_load_n(&lost, __ATOMIC_ACQUIRE);
}

/* The work of the stream itself. False if it is none of the list's session. */
static bool own(void *stream, const struct graft_mirror_list *list, uint64_t work, struct graft_over *over) {
  struct graft_object *object;
  struct graft_session *session;
  if (graft_stream_find(stream, &object) || graft_stream_id(stream, &over->stream, &session)) return false;
  over->context = object ? object->u.stream.context : graft_context_current();
  over->work = work;
  return over->context && &graft_parts(session)->mirrors == list;
}

/* The other work that its waits for events have put before it; NULL if there is none. */
static struct graft_behind *behind_of(void *stream) {
  struct graft_object *object = graft_object(GRAFT_STREAM, stream);
  return object ? object->u.stream.behind : NULL;
}

void graft_ordering_recorded(struct graft_ordering *ordering, void *stream, int result) {
  if (!ordering->list) return;
  struct graft_over over;
  struct graft_behind now = {0};
  if (is_known(ordering, result) && own(stream, ordering->list, ordering->work, &over)) {
    if (behind_of(stream)) now = *behind_of(stream);
    graft_behind_add(&now, over);
  }
  struct graft_behind **behind = &ordering->event->u.event.behind;
  if (now.count && !*behind) *behind = malloc(sizeof **behind);
  if (*behind) **behind = now;
  static uint64_t last;
  ordering->event->u.event.record = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&ordering->list->order);
}

void graft_ordering_awaits(struct graft_ordering *ordering, void *stream, int result) {
  if (!ordering->list) return;
  struct graft_object *waiting = graft_object(GRAFT_STREAM, stream);
  const struct graft_behind *more = ordering->event->u.event.behind;
  if (waiting && more && waiting->session == ordering->event->session && is_known(ordering, result)) {
    struct graft_behind **behind = &waiting->u.stream.behind;
    if (!*behind) *behind = calloc(1, sizeof **behind);
    for (unsigned i = 0; *behind && i < more->count; i++) graft_behind_add(*behind, more->over[i]);
  }
  pthread_mutex_unlock(&ordering->list->order);
}

/* Locks the order of the calls with an event. NULL if that is no event. */
static struct graft_object *lock_event(void *event) {
  struct graft_object *object = graft_object(GRAFT_EVENT, event);
  if (object) pthread_mutex_lock(&graft_parts(object->session)->mirrors.order);
  return object;
}

static void unlock_event(const struct graft_object *object) { pthread_mutex_unlock(&graft_parts(object->session)->mirrors.order); }

void graft_ordering_wait_begin(struct graft_ordering_wait *wait, void *event) {
  *wait = (struct graft_ordering_wait){.event = event};
  const struct graft_object *object = graft_mirrors ? lock_event(event) : NULL;
  if (!object) return;
  wait->record = object->u.event.record;
  unlock_event(object);
}

void graft_ordering_wait_end(const struct graft_ordering_wait *wait, struct graft_behind *over) {
  *over = (struct graft_behind){0};
  /* Another thread may have destroyed the event meanwhile. */
  const struct graft_object *object = wait->record ? lock_event(wait->event) : NULL;
  if (!object) return;
  bool is_same = object->u.event.record == wait->record && !object->u.event.shared && !__atomic_load_n(&lost, __ATOMIC_ACQUIRE);
  if (is_same && object->u.event.behind) *over = *object->u.event.behind;
  unlock_event(object);
}

void graft_ordering_behind(void *stream, struct graft_behind *behind) {
  struct graft_mirror_list *list = graft_mirror_list();
  struct graft_over over;
  uint64_t captures;
  *behind = (struct graft_behind){0};
  pthread_mutex_lock(&list->order);
  if (graft_captures_none(&captures) && own(stream, list, graft_mirrors_work(list), &over)) {
    if (behind_of(stream)) *behind = *behind_of(stream);
    graft_behind_add(behind, over);
  }
  pthread_mutex_unlock(&list->order);
}
