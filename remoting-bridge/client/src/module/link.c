/* JIT linking by the server's driver. Images are kept in the compute cache, and so is the fact that the driver accepts certain inputs. Such inputs are not sent until the client knows that the cache does not have their image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "module/code.h"
#include "module/compute_cache.h"
#include "module/jit_cache.h"

#define CHUNK (256u << 10)
#define MOST_IMAGE (2ull << 30) /* the most that a server accepts */
#define LOG 16384

/* The inputs that were sent, and those that wait. */
struct graft_link_inputs {
  struct graft_jit_key key;
  struct input {
    struct input *next;
    int type;
    char *name;
    void *data;
    size_t bytes;
  } * first, **end;
};

bool graft_jit_target_of(struct graft_object *context, struct graft_jit_target *target) {
  enum { MAJOR = 75, MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_ */
  const struct graft_device *device = graft_device(context->session, context->u.context.device);
  if (!device) return false;
  *target = (struct graft_jit_target){(unsigned)device->attributes[MAJOR], (unsigned)device->attributes[MINOR], device->name,
                                      graft_driver_text()};
  return true;
}

static struct graft_link_inputs *start_inputs(struct graft_object *context, const struct graft_jit *jit) {
  struct graft_jit_target target;
  if (!graft_cache_is_on() || !graft_jit_cacheable(jit->words, jit->used) || !graft_jit_target_of(context, &target)) return NULL;
  struct graft_link_inputs *inputs = calloc(1, sizeof *inputs);
  if (!inputs) return NULL;
  graft_jit_key_start(&inputs->key, jit->words, jit->used, &target);
  inputs->end = &inputs->first;
  return inputs;
}

static void drop_first(struct graft_link_inputs *inputs) {
  struct input *input = inputs->first;
  inputs->first = input->next;
  if (!inputs->first) inputs->end = &inputs->first;
  free(input->name);
  free(input->data);
  free(input);
}

static void drop_inputs(struct graft_link_inputs *inputs) {
  while (inputs && inputs->first) drop_first(inputs);
  free(inputs);
}

/* False if there is no memory for it. */
static bool hold(struct graft_link_inputs *inputs, int type, const char *name, const void *data, size_t bytes) {
  struct input *input = calloc(1, sizeof *input);
  if (!input) return false;
  *input = (struct input){NULL, type, strdup(name), malloc(bytes), bytes};
  if (!input->name || !input->data) {
    free(input->name);
    free(input->data);
    free(input);
    return false;
  }
  memcpy(input->data, data, bytes);
  *inputs->end = input;
  inputs->end = &input->next;
  return true;
}

/* Sends the waiting inputs in order. */
static int send_inputs(struct graft_object *link) {
  struct graft_link_inputs *inputs = link->u.link.inputs;
  int r = 0;
  while (!r && inputs && inputs->first) {
    struct input *input = inputs->first;
    r = rpc_graftLinkAdd(link, input->type, input->name, input->data, input->bytes);
    drop_first(inputs);
  }
  return r;
}

GRAFT_EXPORT int cuLinkCreate_v2(unsigned int count, void *options, void *values, void *out) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (r) return r;
  struct graft_jit jit;
  if (!out || graft_jit_read(&jit, count, options, values)) return GRAFT_INVALID_VALUE;
  void *made;
  if ((r = rpc_graftLinkCreate(&made, jit.words, jit.used))) return r;
  struct graft_object *link = made;
  link->u.link.info = jit.info;
  link->u.link.error = jit.error;
  link->u.link.info_room = jit.info_room;
  link->u.link.error_room = jit.error_room;
  link->u.link.info_size = jit.info_size;
  link->u.link.error_size = jit.error_size;
  link->u.link.inputs = start_inputs(context, &jit);
  *(void **)out = made;
  return 0;
}

static void show_log(char *log, size_t room, void **size, const char *text) {
  if (!room) return;
  snprintf(log, room, "%s", text);
  *size = (void *)(uintptr_t)strlen(log);
}

/* The program provides the logs when it creates the link. The driver writes to them at each step, and writes their lengths to where the program gave their sizes. */
static void fetch_logs(struct graft_object *link) {
  if (!link->u.link.info_room && !link->u.link.error_room) return;
  unsigned char *text = calloc(2, LOG);
  if (text && !rpc_graftLinkLogs(link, text, text + LOG, LOG)) {
    text[LOG - 1] = text[2 * LOG - 1] = 0;
    show_log(link->u.link.info, link->u.link.info_room, link->u.link.info_size, (char *)text);
    show_log(link->u.link.error, link->u.link.error_room, link->u.link.error_size, (char *)text + LOG);
  }
  free(text);
}

static int add(struct graft_object *link, int type, const char *name, const void *data, size_t size) {
  struct graft_link_inputs *inputs = link->u.link.inputs;
  if (inputs) {
    graft_jit_key_add(&inputs->key, type, name, data, size);
    if (graft_jit_inputs_known(&inputs->key) && hold(inputs, type, name, data, size)) return 0;
  }
  int r = send_inputs(link);
  if (!r) r = rpc_graftLinkAdd(link, type, name, data, size);
  if (!r && inputs) graft_jit_inputs_keep(&inputs->key);
  return r;
}

GRAFT_EXPORT int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned int count,
                                  void *options, void *values) {
  struct graft_object *link = graft_object(GRAFT_LINK, state);
  int r = graft_ready();
  if (r) return r;
  (void)options, (void)values;
  if (!link || !data || !size) return link ? GRAFT_INVALID_VALUE : GRAFT_INVALID_HANDLE;
  if (count) return graft_not_served("cuLinkAddData with options of its own");
  if (type == GRAFT_INPUT_PTX) { /* a text; its end counts, however large the program says that it is */
    size_t length = strnlen(data, size);
    if (length < size) size = length + 1;
  }
  r = add(link, type, name ? name : "", data, size);
  fetch_logs(link);
  return r;
}

GRAFT_EXPORT int cuLinkAddFile_v2(void *state, int type, const char *path, unsigned int count, void *options, void *values) {
  size_t bytes;
  int r = graft_ready();
  if (r) return r;
  if (!graft_object(GRAFT_LINK, state)) return GRAFT_INVALID_HANDLE;
  if (!path || !*path) return GRAFT_INVALID_VALUE;
  void *data = graft_read_file(path, &bytes);
  if (!data) return GRAFT_FILE_NOT_FOUND;
  r = !bytes ? GRAFT_INVALID_IMAGE : cuLinkAddData_v2(state, type, data, bytes, path, count, options, values);
  free(data);
  return r;
}

/* The image of a link that the driver has completed. */
static int fetch_image(struct graft_object *link, void **image, uint64_t bytes) {
  int r = 0;
  /* The size comes from the server: a number near 2^64 must not become a small allocation. */
  if (bytes > MOST_IMAGE || !(*image = malloc(bytes + CHUNK))) return GRAFT_OUT_OF_MEMORY;
  for (uint64_t at = 0; at < bytes && !r; at += CHUNK) {
    unsigned take = bytes - at < CHUNK ? (unsigned)(bytes - at) : CHUNK;
    r = rpc_graftLinkImage(link, at, (unsigned char *)*image + at, take);
  }
  if (r) {
    free(*image);
    *image = NULL;
  }
  return r;
}

static int complete(struct graft_object *link, void **image, size_t *size) {
  struct graft_link_inputs *inputs = link->u.link.inputs;
  if (inputs && (*image = graft_jit_linked(&inputs->key, size))) return 0;
  uint64_t bytes = 0;
  int r = send_inputs(link);
  if (!r) r = rpc_graftLinkComplete(link, &bytes);
  fetch_logs(link);
  if (!r) r = fetch_image(link, image, bytes);
  if (r) return r;
  *size = bytes;
  if (inputs) graft_jit_linked_keep(&inputs->key, *image, bytes);
  return 0;
}

GRAFT_EXPORT int cuLinkComplete(void *state, void *image, void *size) {
  struct graft_object *link = graft_object(GRAFT_LINK, state);
  int r = graft_ready();
  if (r) return r;
  if (!link) return GRAFT_INVALID_HANDLE;
  if (!image) return GRAFT_INVALID_VALUE;
  void *made;
  size_t bytes;
  if ((r = complete(link, &made, &bytes))) return r;
  free(link->u.link.image);
  link->u.link.image = made;
  *(void **)image = made;
  if (size) *(size_t *)size = bytes;
  return 0;
}

int graft_link_one(int type, const void *image, size_t bytes, const uint64_t *words, unsigned used, void **code, size_t *size) {
  void *link;
  int r = rpc_graftLinkCreate(&link, words, used);
  if (r) return r;
  uint64_t linked = 0;
  r = rpc_graftLinkAdd(link, type, "", image, bytes);
  if (!r) r = rpc_graftLinkComplete(link, &linked);
  if (!r) r = fetch_image(link, code, linked);
  *size = linked;
  int end = rpc_cuLinkDestroy(link);
  if (!r && end) free(*code);
  return r ? r : end;
}

GRAFT_EXPORT int cuLinkDestroy(void *state) {
  struct graft_object *link = graft_object(GRAFT_LINK, state);
  int r = graft_ready();
  if (r) return r;
  if (!link) return GRAFT_INVALID_HANDLE;
  free(link->u.link.image);
  drop_inputs(link->u.link.inputs);
  return rpc_cuLinkDestroy(state);
}
