/* Launches, with parameters packed by the kernel's layout. */
#include <stdlib.h>
#include <string.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "api/work.h"
#include "base/environment.h"
#include "graft_rpc.h"
#include "memory/elsewhere.h"
#include "memory/mirror.h"
#include "memory/ordering.h"
#include "memory/place.h"
#include "memory/ranges.h"
#include "memory/shadow.h"
#include "module/functions.h"
#include "module/launch.h"
#include "session/session.h"

#define PARAMETERS 32768

/* Whether a parameter is the address of memory of another server, which the kernel could not access. Structures are not looked into: a
 * compiler may leave anything in the parts that the kernel does not use. */
static bool is_beyond_reach(struct graft_object *function, const uint8_t *data, unsigned bytes) {
  const struct graft_layout *layout;
  bool beyond = false;
  if (graft_function_layout(function, &layout)) return false;
  for (uint32_t i = 0; i < layout->count && !beyond; i++) {
    uint32_t offset = layout->parameter[i].offset;
    uint64_t word;
    if (layout->parameter[i].size != sizeof word || bytes < sizeof word || offset > bytes - sizeof word) continue;
    memcpy(&word, data + offset, sizeof word);
    beyond = graft_is_beyond_reach(word);
  }
  if (beyond) graft_not_served("a kernel with memory of another server among its parameters");
  return beyond;
}

/* A kernel may use all pinned memory. On transports that share none, memory whose address is among a launch's parameters is exposed. */
static void expose_pinned(const uint8_t *data, unsigned bytes) {
  for (unsigned at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, data + at, sizeof word);
    if (!graft_shadow_is_alone(word)) continue;
    struct graft_place place = graft_place_of(word, true);
    if (place.memory == GRAFT_MEMORY_PINNED) graft_place_expose(&place, 1, false, NULL);
  }
}

/* The driver's markers in "extra" (CU_LAUNCH_PARAM_*). */
enum { EXTRA_END = 0, EXTRA_BUFFER = 1, EXTRA_SIZE = 2 };

int graft_launch_pack(struct graft_object *function, void **parameters, void **extra, uint8_t *room, const uint8_t **data,
                      unsigned *bytes) {
  *data = room;
  *bytes = 0;
  if (extra) {
    for (int i = 0; extra[i] != (void *)EXTRA_END; i += 2) {
      if (extra[i] == (void *)EXTRA_BUFFER) {
        *data = extra[i + 1];
      } else if (extra[i] == (void *)EXTRA_SIZE) {
        size_t size = *(size_t *)extra[i + 1];
        if (size > PARAMETERS) return GRAFT_INVALID_VALUE;
        *bytes = (unsigned)size;
      } else {
        return GRAFT_INVALID_VALUE;
      }
    }
    expose_pinned(*data, *bytes);
    return 0;
  }
  const struct graft_layout *layout;
  int r = graft_function_layout(function, &layout);
  if (r) return r;
  if (!layout->count) return 0;
  if (!parameters) return GRAFT_INVALID_VALUE;
  for (uint32_t i = 0; i < layout->count; i++) {
    uint32_t offset = layout->parameter[i].offset, size = layout->parameter[i].size;
    if (!parameters[i]) return GRAFT_INVALID_VALUE;
    if (offset > *bytes) memset(room + *bytes, 0, offset - *bytes);
    memcpy(room + offset, parameters[i], size);
    *bytes = offset + size;
  }
  expose_pinned(room, *bytes);
  return 0;
}

/* A block of up to this many threads fits any kernel: the registers of a multiprocessor suffice for 256 threads of any kernel. */
#define SMALL_BLOCK 256
/* Dynamic shared memory up to this size is never refused, unless the kernel declares nearly all that there is. */
#define SMALL_SHARED 8192

/* Whether the driver may refuse the launch for its shape; then the launch itself must return the error. */
static bool is_doubtful(struct graft_object *function, const struct graft_launch_config *c, const struct graft_object *context) {
  int device = context->u.context.device;
  const int *limit = graft_device(context->session, device)->attributes; /* 2..4 block, 5..7 grid: CUdevice_attribute */
  uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
  for (int i = 0; i < 3; i++) {
    if (c->block[i] > (unsigned)limit[2 + i] || c->grid[i] > (unsigned)limit[5 + i]) return true;
  }
  int most, declared, dynamic;
  if (threads > SMALL_BLOCK || c->shared > SMALL_SHARED) {
    if (graft_function_attribute(function, 0, device, &most) || threads > (unsigned)most) return true;
    if (c->shared <= SMALL_SHARED) return false;
    /* 1: SHARED_SIZE_BYTES, 8: MAX_DYNAMIC_SHARED_SIZE_BYTES */
    return graft_function_attribute(function, 1, device, &declared) || graft_function_attribute(function, 8, device, &dynamic) ||
           c->shared > (unsigned)dynamic;
  }
  return false;
}

/* Whether the driver may refuse the launch for its clusters. Clusters of up to eight blocks that divide the grid are never refused. */
static bool has_doubtful_cluster(const struct graft_launch_config *c, const uint8_t *attributes, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    uint32_t id, size[3];
    memcpy(&id, attributes + i * GRAFT_LAUNCH_ATTRIBUTE, sizeof id);
    memcpy(size, attributes + i * GRAFT_LAUNCH_ATTRIBUTE + 8, sizeof size);
    if (id != GRAFT_CLUSTER_DIMENSION) continue;
    for (int k = 0; k < 3; k++) {
      if (!size[k] || size[k] > 8 || c->grid[k] % size[k]) return true;
    }
    return size[0] * size[1] * size[2] > 8;
  }
  return false;
}

/* The driver makes no node of a cooperative launch whose parameters are packed. */
static bool is_cooperative(const uint8_t *attributes, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    uint32_t id, value;
    memcpy(&id, attributes + i * GRAFT_LAUNCH_ATTRIBUTE, sizeof id);
    memcpy(&value, attributes + i * GRAFT_LAUNCH_ATTRIBUTE + 8, sizeof value);
    if (id == GRAFT_COOPERATIVE && value) return true;
  }
  return false;
}

/* What profilers show of a kernel. The server is asked once for each function. */
static void describe(struct graft_work *work, struct graft_object *function, int device) {
  enum { SHARED_SIZE = 1, LOCAL_SIZE = 3, REGISTERS = 4 }; /* CUfunction_attribute */
  int value;
  if (!graft_function_attribute(function, REGISTERS, device, &value)) work->registers = (uint16_t)value;
  if (!graft_function_attribute(function, SHARED_SIZE, device, &value)) work->static_shared = (uint32_t)value;
  if (!graft_function_attribute(function, LOCAL_SIZE, device, &value)) work->local = (uint32_t)value;
}

/* "called" is the driver's function that the program called. */
static int launch(const char *called, void *handle, const struct graft_launch_config *c, const uint8_t *attributes, unsigned count,
                  void **parameters, void **extra) {
  GRAFT_IN_CONTEXT_OF(c->stream);
  struct graft_object *context, *function;
  int r = graft_context_need(&context);
  if (r) return r;
  function = graft_function_of(handle);
  if (!function || (function->session != context->session && !function->u.function.is_kernel)) return GRAFT_INVALID_HANDLE;
  if (parameters && extra && *extra == (void *)EXTRA_END) extra = NULL; /* an empty list */
  if (!c->grid[0] || !c->grid[1] || !c->grid[2] || !c->block[0] || !c->block[1] || !c->block[2] || (parameters && extra)) {
    return GRAFT_INVALID_VALUE;
  }
  if (extra && is_cooperative(attributes, count) && graft_stream_captures(c->stream)) return GRAFT_INVALID_VALUE;
  bool doubtful = is_doubtful(function, c, context) || has_doubtful_cluster(c, attributes, count);
  const uint8_t *data;
  unsigned bytes;
  uint8_t room[PARAMETERS];
  if ((r = graft_launch_pack(function, parameters, extra, room, &data, &bytes))) return r;
  if (graft_several_servers && is_beyond_reach(function, data, bytes)) return GRAFT_NOT_SUPPORTED;
  struct graft_work work = {.kind = GRAFT_WORK_KERNEL,
                            .name = function->u.function.name,
                            .function = called,
                            .handle = handle,
                            .stream = c->stream,
                            .grid = {c->grid[0], c->grid[1], c->grid[2]},
                            .block = {c->block[0], c->block[1], c->block[2]},
                            .shared = c->shared};
  if (graft_work_is_heard) describe(&work, function, context->u.context.device);
  struct graft_span *span = graft_work_begin(&work);
  if (graft_mirrors) graft_mirrors_launching(c->stream);
  if (!count) {
    r = rpc_graftLaunch(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared, c->stream,
                        data, bytes);
  } else {
    r = rpc_graftLaunchEx(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared, c->stream,
                          attributes, count, data, bytes);
  }
  graft_work_end(span, r);
  if (r) return r;
  if (graft_environment.launch_blocking) return graft_stream_captures(c->stream) ? 0 : rpc_cuStreamSynchronize(c->stream);
  return doubtful ? graft_calls_executed() : 0;
}

GRAFT_EXPORT int cuLaunchKernel(void *function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by,
                                unsigned int bz, unsigned int shared, void *stream, void *parameters, void *extra) {
  struct graft_launch_config c = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};
  return launch("cuLaunchKernel", function, &c, NULL, 0, parameters, extra);
}

/* Launch attributes (CUlaunchAttributeID) that hold handles are sent with ids. */
enum { SYNCHRONIZATION_POLICY = 3, PROGRAMMATIC_EVENT = 7, LAUNCH_COMPLETION_EVENT = 12, DEVICE_UPDATABLE_KERNEL_NODE = 13 };

int graft_launch_attributes(const struct graft_launch_config *c, uint8_t *copy) {
  if (c->count > GRAFT_LAUNCH_ATTRIBUTES || (c->count && !c->attributes)) return GRAFT_INVALID_VALUE;
  if (c->count) memcpy(copy, c->attributes, (size_t)c->count * GRAFT_LAUNCH_ATTRIBUTE);
  for (unsigned i = 0; i < c->count; i++) {
    uint8_t *attribute = copy + i * GRAFT_LAUNCH_ATTRIBUTE;
    uint32_t id;
    memcpy(&id, attribute, 4);
    if (id == PROGRAMMATIC_EVENT || id == LAUNCH_COMPLETION_EVENT) {
      void *event;
      uint64_t number;
      memcpy(&event, attribute + 8, sizeof event);
      if (!event) return GRAFT_INVALID_HANDLE;
      graft_ordering_is_lost();
      int r = graft_id(graft_session_current(), GRAFT_EVENT, event, &number);
      if (r) return r;
      memcpy(attribute + 8, &number, sizeof number);
    }
    if (id == SYNCHRONIZATION_POLICY) return GRAFT_INVALID_VALUE; /* of streams alone */
    if (id == DEVICE_UPDATABLE_KERNEL_NODE) return graft_not_served("launch attribute DEVICE_UPDATABLE_KERNEL_NODE");
  }
  return 0;
}

#define LAST_LAUNCH_ATTRIBUTE 16

GRAFT_EXPORT int cuLaunchKernelEx(void *config, void *function, void *parameters, void *extra) {
  if (!config) return GRAFT_INVALID_VALUE;
  struct graft_launch_config c;
  uint8_t attributes[GRAFT_LAUNCH_ATTRIBUTES * GRAFT_LAUNCH_ATTRIBUTE];
  memcpy(&c, config, sizeof c);
  GRAFT_IN_CONTEXT_OF(c.stream);
  int r = graft_launch_attributes(&c, attributes);
  for (unsigned i = 0; !r && i < c.count; i++) {
    uint32_t id;
    memcpy(&id, attributes + i * GRAFT_LAUNCH_ATTRIBUTE, sizeof id);
    if (id == 15 || id > LAST_LAUNCH_ATTRIBUTE) r = GRAFT_INVALID_VALUE; /* driver 580 knows no other */
  }
  return r ? r : launch("cuLaunchKernelEx", function, &c, attributes, c.count, parameters, extra);
}

GRAFT_EXPORT int cuLaunchCooperativeKernel(void *function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                           unsigned int by, unsigned int bz, unsigned int shared, void *stream, void *parameters) {
  struct graft_launch_config c = {{gx, gy, gz}, {bx, by, bz}, shared, stream, NULL, 0};
  uint8_t cooperative[GRAFT_LAUNCH_ATTRIBUTE] = {GRAFT_COOPERATIVE, 0, 0, 0, 0, 0, 0, 0, 1};
  return launch("cuLaunchCooperativeKernel", function, &c, cooperative, 1, parameters, NULL);
}
