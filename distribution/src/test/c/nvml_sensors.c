/* A libnvidia-ml.so.1 with the sensors of one GPU, the software device 0. Each reading of the power is 1 mW more than the last. */
#include <string.h>

enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int started, gpu;
static unsigned power = 71000;

int nvmlInit_v2(void) {
  started = 1;
  return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  if (!started) return UNINITIALIZED;
  if (strcmp(uuid, "GPU-67726166-742d-736f-6674-776172652d30")) return NOT_FOUND; /* "graft-software-0" */
  *device = &gpu;
  return OK;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *value) {
  if (device != &gpu || sensor) return INVALID_ARGUMENT;
  *value = 33;
  return OK;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *value) {
  if (device != &gpu) return INVALID_ARGUMENT;
  *value = power++;
  return OK;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *value) {
  if (device != &gpu) return INVALID_ARGUMENT;
  *value = 1000 + (unsigned)type;
  return type == 3 ? NOT_SUPPORTED : OK;
}

/* Links 0 and 1 are active, to a switch. */
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *value) {
  if (device != &gpu || link >= 18) return INVALID_ARGUMENT;
  *value = link < 2;
  return link < 4 ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkVersion(void *device, unsigned link, unsigned *value) {
  if (device != &gpu || link) return INVALID_ARGUMENT;
  *value = 4;
  return OK;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, unsigned *value) {
  if (device != &gpu || link) return INVALID_ARGUMENT;
  *value = 2;
  return OK;
}
