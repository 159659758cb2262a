/* Modules, libraries, functions: images go to the server once; functions come back with their parameters' layout. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graft.h"
#include "jit_cache.h"
#include "tables.h"

#define WRAPPER_MAGIC 0x466243B1u
#define MOST_FATBINS 4096
#define FATBIN_MAGIC 0xBA55ED50u
#define LAYOUT 96

static uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t get32(const uint8_t *p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }
static uint64_t get64(const uint8_t *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

const void *graft_image_unwrap(const void *image) {
  if (image && get32(image) == WRAPPER_MAGIC) {
    const void *data;
    memcpy(&data, (const char *)image + 8, sizeof data);
    return data;
  }
  return image;
}

/* An ELF's end: the furthest of its section headers, sections and segments. */
static size_t elf_size(const uint8_t *p) {
  if (p[4] != 2) return 0; /* device code is 64-bit */
  uint64_t end = 64, sections = get64(p + 40), programs = get64(p + 32);
  unsigned section_size = get16(p + 58), section_count = get16(p + 60);
  unsigned program_size = get16(p + 54), program_count = get16(p + 56);
  if (sections + (uint64_t)section_size * section_count > end) end = sections + (uint64_t)section_size * section_count;
  if (programs + (uint64_t)program_size * program_count > end) end = programs + (uint64_t)program_size * program_count;
  for (unsigned i = 0; i < section_count; i++) {
    const uint8_t *s = p + sections + (uint64_t)i * section_size;
    if (get32(s + 4) != 8 && get64(s + 24) + get64(s + 32) > end) end = get64(s + 24) + get64(s + 32); /* 8: no bits */
  }
  for (unsigned i = 0; i < program_count; i++) {
    const uint8_t *s = p + programs + (uint64_t)i * program_size;
    if (get64(s + 8) + get64(s + 32) > end) end = get64(s + 8) + get64(s + 32);
  }
  return end;
}

size_t graft_image_size(const void *image) {
  const uint8_t *p = image;
  if (get32(p) == FATBIN_MAGIC) return get16(p + 6) + get64(p + 8);
  if (!memcmp(p, "\177ELF", 4)) return elf_size(p);
  if (p[0] == '/' || p[0] == '.' || p[0] == '\n' || p[0] == '\r' || p[0] == ' ' || p[0] == '\t') {
    return strlen(image) + 1; /* PTX text starts with a comment, white space or a directive */
  }
  return 0;
}

/* What goes to the server: the image itself, or made of several. */
struct code {
  const void *data;
  size_t bytes;
  void *made; /* to be freed */
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
  const uint32_t begin[] = {WRAPPER_MAGIC, count};
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
  return 0;
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
  if (code->data == image) return 0;
  memcpy(&wrapper, image, sizeof wrapper);
  if (wrapper.version != 2 || !wrapper.prelinked || !wrapper.prelinked[0]) return 0;
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
      default:
        jit->words[jit->used++] = (uint64_t)(unsigned)options[i];
        jit->words[jit->used++] = (uintptr_t)values[i];
    }
  }
  if (!jit->info) jit->info_room = 0;
  if (!jit->error) jit->error_room = 0;
  return 0;
}

/* In place of code that the driver would compile, what it has compiled before or compiles now. False if there is none such. */
static bool use_compiled(struct code *code, struct graft_object *context, const struct graft_jit *jit, struct code *compiled) {
  struct graft_jit_target target;
  *compiled = (struct code){0};
  if (code->made || !graft_jit_target_of(context, &target)) return false;
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
  /* What was kept is of no use to this driver: its own compiler says. */
  if (is_compiled && r) r = send_module(module, &code, &jit, logs, room);
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

/* With a zero behind it, as PTX wants. */
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
  free(compiled.made);
  free(code.made);
  return r;
}

GRAFT_EXPORT int cuLibraryLoadData(void *library, void *code, void *jit_options, void *jit_values, unsigned int jit_count,
                                   void *options, void *values, unsigned int count) {
  (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
  return load_library(library, code);
}

GRAFT_EXPORT int cuLibraryLoadFromFile(void *library, const char *path, void *jit_options, void *jit_values,
                                       unsigned int jit_count, void *options, void *values, unsigned int count) {
  (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
  void *image = graft_read_file(path, NULL);
  if (!image) return GRAFT_FILE_NOT_FOUND;
  int r = load_library(library, image);
  free(image);
  return r;
}

/* ---- Functions ---- */

static int set_layout(struct graft_object *function, uint32_t count, const uint32_t *pairs) {
  if (count > 65536) return GRAFT_INVALID_VALUE;
  struct graft_layout *layout = calloc(1, sizeof *layout + count * sizeof *layout->parameter);
  if (!layout) return GRAFT_OUT_OF_MEMORY;
  layout->count = count;
  for (uint32_t i = 0; i < count; i++) {
    layout->parameter[i].offset = pairs[2 * i];
    layout->parameter[i].size = pairs[2 * i + 1];
    uint64_t end = (uint64_t)pairs[2 * i] + pairs[2 * i + 1];
    if (end > 32768) { /* the largest parameter space of any architecture is 32,764 bytes */
      free(layout);
      return GRAFT_INVALID_VALUE;
    }
    if (end > layout->total) layout->total = (uint32_t)end;
  }
  function->u.function.layout = layout;
  return 0;
}

/* Completes a function from the first reply; a long parameter list takes another question. */
static int complete(struct graft_object *function, uint32_t count, const uint32_t *pairs) {
  if (count <= LAYOUT) return set_layout(function, count, pairs);
  if (count > 65536) return GRAFT_INVALID_VALUE;
  uint32_t *all = calloc(count, 8), again;
  if (!all) return GRAFT_OUT_OF_MEMORY;
  int r = rpc_graftFunctionLayout(function, &again, all, 2 * count);
  if (!r) r = again == count ? set_layout(function, count, all) : GRAFT_INVALID_VALUE;
  free(all);
  return r;
}

/* Finds a function in its module's or library's list by name, or asks the server. */
static int get_function(void **out, void *owner, bool library, const char *name) {
  struct graft_object *context = NULL;
  int r = library ? graft_ready() : graft_context_need(&context);
  if (r) return r;
  if (!out || !name) return GRAFT_INVALID_VALUE;
  struct graft_object *from = graft_object(library ? GRAFT_LIBRARY : GRAFT_MODULE, owner);
  if (!from && !library && (from = graft_object(GRAFT_LIBRARY, owner))) library = true; /* cudart passes libraries here */
  if (!from) return GRAFT_INVALID_HANDLE;
  pthread_mutex_lock(&from->u.library.lock);
  struct graft_object *function = from->u.library.functions;
  while (function && (!function->u.function.name || strcmp(function->u.function.name, name))) function = function->next;
  if (!function) {
    uint32_t count = 0, pairs[2 * LAYOUT];
    void *made = NULL;
    r = library ? rpc_graftLibraryGetKernel(&made, from, name, &count, pairs, 2 * LAYOUT)
                : rpc_graftModuleGetFunction(&made, from, name, &count, pairs, 2 * LAYOUT);
    if (!r) r = complete(made, count, pairs);
    if (!r) {
      function = made;
      function->u.function.library = from;
      function->u.function.name = strdup(name);
      function->u.function.is_kernel = library;
      function->next = from->u.library.functions;
      from->u.library.functions = function;
    }
  }
  pthread_mutex_unlock(&from->u.library.lock);
  if (!r) *out = function;
  return r;
}

GRAFT_EXPORT int cuModuleGetFunction(void *function, void *module, const char *name) {
  return get_function(function, module, false, name);
}

GRAFT_EXPORT int cuLibraryGetKernel(void *kernel, void *library, const char *name) {
  return get_function(kernel, library, true, name);
}

static int ask_layout(struct graft_object *function) {
  int r = 0;
  pthread_mutex_lock(&function->u.function.lock);
  if (!function->u.function.layout) {
    uint32_t count, pairs[2 * LAYOUT];
    r = rpc_graftFunctionLayout(function, &count, pairs, 2 * LAYOUT);
    if (!r) r = complete(function, count, pairs);
  }
  pthread_mutex_unlock(&function->u.function.lock);
  return r;
}

int graft_function_layout(struct graft_object *function, const struct graft_layout **layout) {
  int r = __atomic_load_n(&function->u.function.layout, __ATOMIC_ACQUIRE) ? 0 : ask_layout(function);
  *layout = function->u.function.layout;
  return r;
}

GRAFT_EXPORT int cuLibraryEnumerateKernels(void *kernels, unsigned int count, void *library) {
  struct graft_object *from = graft_object(GRAFT_LIBRARY, library);
  int r = graft_ready();
  if (r) return r;
  if (!from) return GRAFT_INVALID_HANDLE;
  if (!kernels || !count) return GRAFT_INVALID_VALUE;
  if (count > 65536) count = 65536;
  memset(kernels, 0, (size_t)count * sizeof(void *));
  if ((r = rpc_graftLibraryEnumerate(library, kernels, count))) return r;
  for (unsigned i = 0; i < count; i++) {
    struct graft_object *kernel = ((struct graft_object **)kernels)[i];
    if (kernel) {
      kernel->u.function.library = from;
      kernel->u.function.is_kernel = true;
    }
  }
  return 0;
}

/* Functions of a module; they come with names only when asked. */
int graft_module_functions(void *module, void **functions, unsigned int room, unsigned int *count) {
  struct graft_object *from = graft_object(GRAFT_MODULE, module);
  int r = graft_ready();
  if (r) return r;
  if (!from) return GRAFT_INVALID_HANDLE;
  if (room > 65536) room = 65536;
  memset(functions, 0, (size_t)room * sizeof(void *));
  if ((r = rpc_graftModuleEnumerate(module, functions, room, count))) return r;
  for (unsigned i = 0; i < room; i++) {
    struct graft_object *function = functions[i];
    if (function) function->u.function.library = from;
  }
  return 0;
}

GRAFT_EXPORT int cuModuleEnumerateFunctions(void *functions, unsigned int room, void *module) {
  unsigned int count;
  return functions && room ? graft_module_functions(module, functions, room, &count) : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuKernelGetFunction(void *function, void *kernel) {
  /* A kernel serves wherever a function does, here as in the driver. */
  if (!graft_object(GRAFT_FUNCTION, kernel)) return GRAFT_INVALID_HANDLE;
  if (!function) return GRAFT_INVALID_VALUE;
  *(void **)function = kernel;
  return 0;
}

static int get_name(const char **name, void *handle) {
  struct graft_object *function = graft_object(GRAFT_FUNCTION, handle);
  if (!function) return GRAFT_INVALID_HANDLE;
  if (!name) return GRAFT_INVALID_VALUE;
  int r = 0;
  pthread_mutex_lock(&function->u.function.lock);
  if (!function->u.function.name) {
    char *text = calloc(1, 8192);
    r = text ? rpc_graftFunctionName(function, (unsigned char *)text, 8191) : GRAFT_OUT_OF_MEMORY;
    if (!r) function->u.function.name = strdup(text);
    free(text);
  }
  *name = function->u.function.name;
  pthread_mutex_unlock(&function->u.function.lock);
  return r;
}

GRAFT_EXPORT int cuKernelGetName(void *name, void *kernel) { return get_name(name, kernel); }
GRAFT_EXPORT int cuFuncGetName(void *name, void *function) { return get_name(name, function); }

GRAFT_EXPORT int cuKernelGetLibrary(void *library, void *kernel) {
  struct graft_object *function = graft_object(GRAFT_FUNCTION, kernel);
  if (!function || !function->u.function.is_kernel) return GRAFT_INVALID_HANDLE;
  if (!library) return GRAFT_INVALID_VALUE;
  *(void **)library = function->u.function.library;
  return 0;
}

GRAFT_EXPORT int cuFuncGetModule(void *module, void *handle) {
  struct graft_object *function = graft_object(GRAFT_FUNCTION, handle);
  if (!function) return GRAFT_INVALID_HANDLE;
  if (!module) return GRAFT_INVALID_VALUE;
  struct graft_object *owner = function->u.function.library;
  if (!function->u.function.is_kernel) {
    *(void **)module = owner;
    return 0;
  }
  int r = 0;
  pthread_mutex_lock(&owner->u.library.lock);
  if (!owner->u.library.module) {
    void *made;
    r = cuLibraryGetModule(&made, owner);
    if (!r) owner->u.library.module = made;
  }
  *(void **)module = owner->u.library.module;
  pthread_mutex_unlock(&owner->u.library.lock);
  return r;
}

static int parameter_info(void *handle, size_t index, size_t *offset, size_t *size) {
  struct graft_object *function = graft_object(GRAFT_FUNCTION, handle);
  const struct graft_layout *layout;
  if (!function) return GRAFT_INVALID_HANDLE;
  int r = graft_function_layout(function, &layout);
  if (r) return r;
  if (!offset || index >= layout->count) return GRAFT_INVALID_VALUE;
  *offset = layout->parameter[index].offset;
  if (size) *size = layout->parameter[index].size;
  return 0;
}

GRAFT_EXPORT int cuKernelGetParamInfo(void *kernel, size_t index, void *offset, void *size) {
  return parameter_info(kernel, index, offset, size);
}
GRAFT_EXPORT int cuFuncGetParamInfo(void *function, size_t index, void *offset, void *size) {
  return parameter_info(function, index, offset, size);
}

GRAFT_EXPORT int cuFuncIsLoaded(void *state, void *function) {
  if (!graft_object(GRAFT_FUNCTION, function)) return GRAFT_INVALID_HANDLE;
  if (!state) return GRAFT_INVALID_VALUE;
  *(int *)state = 1; /* CU_FUNCTION_LOADING_STATE_LOADED: the server loads when it has to */
  return 0;
}

GRAFT_EXPORT int cuFuncLoad(void *function) {
  return graft_object(GRAFT_FUNCTION, function) ? GRAFT_OK : GRAFT_INVALID_HANDLE;
}

GRAFT_EXPORT int cuModuleGetLoadingMode(void *mode) {
  if (!mode) return GRAFT_INVALID_VALUE;
  const char *wanted = getenv("CUDA_MODULE_LOADING");
  *(int *)mode = wanted && !strcmp(wanted, "EAGER") ? 1 : 2; /* CU_MODULE_EAGER_LOADING, CU_MODULE_LAZY_LOADING */
  return 0;
}

/* ---- Attributes: asked once, remembered. Occupancy depends on what can be set, so setting forgets those answers ---- */

struct graft_facts *graft_facts(struct graft_object *function, int device) {
  struct graft_facts *facts = function->u.function.facts;
  while (facts && facts->device != device) facts = facts->next;
  if (!facts && (facts = calloc(1, sizeof *facts))) {
    facts->device = device;
    facts->next = function->u.function.facts;
    function->u.function.facts = facts;
  }
  return facts;
}

static void forget_facts(struct graft_object *function) {
  struct graft_facts *facts = function->u.function.facts;
  function->u.function.facts = NULL;
  while (facts) {
    struct graft_facts *next = facts->next;
    graft_answers_forget(facts);
    free(facts);
    facts = next;
  }
}

int graft_function_attribute(struct graft_object *function, int attribute, int device, int *value) {
  if (attribute < 0 || attribute >= 24) return GRAFT_INVALID_VALUE;
  pthread_mutex_lock(&function->u.function.lock);
  struct graft_facts *facts = graft_facts(function, device);
  int r = facts ? 0 : GRAFT_OUT_OF_MEMORY;
  if (!r && !(facts->known & 1u << attribute)) {
    r = rpc_graftFunctionGetAttribute(function, attribute, device, &facts->attribute[attribute]);
    if (!r) facts->known |= 1u << attribute;
  }
  if (!r) *value = facts->attribute[attribute];
  pthread_mutex_unlock(&function->u.function.lock);
  return r;
}

static int get_attribute(int *value, int attribute, void *handle, int device) {
  struct graft_object *function = graft_object(GRAFT_FUNCTION, handle);
  int r = graft_ready();
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  return value ? graft_function_attribute(function, attribute, device, value) : GRAFT_INVALID_VALUE;
}

static int set_attribute(void *handle, int attribute, int value, int device) {
  struct graft_object *function = graft_object(GRAFT_FUNCTION, handle);
  int r = graft_ready();
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  int before;
  /* Setting what is set already is common (PyTorch does it before each launch) and free. */
  if (!graft_function_attribute(function, attribute, device, &before) && before == value) return 0;
  if (attribute < 8 || attribute >= 24) return GRAFT_INVALID_VALUE; /* the others cannot be set */
  pthread_mutex_lock(&function->u.function.lock);
  struct graft_facts *facts = graft_facts(function, device);
  if (facts) {
    facts->attribute[attribute] = value;
    facts->known |= 1u << attribute;
    graft_answers_forget(facts);
  }
  pthread_mutex_unlock(&function->u.function.lock);
  if (!facts) return GRAFT_OUT_OF_MEMORY;
  return rpc_graftFunctionSetAttribute(function, attribute, value, device);
}

static int current_device(int *device) {
  struct graft_object *context;
  int r = graft_context_need(&context);
  if (!r) *device = context->u.context.device;
  return r;
}

GRAFT_EXPORT int cuFuncGetAttribute(void *value, int attribute, void *function) {
  int device, r = current_device(&device);
  return r ? r : get_attribute(value, attribute, function, device);
}
GRAFT_EXPORT int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device) {
  return get_attribute(value, attribute, kernel, device);
}
GRAFT_EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  int device, r = current_device(&device);
  return r ? r : set_attribute(function, attribute, value, device);
}
GRAFT_EXPORT int cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
  return set_attribute(kernel, attribute, value, device);
}

/* Cache and bank preferences are hints that current GPUs ignore. */
GRAFT_EXPORT int cuFuncSetCacheConfig(void *function, int config) {
  (void)config;
  return graft_object(GRAFT_FUNCTION, function) ? GRAFT_OK : GRAFT_INVALID_HANDLE;
}
GRAFT_EXPORT int cuFuncSetSharedMemConfig(void *function, int config) {
  (void)config;
  return graft_object(GRAFT_FUNCTION, function) ? GRAFT_OK : GRAFT_INVALID_HANDLE;
}

/* A module or library that ends takes its functions along. */
static void drop_functions(struct graft_object *owner) {
  pthread_mutex_lock(&owner->u.library.lock);
  struct graft_object *function = owner->u.library.functions;
  owner->u.library.functions = NULL;
  pthread_mutex_unlock(&owner->u.library.lock);
  while (function) {
    struct graft_object *next = function->next;
    forget_facts(function);
    graft_object_free(GRAFT_FUNCTION, function);
    function = next;
  }
}

GRAFT_EXPORT int cuModuleUnload(void *module) {
  struct graft_object *object = graft_object(GRAFT_MODULE, module);
  int r = graft_ready();
  if (r) return r;
  if (!object) return GRAFT_INVALID_HANDLE;
  drop_functions(object);
  return rpc_cuModuleUnload(module);
}

GRAFT_EXPORT int cuLibraryUnload(void *library) {
  struct graft_object *object = graft_object(GRAFT_LIBRARY, library);
  int r = graft_ready();
  if (r) return r;
  if (!object) return GRAFT_INVALID_HANDLE;
  drop_functions(object);
  return rpc_cuLibraryUnload(library);
}
