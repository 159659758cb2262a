/* How devices and processors are connected, as far as a guest knows. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml.h"

/* ---- Devices: the path between devices of one server is the server's ---- */

enum { INTERNAL = 0, SYSTEM = 50, LEVEL_STEP = 10 }; /* nvmlGpuTopologyLevel_t */

/* The number of a device at its server, for a device of the same server; false for a device of another one. */
static bool ordinal_beside(const struct device *device, const struct device *peer, unsigned *ordinal) {
  struct device *neighbour;
  for (*ordinal = 0; (neighbour = driver_neighbour(device, *ordinal)); ++*ordinal) {
    if (neighbour == peer) return true;
  }
  return false;
}

/* Where nothing nearer is known, the level is the farthest one. */
EXPORT int nvmlDeviceGetTopologyCommonAncestor(struct device *device, struct device *peer, unsigned int *level) {
  unsigned ordinal, found;
  int r = valid(device);
  if (!r) r = valid(peer);
  if (r || !level) return r ? r : INVALID_ARGUMENT;
  *level = device == peer ? INTERNAL : SYSTEM;
  if (device == peer || !ordinal_beside(device, peer, &ordinal)) return OK;
  if (!driver_sensor(device, SENSOR_COMMON_ANCESTOR, ordinal, &found) && found <= SYSTEM) *level = found;
  return OK;
}

/* The other devices at this level. */
EXPORT int nvmlDeviceGetTopologyNearestGpus(struct device *device, unsigned int level, unsigned int *wanted, struct device **out) {
  int r = valid(device);
  if (r || !wanted || level > SYSTEM || level % LEVEL_STEP || (*wanted && !out)) return r ? r : INVALID_ARGUMENT;
  unsigned room = *wanted, found = 0, its;
  struct device *peer;
  for (unsigned i = 0; (peer = device_at(i)); i++) {
    if (peer == device || nvmlDeviceGetTopologyCommonAncestor(device, peer, &its) || its != level) continue;
    if (found < room) out[found] = peer;
    found++;
  }
  *wanted = found < room || !room ? found : room;
  return OK;
}

/* ---- Processors: none of this machine is nearer to the GPU than another ---- */

EXPORT int nvmlSystemGetTopologyGpuSet(unsigned int processor, unsigned int *wanted, struct device **out) {
  int r = ready();
  if (r || !wanted || processor >= (unsigned long)sysconf(_SC_NPROCESSORS_CONF) || (*wanted && !out))
    return r ? r : INVALID_ARGUMENT;
  unsigned room = *wanted, count = device_count();
  for (unsigned i = 0; i < room && i < count; i++) out[i] = device_at(i);
  *wanted = count < room || !room ? count : room;
  return OK;
}

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
