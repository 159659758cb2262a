/* How devices and processors are connected, as far as a guest knows. */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml.h"

#define MAX_LINKS 18 /* NVML_NVLINK_MAX_LINKS */

enum { REMOTE_IS_SWITCH = 2, ENABLED = 1 };

/* Asks the driver for links(). */
static unsigned ask_links(const struct device *device) {
  unsigned count, type;
  int can = 0;
  struct device *peer;
  for (unsigned i = 0; !can && (peer = device_at(i)); i++) {
    if (peer != device && driver_peer_access(device, peer, &can)) can = 0;
  }
  if (!can || driver_sensor(device, SENSOR_NVLINK_REMOTE_TYPE, &type) || type != REMOTE_IS_SWITCH) return 0;
  if (driver_sensor(device, SENSOR_NVLINKS, &count)) return 0;
  return count < MAX_LINKS ? count : MAX_LINKS;
}

/* How many NVLinks a device has to a switch that leads to another device of the program; 0 for none. NCCL copies from GPU to GPU if
 * devices have such links. Links of a GPU to a GPU are left out: which one it is is not known in a guest. NCCL asks dozens of times, and each
 * answer of the driver is a round trip to the server, so that the number is kept. */
static unsigned links(const struct device *device) {
  static atomic_uint kept[MAX_DEVICES]; /* one more than the number; 0 if it is not known */
  unsigned i = 0;
  while (i < MAX_DEVICES && device_at(i) != device) i++;
  if (i == MAX_DEVICES) return ask_links(device);
  if (!kept[i]) kept[i] = ask_links(device) + 1;
  return kept[i] - 1;
}

/* NCCL first calls this function for every pair of devices, also for a device and itself. Reads and writes are supported if CUDA
 * lets kernels of one device use the other's memory, atomics if NVLinks connect both; the rest is not known in a guest. */
EXPORT int nvmlDeviceGetP2PStatus(struct device *device, struct device *peer, int index, int *status) {
  enum { CAPS_WRITE = 1, CAPS_NVLINK = 2, CAPS_ATOMICS = 3, STATUS_OK = 0, STATUS_NOT_SUPPORTED = 5 };
  int r = valid(device), can = 1;
  if (!r) r = valid(peer);
  if (r) return r;
  if (!status || index < 0) return INVALID_ARGUMENT;
  if (index > CAPS_ATOMICS || (index >= CAPS_NVLINK && !links(device))) return NOT_SUPPORTED;
  if (device != peer && driver_peer_access(device, peer, &can)) return UNKNOWN;
  *status = can && (index <= CAPS_WRITE || links(peer)) ? STATUS_OK : STATUS_NOT_SUPPORTED;
  return OK;
}

/* ---- NVLink: a link that the device has not is not supported, one that no GPU has is an invalid argument ---- */

static int check_link(const struct device *device, unsigned link, const void *out) {
  int r = valid(device);
  if (r) return r;
  if (link >= MAX_LINKS || !out) return INVALID_ARGUMENT;
  return link < links(device) ? OK : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetNvLinkState(struct device *device, unsigned int link, int *state) {
  int r = check_link(device, link, state);
  if (!r) *state = ENABLED;
  return r;
}

EXPORT int nvmlDeviceGetNvLinkVersion(struct device *device, unsigned int link, unsigned int *version) {
  int r = check_link(device, link, version);
  return r ? r : driver_sensor(device, SENSOR_NVLINK_VERSION, version);
}

EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(struct device *device, unsigned int link, int *type) {
  int r = check_link(device, link, type);
  if (!r) *type = REMOTE_IS_SWITCH;
  return r;
}

/* NCCL asks for the state of a link by its field on GPUs from compute capability 9.0 on. */
int link_field(struct device *device, unsigned id, unsigned scope, unsigned *value) {
  enum { LINK_COUNT = 91, STATE = 165, VERSION = 166 };
  switch (id) {
    case LINK_COUNT: *value = links(device); return *value ? OK : NOT_SUPPORTED;
    case STATE: return nvmlDeviceGetNvLinkState(device, scope, (int *)value);
    case VERSION: return nvmlDeviceGetNvLinkVersion(device, scope, value);
    default: return NOT_SUPPORTED;
  }
}

/* The switch is not on the guest's bus. This is the place that the driver gives it in a virtual machine. */
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(struct device *device, unsigned int link, struct pci *pci) {
  int r = check_link(device, link, pci);
  if (!r) {
    *pci = (struct pci){.legacy = "FFFFFFF:FFFF:FF",
                        .domain = ~0u,
                        .bus = ~0u,
                        .device = ~0u,
                        .id = ~0u,
                        .subsystem = ~0u,
                        .text = "FFFFFFF:FFFF:FF"};
  }
  return r;
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

/* ---- Processors: none of this machine is nearer to the GPU than another ---- */

/* Sets the bit of each entry PREFIXn of a folder. */
static int entries(const char *folder, const char *prefix, unsigned int words, unsigned long *set) {
  DIR *dir = opendir(folder);
  if (!dir) return UNKNOWN;
  memset(set, 0, words * sizeof *set);
  for (struct dirent *entry; (entry = readdir(dir));) {
    size_t length = strlen(prefix);
    char *end;
    if (strncmp(entry->d_name, prefix, length)) continue;
    unsigned long n = strtoul(entry->d_name + length, &end, 10), word = n / (8 * sizeof *set);
    if (end != entry->d_name + length && !*end && word < words) set[word] |= 1ul << n % (8 * sizeof *set);
  }
  closedir(dir);
  return OK;
}

EXPORT int nvmlDeviceGetCpuAffinityWithinScope(struct device *device, unsigned int words, unsigned long *set, int scope) {
  int r = valid(device);
  if (r || !words || !set || scope < 0 || scope > 1) return r ? r : INVALID_ARGUMENT;
  return entries("/sys/devices/system/cpu", "cpu", words, set);
}
EXPORT int nvmlDeviceGetCpuAffinity(struct device *device, unsigned int words, unsigned long *set) {
  return nvmlDeviceGetCpuAffinityWithinScope(device, words, set, 0);
}
EXPORT int nvmlDeviceGetMemoryAffinity(struct device *device, unsigned int words, unsigned long *set, int scope) {
  int r = valid(device);
  if (r || !words || !set || scope < 0 || scope > 1) return r ? r : INVALID_ARGUMENT;
  return entries("/sys/devices/system/node", "node", words, set);
}
