/* Functions of modules and libraries, which the server describes with the layout of their parameters and their attributes. */
#include "module/functions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "session/session.h"

#define LAYOUT 96

struct graft_object *graft_function_of(const void *handle) {
  struct graft_object *function = graft_object(GRAFT_FUNCTION, handle);
  const struct graft_object *owner = function ? function->u.function.library : NULL;
  return owner && graft_module_has_ended(owner) ? NULL : function;
}

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

/* Completes a function from the first reply. The layout of a long parameter list is asked for again. */
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

/* Has the server find a function. What programs do with a new function is to ask for its attributes and to launch it, so the attributes on the
 * current device come along. They cost the server little: for the layout the driver has to load the function anyway, also where it loads lazily,
 * and then it answers from memory. Functions that are listed come without either, as a program may list thousands that it never uses. */
static int find(struct graft_object **function, struct graft_object *from, bool library, const char *name) {
  uint32_t count = 0, mask = 0, pairs[2 * LAYOUT];
  int values[GRAFT_FUNCTION_ATTRIBUTES];
  void *made = NULL;
  struct graft_session *before = graft_several_servers ? graft_session_use(from->session) : NULL;
  int r =
      library
          ? rpc_graftLibraryGetKernel_v2(&made, from, name, &count, pairs, 2 * LAYOUT, &mask, values, GRAFT_FUNCTION_ATTRIBUTES)
          : rpc_graftModuleGetFunction_v2(&made, from, name, &count, pairs, 2 * LAYOUT, &mask, values, GRAFT_FUNCTION_ATTRIBUTES);
  if (!r) r = complete(made, count, pairs);
  *function = made;
  const struct graft_object *context = graft_context_current();
  struct graft_facts *facts = !r && mask && context ? graft_facts(made, context->u.context.device) : NULL;
  if (facts) graft_facts_learn(facts, mask, values);
  if (graft_several_servers) graft_session_use(before);
  return r;
}

/* Finds a function by name in the list of its module or library, or queries the server. */
static int get_function(void **out, void *owner, bool library, const char *name) {
  struct graft_object *context = NULL;
  int r = library ? graft_ready() : graft_context_need(&context);
  if (r) return r;
  if (!out || !name) return GRAFT_INVALID_VALUE;
  struct graft_object *from = graft_object(library ? GRAFT_LIBRARY : GRAFT_MODULE, owner);
  if (!from && !library && (from = graft_object(GRAFT_LIBRARY, owner))) library = true; /* cudart passes libraries here */
  if (!from) return library && graft_object_is_gone(GRAFT_LIBRARY, owner) ? GRAFT_NOT_FOUND : GRAFT_INVALID_HANDLE;
  if (graft_module_has_ended(from)) return GRAFT_CONTEXT_IS_DESTROYED;
  pthread_mutex_lock(&from->u.library.lock);
  struct graft_object *function = from->u.library.functions;
  while (function && (!function->u.function.name || strcmp(function->u.function.name, name))) function = function->next;
  if (!function) {
    r = find(&function, from, library, name);
    if (!r) {
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
  GRAFT_IN_CONTEXT_OF(module);
  if (name && !*name) return GRAFT_INVALID_VALUE;
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

/* Enters a function into its module or library, which frees it when it is unloaded. The driver reuses the addresses of unloaded functions, and the server then sends the old function's id for the new one. So a function that belongs to another module is an old one, whose module ended with its context, and what is known of it does not hold for the new function. */
static void own(struct graft_object *owner, struct graft_object *function, bool is_kernel) {
  struct graft_object *before = function->u.function.library;
  if (before == owner) return;
  if (before) {
    pthread_mutex_lock(&before->u.library.lock);
    struct graft_object **p = &before->u.library.functions;
    while (*p && *p != function) p = &(*p)->next;
    if (*p) *p = function->next;
    pthread_mutex_unlock(&before->u.library.lock);
    graft_function_forget(function);
  }
  function->u.function.library = owner;
  function->u.function.is_kernel = is_kernel;
  pthread_mutex_lock(&owner->u.library.lock);
  function->next = owner->u.library.functions;
  owner->u.library.functions = function;
  pthread_mutex_unlock(&owner->u.library.lock);
}

GRAFT_EXPORT int cuLibraryEnumerateKernels(void *kernels, unsigned int count, void *library) {
  struct graft_object *from = graft_object(GRAFT_LIBRARY, library);
  int r = graft_ready();
  if (r) return r;
  if (!from) return GRAFT_INVALID_HANDLE;
  if (!count) return 0;
  unsigned int all;
  if (!kernels) return GRAFT_INVALID_VALUE;
  if ((r = rpc_cuLibraryGetKernelCount(&all, library))) return r;
  if (count > all) count = all;
  memset(kernels, 0, (size_t)count * sizeof(void *));
  if ((r = rpc_graftLibraryEnumerate(library, kernels, count))) return r;
  for (unsigned i = 0; i < count; i++) {
    struct graft_object *kernel = ((struct graft_object **)kernels)[i];
    if (kernel) own(from, kernel, true);
  }
  return 0;
}

/* The functions of a module; their names are asked for when they are needed. */
int graft_module_functions(void *module, void **functions, unsigned int room, unsigned int *count) {
  struct graft_object *from = graft_object(GRAFT_MODULE, module);
  int r = graft_ready();
  if (r) return r;
  if (!from) return GRAFT_INVALID_HANDLE;
  if (graft_module_has_ended(from)) return GRAFT_CONTEXT_IS_DESTROYED;
  unsigned int all;
  if ((r = rpc_cuModuleGetFunctionCount(&all, module))) return r;
  if (room > all) room = all;
  memset(functions, 0, (size_t)room * sizeof(void *));
  if ((r = rpc_graftModuleEnumerate(module, functions, room, count))) return r;
  for (unsigned i = 0; i < room; i++) {
    struct graft_object *function = functions[i];
    if (function) own(from, function, false);
  }
  return 0;
}

GRAFT_EXPORT int cuModuleGetFunctionCount(unsigned int *count, void *module) {
  const struct graft_object *from = graft_object(GRAFT_MODULE, module);
  int r = graft_ready();
  if (!r && from && graft_module_has_ended(from)) r = GRAFT_CONTEXT_IS_DESTROYED;
  return r ? r : rpc_cuModuleGetFunctionCount(count, module);
}

GRAFT_EXPORT int cuModuleEnumerateFunctions(void *functions, unsigned int room, void *module) {
  unsigned int count;
  int r = graft_ready();
  if (r) return r;
  if (!graft_object(GRAFT_MODULE, module)) return GRAFT_INVALID_HANDLE;
  if (!room) return 0;
  return functions ? graft_module_functions(module, functions, room, &count) : GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuKernelGetFunction(void *function, void *kernel) {
  /* A kernel can be used wherever a function can, as in the driver. */
  if (!graft_function_of(kernel)) return GRAFT_INVALID_HANDLE;
  if (!function) return GRAFT_INVALID_VALUE;
  int r = graft_in_context();
  if (!r) *(void **)function = kernel;
  return r;
}

static int get_name(const char **name, void *handle) {
  struct graft_object *function = graft_function_of(handle);
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
/* Arguments are looked at first, before cuInit too. */
GRAFT_EXPORT int cuFuncGetName(void *name, void *function) {
  int r = get_name(name, function);
  return r ? r : graft_usable();
}

GRAFT_EXPORT int cuKernelGetLibrary(void *library, void *kernel) {
  struct graft_object *function = graft_function_of(kernel);
  if (!function || !function->u.function.is_kernel) return GRAFT_INVALID_HANDLE;
  if (!library) return GRAFT_INVALID_VALUE;
  *(void **)library = function->u.function.library;
  return 0;
}

GRAFT_EXPORT int cuFuncGetModule(void *module, void *handle) {
  struct graft_object *function = graft_function_of(handle);
  int r = graft_usable();
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  if (!module) return GRAFT_INVALID_VALUE;
  struct graft_object *owner = function->u.function.library;
  if (!function->u.function.is_kernel) {
    *(void **)module = owner;
    return 0;
  }
  if (graft_several_servers) return cuLibraryGetModule(module, owner); /* a module belongs to one server */
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
  struct graft_object *function = graft_function_of(handle);
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
  int r = graft_function_of(kernel) ? graft_in_context() : GRAFT_OK;
  return r ? r : parameter_info(kernel, index, offset, size);
}
GRAFT_EXPORT int cuFuncGetParamInfo(void *function, size_t index, void *offset, void *size) {
  int r = parameter_info(function, index, offset, size);
  return r ? r : graft_usable();
}

GRAFT_EXPORT int cuFuncIsLoaded(void *state, void *function) {
  if (!graft_function_of(function)) return GRAFT_INVALID_HANDLE;
  if (!state) return GRAFT_INVALID_VALUE;
  *(int *)state = 1; /* CU_FUNCTION_LOADING_STATE_LOADED: the server loads when it has to */
  return graft_usable();
}

GRAFT_EXPORT int cuFuncLoad(void *function) { return graft_function_of(function) ? graft_usable() : GRAFT_INVALID_HANDLE; }

GRAFT_EXPORT int cuModuleGetLoadingMode(void *mode) {
  int r = graft_ready();
  if (r) return r;
  if (!mode) return GRAFT_INVALID_VALUE;
  const char *wanted = getenv("CUDA_MODULE_LOADING");
  *(int *)mode = wanted && !strcmp(wanted, "EAGER") ? 1 : 2; /* CU_MODULE_EAGER_LOADING, CU_MODULE_LAZY_LOADING */
  return 0;
}
