/* cuGetExportTable: the private tables that the CUDA runtime and libraries take from the driver. What each slot does was
 * found by measurement and from public projects; the sizes are those of driver 580. A call through a NULL slot would crash, so
 * every slot that the driver fills has a function: the known one, or one that returns NOT_SUPPORTED. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/contexts.h"
#include "api/devices.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/storage.h"
#include "api/tools.h"
#include "api/work.h"
#include "base/crypto.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "module/compute_cache.h"
#include "module/functions.h"
#include "session/parts.h"
#include "session/session.h"

#define SLOTS(bytes) ((bytes) / sizeof(void *))

/* Functions for unknown slots, which print the number of the slot. */
#define UNKNOWN(n) \
  static int unknown_##n(void) { return graft_not_served("slot " #n " of a private table"); }
#define TEN(f, d) f(d##0) f(d##1) f(d##2) f(d##3) f(d##4) f(d##5) f(d##6) f(d##7) f(d##8) f(d##9)
#define HUNDRED(f) TEN(f, ) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4) TEN(f, 5) TEN(f, 6) TEN(f, 7) TEN(f, 8) TEN(f, 9)
HUNDRED(UNKNOWN)
#define ADDRESS(n) (void *)unknown_##n,
static const void *const unknown[] = {HUNDRED(ADDRESS)};

/* ---- The runtime's own interface ---- */

static int load_wrapper(void **module, void *wrapper) { return cuModuleLoadData(module, wrapper); }
static int primary_context(void **context, int device) { return graft_primary_context(device, context); }
static int load_wrapper_flags(void **module, void *wrapper, uintptr_t a, uintptr_t b, uintptr_t c) {
  (void)a, (void)b, (void)c;
  return cuModuleLoadData(module, wrapper);
}
static void nothing(size_t unused) { (void)unused; }
static int load_header(void *header, void **module, uintptr_t a, uintptr_t b, uintptr_t c) {
  (void)a, (void)b, (void)c;
  return cuModuleLoadData(module, header);
}
static int zero(void) { return GRAFT_OK; }

/* ---- Tools, callbacks ---- */

static int tools_tls(void **out) {
  *out = NULL;
  return GRAFT_OK;
}
static void callbacks_first(void **buffer, size_t *bytes) {
  static uint8_t storage[1024];
  *buffer = storage;
  *bytes = sizeof storage;
}
static void callbacks_second(void **buffer, size_t *bytes) {
  static uint8_t storage[16];
  *buffer = storage;
  *bytes = 14;
}
static int callbacks_query(void *in, void **out) {
  (void)in;
  *out = NULL;
  return GRAFT_OK;
}

/* ---- Context-local storage ---- */

struct graft_storage {
  struct graft_storage *next;
  void *key, *value;
  void (*destroy)(void *context, void *key, void *value);
};

static pthread_mutex_t storage_lock = PTHREAD_MUTEX_INITIALIZER;

static struct graft_object *storage_context(void *context) {
  if (!context || context == (void *)-1) return graft_context_current();
  return graft_object(GRAFT_CONTEXT, context);
}

static int storage_put(void *handle, void *key, void *value, void (*destroy)(void *, void *, void *)) {
  struct graft_object *context = storage_context(handle);
  if (!context) return GRAFT_INVALID_CONTEXT;
  struct graft_storage *entry = malloc(sizeof *entry);
  if (!entry) return GRAFT_OUT_OF_MEMORY;
  *entry = (struct graft_storage){NULL, key, value, destroy};
  pthread_mutex_lock(&storage_lock);
  struct graft_storage **p = &context->u.context.storage;
  while (*p && (*p)->key != key) p = &(*p)->next;
  struct graft_storage *old = *p;
  entry->next = old ? old->next : NULL;
  *p = entry;
  pthread_mutex_unlock(&storage_lock);
  free(old);
  return GRAFT_OK;
}

static int storage_delete(void *handle, void *key) {
  struct graft_object *context = storage_context(handle);
  if (!context) return GRAFT_INVALID_CONTEXT;
  pthread_mutex_lock(&storage_lock);
  struct graft_storage **p = &context->u.context.storage;
  while (*p && (*p)->key != key) p = &(*p)->next;
  struct graft_storage *old = *p;
  if (old) *p = old->next;
  pthread_mutex_unlock(&storage_lock);
  free(old);
  return old ? GRAFT_OK : GRAFT_INVALID_HANDLE;
}

static int storage_get(void **value, void *handle, void *key) {
  struct graft_object *context = storage_context(handle);
  if (!context) return GRAFT_INVALID_CONTEXT;
  pthread_mutex_lock(&storage_lock);
  struct graft_storage *entry = context->u.context.storage;
  while (entry && entry->key != key) entry = entry->next;
  if (entry) *value = entry->value;
  pthread_mutex_unlock(&storage_lock);
  return entry ? GRAFT_OK : GRAFT_INVALID_HANDLE;
}

void graft_storage_drop(struct graft_object *context) {
  pthread_mutex_lock(&storage_lock);
  struct graft_storage *entry = context->u.context.storage;
  context->u.context.storage = NULL;
  pthread_mutex_unlock(&storage_lock);
  while (entry) {
    struct graft_storage *next = entry->next;
    if (entry->destroy) entry->destroy(context, entry->key, entry->value);
    free(entry);
    entry = next;
  }
}

/* ---- Context checks ---- */

static int check_context(void *context, uint32_t *result, void **extra) {
  (void)context, (void)extra;
  *result = 0;
  return GRAFT_OK;
}

/* ---- Library tables ---- */

static int blas_flag(uintptr_t x, uint64_t *out) {
  *out = x != 0;
  return GRAFT_OK;
}
static int blas_zero(uintptr_t a, uintptr_t b, uint64_t *out) {
  (void)a, (void)b;
  *out = 0;
  return GRAFT_OK;
}
static int blas_storage(uintptr_t a, intptr_t key, void **out) {
  (void)a;
  static uint8_t storage[4096];
  if (key == -1) return GRAFT_INVALID_HANDLE;
  *out = storage;
  return GRAFT_OK;
}

/* cuBLASLt asks where the pairs of multiprocessors lie; it frees what it gets through the other slot. */
static int topology_get(uint8_t **cluster, uint8_t **place) {
  enum { ROOM = 1024 };
  struct graft_object *context = graft_context_current();
  unsigned int count;
  uint8_t *first = calloc(1, ROOM), *second = calloc(1, ROOM);
  int r = first && second ? rpc_graftTopology(context ? context->u.context.device : 0, first, second, ROOM, &count)
                          : GRAFT_OUT_OF_MEMORY;
  if (r) {
    free(first);
    free(second);
    return r;
  }
  *cluster = first;
  *place = second;
  return GRAFT_OK;
}
static int topology_give_back(uint8_t *cluster, uint8_t *place) {
  free(cluster);
  free(place);
  return GRAFT_OK;
}

/* ---- Graft's own table, for libnvidia-ml.so.1 ---- */

/* The session of a device as NVML counts them: all devices of the first server, then those of the next. The device becomes the server's ordinal. NULL if there is none. */
static struct graft_session *nvml_session(int *device) {
  struct graft_session *session = graft_several_servers ? graft_session_next(NULL) : graft_session_current();
  for (int count; graft_several_servers && session && *device >= (count = graft_parts(session)->devices.server_count);
       *device -= count) {
    session = graft_session_next(session);
  }
  return session && graft_server_device(session, *device) ? session : NULL;
}

static int nvml_memory(int device, uint64_t *free_bytes, uint64_t *total) {
  int r = graft_ready();
  if (r) return r;
  struct graft_session *session = nvml_session(&device);
  if (!session) return GRAFT_INVALID_DEVICE;
  struct graft_session *before = graft_session_use(session);
  r = rpc_graftMemoryInfo((unsigned)device, free_bytes, total);
  graft_session_use(before);
  return r;
}

/* NVML has all devices of the servers, in the servers' order, whatever CUDA_VISIBLE_DEVICES says. */
static const struct graft_device *nvml_device(int device) {
  struct graft_session *session = graft_ready() ? NULL : nvml_session(&device);
  return session ? graft_server_device(session, device) : NULL;
}
static int nvml_sensor(int device, unsigned sensor, unsigned index, unsigned *value) {
  int r = graft_ready();
  struct graft_session *session = r ? NULL : nvml_session(&device), *before;
  if (!session) return r ? r : GRAFT_INVALID_DEVICE;
  before = graft_session_use(session);
  r = rpc_graftSensor_v2((unsigned)device, sensor, index, value);
  graft_session_use(before);
  return r;
}
static int nvml_activity(int device, void *data, unsigned capacity, unsigned *count) {
  int r = graft_ready();
  struct graft_session *session = r ? NULL : nvml_session(&device), *before;
  if (!session) return r ? r : GRAFT_INVALID_DEVICE;
  before = graft_session_use(session);
  r = rpc_graftActivity(data, capacity, count);
  graft_session_use(before);
  return r;
}
/* The first device of a device's server, and how many the server has; 0 for an unknown device. */
static int nvml_neighbours(int device, int *count) {
  int first = device;
  struct graft_session *session = graft_ready() ? NULL : nvml_session(&device);
  *count = session ? graft_parts(session)->devices.server_count : 0;
  return first - device;
}
static int nvml_visible(int device) {
  struct graft_session *session = nvml_session(&device);
  return session ? graft_device_seen(session, device) : -1;
}

/* ---- Graft's own table, for libcupti ---- */

static int device_of_context(void *handle) {
  struct graft_object *context = graft_object(GRAFT_CONTEXT, handle);
  return context ? context->u.context.device : -1;
}

/* cuFFT walks the functions of a module that it has loaded. */
static int walk_functions(void *context, void *module, void (*visit)(void *opaque, void *function, void *owner), void *opaque) {
  (void)context;
  enum { ROOM = 4096 };
  void **functions = calloc(ROOM, sizeof *functions);
  unsigned int count = 0;
  if (!functions) return GRAFT_OUT_OF_MEMORY;
  int r = graft_module_functions(module, functions, ROOM, &count);
  if (graft_debug()) graft_say("functions of a module for a library: %u, result %d", count, r);
  for (unsigned i = 0; !r && i < count && i < ROOM; i++) {
    if (functions[i]) visit(opaque, functions[i], module);
  }
  free(functions);
  return !r; /* (measured) cuFFT takes anything but 1 for a failure */
}

static int check_integrity(uint32_t version, uint64_t seconds, uint64_t out[2]);

static const void *interface_table[SLOTS(104)];
static const void *tls_table[SLOTS(24)];
static const void *callbacks_table[SLOTS(56)];
static const void *storage_table[4];
static const void *checks_table[SLOTS(120)];
static const void *integrity_table[SLOTS(24)];
static const void *blas_table[SLOTS(744)];
static const void *fft_table[SLOTS(792)];
static const void *topology_table[SLOTS(136)];
static const void *nvml_table[8];
static const void *work_table[GRAFT_WORK_SLOTS];
static const void *cache_table[SLOTS(56)];

static const struct {
  uint8_t id[16];
  const void **table;
  size_t bytes;
  bool sized;
} tables[] = {
    {{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9},
     interface_table,
     sizeof interface_table,
     true},
    {{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
     tls_table,
     sizeof tls_table,
     true},
    {{0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
     callbacks_table,
     sizeof callbacks_table,
     true},
    {{0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93},
     storage_table,
     sizeof storage_table,
     false},
    {{0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e},
     checks_table,
     sizeof checks_table,
     true},
    {{0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2},
     integrity_table,
     sizeof integrity_table,
     true},
    {{0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2},
     blas_table,
     sizeof blas_table,
     true},
    {{0x6e, 0x16, 0x3f, 0xbe, 0xb9, 0x58, 0x44, 0x4d, 0x83, 0x5c, 0xe1, 0x82, 0xaf, 0xf1, 0x99, 0x1e},
     fft_table,
     sizeof fft_table,
     true},
    {{0x17, 0x34, 0xdc, 0x26, 0x80, 0x0d, 0x47, 0x45, 0x87, 0x26, 0xc0, 0xf1, 0xe7, 0xdd, 0x8b, 0xca},
     topology_table,
     sizeof topology_table,
     true},
    {{0xda, 0x91, 0x51, 0xd3, 0x3a, 0xe6, 0xcc, 0x41, 0xa5, 0xc0, 0x4f, 0x26, 0xd5, 0x33, 0xe3, 0x28},
     cache_table,
     sizeof cache_table,
     true},
    {"graft.nvml.1", nvml_table, sizeof nvml_table, true},
    {GRAFT_WORK_TABLE, work_table, sizeof work_table, true},
};

__attribute__((constructor)) static void fill(void) {
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    for (size_t i = 0; i < tables[t].bytes / sizeof(void *); i++) tables[t].table[i] = unknown[i];
    if (tables[t].sized) tables[t].table[0] = (void *)tables[t].bytes;
  }
  interface_table[1] = (void *)load_wrapper;
  interface_table[2] = (void *)primary_context;
  interface_table[6] = (void *)load_wrapper_flags;
  interface_table[7] = (void *)nothing;
  interface_table[8] = (void *)load_header;
  interface_table[10] = NULL; /* the driver's is NULL too */
  interface_table[12] = (void *)zero;
  tls_table[2] = (void *)tools_tls;
  callbacks_table[2] = (void *)callbacks_first;
  callbacks_table[4] = (void *)callbacks_query;
  callbacks_table[6] = (void *)callbacks_second;
  storage_table[0] = (void *)storage_put;
  storage_table[1] = (void *)storage_delete;
  storage_table[2] = (void *)storage_get;
  storage_table[3] = NULL;
  checks_table[2] = (void *)check_context;
  checks_table[3] = (void *)zero;
  integrity_table[1] = (void *)check_integrity;
  fft_table[7] = (void *)walk_functions;
  topology_table[4] = (void *)topology_get;
  topology_table[13] = (void *)topology_give_back;
  nvml_table[2] = (void *)graft_driver_text;
  nvml_table[1] = (void *)nvml_memory;
  nvml_table[3] = (void *)nvml_device;
  nvml_table[4] = (void *)nvml_visible;
  nvml_table[5] = (void *)nvml_sensor;
  nvml_table[6] = (void *)nvml_activity;
  nvml_table[7] = (void *)nvml_neighbours;
  work_table[GRAFT_WORK_SLOT_LISTEN] = (void *)graft_work_listen;
  work_table[GRAFT_WORK_SLOT_FLUSH] = (void *)graft_work_flush;
  work_table[GRAFT_WORK_SLOT_DEVICE] = (void *)device_of_context;
  cache_table[1] = (void *)graft_cache_open;
  cache_table[2] = (void *)graft_cache_close;
  cache_table[3] = (void *)graft_cache_load;
  cache_table[4] = (void *)graft_cache_store;
  cache_table[6] = (void *)graft_cache_release;
  blas_table[4] = (void *)blas_flag;
  blas_table[39] = (void *)blas_zero;
  blas_table[51] = (void *)blas_storage;
}

/* The CUDA runtime computes the same value from what the driver reported, including the addresses of these tables. */
static int check_integrity(uint32_t version, uint64_t seconds, uint64_t out[2]) {
  if (version % 10 < 2) {
    out[0] = version % 10 ? 0x1841181C03CB675Cull : 0x3341181C03CB675Cull;
    out[1] = 0x8ED383AA1F4CD1E8ull;
    return GRAFT_OK;
  }
  static const uint8_t key[16] = {0x14, 0x6A, 0xDD, 0xAE, 0x53, 0xA9, 0xA7, 0x52, 0xAA, 0x08, 0x41, 0x36, 0x0B, 0xF5, 0x5A, 0x9F};
  uint8_t data[48 + GRAFT_MAX_DEVICES * 28];
  size_t at = 0;
#define ADD(value)                              \
  do {                                          \
    memcpy(data + at, &(value), sizeof(value)); \
    at += sizeof(value);                        \
  } while (0)
  uint32_t driver = (uint32_t)graft_driver_version(), pid = (uint32_t)getpid(), thread = (uint32_t)(uintptr_t)pthread_self();
  const void *interface_pointer = interface_table, *integrity_pointer = integrity_table, *function = integrity_table[1];
  ADD(driver);
  ADD(version);
  ADD(pid);
  ADD(thread);
  ADD(interface_pointer);
  ADD(integrity_pointer);
  ADD(function);
  ADD(seconds);
  for (int i = 0; i < graft_device_count(); i++) {
    const struct graft_device *device = graft_device(graft_session_of_device(i), i);
    memcpy(data + at, device->uuid, 16);
    at += 16;
    int32_t domain = device->attributes[50], bus = device->attributes[33], slot = device->attributes[34];
    ADD(domain);
    ADD(bus);
    ADD(slot);
  }
#undef ADD
  graft_hmac_md2(key, sizeof key, data, at, (uint8_t *)out);
  return GRAFT_OK;
}

GRAFT_EXPORT int cuGetExportTable(void *out, void *id) {
  if (!out || !id) return GRAFT_INVALID_VALUE;
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
    if (!memcmp(tables[t].id, id, 16)) {
      *(const void **)out = tables[t].table;
      return GRAFT_OK;
    }
  }
  *(const void **)out = NULL;
  graft_tools_asked(__builtin_return_address(0));
  if (graft_debug()) {
    const uint8_t *b = id;
    graft_say("private table %02x%02x%02x%02x... is not known", b[0], b[1], b[2], b[3]);
  }
  return GRAFT_NOT_FOUND;
}
