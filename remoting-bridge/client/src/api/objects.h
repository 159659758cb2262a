/* The objects behind the handles that the program holds. */
#ifndef GRAFT_OBJECTS_H
#define GRAFT_OBJECTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/settle.h"
#include "graft_rpc.h"

#define GRAFT_LIMITS 10 /* CUlimit */

struct graft_layout {
  uint32_t count;
  uint32_t total;
  struct {
    uint32_t offset, size;
  } parameter[];
};

struct graft_behind;
struct graft_storage;
struct graft_held;
struct graft_node_parameters;
struct graft_session;

struct graft_object {
  uint32_t magic;
  uint16_t kind;
  bool per_thread;
  uint32_t id; /* of its kind, in its session */
  struct graft_session *session;
  struct graft_object *next;
  struct graft_object *same; /* belongs to objects.c */
  union {
    struct {
      int device;
      bool primary;
      bool destroyed;
      unsigned ends; /* how often it has ended: a primary context is made again behind the same handle */
      bool busy;     /* work was queued since the program last waited for the legacy stream; atomic */
      unsigned flags;
      uint64_t serial;
      struct graft_storage *storage;
      struct graft_settled settled; /* of the legacy stream */
      uint64_t mark;                /* one byte of device memory for graft_stream_reach, 0 until it is needed */
      unsigned limits_known;
      struct {
        size_t value;
        int result;
      } limits[GRAFT_LIMITS];
    } context;
    struct {
      struct graft_object *library; /* module or library it came from */
      char *name;
      struct graft_layout *layout;
      bool is_kernel;
      pthread_mutex_t lock;
      struct graft_facts *facts;              /* of each device that was asked about */
      struct graft_counterpart *counterparts; /* the same kernel at other servers (module/counterparts.c) */
    } function;
    struct {
      unsigned flags;
      int priority;
      struct graft_object *context;
      uint64_t serial;
      struct graft_settled settled;
      struct graft_behind *behind; /* by its waits for events (memory/ordering.c) */
    } stream;
    struct {
      bool shared;                  /* with other processes */
      struct graft_object *context; /* NULL for another process's */
      unsigned ends;                /* of the context, when the event was made */
      struct graft_behind *behind;  /* when it was last recorded */
      uint64_t record;              /* the number of its last record, unique in the process; 0 if none is known */
    } event;
    struct {
      size_t row, height, depth; /* row in bytes; once the array is measured (memory/array.c) */
      bool measured;             /* atomic */
    } array;
    struct {
      struct graft_object *functions;
      struct graft_object *module;
      struct graft_object *context; /* of a module; NULL for a library */
      unsigned ends;                /* of the context, when the module was loaded */
      pthread_mutex_t lock;
      struct graft_kept_image *image;         /* of a library of a program that uses several servers */
      struct graft_counterpart *counterparts; /* the same library at other servers */
    } library;
    struct {
      struct graft_object *nodes;        /* that the program knows, by next */
      struct graft_held *held;           /* user objects */
      struct graft_pageable_list *parts; /* of pageable memory that its nodes name */
    } graph;
    struct {
      struct graft_held *held;
      struct graft_pageable_list *parts;
    } exec;
    struct {
      struct graft_object *graph;
      struct graft_node_parameters *parameters; /* as the program gave them; NULL for a captured node until the server is asked */
    } node;
    struct {
      char *info, *error;
      size_t info_room, error_room;
      void **info_size, **error_size;
      void *image;
      struct graft_link_inputs *inputs; /* NULL if the link does not use the compute cache */
    } link;
    struct {
      void (*destroy)(void *data);
      void *data;
      unsigned count;
    } userobject;
  } u;
} __attribute__((aligned(16)));

#define GRAFT_OBJECT_MAGIC 0x54465247u
#define GRAFT_OBJECT_GONE 0x454e4f47u /* the magic of memory whose object is gone */

/* The object behind a handle, NULL if the handle is not one of that kind. */
static inline struct graft_object *graft_object(int kind, const void *handle) {
  struct graft_object *object = (struct graft_object *)handle;
  /* Handles are addresses of objects, also of those that are gone: their memory holds objects alone (objects.c). Small numbers are special
   * handles or mistakes, and are not dereferenced. */
  if ((uintptr_t)handle < 65536 || (uintptr_t)handle % 16) return NULL;
  return object->magic == GRAFT_OBJECT_MAGIC && object->kind == kind ? object : NULL;
}
/* Whether a handle is that of an object that is gone. A context's stays recognizable, others only until the memory is another object's. */
static inline bool graft_object_is_gone(int kind, const void *handle) {
  const struct graft_object *object = handle;
  if ((uintptr_t)handle < 65536 || (uintptr_t)handle % 16) return false;
  return object->magic == GRAFT_OBJECT_GONE && object->kind == kind;
}
/* Whether an event's context is gone, and the event with it. */
static inline bool graft_event_has_ended(const struct graft_object *event) {
  const struct graft_object *context = event->u.event.context;
  return context && (context->u.context.destroyed || context->u.context.ends != event->u.event.ends);
}
/* Whether a module's context is gone, and the module with it. */
static inline bool graft_module_has_ended(const struct graft_object *module) {
  const struct graft_object *context = module->u.library.context;
  return context && (context->u.context.destroyed || context->u.context.ends != module->u.library.ends);
}
/* An object without an id of its own. */
struct graft_object *graft_object_shell(struct graft_session *session, int kind);
/* Finds or makes the object of an id that the session's server chose. */
void *graft_object_adopt(struct graft_session *session, int kind, uint64_t id);

/* The ids of one kind of a session's objects. */
struct graft_ids {
  pthread_mutex_t lock;
  uint32_t last;
  uint32_t *recycled;
  uint32_t recycled_count, recycled_room;
  /* Objects by id, since a server's answer may name any object. The number of buckets is a power of two. */
  struct graft_object **buckets;
  uint32_t bucket_count, count;
};
struct graft_objects {
  struct graft_ids kinds[GRAFT_KINDS];
};
void graft_objects_init(struct graft_objects *objects);

#endif
