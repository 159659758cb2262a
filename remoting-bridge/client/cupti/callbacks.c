/* Calls of the program before and after the driver's functions that queue work. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "cupti.h"

enum { DOMAIN_DRIVER = 1, DOMAINS = 7, FUNCTIONS = 1024, SUBSCRIBERS = 4 };

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

struct subscriber {
  callback function; /* NULL: nobody */
  void *user;
  bool enabled[FUNCTIONS];
};

/* A program may have two profilers, such as PyTorch's and proton. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct subscriber subscribers[SUBSCRIBERS];
static atomic_uint enabled_count;

bool are_callbacks_wanted(void) { return enabled_count != 0; }

EXPORT int cuptiSubscribe(void **to, callback function, void *user) {
  int r = MULTIPLE_SUBSCRIBERS;
  if (!to || !function) return INVALID_PARAMETER;
  pthread_mutex_lock(&lock);
  for (struct subscriber *s = subscribers; r && s < subscribers + SUBSCRIBERS; s++) {
    if (s->function) continue;
    s->function = function;
    s->user = user;
    *to = s;
    r = SUCCESS;
  }
  pthread_mutex_unlock(&lock);
  return r;
}
EXPORT int cuptiSubscribe_v2(void **to, callback function, void *user, void *parameters) {
  return cuptiSubscribe(to, function, user);
}

static struct subscriber *subscriber_of(void *handle) {
  for (struct subscriber *s = subscribers; s < subscribers + SUBSCRIBERS; s++) {
    if (s == handle && s->function) return s;
  }
  return NULL;
}

/* The caller holds the lock. */
static void enable(struct subscriber *s, uint32_t function, bool is_enabled) {
  if (s->enabled[function] != is_enabled) enabled_count += is_enabled ? 1 : UINT32_MAX;
  s->enabled[function] = is_enabled;
}

/* For a range of functions of the driver, whose numbers begin at 1. */
static int enable_range(void *handle, uint32_t first, uint32_t last, bool is_enabled) {
  pthread_mutex_lock(&lock);
  struct subscriber *s = subscriber_of(handle);
  for (uint32_t i = first; s && i <= last; i++) enable(s, i, is_enabled);
  pthread_mutex_unlock(&lock);
  return s ? update_listening() : INVALID_PARAMETER;
}

EXPORT int cuptiUnsubscribe(void *handle) {
  int r = enable_range(handle, 0, FUNCTIONS - 1, false);
  pthread_mutex_lock(&lock);
  struct subscriber *s = subscriber_of(handle);
  if (s) s->function = NULL;
  pthread_mutex_unlock(&lock);
  return r;
}

/* Number 0 is no function; proton enables it, and NVIDIA's library lets it. What happens in other domains than the driver's is not told: enabling it succeeds, since profilers end if it does not. */
EXPORT int cuptiEnableCallback(uint32_t is_enabled, void *handle, uint32_t domain, uint32_t function) {
  if (!domain || domain >= DOMAINS || (domain == DOMAIN_DRIVER && function >= FUNCTIONS)) return INVALID_PARAMETER;
  if (domain != DOMAIN_DRIVER) return subscriber_of(handle) ? SUCCESS : INVALID_PARAMETER;
  return enable_range(handle, function, function, is_enabled);
}
EXPORT int cuptiEnableDomain(uint32_t is_enabled, void *handle, uint32_t domain) {
  if (!domain || domain >= DOMAINS) return INVALID_PARAMETER;
  if (domain != DOMAIN_DRIVER) return subscriber_of(handle) ? SUCCESS : INVALID_PARAMETER;
  return enable_range(handle, 1, FUNCTIONS - 1, is_enabled);
}
EXPORT int cuptiEnableAllDomains(uint32_t is_enabled, void *handle) { return cuptiEnableDomain(is_enabled, handle, DOMAIN_DRIVER); }

EXPORT int cuptiGetCallbackState(uint32_t *is_enabled, void *handle, uint32_t domain, uint32_t function) {
  struct subscriber *s = subscriber_of(handle);
  if (!is_enabled || !s || !domain || domain >= DOMAINS) return INVALID_PARAMETER;
  *is_enabled = domain == DOMAIN_DRIVER && function < FUNCTIONS && s->enabled[function];
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

/* Calls every subscriber that wants to know of the function. */
static void call_all(uint32_t function, struct data *data) {
  /* What a subscriber keeps from the beginning of a call to its end. A call that queues work makes no other meanwhile. */
  static _Thread_local uint64_t correlation_data[SUBSCRIBERS];
  for (int i = 0; i < SUBSCRIBERS; i++) {
    pthread_mutex_lock(&lock);
    callback called = subscribers[i].enabled[function] ? subscribers[i].function : NULL;
    void *user = subscribers[i].user;
    pthread_mutex_unlock(&lock);
    if (!data->site) correlation_data[i] = 0;
    data->correlation_data = &correlation_data[i];
    if (called) called(user, DOMAIN_DRIVER, function, data);
  }
}

void call_back(const struct graft_work *work, bool is_end, int result) {
  uint32_t function = function_id(work->function);
  if (!function || !are_callbacks_wanted()) return;
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
                      .correlation = work->correlation};
  call_all(function, &data);
}
