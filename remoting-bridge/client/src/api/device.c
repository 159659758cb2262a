/* Devices: all questions about them are answered from the snapshots that the server sends when the session opens. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/devices.h"
#include "api/rpc.h"
#include "api/visible.h"
#include "graft_rpc.h"
#include "memory/known_data.h"
#include "session/parts.h"
#include "session/session.h"

#define SNAPSHOT 4096

enum { ON_DEVICE = 1 }; /* CU_MEM_LOCATION_TYPE_DEVICE */

/* Device attributes (CUdevice_attribute) that the client reports otherwise than the server's driver. */
static const struct {
  int attribute, value;
  bool socket_only; /* not on transports that share memory, where the driver's value holds */
} overrides[] = {
    {83, 1, false},  /* MANAGED_MEMORY: managed.c */
    {86, 0, false},  /* HOST_NATIVE_ATOMIC_SUPPORTED */
    {88, 0, false},  /* PAGEABLE_MEMORY_ACCESS */
    {89, 0, true},   /* CONCURRENT_MANAGED_ACCESS */
    {91, 0, false},  /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */
    {100, 0, false}, /* PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES */
    {101, 0, false}, /* DIRECT_MANAGED_MEM_ACCESS_FROM_HOST */
    {110, 0, false}, /* GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED */
    {112, 0, false}, /* SPARSE_CUDA_ARRAY_SUPPORTED */
    {114, 0, false}, /* TIMELINE_SEMAPHORE_INTEROP_SUPPORTED */
    {116, 0, false}, /* GPU_DIRECT_RDMA_SUPPORTED */
    {124, 0, false}, /* DMA_BUF_SUPPORTED */
    {128, 0, false}, /* HANDLE_TYPE_FABRIC_SUPPORTED */
    {132, 0, false}, /* MULTICAST_SUPPORTED */
    {136, 0, false}, /* MEM_DECOMPRESS_ALGORITHM_MASK */
};

static struct graft_devices *current(void) { return &graft_parts(graft_session_current())->devices; }

const struct graft_device *graft_device(struct graft_session *session, int index) {
  const struct graft_devices *devices = &graft_parts(session)->devices;
  return &devices->each[devices->ordinal[index]];
}
const struct graft_device *graft_server_device(struct graft_session *session, int index) {
  const struct graft_devices *devices = &graft_parts(session)->devices;
  return index >= 0 && index < devices->server_count ? &devices->each[index] : NULL;
}
int graft_device_ordinal(const struct graft_session *session, int index) {
  const struct graft_devices *devices = &graft_parts((struct graft_session *)session)->devices;
  if (index < 0) return index;
  return index < devices->count && devices->ordinal[index] >= 0 ? devices->ordinal[index] : INT_MAX;
}
struct graft_session *graft_session_of_device(int index) {
  struct graft_session *session = graft_session_current();
  if (index < 0 || index >= graft_parts(session)->devices.count) return NULL;
  if (!graft_several_servers) return session;
  if (graft_session_is_chosen()) return graft_parts(session)->devices.ordinal[index] >= 0 ? session : NULL;
  for (session = graft_session_next(NULL); session; session = graft_session_next(session)) {
    if (graft_parts(session)->devices.ordinal[index] >= 0) break;
  }
  return session;
}
int graft_call_device(struct graft_call *call, int index) {
  struct graft_session *session = graft_several_servers ? graft_session_of_device(index) : NULL;
  if (session && call->session && call->session != session) return GRAFT_INVALID_DEVICE;
  if (session) call->session = session;
  return GRAFT_OK;
}
int graft_device_seen(struct graft_session *session, int ordinal) {
  const struct graft_devices *devices = &graft_parts(session)->devices;
  for (int i = 0; i < devices->count; i++) {
    if (devices->ordinal[i] == ordinal) return i;
  }
  return -1;
}
int graft_device_count(void) { return current()->count; }
int graft_driver_version(void) {
  int version = current()->driver_version;
  for (struct graft_session *s = graft_several_servers ? graft_session_next(NULL) : NULL; s; s = graft_session_next(s)) {
    int its = graft_parts(s)->devices.driver_version;
    if (its < version) version = its;
  }
  return version;
}
const char *graft_driver_text(void) { return current()->driver_text; }

void graft_location_to_server(const struct graft_session *session, void *location) {
  int32_t type_and_id[2];
  memcpy(type_and_id, location, sizeof type_and_id);
  if (type_and_id[0] == ON_DEVICE) type_and_id[1] = graft_device_ordinal(session, type_and_id[1]);
  memcpy(location, type_and_id, sizeof type_and_id);
}

int graft_call_located(struct graft_call *call, const void *data, size_t count, size_t bytes, size_t offset) {
  int r = GRAFT_OK;
  for (size_t i = 0; graft_several_servers && data && i < count && !r; i++) {
    int32_t type_and_id[2];
    memcpy(type_and_id, (const uint8_t *)data + i * bytes + offset, sizeof type_and_id);
    if (type_and_id[0] == ON_DEVICE) r = graft_call_device(call, type_and_id[1]);
  }
  return r;
}

void graft_put_located(struct graft_call *call, const void *data, size_t count, size_t bytes, size_t offset) {
  uint8_t *at = call->at + 8;
  graft_put_block(call, data, count * bytes);
  for (size_t i = 0; data && i < count; i++) graft_location_to_server(call->session, at + i * bytes + offset);
}

static int load(struct graft_devices *devices, int index) {
  uint8_t data[SNAPSHOT];
  int r = rpc_graftSnapshot((unsigned)index, data, sizeof data);
  if (r) return r;
  struct {
    uint32_t version, count;
    uint64_t memory;
    uint8_t uuid[16];
    char driver[16];
    char name[256];
    int32_t low, high;
    uint32_t attributes, zero;
  } head;
  memcpy(&head, data, sizeof head);
  if (head.version && (int)head.version < devices->driver_version) devices->driver_version = (int)head.version;
  devices->server_count = head.count < GRAFT_MAX_DEVICES ? (int)head.count : GRAFT_MAX_DEVICES;
  if (!devices->server_count) return 0;
  struct graft_device *device = &devices->each[index];
  memcpy(devices->driver_text, head.driver, sizeof devices->driver_text - 1);
  device->total_memory = head.memory;
  memcpy(device->uuid, head.uuid, 16);
  memcpy(device->name, head.name, sizeof device->name);
  device->name[sizeof device->name - 1] = 0;
  device->priority_low = head.low;
  device->priority_high = head.high;
  uint32_t count = head.attributes;
  if (count >= GRAFT_ATTRIBUTES) count = GRAFT_ATTRIBUTES - 1;
  if (count > (sizeof data - sizeof head) / 4) count = (sizeof data - sizeof head) / 4;
  device->attribute_count = count;
  memcpy(device->attributes + 1, data + sizeof head, 4 * count);
  for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++) {
    if (overrides[i].socket_only && graft_session_shares_memory()) continue;
    if (overrides[i].attribute <= (int)count) device->attributes[overrides[i].attribute] = overrides[i].value;
  }
  /* MEMPOOL_SUPPORTED_HANDLE_TYPES: descriptors alone. */
  device->attributes[119] &= 1;
  return 0;
}

static struct graft_identity identity_of(const struct graft_device *d) {
  struct graft_identity identity = {
      .domain = d->attributes[50], .bus = d->attributes[33], .slot = d->attributes[34], .instance = strstr(d->name, " MIG ")};
  memcpy(identity.uuid, d->uuid, sizeof d->uuid);
  return identity;
}

/* Programs tell devices apart by their places on the PCI bus and by their UUIDs. Devices of two machines may have one place, and two servers may serve one device: those of later servers get domains, and if need be UUIDs, of their own. */
static void tell_apart(struct graft_device *device, int server, const struct graft_identity *earlier, int count) {
  enum { DOMAINS = 0x1000 }; /* of each server */
  device->attributes[50] += server * DOMAINS;
  for (int i = 0; i < count; i++) {
    if (!memcmp(earlier[i].uuid, device->uuid, sizeof device->uuid)) {
      device->uuid[0] = (uint8_t)(device->uuid[0] ^ (0x80 | server));
      break;
    }
  }
}

void graft_devices_join(void) {
  struct graft_identity identities[GRAFT_MAX_DEVICES];
  struct {
    struct graft_session *session;
    int ordinal;
  } each[GRAFT_MAX_DEVICES];
  int count = 0, seen[GRAFT_MAX_DEVICES], server = 0;
  for (struct graft_session *s = graft_session_next(NULL); s; s = graft_session_next(s), server++) {
    struct graft_devices *devices = &graft_parts(s)->devices;
    int before = count;
    for (int i = 0; graft_session_is_open(s) && i < devices->server_count && count < GRAFT_MAX_DEVICES; i++, count++) {
      tell_apart(&devices->each[i], server, identities, before);
      identities[count] = identity_of(&devices->each[i]);
      each[count].session = s;
      each[count].ordinal = i;
    }
  }
  count = graft_visible(identities, count, getenv("CUDA_VISIBLE_DEVICES"), getenv("CUDA_DEVICE_ORDER"), seen);
  for (struct graft_session *s = graft_session_next(NULL); s; s = graft_session_next(s)) {
    struct graft_devices *devices = &graft_parts(s)->devices;
    devices->count = count;
    for (int i = 0; i < count; i++) devices->ordinal[i] = each[seen[i]].session == s ? each[seen[i]].ordinal : -1;
  }
}

int graft_devices_load(struct graft_session *session) {
  struct graft_devices *devices = &graft_parts(session)->devices;
  graft_known_data_begin();
  int r = load(devices, 0);
  for (int i = 1; !r && i < devices->server_count; i++) r = load(devices, i);
  if (r) return r;
  struct graft_identity identities[GRAFT_MAX_DEVICES];
  for (int i = 0; i < devices->server_count; i++) identities[i] = identity_of(&devices->each[i]);
  devices->count = graft_visible(identities, devices->server_count, getenv("CUDA_VISIBLE_DEVICES"), getenv("CUDA_DEVICE_ORDER"),
                                 devices->ordinal);
  return 0;
}

static int need(int ordinal, const struct graft_device **device) {
  int r = graft_ready();
  if (r) return r;
  struct graft_session *session = graft_session_of_device(ordinal);
  if (!session) return GRAFT_INVALID_DEVICE;
  *device = graft_device(session, ordinal);
  return GRAFT_OK;
}

GRAFT_EXPORT int cuDriverGetVersion(void *version) {
  if (!version) return GRAFT_INVALID_VALUE;
  graft_sessions_open(); /* without a server, the version of this client: cuInit says what is wrong */
  *(int *)version = graft_driver_version();
  return 0;
}

GRAFT_EXPORT int cuDeviceGet(void *device, int ordinal) {
  const struct graft_device *found;
  int r = need(ordinal, &found);
  if (r) return r;
  if (!device) return GRAFT_INVALID_VALUE;
  *(int *)device = ordinal;
  return 0;
}

GRAFT_EXPORT int cuDeviceGetCount(void *count) {
  int r = graft_ready();
  if (r) return r;
  if (!count) return GRAFT_INVALID_VALUE;
  *(int *)count = graft_device_count();
  return 0;
}

GRAFT_EXPORT int cuDeviceGetName(void *name, int length, int ordinal) {
  const struct graft_device *device;
  int r = need(ordinal, &device);
  if (r) return r;
  if (!name || length <= 0) return GRAFT_INVALID_VALUE;
  snprintf(name, (size_t)length, "%s", device->name);
  return 0;
}

GRAFT_EXPORT int cuDeviceGetUuid(void *uuid, int ordinal) {
  const struct graft_device *device;
  int r = need(ordinal, &device);
  if (r) return r;
  if (!uuid) return GRAFT_INVALID_VALUE;
  memcpy(uuid, device->uuid, 16);
  return 0;
}

GRAFT_EXPORT int cuDeviceGetUuid_v2(void *uuid, int device) { return cuDeviceGetUuid(uuid, device); }

GRAFT_EXPORT int cuDeviceTotalMem_v2(void *bytes, int ordinal) {
  const struct graft_device *device;
  int r = need(ordinal, &device);
  if (r) return r;
  if (!bytes) return GRAFT_INVALID_VALUE;
  *(size_t *)bytes = device->total_memory;
  return 0;
}

GRAFT_EXPORT int cuDeviceGetAttribute(void *value, int attribute, int ordinal) {
  const struct graft_device *device;
  int r = need(ordinal, &device);
  if (r) return r;
  if (!value || attribute < 1 || attribute > (int)device->attribute_count || device->attributes[attribute] == INT_MIN) {
    return GRAFT_INVALID_VALUE;
  }
  *(int *)value = device->attributes[attribute];
  return 0;
}

GRAFT_EXPORT int cuDeviceGetProperties(void *properties, int ordinal) {
  /* CUdevprop: threads a block; block; grid; shared memory; constant memory; warp; pitch; registers; clock; alignment. */
  static const int attributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  const struct graft_device *device;
  int r = need(ordinal, &device);
  if (r) return r;
  if (!properties) return GRAFT_INVALID_VALUE;
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
    ((int *)properties)[i] = device->attributes[attributes[i]];
  }
  return 0;
}

GRAFT_EXPORT int cuDeviceComputeCapability(void *major, void *minor, int device) {
  int r = cuDeviceGetAttribute(major, 75, device);
  return r ? r : cuDeviceGetAttribute(minor, 76, device);
}

GRAFT_EXPORT int cuDeviceGetPCIBusId(void *text, int length, int device) {
  int domain, bus, slot, r;
  if ((r = cuDeviceGetAttribute(&domain, 50, device)) || (r = cuDeviceGetAttribute(&bus, 33, device)) ||
      (r = cuDeviceGetAttribute(&slot, 34, device))) {
    return r;
  }
  if (!text || length < 13) return GRAFT_INVALID_VALUE;
  snprintf(text, (size_t)length, "%04x:%02x:%02x.0", (unsigned)domain, (unsigned)bus, (unsigned)slot);
  return 0;
}

GRAFT_EXPORT int cuDeviceGetByPCIBusId(void *device, const char *text) {
  int r = graft_ready();
  if (r) return r;
  if (!device || !text) return GRAFT_INVALID_VALUE;
  unsigned domain = 0, bus, slot, function = 0;
  if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
    domain = 0;
    if (sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return GRAFT_INVALID_VALUE;
  }
  for (int i = 0; i < graft_device_count(); i++) {
    const int *a = graft_device(graft_session_of_device(i), i)->attributes;
    if (a[50] == (int)domain && a[33] == (int)bus && a[34] == (int)slot) {
      *(int *)device = i;
      return 0;
    }
  }
  return GRAFT_INVALID_DEVICE;
}
