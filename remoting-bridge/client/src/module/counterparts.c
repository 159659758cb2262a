#include "module/counterparts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "module/code.h"
#include "module/functions.h"
#include "session/session.h"

struct graft_counterpart {
  struct graft_counterpart *next; /* constant */
  const struct graft_session *session;
  struct graft_object *object;
};

struct graft_kept_image {
  const void *data;
  size_t bytes;
  void *copy; /* to be freed */
};

void graft_counterparts_keep(struct graft_object *library, const void *data, size_t bytes, bool stays) {
  if (!graft_several_servers) return;
  struct graft_kept_image *image = calloc(1, sizeof *image);
  if (image && !stays && (image->copy = malloc(bytes))) memcpy(image->copy, data, bytes);
  if (image) {
    image->data = stays ? data : image->copy;
    image->bytes = image->data ? bytes : 0;
  }
  library->u.library.image = image;
}

static struct graft_object *find(struct graft_counterpart *const *list, const struct graft_session *session) {
  struct graft_counterpart *c = __atomic_load_n(list, __ATOMIC_ACQUIRE);
  while (c && c->session != session) c = c->next;
  return c ? c->object : NULL;
}

static void add(struct graft_counterpart **list, const struct graft_session *session, struct graft_object *object) {
  struct graft_counterpart *made = malloc(sizeof *made);
  if (!made) return;
  *made = (struct graft_counterpart){*list, session, object};
  __atomic_store_n(list, made, __ATOMIC_RELEASE);
}

/* Loads a library in a session, which becomes the calling thread's until then. */
static struct graft_object *load(const struct graft_object *library, const struct graft_session *session) {
  const struct graft_kept_image *image = library->u.library.image;
  if (!image || !image->bytes) return NULL;
  void *made = NULL;
  uint8_t hash[32];
  struct graft_session *before = graft_session_use((struct graft_session *)session);
  int r = graft_code_is_known(image->data, image->bytes, hash) ? rpc_graftLibraryLoadKnown(&made, hash)
                                                               : rpc_graftLibraryLoad(&made, image->data, image->bytes);
  graft_session_use(before);
  return r ? NULL : made;
}

/* Guards the lists against two writers. Locks of objects are not taken while it is held, and callers may hold them. */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static struct graft_object *library_in(struct graft_object *library, const struct graft_session *session) {
  struct graft_object *found = find(&library->u.library.counterparts, session);
  if (found) return found;
  pthread_mutex_lock(&adding);
  found = find(&library->u.library.counterparts, session);
  if (!found && (found = load(library, session))) add(&library->u.library.counterparts, session, found);
  pthread_mutex_unlock(&adding);
  return found;
}

/* Not cuKernelGetName, which takes the kernel's lock. A name that is known needs no server, which may be lost. */
static bool name_of(struct graft_object *kernel, char *name, size_t room) {
  const char *known = __atomic_load_n(&kernel->u.function.name, __ATOMIC_ACQUIRE);
  if (known) return snprintf(name, room, "%s", known) < (int)room;
  struct graft_session *before = graft_session_use(kernel->session);
  int r = rpc_graftFunctionName(kernel, (unsigned char *)name, (unsigned)room - 1);
  graft_session_use(before);
  return !r;
}

static struct graft_object *kernel_in(struct graft_object *kernel, const struct graft_session *session) {
  struct graft_object *found = find(&kernel->u.function.counterparts, session);
  if (found) return found;
  struct graft_object *library = library_in(kernel->u.function.library, session);
  char name[8192] = "";
  void *made;
  if (!library || !name_of(kernel, name, sizeof name) || cuLibraryGetKernel(&made, library, name)) return NULL;
  pthread_mutex_lock(&adding);
  if (!find(&kernel->u.function.counterparts, session)) add(&kernel->u.function.counterparts, session, made);
  pthread_mutex_unlock(&adding);
  return made;
}

struct graft_object *graft_counterpart(struct graft_object *object, const struct graft_session *session) {
  if (object->session == session) return object;
  struct graft_object *found = NULL;
  if (object->kind == GRAFT_LIBRARY)
    found = library_in(object, session);
  else if (object->u.function.is_kernel && object->u.function.library)
    found = kernel_in(object, session);
  return found ? found : object;
}

void graft_counterparts_forget(struct graft_counterpart *c) {
  while (c) {
    struct graft_counterpart *next = c->next;
    free(c);
    c = next;
  }
}

void graft_counterparts_unload(struct graft_object *library) {
  for (struct graft_counterpart *c = library->u.library.counterparts; c; c = c->next) cuLibraryUnload(c->object);
  graft_counterparts_forget(library->u.library.counterparts);
  if (library->u.library.image) free(library->u.library.image->copy);
  free(library->u.library.image);
  library->u.library.counterparts = NULL;
  library->u.library.image = NULL;
}
