/* Texture and surface objects. */
#ifndef GRAFT_TEXTURE_H
#define GRAFT_TEXTURE_H

#include <pthread.h>

/* What the program gave to make its texture and surface objects, for it to ask again. */
struct graft_textures {
  pthread_mutex_t lock;
  struct graft_described *first; /* guarded by lock */
};

#endif
