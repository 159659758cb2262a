#include "memory/array.h"

#include <stdint.h>

#include "api/objects.h"
#include "graft_rpc.h"

/* CUarray_format: the bytes of an element's component; 0 for formats of several planes, and compressed ones. */
static size_t component_bytes(unsigned format) {
  switch (format) {
    case 0x01:
    case 0x08: return 1; /* integers */
    case 0x02:
    case 0x09:
    case 0x10: return 2; /* integers, half */
    case 0x03:
    case 0x0a:
    case 0x20: return 4; /* integers, float */
    default: return 0;
  }
}

/* Fills in the size of an array; the row of an array that the client cannot measure is empty. */
static bool measure(struct graft_object *array) {
  struct {
    size_t width, height, depth;
    unsigned format, channels, flags;
  } descriptor; /* CUDA_ARRAY3D_DESCRIPTOR */
  _Static_assert(sizeof descriptor == 40, "as in cuda.h");
  if (rpc_cuArray3DGetDescriptor_v2(&descriptor, array)) return false;
  array->u.array.row = descriptor.width * descriptor.channels * component_bytes(descriptor.format);
  array->u.array.height = descriptor.height ? descriptor.height : 1;
  array->u.array.depth = descriptor.depth ? descriptor.depth : 1;
  __atomic_store_n(&array->u.array.measured, true, __ATOMIC_RELEASE);
  return true;
}

static bool fits(size_t at, size_t size, size_t room) { return at <= room && size <= room - at; }

bool graft_array_holds(void *handle, const struct graft_box *box) {
  struct graft_object *array = graft_object(GRAFT_ARRAY, handle);
  if (!array || (!__atomic_load_n(&array->u.array.measured, __ATOMIC_ACQUIRE) && !measure(array))) return false;
  return fits(box->x, box->width, array->u.array.row) && fits(box->y, box->height, array->u.array.height) &&
         fits(box->z, box->depth, array->u.array.depth);
}
