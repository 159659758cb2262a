/* How devices and processors are connected, as far as a guest knows. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml.h"

#define MAX_LINKS 18 /* NVML_NVLINK_MAX_LINKS */

/* NCCL first calls this function for every pair of devices, also for a device and itself. Reads and writes are supported if CUDA
 * lets kernels of one device use the other's memory; the rest (NVLink, atomics) is not known in a guest. */
EXPORT int nvmlDeviceGetP2PStatus(struct device *device, struct device *peer, int index, int *status) {
  enum { CAPS_WRITE = 1, STATUS_OK = 0, STATUS_NOT_SUPPORTED = 5 };
  int r = valid(device), can = 1;
  if (!r) r = valid(peer);
  if (r) return r;
  if (!status || index < 0) return INVALID_ARGUMENT;
  if (index > CAPS_WRITE) return NOT_SUPPORTED;
  if (device != peer && driver_peer_access(device, peer, &can)) return UNKNOWN;
  *status = can ? STATUS_OK : STATUS_NOT_SUPPORTED;
  return OK;
}

/* ---- NVLink: a vGPU has no links; a link that no GPU has is an invalid argument ---- */

#define LINK(name)                                                         \
  EXPORT int name(struct device *device, unsigned int link, void *first) { \
    int r = valid(device);                                                 \
    if (r) return r;                                                       \
    return link < MAX_LINKS && first ? NOT_SUPPORTED : INVALID_ARGUMENT;   \
  }
LINK(nvmlDeviceGetNvLinkState)
LINK(nvmlDeviceGetNvLinkVersion)
LINK(nvmlDeviceGetNvLinkRemotePciInfo)
LINK(nvmlDeviceGetNvLinkRemotePciInfo_v2)
LINK(nvmlDeviceGetNvLinkRemoteDeviceType)

EXPORT int nvmlDeviceGetNvLinkCapability(struct device *device, unsigned int link, int capability, unsigned int *result) {
  int r = valid(device);
  if (r) return r;
  return link < MAX_LINKS && capability >= 0 && result ? NOT_SUPPORTED : INVALID_ARGUMENT;
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
