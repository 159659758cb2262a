/* A libnvidia-ml.so.1 with the sensors of one GPU, the software device 0, which has a link to the software device 1. Each reading of the power is 1 mW more than the last. */
#include <string.h>

enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int started, gpu, other;
static unsigned power = 71000;

int nvmlInit_v2(void) {
  started = 1;
  return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  if (!started) return UNINITIALIZED;
  *device = !strcmp(uuid, "GPU-67726166-742d-736f-6674-776172652d30") ? &gpu : &other; /* "graft-software-0" */
  return *device == &other && strcmp(uuid, "GPU-67726166-742d-736f-6674-776172652d31") ? NOT_FOUND : OK;
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

int nvmlDeviceGetBrand(void *device, unsigned *value) {
  if (device != &gpu) return NOT_SUPPORTED;
  *value = 14;
  return OK;
}

int nvmlDeviceGetPcieThroughput(void *device, unsigned counter, unsigned *value) {
  if (device != &gpu || counter > 1) return INVALID_ARGUMENT;
  *value = 500 + counter;
  return OK;
}

int nvmlDeviceGetTopologyCommonAncestor(void *device, void *peer, unsigned *value) {
  if (device != &gpu || peer != &other) return INVALID_ARGUMENT;
  *value = 20;
  return OK;
}

/* Links 1, 2 and 3 are active: to a switch, to device 1, and to a GPU that the server does not have. */
int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *value) {
  if (device != &gpu || link >= 18) return INVALID_ARGUMENT;
  *value = link > 0;
  return link < 4 ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkVersion(void *device, unsigned link, unsigned *value) {
  if (device != &gpu || link >= 4) return INVALID_ARGUMENT;
  *value = 4;
  return OK;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, unsigned *value) {
  if (device != &gpu || link >= 4) return INVALID_ARGUMENT;
  *value = link == 1 ? 2 : 0;
  return OK;
}

struct pci { /* nvmlPciInfo_t */
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};

static int at_bus(unsigned bus, struct pci *pci) {
  memset(pci, 0, sizeof *pci);
  pci->bus = bus;
  return OK;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci) { return at_bus(device == &gpu ? 0x40 : 0x41, pci); }

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, struct pci *pci) {
  return device == &gpu ? at_bus(link == 2 ? 0x41 : 0x99, pci) : INVALID_ARGUMENT;
}
