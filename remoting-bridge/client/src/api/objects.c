/* Objects behind the handles that the program holds; each kind numbers its own. */
#include "api/objects.h"

#include <stdlib.h>

#include "api/contexts.h"
#include "api/rpc.h"
#include "graft_rpc.h"

#define MAGIC 0x54465247u
#define SERVER_IDS 0x80000000u

static struct {
  pthread_mutex_t lock;
  uint32_t last;
  uint32_t *recycled;
  uint32_t recycled_count, recycled_room;
  /* By id: a server's answer may name any object, the client's own ones too. Buckets are a power of two. */
  struct graft_object **buckets;
  uint32_t bucket_count, count;
} kinds[GRAFT_KINDS];

__attribute__((constructor)) static void prepare(void) {
  for (int i = 0; i < GRAFT_KINDS; i++) pthread_mutex_init(&kinds[i].lock, NULL);
}

/* Streams and events come and go often, and no answer names one. */
static bool is_named(int kind) { return kind != GRAFT_STREAM && kind != GRAFT_EVENT; }

static struct graft_object **bucket(int kind, uint32_t id) { return &kinds[kind].buckets[id & (kinds[kind].bucket_count - 1)]; }

/* The next three are called with the kind's lock held. */
static bool enter(struct graft_object *object) {
  int kind = object->kind;
  if (kinds[kind].count >= kinds[kind].bucket_count) {
    uint32_t before = kinds[kind].bucket_count, now = before ? 2 * before : 64;
    struct graft_object **old = kinds[kind].buckets, **grown = calloc(now, sizeof *grown);
    if (!grown) return false;
    kinds[kind].buckets = grown;
    kinds[kind].bucket_count = now;
    for (uint32_t i = 0; i < before; i++) {
      for (struct graft_object *o = old[i], *next; o; o = next) {
        next = o->same;
        o->same = *bucket(kind, o->id);
        *bucket(kind, o->id) = o;
      }
    }
    free(old);
  }
  object->same = *bucket(kind, object->id);
  *bucket(kind, object->id) = object;
  kinds[kind].count++;
  return true;
}

static struct graft_object *named(int kind, uint32_t id) {
  struct graft_object *object = kinds[kind].count ? *bucket(kind, id) : NULL;
  while (object && object->id != id) object = object->same;
  return object;
}

static void forget(struct graft_object *object) {
  int kind = object->kind;
  if (!kinds[kind].count) return;
  for (struct graft_object **p = bucket(kind, object->id); *p; p = &(*p)->same) {
    if (*p == object) {
      *p = object->same;
      kinds[kind].count--;
      return;
    }
  }
}

static struct graft_object *make(int kind, uint32_t id) {
  struct graft_object *object = calloc(1, sizeof *object);
  if (!object) return NULL;
  object->magic = MAGIC;
  object->kind = (uint16_t)kind;
  object->id = id;
  if (kind == GRAFT_FUNCTION) {
    pthread_mutex_init(&object->u.function.lock, NULL);
  } else if (kind == GRAFT_LIBRARY || kind == GRAFT_MODULE) {
    pthread_mutex_init(&object->u.library.lock, NULL);
  }
  return object;
}

struct graft_object *graft_object_new(int kind) {
  pthread_mutex_lock(&kinds[kind].lock);
  uint32_t id = kinds[kind].recycled_count ? kinds[kind].recycled[--kinds[kind].recycled_count] : ++kinds[kind].last;
  struct graft_object *object = make(kind, id);
  if (object && is_named(kind) && !enter(object)) {
    free(object);
    object = NULL;
  }
  pthread_mutex_unlock(&kinds[kind].lock);
  return object;
}

struct graft_object *graft_object_shell(int kind) {
  return make(kind, 0);
}

void *graft_object_adopt(int kind, uint64_t id) {
  if (!id) return NULL;
  if (id >> 32) return NULL;
  pthread_mutex_lock(&kinds[kind].lock);
  struct graft_object *object = named(kind, (uint32_t)id);
  if (!object && (object = make(kind, (uint32_t)id)) && !enter(object)) {
    free(object);
    object = NULL;
  }
  pthread_mutex_unlock(&kinds[kind].lock);
  return object;
}

struct graft_object *graft_object(int kind, const void *handle) {
  struct graft_object *object = (struct graft_object *)handle;
  /* Handles are addresses of ours; small numbers are special handles or mistakes, and never touched. */
  if ((uintptr_t)handle < 65536 || (uintptr_t)handle % 16) return NULL;
  return object->magic == MAGIC && object->kind == kind ? object : NULL;
}

uint64_t graft_object_id(const struct graft_object *object) { return object->id; }

void graft_object_free(int kind, void *handle) {
  struct graft_object *object = graft_object(kind, handle);
  if (!object) return;
  object->magic = 0;
  pthread_mutex_lock(&kinds[kind].lock);
  if (is_named(kind)) forget(object);
  /* Functions stay at the server until the session ends, a graph's nodes until it does: their ids stay taken. */
  if (!(object->id & SERVER_IDS) && object->id && kind != GRAFT_FUNCTION && kind != GRAFT_NODE) {
    if (kinds[kind].recycled_count == kinds[kind].recycled_room) {
      uint32_t room = kinds[kind].recycled_room ? 2 * kinds[kind].recycled_room : 64;
      uint32_t *grown = realloc(kinds[kind].recycled, room * sizeof *grown);
      if (grown) {
        kinds[kind].recycled = grown;
        kinds[kind].recycled_room = room;
      }
    }
    if (kinds[kind].recycled_count < kinds[kind].recycled_room) {
      kinds[kind].recycled[kinds[kind].recycled_count++] = object->id;
    }
  }
  pthread_mutex_unlock(&kinds[kind].lock);
  if (kind == GRAFT_FUNCTION) {
    free(object->u.function.layout);
    free(object->u.function.name);
  } else if (kind == GRAFT_NODE) {
    free(object->u.node.parameters);
  }
  free(object);
}

int graft_id(int kind, const void *handle, uint64_t *id) {
  if (kind == GRAFT_STREAM) return graft_stream_id(handle, id);
  if (!handle) {
    *id = 0;
    return 0;
  }
  struct graft_object *object = graft_object(kind, handle);
  if (!object) return kind == GRAFT_CONTEXT ? GRAFT_INVALID_CONTEXT : GRAFT_INVALID_HANDLE;
  *id = object->id;
  return 0;
}

void graft_put_handles(struct graft_call *call, int kind, void *const *handles, size_t count) {
  graft_put(call, 8 * count);
  for (size_t i = 0; i < count; i++) {
    uint64_t id;
    graft_put(call, graft_id(kind, handles[i], &id) ? 0x7fffffff : id);
  }
}
