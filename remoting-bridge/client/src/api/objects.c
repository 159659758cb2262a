/* Objects behind the handles that the program holds; each kind of a session's objects is numbered on its own. */
#include "api/objects.h"

#include <stdlib.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "module/counterparts.h"
#include "session/parts.h"
#include "session/session.h"

#define SERVER_IDS 0x80000000u

/* Memory of objects is used for objects alone and never given back, so that the handle of one that is gone can be looked at. The one that
 * has been free for the longest is taken. */
static struct {
  pthread_mutex_t lock;
  struct graft_object *first, *last;
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep(struct graft_object *object) {
  if (object->magic) object->magic = GRAFT_OBJECT_GONE;
  object->next = NULL;
  pthread_mutex_lock(&spare.lock);
  *(spare.first ? &spare.last->next : &spare.first) = object;
  spare.last = object;
  pthread_mutex_unlock(&spare.lock);
}

static struct graft_object *take(void) {
  enum { AT_ONCE = 64 };
  pthread_mutex_lock(&spare.lock);
  struct graft_object *object = spare.first;
  if (object) spare.first = object->next;
  pthread_mutex_unlock(&spare.lock);
  if (object) {
    memset(object, 0, sizeof *object);
  } else if ((object = calloc(AT_ONCE, sizeof *object))) {
    for (int i = 1; i < AT_ONCE; i++) keep(&object[i]);
  }
  return object;
}

void graft_objects_init(struct graft_objects *objects) {
  for (int i = 0; i < GRAFT_KINDS; i++) pthread_mutex_init(&objects->kinds[i].lock, NULL);
}

static struct graft_ids *ids_of(struct graft_session *session, int kind) { return &graft_parts(session)->objects.kinds[kind]; }

/* Answers never name a stream or an event, and programs make and destroy many, so these are not entered. */
static bool is_named(int kind) { return kind != GRAFT_STREAM && kind != GRAFT_EVENT; }

static struct graft_object **bucket(const struct graft_ids *ids, uint32_t id) {
  return &ids->buckets[id & (ids->bucket_count - 1)];
}

/* The next three are called with the lock of the ids held. */
static bool enter(struct graft_ids *ids, struct graft_object *object) {
  if (ids->count >= ids->bucket_count) {
    uint32_t before = ids->bucket_count, now = before ? 2 * before : 64;
    struct graft_object **old = ids->buckets, **grown = calloc(now, sizeof *grown);
    if (!grown) return false;
    ids->buckets = grown;
    ids->bucket_count = now;
    for (uint32_t i = 0; i < before; i++) {
      for (struct graft_object *o = old[i], *next; o; o = next) {
        next = o->same;
        o->same = *bucket(ids, o->id);
        *bucket(ids, o->id) = o;
      }
    }
    free(old);
  }
  object->same = *bucket(ids, object->id);
  *bucket(ids, object->id) = object;
  ids->count++;
  return true;
}

static struct graft_object *named(const struct graft_ids *ids, uint32_t id) {
  struct graft_object *object = ids->count ? *bucket(ids, id) : NULL;
  while (object && object->id != id) object = object->same;
  return object;
}

static void forget(struct graft_ids *ids, struct graft_object *object) {
  if (!ids->count) return;
  for (struct graft_object **p = bucket(ids, object->id); *p; p = &(*p)->same) {
    if (*p == object) {
      *p = object->same;
      ids->count--;
      return;
    }
  }
}

static struct graft_object *make(struct graft_session *session, int kind, uint32_t id) {
  struct graft_object *object = take();
  if (!object) return NULL;
  object->magic = GRAFT_OBJECT_MAGIC;
  object->kind = (uint16_t)kind;
  object->id = id;
  object->session = session;
  if (kind == GRAFT_FUNCTION) {
    pthread_mutex_init(&object->u.function.lock, NULL);
  } else if (kind == GRAFT_LIBRARY || kind == GRAFT_MODULE) {
    pthread_mutex_init(&object->u.library.lock, NULL);
  }
  return object;
}

struct graft_object *graft_object_new(struct graft_session *session, int kind) {
  if (!session) session = graft_session_current();
  struct graft_ids *ids = ids_of(session, kind);
  pthread_mutex_lock(&ids->lock);
  uint32_t id = ids->recycled_count ? ids->recycled[--ids->recycled_count] : ++ids->last;
  struct graft_object *object = make(session, kind, id);
  if (object && is_named(kind) && !enter(ids, object)) {
    keep(object);
    object = NULL;
  }
  pthread_mutex_unlock(&ids->lock);
  return object;
}

struct graft_object *graft_object_shell(struct graft_session *session, int kind) {
  return make(session, kind, 0);
}

void *graft_object_adopt(struct graft_session *session, int kind, uint64_t id) {
  if (!id) return NULL;
  if (id >> 32) return NULL;
  struct graft_ids *ids = ids_of(session, kind);
  pthread_mutex_lock(&ids->lock);
  struct graft_object *object = named(ids, (uint32_t)id);
  if (!object && (object = make(session, kind, (uint32_t)id)) && !enter(ids, object)) {
    keep(object);
    object = NULL;
  }
  pthread_mutex_unlock(&ids->lock);
  return object;
}

uint64_t graft_object_id(const struct graft_object *object) { return object->id; }

/* Called with the lock of the ids held. */
static void recycle(struct graft_ids *ids, uint32_t id) {
  if (ids->recycled_count == ids->recycled_room) {
    uint32_t room = ids->recycled_room ? 2 * ids->recycled_room : 64;
    uint32_t *grown = realloc(ids->recycled, room * sizeof *grown);
    if (!grown) return;
    ids->recycled = grown;
    ids->recycled_room = room;
  }
  ids->recycled[ids->recycled_count++] = id;
}

void graft_object_free(int kind, void *handle) {
  struct graft_object *object = graft_object(kind, handle);
  if (!object) return;
  if (kind == GRAFT_STREAM) {
    graft_capture_forget(handle);
    graft_mirrors_forget_stream(object->session, object->id);
    free(object->u.stream.behind);
  } else if (kind == GRAFT_EVENT) {
    free(object->u.event.behind);
  }
  object->magic = GRAFT_OBJECT_GONE;
  struct graft_ids *ids = ids_of(object->session, kind);
  pthread_mutex_lock(&ids->lock);
  if (is_named(kind)) forget(ids, object);
  /* The server keeps functions until the session ends and nodes until their graph ends, so their ids are not reused. */
  if (!(object->id & SERVER_IDS) && object->id && kind != GRAFT_FUNCTION && kind != GRAFT_NODE) recycle(ids, object->id);
  pthread_mutex_unlock(&ids->lock);
  if (kind == GRAFT_FUNCTION) {
    graft_counterparts_forget(object->u.function.counterparts);
    free(object->u.function.layout);
    free(object->u.function.name);
  } else if (kind == GRAFT_NODE) {
    free(object->u.node.parameters);
  }
  /* A thread may have a context that is gone as its current one, and streams, modules and memory name it. */
  if (kind != GRAFT_CONTEXT || !object->u.context.destroyed) keep(object);
}

/* ---- Handles among a call's parameters ---- */

/* What the driver returns for a handle that is none (driver 580). */
static int invalid(int kind) {
  switch (kind) {
    case GRAFT_CONTEXT:
    case GRAFT_TEXREF:
    case GRAFT_SURFREF: return GRAFT_INVALID_CONTEXT;
    case GRAFT_GRAPH:
    case GRAFT_NODE:
    case GRAFT_EXEC:
    case GRAFT_POOL:
    case GRAFT_ARRAY:
    case GRAFT_MIPMAP:
    case GRAFT_USEROBJECT: return GRAFT_INVALID_VALUE;
    default: return GRAFT_INVALID_HANDLE;
  }
}

/* The id of a handle and its session; NULL belongs to none. */
static int find(int kind, const void *handle, uint64_t *id, struct graft_session **session) {
  const struct graft_object *object = graft_object(kind, handle);
  if (object) {
    struct graft_object *stream;
    int r = kind == GRAFT_STREAM ? graft_stream_object(handle, &stream) : GRAFT_OK;
    if (r) return r;
    if (kind == GRAFT_EVENT && graft_event_has_ended(object)) return GRAFT_CONTEXT_IS_DESTROYED;
    *id = object->id;
    *session = object->session;
    return 0;
  }
  *session = NULL;
  if (kind == GRAFT_STREAM) return graft_stream_id(handle, id, session);
  *id = 0;
  if ((kind == GRAFT_CONTEXT || kind == GRAFT_EVENT) && graft_object_is_gone(kind, handle)) return GRAFT_CONTEXT_IS_DESTROYED;
  return handle ? invalid(kind) : 0;
}

int graft_id(const struct graft_session *session, int kind, const void *handle, uint64_t *id) {
  struct graft_session *owner;
  int r = find(kind, handle, id, &owner);
  return r || !owner || owner == session ? r : invalid(kind);
}

/* Libraries and their kernels belong to no context: a call uses those of its session, or else of the current one. */
static const void *here(const struct graft_session *session, int kind, const void *handle) {
  if (!graft_several_servers || (kind != GRAFT_FUNCTION && kind != GRAFT_LIBRARY)) return handle;
  struct graft_object *object = graft_object(kind, handle);
  return object ? graft_counterpart(object, session ? session : graft_session_current()) : handle;
}

int graft_call_handle(struct graft_call *call, int kind, const void *handle, uint64_t *id) {
  struct graft_session *owner;
  int r = find(kind, here(call->session, kind, handle), id, &owner);
  if (kind == GRAFT_STREAM) call->stream = r || *id ? GRAFT_OTHER_STREAM : GRAFT_LEGACY_STREAM;
  if (r || !owner || owner == call->session) return r;
  if (call->session) return invalid(kind);
  call->session = owner;
  return 0;
}

void graft_put_handles(struct graft_call *call, int kind, void *const *handles, size_t count) {
  graft_put(call, 8 * count);
  for (size_t i = 0; i < count; i++) {
    uint64_t id;
    graft_put(call, graft_id(call->session, kind, handles[i], &id) ? 0x7fffffff : id);
  }
}
