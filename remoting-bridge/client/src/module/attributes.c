/* Attributes of functions, which are asked for once, all together: programs ask about ten of each kernel. Occupancy depends on attributes, so setting one discards the remembered answers. */
#include <pthread.h>
#include <stdlib.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "module/functions.h"

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

void graft_facts_learn(struct graft_facts *facts, uint32_t mask, const int *values) {
  for (unsigned i = 0; i < GRAFT_FUNCTION_ATTRIBUTES; i++) {
    if (mask & ~facts->known & 1u << i) facts->attribute[i] = values[i];
  }
  facts->known |= mask & ((1u << GRAFT_FUNCTION_ATTRIBUTES) - 1);
  facts->asked = true;
}

static int ask_all(struct graft_object *function, struct graft_facts *facts) {
  uint32_t mask = 0;
  int values[GRAFT_FUNCTION_ATTRIBUTES];
  int r = rpc_graftFunctionAttributes(function, facts->device, &mask, values, GRAFT_FUNCTION_ATTRIBUTES);
  if (!r) graft_facts_learn(facts, mask, values);
  return r;
}

int graft_function_attribute(struct graft_object *function, int attribute, int device, int *value) {
  if (attribute < 0 || attribute >= GRAFT_FUNCTION_ATTRIBUTES) return GRAFT_INVALID_VALUE;
  pthread_mutex_lock(&function->u.function.lock);
  struct graft_facts *facts = graft_facts(function, device);
  int r = facts ? 0 : GRAFT_OUT_OF_MEMORY;
  if (!r && !facts->asked && !(facts->known & 1u << attribute)) r = ask_all(function, facts);
  if (!r && !(facts->known & 1u << attribute)) { /* the driver refused it, and is asked again for its error */
    r = rpc_graftFunctionGetAttribute(function, attribute, device, &facts->attribute[attribute]);
    if (!r) facts->known |= 1u << attribute;
  }
  if (!r) *value = facts->attribute[attribute];
  pthread_mutex_unlock(&function->u.function.lock);
  return r;
}

static int get_attribute(int *value, int attribute, void *handle, int device) {
  struct graft_object *function = graft_function_of(handle);
  int r = graft_ready();
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  return value ? graft_function_attribute(function, attribute, device, value) : GRAFT_INVALID_VALUE;
}

static int set_attribute(void *handle, int attribute, int value, int device) {
  struct graft_object *function = graft_function_of(handle);
  int r = graft_ready();
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  int before;
  /* What is not among these describes the code. */
  if (attribute < 8 || attribute == 10 || attribute > 15) return GRAFT_INVALID_VALUE;
  /* Setting what is set already is common (PyTorch does it before each launch) and free. */
  if (!graft_function_attribute(function, attribute, device, &before) && before == value) return 0;
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
  GRAFT_IN_CONTEXT_OF(function);
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
static int set_preference(void *function, int config, int last) {
  int r = graft_usable();
  if (r) return r;
  if (!graft_function_of(function)) return GRAFT_INVALID_HANDLE;
  return config >= 0 && config <= last ? GRAFT_OK : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuFuncSetCacheConfig(void *function, int config) { return set_preference(function, config, 3); }
GRAFT_EXPORT int cuFuncSetSharedMemConfig(void *function, int config) { return set_preference(function, config, 2); }

void graft_function_forget(struct graft_object *function) {
  pthread_mutex_lock(&function->u.function.lock);
  forget_facts(function);
  free(function->u.function.layout);
  function->u.function.layout = NULL;
  free(function->u.function.name);
  function->u.function.name = NULL;
  pthread_mutex_unlock(&function->u.function.lock);
}

void graft_functions_drop(struct graft_object *owner) {
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
