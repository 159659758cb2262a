/* How devices are connected by NVLinks, as far as it concerns the program. */
#include <pthread.h>

#include "nvml.h"

#define MAX_LINKS 18 /* NVML_NVLINK_MAX_LINKS */
#define NOWHERE 0    /* the end of a link that is not shown */

enum { REMOTE_IS_GPU = 0, REMOTE_IS_SWITCH = 2, ENABLED = 1 };

struct links {
  bool known;
  unsigned count;               /* one more than the last link that is shown */
  unsigned ends[MAX_LINKS + 1]; /* LINK_TO_SWITCH, or one more than the index of the other device */
};

static unsigned index_of(const struct device *device) {
  unsigned i = 0;
  while (i < MAX_DEVICES && device_at(i) != device) i++;
  return i;
}

/* Asks the driver for links_of(). */
static void ask_links(const struct device *device, struct links *links) {
  unsigned count, end;
  int can = 0;
  struct device *peer;
  for (unsigned i = 0; !can && (peer = device_at(i)); i++) {
    if (peer != device && driver_peer_access(device, peer, &can)) can = 0;
  }
  links->known = true;
  if (driver_sensor(device, SENSOR_NVLINKS, 0, &count)) return;
  for (unsigned link = 0; link < MAX_LINKS; link++) {
    if (driver_sensor(device, SENSOR_NVLINK_END, link, &end)) continue;
    if (end == LINK_TO_SWITCH) {
      links->ends[link] = can ? LINK_TO_SWITCH : NOWHERE;
    } else {
      peer = driver_neighbour(device, end);
      links->ends[link] = peer && peer != device ? index_of(peer) + 1 : NOWHERE;
    }
    if (links->ends[link] != NOWHERE) links->count = link + 1;
  }
}

/* Where the NVLinks of a device lead: to a switch that leads to another device of the program, or to another device of its server. NCCL
 * copies from GPU to GPU if devices have such links. NCCL asks dozens of times, and each answer of the driver is a round trip to the
 * server, so that the answers are kept. */
static const struct links *links_of(const struct device *device) {
  static const struct links none;
  static struct links kept[MAX_DEVICES];
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  unsigned i = index_of(device);
  if (i == MAX_DEVICES) return &none;
  pthread_mutex_lock(&lock);
  if (!kept[i].known) ask_links(device, &kept[i]);
  pthread_mutex_unlock(&lock);
  return &kept[i];
}

/* Whether NVLinks connect two devices; a device is connected to itself if it has any. */
static bool are_linked(const struct device *device, const struct device *peer) {
  const struct links *from = links_of(device), *to = links_of(peer);
  for (unsigned link = 0; link < from->count; link++) {
    if (from->ends[link] == index_of(peer) + 1) return true;
    if (from->ends[link] != LINK_TO_SWITCH) continue;
    for (unsigned other = 0; other < to->count; other++) {
      if (to->ends[other] == LINK_TO_SWITCH) return true;
    }
  }
  return device == peer && from->count;
}

/* NCCL first calls this function for every pair of devices, also for a device and itself. Reads and writes are supported if CUDA
 * lets kernels of one device use the other's memory, atomics if NVLinks connect both; the rest is not known in a guest. */
EXPORT int nvmlDeviceGetP2PStatus(struct device *device, struct device *peer, int index, int *status) {
  enum { CAPS_WRITE = 1, CAPS_NVLINK = 2, CAPS_ATOMICS = 3, STATUS_OK = 0, STATUS_NOT_SUPPORTED = 5 };
  int r = valid(device), can = 1;
  if (!r) r = valid(peer);
  if (r) return r;
  if (!status || index < 0) return INVALID_ARGUMENT;
  if (index > CAPS_ATOMICS || (index >= CAPS_NVLINK && !links_of(device)->count)) return NOT_SUPPORTED;
  if (device != peer && driver_peer_access(device, peer, &can)) return UNKNOWN;
  *status = can && (index <= CAPS_WRITE || are_linked(device, peer)) ? STATUS_OK : STATUS_NOT_SUPPORTED;
  return OK;
}

/* ---- NVLink: a link that the device has not is not supported, one that no GPU has is an invalid argument ---- */

static int check_link(const struct device *device, unsigned link, const void *out) {
  int r = valid(device);
  if (r) return r;
  if (link >= MAX_LINKS || !out) return INVALID_ARGUMENT;
  return links_of(device)->ends[link] != NOWHERE ? OK : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetNvLinkState(struct device *device, unsigned int link, int *state) {
  int r = check_link(device, link, state);
  if (!r) *state = ENABLED;
  return r;
}

EXPORT int nvmlDeviceGetNvLinkVersion(struct device *device, unsigned int link, unsigned int *version) {
  int r = check_link(device, link, version);
  return r ? r : driver_sensor(device, SENSOR_NVLINK_VERSION, link, version);
}

EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(struct device *device, unsigned int link, int *type) {
  int r = check_link(device, link, type);
  if (!r) *type = links_of(device)->ends[link] == LINK_TO_SWITCH ? REMOTE_IS_SWITCH : REMOTE_IS_GPU;
  return r;
}

/* NCCL asks for the state of a link by its field on GPUs from compute capability 9.0 on. */
int link_field(struct device *device, unsigned id, unsigned scope, unsigned *value) {
  enum { LINK_COUNT = 91, STATE = 165, VERSION = 166 };
  switch (id) {
    case LINK_COUNT: *value = links_of(device)->count; return *value ? OK : NOT_SUPPORTED;
    case STATE: return nvmlDeviceGetNvLinkState(device, scope, (int *)value);
    case VERSION: return nvmlDeviceGetNvLinkVersion(device, scope, value);
    default: return NOT_SUPPORTED;
  }
}

/* A GPU is where it is on the bus of its server, as by nvmlDeviceGetPciInfo. A switch is not on the guest's bus: it has the place that the
 * driver gives it in a virtual machine. */
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct device *device, unsigned int link, struct pci *pci) {
  int r = check_link(device, link, pci);
  if (r) return r;
  unsigned end = links_of(device)->ends[link];
  if (end != LINK_TO_SWITCH) return nvmlDeviceGetPciInfo_v3(device_at(end - 1), pci);
  *pci = (struct pci){.legacy = "FFFFFFF:FFFF:FF",
                      .domain = ~0u,
                      .bus = ~0u,
                      .device = ~0u,
                      .id = ~0u,
                      .subsystem = ~0u,
                      .text = "FFFFFFF:FFFF:FF"};
  return OK;
}
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo(struct device *device, unsigned int link, struct pci *pci) {
  return nvmlDeviceGetNvLinkRemotePciInfo_v2(device, link, pci);
}

EXPORT int nvmlDeviceGetNvLinkCapability(struct device *device, unsigned int link, int capability, unsigned int *result) {
  enum { P2P = 0, P2P_ATOMICS = 2, VALID = 5, CAPABILITIES = 6 };
  int r = check_link(device, link, result);
  if (!r && (capability < 0 || capability >= CAPABILITIES)) r = INVALID_ARGUMENT;
  if (!r) *result = capability == P2P || capability == P2P_ATOMICS || capability == VALID;
  return r;
}
