/* Objects behind the handles that the program holds; each kind numbers its own. */
#include <stdlib.h>

#include "graft.h"

#define MAGIC 0x54465247u
#define SERVER_IDS 0x80000000u

static struct {
  pthread_mutex_t lock;
  uint32_t last;
  uint32_t *recycled;
  uint32_t recycled_count, recycled_room;
  struct graft_object *adopted;
} kinds[GRAFT_KINDS];

__attribute__((constructor)) static void prepare(void) {
  for (int i = 0; i < GRAFT_KINDS; i++) pthread_mutex_init(&kinds[i].lock, NULL);
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
  pthread_mutex_unlock(&kinds[kind].lock);
  return make(kind, id);
}

struct graft_object *graft_object_shell(int kind) { return make(kind, 0); }

void *graft_object_adopt(int kind, uint64_t id) {
  if (!id) return NULL;
  if (id >> 32) return NULL;
  pthread_mutex_lock(&kinds[kind].lock);
  struct graft_object *object = kinds[kind].adopted;
  while (object && object->id != id) object = object->next;
  if (!object) {
    object = make(kind, (uint32_t)id);
    if (object) {
      object->next = kinds[kind].adopted;
      kinds[kind].adopted = object;
    }
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
  if (object->id & SERVER_IDS) {
    for (struct graft_object **p = &kinds[kind].adopted; *p; p = &(*p)->next) {
      if (*p == object) {
        *p = object->next;
        break;
      }
    }
  } else if (kind != GRAFT_FUNCTION) { /* the server keeps functions until the session ends: their ids stay taken */
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
