/* Textures, surfaces and tensor maps. */
#include <stdlib.h>

#include "graft.h"
#include "tables.h"

/* CUDA_RESOURCE_DESC: the kind at 0, an array's or mipmapped array's handle at 8. */
static int resource(const uint8_t *in, uint8_t copy[144], void **array, void **mipmap) {
  uint32_t kind;
  memcpy(copy, in, 144);
  memcpy(&kind, copy, 4);
  *array = *mipmap = NULL;
  if (kind <= 1) {
    memcpy(kind ? mipmap : array, copy + 8, sizeof(void *));
    memset(copy + 8, 0, sizeof(void *));
  }
  return 0;
}

GRAFT_EXPORT int cuTexObjectCreate(void *texture, void *description, void *sampling, void *view) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!texture || !description || !sampling) return GRAFT_INVALID_VALUE;
  uint8_t copy[144];
  void *array, *mipmap;
  resource(description, copy, &array, &mipmap);
  return rpc_graftTextureCreate(texture, copy, array, mipmap, sampling, view);
}

GRAFT_EXPORT int cuSurfObjectCreate(void *surface, void *description) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  if (!surface || !description) return GRAFT_INVALID_VALUE;
  uint8_t copy[144];
  void *array, *mipmap;
  resource(description, copy, &array, &mipmap);
  return rpc_graftSurfaceCreate(surface, copy, array);
}
