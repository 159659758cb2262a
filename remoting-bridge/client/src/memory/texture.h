/* Texture and surface objects. */
#ifndef GRAFT_TEXTURE_H
#define GRAFT_TEXTURE_H

#include <pthread.h>

/* The descriptors of texture and surface objects, for which the program may ask. */
struct graft_textures {
  pthread_mutex_t lock;
  struct graft_described *first; /* guarded by lock */
};

#endif
