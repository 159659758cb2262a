/* Start and end of the library, the system's versions, and the driver beneath. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/devices.h"
#include "nvml.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, count;
static struct device devices[MAX_DEVICES];

static int (*Init)(unsigned), (*DriverVersion)(int *), (*CanAccessPeer)(int *, int, int);

/* The client's own table (api/tables.c): memory in use as the session counts it, without a context, and the devices that CUDA hides from
 * the program too (CUDA_VISIBLE_DEVICES), since NVML has all of them. */
static const uint8_t graft_table[16] = {'g', 'r', 'a', 'f', 't', '.', 'n', 'v', 'm', 'l', '.', '1'};
static const struct graft_functions {
  size_t bytes;
  int (*memory)(int device, uint64_t *free, uint64_t *total);
  const char *(*driver)(void);
  const struct graft_device *(*device)(int index);
  int (*visible)(int index);
  int (*sensor)(int device, unsigned sensor, unsigned index, unsigned *value);
  int (*activity)(int device, void *data, unsigned capacity, unsigned *count);
  int (*neighbours)(int device, int *count);
} * graft;

static bool resolve(void *library, const char *name, void *to) {
  void *found = dlsym(library, name);
  memcpy(to, &found, sizeof found);
  return found != NULL;
}

static int start(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!cuda) return DRIVER_NOT_LOADED;
  int (*get_export_table)(const void **, const void *);
  if (!resolve(cuda, "cuInit", &Init) || !resolve(cuda, "cuDeviceCanAccessPeer", &CanAccessPeer) ||
      !resolve(cuda, "cuDriverGetVersion", &DriverVersion) || !resolve(cuda, "cuGetExportTable", &get_export_table) ||
      get_export_table((const void **)&graft, graft_table)) {
    return DRIVER_NOT_LOADED;
  }
  int r = Init(0);
  if (r && r != NO_DEVICE) return DRIVER_NOT_LOADED;
  for (count = 0; count < MAX_DEVICES && graft->device(count); count++) devices[count].ordinal = count;
  return count ? OK : DRIVER_NOT_LOADED;
}

EXPORT int nvmlInitWithFlags(unsigned int flags) {
  pthread_mutex_lock(&lock);
  int r = users ? OK : start();
  if (!r) users++;
  pthread_mutex_unlock(&lock);
  return r;
}
EXPORT int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
EXPORT int nvmlInit(void) { return nvmlInitWithFlags(0); }

EXPORT int nvmlShutdown(void) {
  pthread_mutex_lock(&lock);
  int r = users ? OK : UNINITIALIZED;
  if (users) users--;
  pthread_mutex_unlock(&lock);
  return r;
}

int ready(void) { return users ? OK : UNINITIALIZED; }

int valid(const struct device *device) {
  if (!users) return UNINITIALIZED;
  for (int i = 0; i < count; i++) {
    if (device == &devices[i]) return OK;
  }
  return INVALID_ARGUMENT;
}

struct device *device_at(unsigned int index) {
  return index < (unsigned)count ? &devices[index] : NULL;
}
unsigned int device_count(void) { return (unsigned)count; }

bool debug(void) {
  const char *value = getenv("GRAFT_DEBUG");
  return value && *value && strcmp(value, "0");
}

int missing(const char *what) {
  if (debug()) fprintf(stderr, "graft: %s: NVML_ERROR_NOT_SUPPORTED\n", what);
  return NOT_SUPPORTED;
}

int text(char *to, unsigned int size, const char *from) {
  if (!to) return INVALID_ARGUMENT;
  if (strlen(from) >= size) return INSUFFICIENT_SIZE;
  strcpy(to, from);
  return OK;
}

const char *driver_name(const struct device *device) { return graft->device(device->ordinal)->name; }

const uint8_t *driver_uuid(const struct device *device) { return graft->device(device->ordinal)->uuid; }

int driver_attribute(const struct device *device, int attribute, int *value) {
  const struct graft_device *d = graft->device(device->ordinal);
  if (attribute > (int)d->attribute_count || d->attributes[attribute] == INT_MIN) return NOT_SUPPORTED;
  *value = d->attributes[attribute];
  return OK;
}

int driver_peer_access(const struct device *device, const struct device *peer, int *can) {
  int from = graft->visible(device->ordinal), to = graft->visible(peer->ordinal);
  if (from < 0 || to < 0) return NOT_SUPPORTED;
  return CanAccessPeer(can, from, to) ? UNKNOWN : OK;
}

int driver_memory(const struct device *device, uint64_t *free, uint64_t *total) {
  if (graft->memory(device->ordinal, free, total)) *free = *total = graft->device(device->ordinal)->total_memory;
  return OK;
}

int driver_sensor(const struct device *device, enum sensor sensor, unsigned index, unsigned *value) {
  return graft->sensor(device->ordinal, sensor, index, value) ? NOT_SUPPORTED : OK;
}

struct device *driver_neighbour(const struct device *device, unsigned ordinal) {
  int neighbours, first = graft->neighbours(device->ordinal, &neighbours);
  return ordinal < (unsigned)neighbours ? device_at((unsigned)first + ordinal) : NULL;
}

int driver_activity(const struct device *device, void *data, unsigned capacity, unsigned *sessions) {
  return graft->activity(device->ordinal, data, capacity, sessions) ? NOT_SUPPORTED : OK;
}

/* ---- Versions ---- */

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version) {
  if (!users) return UNINITIALIZED;
  if (!version) return INVALID_ARGUMENT;
  return DriverVersion(version) ? UNKNOWN : OK;
}
EXPORT int nvmlSystemGetCudaDriverVersion(int *version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

EXPORT int nvmlSystemGetNVMLVersion(char *version, unsigned int size) { return text(version, size, "13.580.0"); }

/* This guest has no kernel driver of NVIDIA: the version is that of the owner's driver. */
EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned int size) {
  if (!users) return UNINITIALIZED;
  return text(version, size, graft->driver()[0] ? graft->driver() : "0.0");
}

EXPORT const char *nvmlErrorString(int error) {
  static const char *const names[] = {"Success",
                                      "Uninitialized",
                                      "Invalid Argument",
                                      "Not Supported",
                                      "Insufficient Permissions",
                                      "Already Initialized",
                                      "Not Found",
                                      "Insufficient Size",
                                      "Insufficient External Power",
                                      "Driver Not Loaded",
                                      "Timeout",
                                      "Interrupt Request Issue",
                                      "NVML Shared Library Not Found",
                                      "Function Not Found",
                                      "Corrupted infoROM",
                                      "GPU is lost",
                                      "GPU requires reset",
                                      "GPU access blocked by the operating system",
                                      "Driver/library version mismatch",
                                      "In use by another client",
                                      "Insufficient Memory",
                                      "No data",
                                      "The requested vgpu operation is not available on target device, because ECC is enabled",
                                      "Insufficient Resources",
                                      "Frequency not supported",
                                      "Argument version mismatch",
                                      "Deprecated",
                                      "Not Ready",
                                      "GPU not found",
                                      "Invalid State"};
  return error >= 0 && error < (int)(sizeof names / sizeof *names) ? names[error] : "Unknown Error";
}
