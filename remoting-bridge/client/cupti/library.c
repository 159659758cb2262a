/* The driver beneath, and what CUPTI says of itself. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cupti.h"

#ifndef CUPTI_VERSION
#define CUPTI_VERSION 130001 /* CUPTI_API_VERSION of CUDA 13.0 Update 1 */
#endif

#define MOST_CONTEXTS 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct driver *found;

const struct driver *driver(void) {
  pthread_mutex_lock(&lock);
  void *cuda = found ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (cuda) {
    int (*get_export_table)(const void **, const void *);
    void *symbol = dlsym(cuda, "cuGetExportTable");
    const void *table = NULL;
    static const uint8_t id[16] = GRAFT_WORK_TABLE;
    memcpy(&get_export_table, &symbol, sizeof symbol);
    if (symbol && !get_export_table(&table, id)) found = table;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

uint32_t context_id(const void *context) {
  static const void *contexts[MOST_CONTEXTS];
  static uint32_t count;
  uint32_t id = 0;
  if (!context) return 0;
  pthread_mutex_lock(&lock);
  while (id < count && contexts[id] != context) id++;
  if (id == count && count < MOST_CONTEXTS) contexts[count++] = context;
  if (id == count) id = MOST_CONTEXTS;
  pthread_mutex_unlock(&lock);
  return id == MOST_CONTEXTS ? 0 : id + 1;
}

uint32_t function_id(const char *name) {
  static const struct {
    const char *name;
    uint32_t id;
  } functions[] = {{"cuLaunchKernel", 307}, {"cuLaunchKernelEx", 652}, {"cuLaunchCooperativeKernel", 477}, {"cuGraphLaunch", 514}};
  for (size_t i = 0; name && i < sizeof functions / sizeof *functions; i++) {
    if (!strcmp(functions[i].name, name)) return functions[i].id;
  }
  return 0;
}

/* ---- What libcuda tells ---- */

static bool begins(struct graft_work *work) {
  static const enum kind kinds[] = {
      [GRAFT_WORK_KERNEL] = KIND_CONCURRENT_KERNEL,
      [GRAFT_WORK_COPY] = KIND_MEMCPY,
      [GRAFT_WORK_FILL] = KIND_MEMSET,
      [GRAFT_WORK_GRAPH] = KIND_CONCURRENT_KERNEL,
  };
  bool is_wanted = is_kind_wanted(kinds[work->kind]);
  if (kinds[work->kind] == KIND_CONCURRENT_KERNEL) is_wanted |= is_kind_wanted(KIND_KERNEL);
  work->wanted = is_wanted;
  call_back(work, false, 0);
  return is_wanted || are_activities_wanted() || are_callbacks_wanted();
}

static void queued(const struct graft_work *work, int result) {
  call_back(work, true, result);
  report_queued(work, result);
}

int update_listening(void) {
  static const struct graft_work_listener listener = {begins, queued, report_done};
  bool is_wanted = are_activities_wanted() || are_callbacks_wanted();
  if (!is_wanted && !found) return SUCCESS;
  const struct driver *d = driver();
  if (!d) return NOT_SUPPORTED;
  d->listen(GRAFT_WORK_PROFILER, is_wanted ? &listener : NULL);
  return SUCCESS;
}

/* ---- Questions ---- */

EXPORT int cuptiGetVersion(uint32_t *version) {
  if (!version) return INVALID_PARAMETER;
  *version = CUPTI_VERSION;
  return SUCCESS;
}

EXPORT int cuptiGetTimestamp(uint64_t *timestamp) {
  if (!timestamp) return INVALID_PARAMETER;
  *timestamp = profiler_now();
  return SUCCESS;
}

EXPORT int cuptiGetContextId(void *context, uint32_t *id) {
  const struct driver *d = driver();
  if (!id) return INVALID_PARAMETER;
  if (!d || d->device(context) < 0) return INVALID_CONTEXT;
  *id = context_id(context);
  return SUCCESS;
}

EXPORT int cuptiGetDeviceId(void *context, uint32_t *id) {
  const struct driver *d = driver();
  if (!id) return INVALID_PARAMETER;
  int device = d ? d->device(context) : -1;
  if (device < 0) return INVALID_CONTEXT;
  *id = (uint32_t)device;
  return SUCCESS;
}

EXPORT int cuptiDeviceSupported(int device, int *supported) {
  if (!supported) return INVALID_PARAMETER;
  *supported = 1;
  return SUCCESS;
}

/* Handles are addresses of objects of 16 bytes and more, of which a program has fewer than fit into 32 bits. */
static int handle_id(const void *handle, uint32_t *id) {
  if (!handle || !id) return INVALID_PARAMETER;
  *id = (uint32_t)((uintptr_t)handle >> 4);
  return SUCCESS;
}
EXPORT int cuptiGetGraphId(void *graph, uint32_t *id) { return handle_id(graph, id); }
EXPORT int cuptiGetGraphExecId(void *exec, uint32_t *id) { return handle_id(exec, id); }

EXPORT int cuptiGetLastError(void) { return SUCCESS; }

/* Threads are numbered by the kernel's ids: CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, which profilers ask for. */
EXPORT int cuptiSetThreadIdType(int type) { return type == 1 ? SUCCESS : NOT_SUPPORTED; }
EXPORT int cuptiGetThreadIdType(int *type) {
  if (!type) return INVALID_PARAMETER;
  *type = 1;
  return SUCCESS;
}

static const char *text_of(int result) {
  switch (result) {
    case SUCCESS: return "CUPTI_SUCCESS";
    case INVALID_PARAMETER: return "CUPTI_ERROR_INVALID_PARAMETER";
    case INVALID_CONTEXT: return "CUPTI_ERROR_INVALID_CONTEXT";
    case INVALID_OPERATION: return "CUPTI_ERROR_INVALID_OPERATION";
    case OUT_OF_MEMORY: return "CUPTI_ERROR_OUT_OF_MEMORY";
    case MAX_LIMIT_REACHED: return "CUPTI_ERROR_MAX_LIMIT_REACHED";
    case NOT_INITIALIZED: return "CUPTI_ERROR_NOT_INITIALIZED";
    case QUEUE_EMPTY: return "CUPTI_ERROR_QUEUE_EMPTY";
    case INVALID_KIND: return "CUPTI_ERROR_INVALID_KIND";
    case NOT_SUPPORTED: return "CUPTI_ERROR_NOT_SUPPORTED: a program on a remote GPU cannot have this";
    case MULTIPLE_SUBSCRIBERS: return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    default: return "CUPTI_ERROR_UNKNOWN";
  }
}
EXPORT int cuptiGetResultString(int result, const char **text) {
  if (!text) return INVALID_PARAMETER;
  *text = text_of(result);
  return SUCCESS;
}
EXPORT int cuptiGetErrorMessage(int result, const char **text) { return cuptiGetResultString(result, text); }
