/* JIT linking: inputs go to the server's driver, the image comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "module/code.h"

#define PIECE (256u << 10)
#define LOG 16384

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
  *(void **)out = made;
  return 0;
}

static void show_log(char *log, size_t room, void **size, const char *text) {
  if (!room) return;
  snprintf(log, room, "%s", text);
  *size = (void *)(uintptr_t)strlen(log);
}

/* The logs are the program's from the link's creation on; the driver writes to them at each step, and how long they are to
 * where the program said how much room there is. */
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

GRAFT_EXPORT int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned int count,
                                  void *options, void *values) {
  struct graft_object *link = graft_object(GRAFT_LINK, state);
  int r = graft_ready();
  if (r) return r;
  (void)options, (void)values;
  if (!link || !data || !size) return link ? GRAFT_INVALID_VALUE : GRAFT_INVALID_HANDLE;
  if (count) return graft_not_served("cuLinkAddData with options of its own");
  r = rpc_graftLinkAdd(link, type, name ? name : "", data, size);
  fetch_logs(link);
  return r;
}

GRAFT_EXPORT int cuLinkAddFile_v2(void *state, int type, const char *path, unsigned int count, void *options, void *values) {
  size_t bytes;
  void *data = graft_read_file(path, &bytes);
  if (!data) return GRAFT_FILE_NOT_FOUND;
  int r = cuLinkAddData_v2(state, type, data, bytes, path, count, options, values);
  free(data);
  return r;
}

GRAFT_EXPORT int cuLinkComplete(void *state, void *image, void *size) {
  struct graft_object *link = graft_object(GRAFT_LINK, state);
  int r = graft_ready();
  if (r) return r;
  if (!link) return GRAFT_INVALID_HANDLE;
  uint64_t bytes = 0;
  r = rpc_graftLinkComplete(link, &bytes);
  fetch_logs(link);
  if (r) return r;
  free(link->u.link.image);
  if (!(link->u.link.image = malloc(bytes + PIECE))) return GRAFT_OUT_OF_MEMORY;
  for (uint64_t at = 0; at < bytes && !r; at += PIECE) {
    unsigned take = bytes - at < PIECE ? (unsigned)(bytes - at) : PIECE;
    r = rpc_graftLinkImage(link, at, (unsigned char *)link->u.link.image + at, take);
  }
  if (r) return r;
  if (image) *(void **)image = link->u.link.image;
  if (size) *(size_t *)size = bytes;
  return 0;
}

GRAFT_EXPORT int cuLinkDestroy(void *state) {
  struct graft_object *link = graft_object(GRAFT_LINK, state);
  int r = graft_ready();
  if (r) return r;
  if (!link) return GRAFT_INVALID_HANDLE;
  free(link->u.link.image);
  return rpc_cuLinkDestroy(state);
}
