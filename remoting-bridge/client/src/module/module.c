/* Modules and libraries: an image goes to the server once. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "api/captures.h"
#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "base/environment.h"
#include "graft_rpc.h"
#include "module/code.h"
#include "module/counterparts.h"
#include "module/functions.h"
#include "module/jit_cache.h"
#include "module/selection.h"
#include "session/session.h"

#define MOST_FATBINS 4096

/* What is sent to the server: the image itself, or one made of several. */
struct code {
  const void *data;
  size_t bytes;
  void *made; /* to be freed */
  bool gathered;
};

/* Code that is to be linked on the GPU's machine (nvcc -rdc=true, the wrapper's version 2): all of its fatbins, behind a
 * header as remoting-bridge/api/README.md says. */
static int gather(const void *const *fatbins, unsigned count, struct code *code) {
  size_t head = 8 + 8 * (size_t)count, bytes = head;
  for (unsigned i = 0; i < count; i++) {
    size_t size = graft_image_size(fatbins[i]);
    if (!size) return GRAFT_INVALID_IMAGE;
    bytes += graft_padded(size);
  }
  uint8_t *at = code->made = calloc(1, bytes);
  if (!at) return GRAFT_OUT_OF_MEMORY;
  const uint32_t begin[] = {GRAFT_WRAPPER_MAGIC, count};
  memcpy(at, begin, sizeof begin);
  size_t place = head;
  for (unsigned i = 0; i < count; i++) {
    uint64_t size = graft_image_size(fatbins[i]);
    memcpy(at + 8 + 8 * i, &size, 8);
    memcpy(at + place, fatbins[i], size);
    place += graft_padded(size);
  }
  code->data = at;
  code->bytes = bytes;
  code->gathered = true;
  return 0;
}

/* Takes out what the program's environment forbids the driver to use. */
static int select_code(struct code *code) {
  const struct graft_environment *environment = &graft_environment;
  if (!environment->disable_ptx && !environment->force_ptx) return 0;
  if (graft_image_is_ptx(code->data)) return environment->disable_ptx ? GRAFT_JIT_COMPILATION_DISABLED : 0;
  if (graft_get32(code->data) != GRAFT_FATBIN_MAGIC) return 0;
  if (!(code->made = malloc(code->bytes))) return GRAFT_OUT_OF_MEMORY;
  code->bytes = graft_fatbin_select(code->data, code->bytes, environment->disable_ptx, code->made);
  code->data = code->made;
  if (code->bytes) return 0;
  free(code->made);
  return environment->disable_ptx ? GRAFT_JIT_COMPILATION_DISABLED : GRAFT_INVALID_IMAGE;
}

static int code_of(const void *image, struct code *code) {
  struct {
    uint32_t magic, version;
    const void *data;
    const void *const *prelinked;
  } wrapper;
  *code = (struct code){0};
  if (!image) return GRAFT_INVALID_VALUE;
  code->data = graft_image_unwrap(image);
  code->bytes = code->data ? graft_image_size(code->data) : 0;
  if (!code->bytes) return GRAFT_INVALID_IMAGE;
  if (code->data == image) return select_code(code);
  memcpy(&wrapper, image, sizeof wrapper);
  if (wrapper.version != 2 || !wrapper.prelinked || !wrapper.prelinked[0]) return select_code(code);
  const void *fatbins[MOST_FATBINS] = {code->data};
  unsigned count = 1;
  while (wrapper.prelinked[count - 1]) {
    if (count == MOST_FATBINS) return GRAFT_INVALID_IMAGE;
    fatbins[count] = wrapper.prelinked[count - 1];
    count++;
  }
  return gather(fatbins, count, code);
}

/* JIT options (CUjit_option) that point at the program's memory. */
enum { WALL_TIME = 2, INFO_LOG = 3, INFO_LOG_SIZE = 4, ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };

int graft_jit_read(struct graft_jit *jit, unsigned int count, const int *options, void **values) {
  *jit = (struct graft_jit){0};
  if (count > GRAFT_JIT_OPTIONS || (count && (!options || !values))) return GRAFT_INVALID_VALUE;
  for (unsigned i = 0; i < count; i++) {
    switch (options[i]) {
      case INFO_LOG: jit->info = values[i]; break;
      case INFO_LOG_SIZE:
        jit->info_room = (size_t)(uintptr_t)values[i];
        jit->info_size = &values[i];
        break;
      case ERROR_LOG: jit->error = values[i]; break;
      case ERROR_LOG_SIZE:
        jit->error_room = (size_t)(uintptr_t)values[i];
        jit->error_size = &values[i];
        break;
      case WALL_TIME: break;
      default: jit->words[jit->used++] = (uint64_t)(unsigned)options[i]; jit->words[jit->used++] = (uintptr_t)values[i];
    }
  }
  if (!jit->info) jit->info_room = 0;
  if (!jit->error) jit->error_room = 0;
  return 0;
}

/* Replaces code that the driver would compile by compiled code, from the cache or compiled now. False if that is not possible. */
static bool use_compiled(struct code *code, struct graft_object *context, const struct graft_jit *jit, struct code *compiled) {
  struct graft_jit_target target;
  *compiled = (struct code){0};
  if (code->gathered || !graft_jit_target_of(context, &target)) return false;
  compiled->made = graft_jit_code(code->data, code->bytes, jit->words, jit->used, &target, graft_link_one, &compiled->bytes);
  compiled->data = compiled->made;
  return compiled->made;
}

static int send_module(void **module, const struct code *code, const struct graft_jit *jit, unsigned char *logs[2], unsigned room) {
  uint8_t hash[32];
  return graft_code_is_known(code->data, code->bytes, hash)
             ? rpc_graftModuleLoadKnown(module, hash, jit->words, jit->used, logs[0], logs[1], room)
             : rpc_graftModuleLoad(module, code->data, code->bytes, jit->words, jit->used, logs[0], logs[1], room);
}

static int load_module(void **module, const void *image, unsigned int count, const int *options, void **values) {
  struct graft_object *context;
  struct graft_jit jit;
  int r = graft_context_need(&context);
  if (r) return r;
  struct code code;
  if (!module) return GRAFT_INVALID_VALUE;
  if ((r = graft_jit_read(&jit, count, options, values))) return r;
  if ((r = code_of(image, &code))) return r;
  unsigned room = jit.info_room || jit.error_room ? 16384 : 0;
  char *info = room ? calloc(2, room) : NULL;
  if (room && !info) {
    free(code.made);
    return GRAFT_OUT_OF_MEMORY;
  }
  unsigned char *logs[] = {(unsigned char *)info, (unsigned char *)(info ? info + room : NULL)};
  struct code compiled;
  bool is_compiled = use_compiled(&code, context, &jit, &compiled);
  r = send_module(module, is_compiled ? &compiled : &code, &jit, logs, room);
  /* The driver refuses the compiled code: loading the source gives the result, and the compiler's messages. */
  if (is_compiled && r) r = send_module(module, &code, &jit, logs, room);
  if (!r) {
    ((struct graft_object *)*module)->u.library.context = context;
    ((struct graft_object *)*module)->u.library.ends = context->u.context.ends;
  }
  free(compiled.made);
  free(code.made);
  if (room) {
    info[room - 1] = info[2 * room - 1] = 0;
    if (jit.info_room) {
      snprintf(jit.info, jit.info_room, "%s", info);
      *jit.info_size = (void *)(uintptr_t)strlen(jit.info);
    }
    if (jit.error_room) {
      snprintf(jit.error, jit.error_room, "%s", info + room);
      *jit.error_size = (void *)(uintptr_t)strlen(jit.error);
    }
    free(info);
  }
  return r;
}

GRAFT_EXPORT int cuModuleLoadData(void *module, void *image) { return load_module(module, image, 0, NULL, NULL); }
GRAFT_EXPORT int cuModuleLoadFatBinary(void *module, void *image) { return load_module(module, image, 0, NULL, NULL); }
GRAFT_EXPORT int cuModuleLoadDataEx(void *module, void *image, unsigned int count, void *options, void *values) {
  return load_module(module, image, count, options, values);
}

/* Followed by a zero, which PTX needs. */
void *graft_read_file(const char *path, size_t *bytes) {
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  struct stat st;
  char *text = NULL;
  if (fd >= 0 && !fstat(fd, &st) && (text = calloc(1, (size_t)st.st_size + 64))) {
    size_t got = 0;
    ssize_t n;
    while (got < (size_t)st.st_size && (n = read(fd, text + got, (size_t)st.st_size - got)) > 0) got += (size_t)n;
  }
  if (fd >= 0) close(fd);
  if (text && bytes) *bytes = (size_t)st.st_size;
  return text;
}

GRAFT_EXPORT int cuModuleLoad(void *module, const char *path) {
  int ready = graft_ready();
  if (ready) return ready;
  if (!path || !*path) return GRAFT_INVALID_VALUE;
  void *image = graft_read_file(path, NULL);
  if (!image) return GRAFT_FILE_NOT_FOUND;
  int r = load_module(module, image, 0, NULL, NULL);
  free(image);
  return r;
}

static int load_library(void **library, const void *image) {
  int r = graft_ready();
  if (r) return r;
  struct code code, compiled = {0}, *sent = &code;
  if (!library) return GRAFT_INVALID_VALUE;
  if ((r = code_of(image, &code))) return r;
  /* A library is loaded without a context, and compiled with one. */
  struct graft_object *context = graft_context_current();
  if (context && use_compiled(&code, context, &(struct graft_jit){0}, &compiled)) sent = &compiled;
  uint8_t hash[32];
  r = graft_code_is_known(sent->data, sent->bytes, hash) ? rpc_graftLibraryLoadKnown(library, hash)
                                                         : rpc_graftLibraryLoad(library, sent->data, sent->bytes);
  bool stays = code.data != image && !code.made; /* a wrapper's image, which the CUDA runtime keeps */
  if (!r) graft_counterparts_keep(*library, code.data, code.bytes, stays);
  free(compiled.made);
  free(code.made);
  return r;
}

GRAFT_EXPORT int cuLibraryLoadData(void *library, void *code, void *jit_options, void *jit_values, unsigned int jit_count,
                                   void *options, void *values, unsigned int count) {
  (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
  return load_library(library, code);
}

GRAFT_EXPORT int cuLibraryLoadFromFile(void *library, const char *path, void *jit_options, void *jit_values, unsigned int jit_count,
                                       void *options, void *values, unsigned int count) {
  (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
  int ready = graft_ready();
  if (ready) return ready;
  if (!path || !*path) return GRAFT_INVALID_VALUE;
  void *image = graft_read_file(path, NULL);
  if (!image) return GRAFT_FILE_NOT_FOUND;
  int r = load_library(library, image);
  free(image);
  return r;
}

GRAFT_EXPORT int cuModuleUnload(void *module) {
  struct graft_object *object = graft_object(GRAFT_MODULE, module);
  int r = graft_ready();
  if (r || (r = graft_uncaptured())) return r;
  if (!object) return GRAFT_INVALID_HANDLE;
  graft_functions_drop(object);
  return graft_module_has_ended(object) ? GRAFT_CONTEXT_IS_DESTROYED : rpc_cuModuleUnload(module);
}

GRAFT_EXPORT int cuLibraryUnload(void *library) {
  struct graft_object *object = graft_object(GRAFT_LIBRARY, library);
  int r = graft_ready();
  if (r || (r = graft_uncaptured())) return r;
  if (!object) return GRAFT_INVALID_HANDLE;
  graft_functions_drop(object);
  if (object->u.library.image) graft_counterparts_unload(object);
  struct graft_session *before = graft_session_use(object->session);
  r = rpc_cuLibraryUnload(library);
  graft_session_use(before);
  return r;
}
