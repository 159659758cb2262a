/* User objects, which graphs keep alive for the program. The client counts references; a destructor is a function of the program. */
#include "graph/userobject.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"

struct graft_held {
  struct graft_held *next;
  struct graft_object *object;
  unsigned count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct graft_held **held_by(void *handle) {
  struct graft_object *graph = graft_object(GRAFT_GRAPH, handle), *exec = graft_object(GRAFT_EXEC, handle);
  return graph ? &graph->u.graph.held : exec ? &exec->u.exec.held : NULL;
}

static int hold(struct graft_held **list, struct graft_object *object, unsigned count) {
  struct graft_held *h = *list;
  while (h && h->object != object) h = h->next;
  if (!h) {
    if (!(h = calloc(1, sizeof *h))) return GRAFT_OUT_OF_MEMORY;
    h->object = object;
    h->next = *list;
    *list = h;
  }
  h->count += count;
  return 0;
}

/* Called with the lock held, and releases it, since the destructor may use other objects. */
static void release_and_unlock(struct graft_object *object, unsigned count) {
  object->u.userobject.count -= count;
  bool last = !object->u.userobject.count;
  pthread_mutex_unlock(&lock);
  if (!last) return;
  object->u.userobject.destroy(object->u.userobject.data);
  graft_object_free(GRAFT_USEROBJECT, object);
}

void graft_user_objects_copy(void *to, void *from) {
  struct graft_held **target = held_by(to), **source = held_by(from);
  if (!target || !source) return;
  pthread_mutex_lock(&lock);
  for (struct graft_held *h = *source; h; h = h->next) {
    if (!hold(target, h->object, h->count)) h->object->u.userobject.count += h->count;
  }
  pthread_mutex_unlock(&lock);
}

void graft_user_objects_drop(struct graft_held **list) {
  for (;;) {
    pthread_mutex_lock(&lock);
    struct graft_held *h = *list;
    if (!h) break;
    *list = h->next;
    release_and_unlock(h->object, h->count);
    free(h);
  }
  pthread_mutex_unlock(&lock);
}

GRAFT_EXPORT int cuUserObjectCreate(void *out, void *data, void *destroy, unsigned int count, unsigned int flags) {
  int r = graft_ready();
  if (r) return r;
  if (!out || !destroy || !count || flags != 1) return GRAFT_INVALID_VALUE; /* 1: CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, required */
  struct graft_object *object = graft_object_new(NULL, GRAFT_USEROBJECT);
  if (!object) return GRAFT_OUT_OF_MEMORY;
  memcpy(&object->u.userobject.destroy, &destroy, sizeof destroy);
  object->u.userobject.data = data;
  object->u.userobject.count = count;
  *(void **)out = object;
  return 0;
}

GRAFT_EXPORT int cuUserObjectRetain(void *handle, unsigned int count) {
  struct graft_object *object = graft_object(GRAFT_USEROBJECT, handle);
  if (!object || !count) return GRAFT_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  object->u.userobject.count += count;
  pthread_mutex_unlock(&lock);
  return 0;
}

GRAFT_EXPORT int cuUserObjectRelease(void *handle, unsigned int count) {
  struct graft_object *object = graft_object(GRAFT_USEROBJECT, handle);
  if (!object || !count) return GRAFT_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  if (object->u.userobject.count < count) {
    pthread_mutex_unlock(&lock);
    return GRAFT_INVALID_VALUE;
  }
  release_and_unlock(object, count);
  return 0;
}

GRAFT_EXPORT int cuGraphRetainUserObject(void *graph, void *handle, unsigned int count, unsigned int flags) {
  struct graft_object *object = graft_object(GRAFT_USEROBJECT, handle);
  struct graft_held **list = held_by(graph);
  if (!object || !list || !count || flags > 1) return GRAFT_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  int r = hold(list, object, count);
  if (!r && !flags) object->u.userobject.count += count; /* 1: CU_GRAPH_USER_OBJECT_MOVE, the caller's references */
  pthread_mutex_unlock(&lock);
  return r;
}

GRAFT_EXPORT int cuGraphReleaseUserObject(void *graph, void *handle, unsigned int count) {
  struct graft_object *object = graft_object(GRAFT_USEROBJECT, handle);
  struct graft_held **list = held_by(graph);
  if (!object || !list || !count) return GRAFT_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  struct graft_held **p = list;
  while (*p && (*p)->object != object) p = &(*p)->next;
  if (!*p || (*p)->count < count) {
    pthread_mutex_unlock(&lock);
    return GRAFT_INVALID_VALUE;
  }
  struct graft_held *h = *p;
  if (!(h->count -= count)) {
    *p = h->next;
    free(h);
  }
  release_and_unlock(object, count);
  return 0;
}
