/* Memory, processes and events. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nvml.h"

struct memory { /* nvmlMemory_t */
  unsigned long long total, free, used;
};
struct memory2 { /* nvmlMemory_v2_t */
  unsigned int version;
  unsigned long long total, reserved, free, used;
};

EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *out) {
  uint64_t free, total;
  int r = valid(device);
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  r = driver_memory(device, &free, &total);
  if (!r) *out = (struct memory){total, free, total - free};
  return r;
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory2 *out) {
  uint64_t free, total;
  int r = valid(device);
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  if (out->version != (sizeof *out | 2 << 24)) return ARGUMENT_VERSION_MISMATCH;
  r = driver_memory(device, &free, &total);
  if (!r) *out = (struct memory2){out->version, total, 0, free, total - free};
  return r;
}

/* ---- Processes that use graphics or MPS: there are none ---- */

#define NO_PROCESSES(name)                                                  \
  EXPORT int name(struct device *device, unsigned int *wanted, void *out) { \
    int r = valid(device);                                                  \
    if (r || !wanted) return r ? r : INVALID_ARGUMENT;                      \
    *wanted = 0;                                                            \
    return OK;                                                              \
  }
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)

EXPORT int nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int size) {
  char path[64], full[512] = "";
  int r = ready();
  if (r || !name || !size) return r ? r : INVALID_ARGUMENT;
  snprintf(path, sizeof path, "/proc/%u/comm", pid);
  FILE *file = fopen(path, "re");
  if (!file) return NOT_FOUND;
  char *got = fgets(full, sizeof full, file);
  fclose(file);
  full[strcspn(full, "\n")] = 0;
  return got ? text(name, size, full) : UNKNOWN;
}

/* ---- Fields: each has a result of its own ---- */

struct field { /* nvmlFieldValue_t */
  unsigned int id, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};

static int fields(struct device *device, int count, struct field *values, bool wanted) {
  int r = valid(device);
  if (r || count < 1 || !values) return r ? r : INVALID_ARGUMENT;
  for (struct field *field = values; field < values + count; field++) {
    unsigned value;
    char what[32];
    snprintf(what, sizeof what, "field %u of NVML", field->id);
    field->result = wanted ? link_field(device, field->id, field->scope, &value) : NOT_SUPPORTED;
    if (field->result == NOT_SUPPORTED) missing(what);
    if (field->result) continue;
    field->timestamp = field->latency = 0;
    field->type = 1; /* NVML_VALUE_TYPE_UNSIGNED_INT */
    field->value = value;
  }
  return OK;
}
EXPORT int nvmlDeviceGetFieldValues(struct device *device, int count, struct field *values) {
  return fields(device, count, values, true);
}
EXPORT int nvmlDeviceClearFieldValues(struct device *device, int count, struct field *values) {
  return fields(device, count, values, false);
}

/* ---- Events of the hardware: a set can be made, but no event ever occurs ---- */

static int no_events;

EXPORT int nvmlEventSetCreate(void **set) {
  int r = ready();
  if (r || !set) return r ? r : INVALID_ARGUMENT;
  *set = &no_events;
  return OK;
}
EXPORT int nvmlEventSetFree(void *set) {
  int r = ready();
  return r || set == &no_events ? r : INVALID_ARGUMENT;
}
EXPORT int nvmlDeviceGetSupportedEventTypes(struct device *device, unsigned long long *types) {
  int r = valid(device);
  if (r || !types) return r ? r : INVALID_ARGUMENT;
  *types = 0;
  return OK;
}
EXPORT int nvmlEventSetWait_v2(void *set, void *data, unsigned int milliseconds) {
  int r = ready();
  if (r || set != &no_events || !data) return r ? r : INVALID_ARGUMENT;
  struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  while (nanosleep(&left, &left)) {}
  return TIMEOUT;
}
EXPORT int nvmlEventSetWait(void *set, void *data, unsigned int milliseconds) {
  return nvmlEventSetWait_v2(set, data, milliseconds);
}
