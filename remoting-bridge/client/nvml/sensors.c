/* Temperature, power, clocks and traffic of the GPU, which its owner shows or not, and its brand. */
#include "nvml.h"

enum { CLOCK_TYPES = 4 };

static int show(const struct device *device, enum sensor sensor, unsigned int *out) {
  int r = valid(device);
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  return driver_sensor(device, sensor, 0, out);
}

/* The GPU itself is the only sensor of the temperature. */
EXPORT int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned int *degrees) {
  int r = valid(device);
  return r ? r : sensor ? INVALID_ARGUMENT : show(device, SENSOR_TEMPERATURE, degrees);
}

struct temperature { /* nvmlTemperature_v1_t */
  unsigned int version;
  int sensor, degrees;
};

EXPORT int nvmlDeviceGetTemperatureV(struct device *device, struct temperature *out) {
  unsigned int degrees;
  int r = valid(device);
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  if (out->version != (sizeof *out | 1 << 24)) return ARGUMENT_VERSION_MISMATCH;
  r = nvmlDeviceGetTemperature(device, out->sensor, &degrees);
  if (!r) out->degrees = (int)degrees;
  return r;
}

EXPORT int nvmlDeviceGetPowerUsage(struct device *device, unsigned int *milliwatts) {
  return show(device, SENSOR_POWER, milliwatts);
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(struct device *device, unsigned int *milliwatts) {
  return show(device, SENSOR_POWER_LIMIT, milliwatts);
}

EXPORT int nvmlDeviceGetClockInfo(struct device *device, unsigned int type, unsigned int *megahertz) {
  int r = valid(device);
  if (r) return r;
  return type < CLOCK_TYPES ? show(device, (enum sensor)(SENSOR_CLOCK + type), megahertz) : INVALID_ARGUMENT;
}

/* Of the ids of a clock only the current one is the GPU's; the others are its owner's settings. */
EXPORT int nvmlDeviceGetClock(struct device *device, unsigned int type, unsigned int id, unsigned int *megahertz) {
  enum { CURRENT = 0, IDS = 4 };
  int r = valid(device);
  if (r || id >= IDS) return r ? r : INVALID_ARGUMENT;
  return id == CURRENT ? nvmlDeviceGetClockInfo(device, type, megahertz) : NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetPerformanceState(struct device *device, unsigned int *state) {
  return show(device, SENSOR_PERFORMANCE_STATE, state);
}
EXPORT int nvmlDeviceGetPowerState(struct device *device, unsigned int *state) {
  return show(device, SENSOR_PERFORMANCE_STATE, state);
}

EXPORT int nvmlDeviceGetPcieThroughput(struct device *device, unsigned int counter, unsigned int *kilobytes) {
  enum { COUNTERS = 2 };
  int r = valid(device);
  if (r || !kilobytes || counter >= COUNTERS) return r ? r : INVALID_ARGUMENT;
  return driver_sensor(device, SENSOR_PCIE_THROUGHPUT, counter, kilobytes);
}

/* nvidia-smi monitors devices of certain brands only. */
EXPORT int nvmlDeviceGetBrand(struct device *device, unsigned int *brand) {
  enum { BRAND_UNKNOWN = 0 };
  int r = show(device, SENSOR_BRAND, brand);
  if (r != NOT_SUPPORTED) return r;
  *brand = BRAND_UNKNOWN;
  return OK;
}
