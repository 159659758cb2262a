/* Textures, surfaces and tensor maps. */
#include "memory/texture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "session/parts.h"
#include "session/session.h"

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

struct graft_described {
  struct graft_described *next;
  uint64_t object;
  bool surface, viewed;
  uint8_t resource[144], sampling[104], view[112];
};

static struct graft_textures *current(void) { return &graft_parts(graft_session_current())->textures; }

static void describe(uint64_t object, bool surface, const void *resource_of, const void *sampling, const void *view) {
  struct graft_described *d = calloc(1, sizeof *d);
  if (!d) return; /* then the program cannot ask for it */
  d->object = object;
  d->surface = surface;
  memcpy(d->resource, resource_of, sizeof d->resource);
  if (sampling) memcpy(d->sampling, sampling, sizeof d->sampling);
  if ((d->viewed = view)) memcpy(d->view, view, sizeof d->view);
  struct graft_textures *textures = current();
  pthread_mutex_lock(&textures->lock);
  d->next = textures->first;
  textures->first = d;
  pthread_mutex_unlock(&textures->lock);
}

/* False if there is no such object. */
static bool undescribe(uint64_t object, bool surface) {
  struct graft_textures *textures = current();
  pthread_mutex_lock(&textures->lock);
  struct graft_described **p = &textures->first;
  while (*p && ((*p)->object != object || (*p)->surface != surface)) p = &(*p)->next;
  struct graft_described *gone = *p;
  if (gone) *p = gone->next;
  pthread_mutex_unlock(&textures->lock);
  free(gone);
  return gone;
}

enum part { RESOURCE, SAMPLING, VIEW };

static int description(void *out, uint64_t object, bool surface, enum part part) {
  int r = graft_in_context();
  if (r) return r;
  if (!out) return GRAFT_INVALID_VALUE;
  struct graft_textures *textures = current();
  pthread_mutex_lock(&textures->lock);
  struct graft_described *d = textures->first;
  while (d && (d->object != object || d->surface != surface)) d = d->next;
  if (!d || (part == VIEW && !d->viewed)) {
    r = GRAFT_INVALID_VALUE;
  } else if (part == RESOURCE) {
    memcpy(out, d->resource, sizeof d->resource);
  } else if (part == SAMPLING) {
    memcpy(out, d->sampling, sizeof d->sampling);
  } else {
    memcpy(out, d->view, sizeof d->view);
  }
  pthread_mutex_unlock(&textures->lock);
  return r;
}

GRAFT_EXPORT int cuTexObjectGetResourceDesc(void *out, uint64_t texture) { return description(out, texture, false, RESOURCE); }
GRAFT_EXPORT int cuTexObjectGetTextureDesc(void *out, uint64_t texture) { return description(out, texture, false, SAMPLING); }
GRAFT_EXPORT int cuTexObjectGetResourceViewDesc(void *out, uint64_t texture) { return description(out, texture, false, VIEW); }
GRAFT_EXPORT int cuSurfObjectGetResourceDesc(void *out, uint64_t surface) { return description(out, surface, true, RESOURCE); }

GRAFT_EXPORT int cuTexObjectDestroy(uint64_t texture) {
  int r = graft_in_context();
  if (r || (r = graft_uncaptured())) return r;
  return undescribe(texture, false) ? rpc_cuTexObjectDestroy(texture) : GRAFT_OK; /* as the driver, whatever the number is */
}
GRAFT_EXPORT int cuSurfObjectDestroy(uint64_t surface) {
  int r = graft_in_context();
  if (r || (r = graft_uncaptured())) return r;
  return undescribe(surface, true) ? rpc_cuSurfObjectDestroy(surface) : GRAFT_OK;
}

GRAFT_EXPORT int cuTexObjectCreate(void *texture, void *wanted, void *sampling, void *view) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  if (!texture || !wanted || !sampling) return GRAFT_INVALID_VALUE;
  uint8_t copy[144];
  void *array, *mipmap;
  resource(wanted, copy, &array, &mipmap);
  uint64_t made;
  if ((r = rpc_graftTextureCreate(&made, copy, array, mipmap, sampling, view))) return r;
  describe(*(uint64_t *)texture = made, false, wanted, sampling, view);
  return 0;
}

GRAFT_EXPORT int cuSurfObjectCreate(void *surface, void *wanted) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r || (r = graft_uncaptured())) return r;
  if (!surface || !wanted) return GRAFT_INVALID_VALUE;
  uint8_t copy[144];
  void *array, *mipmap;
  resource(wanted, copy, &array, &mipmap);
  uint64_t made;
  if ((r = rpc_graftSurfaceCreate(&made, copy, array))) return r;
  describe(*(uint64_t *)surface = made, true, wanted, NULL, NULL);
  return 0;
}

/* ---- Tensor maps: descriptors that only the driver can write. It does not look at their address. ---- */

#define MAX_RANK 5

static int check_map(const void *map, unsigned rank, const void *sizes, const void *strides, const void *steps) {
  int r = graft_in_context();
  if (r) return r;
  bool valid = map && !((uintptr_t)map % 64) && rank && rank <= MAX_RANK && sizes && strides && steps;
  return valid ? GRAFT_OK : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned int rank, void *address, void *sizes, void *strides,
                                        void *box, void *steps, int interleave, int swizzle, int promotion, int fill) {
  int r = check_map(map, rank, sizes, strides, steps);
  if (r) return r;
  if (!box) return GRAFT_INVALID_VALUE;
  return rpc_graftTensorMapTiled(map, type, rank, (uintptr_t)address, sizes, strides, rank - 1, box, steps, interleave, swizzle,
                                 promotion, fill);
}

GRAFT_EXPORT int cuTensorMapEncodeIm2col(void *map, int type, unsigned int rank, void *address, void *sizes, void *strides,
                                         void *lower, void *upper, unsigned int channels, unsigned int pixels, void *steps,
                                         int interleave, int swizzle, int promotion, int fill) {
  int r = check_map(map, rank, sizes, strides, steps);
  if (r) return r;
  if (rank < 3 || !lower || !upper) return GRAFT_INVALID_VALUE;
  return rpc_graftTensorMapIm2col(map, type, rank, (uintptr_t)address, sizes, strides, rank - 1, lower, upper, rank - 2, channels,
                                  pixels, steps, interleave, swizzle, promotion, fill);
}

GRAFT_EXPORT int cuTensorMapEncodeIm2colWide(void *map, int type, unsigned int rank, void *address, void *sizes, void *strides,
                                             int lower, int upper, unsigned int channels, unsigned int pixels, void *steps,
                                             int interleave, int mode, int swizzle, int promotion, int fill) {
  int r = check_map(map, rank, sizes, strides, steps);
  if (r) return r;
  return rpc_graftTensorMapIm2colWide(map, type, rank, (uintptr_t)address, sizes, strides, rank - 1, lower, upper, channels, pixels,
                                      steps, interleave, mode, swizzle, promotion, fill);
}

GRAFT_EXPORT int cuTensorMapReplaceAddress(void *map, void *address) {
  int r = graft_in_context();
  if (r) return r;
  if (!map) return GRAFT_INVALID_VALUE;
  uint8_t before[128];
  memcpy(before, map, sizeof before);
  return rpc_graftTensorMapReplace(map, before, (uintptr_t)address);
}
