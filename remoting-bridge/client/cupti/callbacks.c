/* Calls of the program before and after the driver's functions that queue work. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "cupti.h"

enum { DOMAIN_DRIVER = 1, DOMAINS = 7, FUNCTIONS = 1024 };

typedef void (*callback)(void *user, uint32_t domain, uint32_t id, const void *data);

struct data { /* CUpti_CallbackData */
  uint32_t site;
  const char *function;
  const void *parameters;
  void *result;
  const char *symbol;
  void *context;
  uint32_t context_id;
  uint64_t *correlation_data;
  uint32_t correlation;
};
_Static_assert(offsetof(struct data, context_id) == 48 && offsetof(struct data, correlation) == 64, "as in cupti_callbacks.h");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static callback subscriber;
static void *user_data;
static bool enabled[FUNCTIONS];
static atomic_uint enabled_count;
static char handle; /* of the only subscriber there can be */

bool are_callbacks_wanted(void) { return enabled_count != 0; }

EXPORT int cuptiSubscribe(void **to, callback function, void *user) {
  if (!to || !function) return INVALID_PARAMETER;
  pthread_mutex_lock(&lock);
  int r = subscriber ? MULTIPLE_SUBSCRIBERS : SUCCESS;
  if (!r) {
    subscriber = function;
    user_data = user;
    *to = &handle;
  }
  pthread_mutex_unlock(&lock);
  return r;
}
EXPORT int cuptiSubscribe_v2(void **to, callback function, void *user, void *parameters) {
  return cuptiSubscribe(to, function, user);
}

/* The caller holds the lock. */
static void enable(uint32_t function, bool is_enabled) {
  if (enabled[function] != is_enabled) enabled_count += is_enabled ? 1 : UINT32_MAX;
  enabled[function] = is_enabled;
}

EXPORT int cuptiUnsubscribe(void *from) {
  if (from != &handle) return INVALID_PARAMETER;
  pthread_mutex_lock(&lock);
  subscriber = NULL;
  for (uint32_t i = 0; i < FUNCTIONS; i++) enable(i, false);
  pthread_mutex_unlock(&lock);
  return update_listening();
}

/* What happens in other domains than the driver's is not told: enabling it succeeds, since profilers end if it does not. */
EXPORT int cuptiEnableCallback(uint32_t is_enabled, void *of, uint32_t domain, uint32_t function) {
  if (of != &handle || !domain || domain >= DOMAINS) return INVALID_PARAMETER;
  if (domain != DOMAIN_DRIVER) return SUCCESS;
  if (!function || function >= FUNCTIONS) return INVALID_PARAMETER;
  pthread_mutex_lock(&lock);
  enable(function, is_enabled);
  pthread_mutex_unlock(&lock);
  return update_listening();
}

EXPORT int cuptiEnableDomain(uint32_t is_enabled, void *of, uint32_t domain) {
  if (of != &handle || !domain || domain >= DOMAINS) return INVALID_PARAMETER;
  if (domain != DOMAIN_DRIVER) return SUCCESS;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 1; i < FUNCTIONS; i++) enable(i, is_enabled);
  pthread_mutex_unlock(&lock);
  return update_listening();
}
EXPORT int cuptiEnableAllDomains(uint32_t is_enabled, void *of) { return cuptiEnableDomain(is_enabled, of, DOMAIN_DRIVER); }

EXPORT int cuptiGetCallbackState(uint32_t *is_enabled, void *of, uint32_t domain, uint32_t function) {
  if (!is_enabled || of != &handle || !domain || domain >= DOMAINS) return INVALID_PARAMETER;
  *is_enabled = domain == DOMAIN_DRIVER && function < FUNCTIONS && enabled[function];
  return SUCCESS;
}

EXPORT int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name) {
  static const char *const names[] = {"cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel", "cuGraphLaunch"};
  if (!name || domain != DOMAIN_DRIVER) return INVALID_PARAMETER;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (function_id(names[i]) == function) {
      *name = names[i];
      return SUCCESS;
    }
  }
  return INVALID_PARAMETER;
}

void call_back(const struct graft_work *work, bool is_end, int result) {
  static _Thread_local uint64_t correlation_data; /* a call that queues work makes no other meanwhile */
  uint32_t function = function_id(work->function);
  pthread_mutex_lock(&lock);
  callback called = function && enabled[function] ? subscriber : NULL;
  void *user = user_data;
  pthread_mutex_unlock(&lock);
  if (!called) return;
  struct { /* cuLaunchKernel_params; the parameters of the kernel itself are not shown */
    void *function;
    uint32_t grid[3], block[3], shared;
    void *stream, **parameters, **extra;
  } launch = {.function = work->handle, .shared = work->shared, .stream = work->stream};
  memcpy(launch.grid, work->grid, sizeof launch.grid);
  memcpy(launch.block, work->block, sizeof launch.block);
  struct {
    uint32_t grid[3], block[3], shared;
    void *stream, *attributes;
    uint32_t count;
  } config = {.shared = work->shared, .stream = work->stream}; /* CUlaunchConfig */
  memcpy(config.grid, work->grid, sizeof config.grid);
  memcpy(config.block, work->block, sizeof config.block);
  struct { /* cuLaunchKernelEx_params */
    const void *config;
    void *function, **parameters, **extra;
  } launch_ex = {&config, work->handle, NULL, NULL};
  struct { /* cuGraphLaunch_params */
    void *exec, *stream;
  } graph = {work->handle, work->stream};
  const void *parameters = &launch;
  if (work->kind == GRAFT_WORK_GRAPH) parameters = &graph;
  if (!strcmp(work->function, "cuLaunchKernelEx")) parameters = &launch_ex;
  struct data data = {.site = is_end,
                      .function = work->function,
                      .parameters = parameters,
                      .result = is_end ? &result : NULL,
                      .symbol = work->kind == GRAFT_WORK_KERNEL ? work->name : NULL,
                      .context = work->context,
                      .context_id = context_id(work->context),
                      .correlation_data = &correlation_data,
                      .correlation = work->correlation};
  if (!is_end) correlation_data = 0;
  called(user, DOMAIN_DRIVER, function, &data);
}
