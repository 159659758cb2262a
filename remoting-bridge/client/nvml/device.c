/* Which devices there are, and what they are. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "nvml.h"

EXPORT int nvmlDeviceGetCount_v2(unsigned int *out) {
  int r = ready();
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  *out = device_count();
  return OK;
}
EXPORT int nvmlDeviceGetCount(unsigned int *out) { return nvmlDeviceGetCount_v2(out); }

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct device **device) {
  int r = ready();
  if (r || !device || !device_at(index)) return r ? r : INVALID_ARGUMENT;
  *device = device_at(index);
  return OK;
}
EXPORT int nvmlDeviceGetHandleByIndex(unsigned int index, struct device **device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

EXPORT int nvmlDeviceGetIndex(struct device *device, unsigned int *index) {
  int r = valid(device);
  if (r || !index) return r ? r : INVALID_ARGUMENT;
  *index = (unsigned)device->ordinal;
  return OK;
}
EXPORT int nvmlDeviceGetMinorNumber(struct device *device, unsigned int *minor) { return nvmlDeviceGetIndex(device, minor); }

EXPORT int nvmlDeviceGetName(struct device *device, char *name, unsigned int size) {
  int r = valid(device);
  return r ? r : text(name, size, driver_name(device));
}

/* ---- By UUID ---- */

static void uuid_text(const struct device *device, char out[41]) {
  const uint8_t *u = driver_uuid(device);
  snprintf(out, 41, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5],
           u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

EXPORT int nvmlDeviceGetUUID(struct device *device, char *uuid, unsigned int size) {
  char full[41];
  int r = valid(device);
  if (r) return r;
  uuid_text(device, full);
  return text(uuid, size, full);
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, struct device **device) {
  int r = ready();
  if (r || !uuid || !device) return r ? r : INVALID_ARGUMENT;
  for (unsigned int i = 0; i < device_count(); i++) {
    char full[41];
    uuid_text(device_at(i), full);
    if (!strcasecmp(full, uuid)) {
      *device = device_at(i);
      return OK;
    }
  }
  return NOT_FOUND;
}

struct uuid { /* nvmlUUID_t */
  unsigned int version, type;
  union {
    char text[41];
    uint8_t bytes[16];
  } value;
};

EXPORT int nvmlDeviceGetHandleByUUIDV(const struct uuid *uuid, struct device **device) {
  enum { TEXT = 1, BINARY = 2 };
  int r = ready();
  if (r || !uuid || !device) return r ? r : INVALID_ARGUMENT;
  if (uuid->version != (sizeof *uuid | 1 << 24)) return ARGUMENT_VERSION_MISMATCH;
  if (uuid->type == TEXT) {
    char wanted[42] = "";
    memcpy(wanted, uuid->value.text, 41);
    return nvmlDeviceGetHandleByUUID(wanted, device);
  }
  if (uuid->type != BINARY) return INVALID_ARGUMENT;
  for (unsigned int i = 0; i < device_count(); i++) {
    if (!memcmp(driver_uuid(device_at(i)), uuid->value.bytes, 16)) {
      *device = device_at(i);
      return OK;
    }
  }
  return NOT_FOUND;
}

/* ---- By place on the PCI bus ---- */

EXPORT int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci) {
  int r = valid(device), domain, bus, slot;
  if (r || !pci) return r ? r : INVALID_ARGUMENT;
  if (driver_attribute(device, PCI_DOMAIN_ID, &domain) || driver_attribute(device, PCI_BUS_ID, &bus) ||
      driver_attribute(device, PCI_DEVICE_ID, &slot)) {
    return UNKNOWN;
  }
  memset(pci, 0, sizeof *pci);
  pci->domain = (unsigned)domain;
  pci->bus = (unsigned)bus;
  pci->device = (unsigned)slot;
  snprintf(pci->text, sizeof pci->text, "%08X:%02X:%02X.0", pci->domain, pci->bus & 0xff, pci->device & 0xff);
  snprintf(pci->legacy, sizeof pci->legacy, "%04X:%02X:%02X.0", pci->domain & 0xffff, pci->bus & 0xff, pci->device & 0xff);
  return OK;
}
EXPORT int nvmlDeviceGetPciInfo_v2(struct device *device, struct pci *pci) { return nvmlDeviceGetPciInfo_v3(device, pci); }
EXPORT int nvmlDeviceGetPciInfo(struct device *device, struct pci *pci) { return nvmlDeviceGetPciInfo_v3(device, pci); }

struct pci_extended { /* nvmlPciInfoExt_v1_t */
  unsigned int version, domain, bus, device, id, subsystem, base_class, sub_class;
  char text[32];
};
EXPORT int nvmlDeviceGetPciInfoExt(struct device *device, struct pci_extended *out) {
  struct pci pci;
  int r = ready();
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  r = nvmlDeviceGetPciInfo_v3(device, &pci);
  if (r) return r;
  out->domain = pci.domain;
  out->bus = pci.bus;
  out->device = pci.device;
  out->id = out->subsystem = 0;
  out->base_class = 3; /* display controller, 3D (PCI Code and ID Assignment) */
  out->sub_class = 2;
  memcpy(out->text, pci.text, sizeof out->text);
  return OK;
}

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct device **device) {
  unsigned domain, bus, slot;
  int r = ready();
  if (r || !id || !device || sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) return r ? r : INVALID_ARGUMENT;
  for (unsigned int i = 0; i < device_count(); i++) {
    struct pci pci;
    if (!nvmlDeviceGetPciInfo_v3(device_at(i), &pci) && pci.domain == domain && pci.bus == bus && pci.device == slot) {
      *device = device_at(i);
      return OK;
    }
  }
  return NOT_FOUND;
}
EXPORT int nvmlDeviceGetHandleByPciBusId(const char *id, struct device **device) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

/* ---- What the driver API says of a device ---- */

EXPORT int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor) {
  int r = valid(device);
  if (r || !major || !minor) return r ? r : INVALID_ARGUMENT;
  r = driver_attribute(device, COMPUTE_CAPABILITY_MAJOR, major);
  return r ? r : driver_attribute(device, COMPUTE_CAPABILITY_MINOR, minor);
}

EXPORT int nvmlDeviceGetArchitecture(struct device *device, unsigned int *out) {
  enum { KEPLER = 2, MAXWELL, PASCAL, VOLTA, TURING, AMPERE, ADA, HOPPER, BLACKWELL };
  int major, minor, r = nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  *out = major >= 10  ? BLACKWELL
         : major == 9 ? HOPPER
         : major == 8 ? (minor == 9 ? ADA : AMPERE)
         : major == 7 ? (minor == 5 ? TURING : VOLTA)
         : major == 6 ? PASCAL
         : major == 5 ? MAXWELL
                      : KEPLER;
  return OK;
}

EXPORT int nvmlDeviceGetMemoryBusWidth(struct device *device, unsigned int *out) {
  int r = valid(device), bits;
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  r = driver_attribute(device, MEMORY_BUS_WIDTH, &bits);
  if (!r) *out = (unsigned)bits;
  return r;
}

/* The highest clocks; what the clocks are now, only the owner sees. */
EXPORT int nvmlDeviceGetMaxClockInfo(struct device *device, int type, unsigned int *out) {
  enum { GRAPHICS, SM, MEMORY };
  int r = valid(device), kilohertz;
  if (r || !out || type < 0) return r ? r : INVALID_ARGUMENT;
  if (type > MEMORY) return NOT_SUPPORTED;
  r = driver_attribute(device, type == MEMORY ? MEMORY_CLOCK_RATE : CLOCK_RATE, &kilohertz);
  if (!r && kilohertz <= 0) return NOT_SUPPORTED;
  if (!r) *out = (unsigned)kilohertz / 1000;
  return r;
}

/* ---- Features that a vGPU does not have, and defaults ---- */

#define CONSTANT(name, value)                                 \
  EXPORT int name(struct device *device, unsigned int *out) { \
    int r = valid(device);                                    \
    if (r || !out) return r ? r : INVALID_ARGUMENT;           \
    *out = value;                                             \
    return OK;                                                \
  }
CONSTANT(nvmlDeviceGetMaxMigDeviceCount, 0)
CONSTANT(nvmlDeviceIsMigDeviceHandle, 0)
CONSTANT(nvmlDeviceGetDisplayActive, 0)
CONSTANT(nvmlDeviceGetDisplayMode, 0)
CONSTANT(nvmlDeviceGetComputeMode, 0)        /* default: shared by processes */
CONSTANT(nvmlDeviceGetVirtualizationMode, 0) /* no virtualization by the hardware */
CONSTANT(nvmlDeviceGetNumFans, 0)
CONSTANT(nvmlDeviceGetBusType, 2) /* PCI Express */

#define NONE(name)                                  \
  EXPORT int name(unsigned int *out) {              \
    int r = ready();                                \
    if (r || !out) return r ? r : INVALID_ARGUMENT; \
    *out = 0;                                       \
    return OK;                                      \
  }
NONE(nvmlUnitGetCount)
NONE(nvmlGetExcludedDeviceCount)
NONE(nvmlGetBlacklistDeviceCount)
