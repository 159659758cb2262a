/* libnvidia-ml.so.1 for a guest: answers queries of tools and frameworks about a vGPU, through the client's libcuda.so.1. The library
 * uses the driver API alone, so a process that uses both libraries has one session. Names, structures and codes: NVML API reference.
 *
 * What the guest knows of a vGPU is answered, utilization by the guest's own sessions (activity.c). Temperature, power and clocks are the GPU's, as far as its owner shows them (sensors.c).
 * Counters and settings of the GPU belong to its owner: the guest gets NVML_ERROR_NOT_SUPPORTED, from the functions of unsupported.c. */
#ifndef GRAFT_NVML_H
#define GRAFT_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_DEVICES 32
#define MAX_SESSIONS 65536 /* of a guest that an answer of the server may have */
#define NO_DEVICE 100      /* CUDA_ERROR_NO_DEVICE: CUDA_VISIBLE_DEVICES hides all of them */

enum {
  OK = 0,
  UNINITIALIZED = 1,
  INVALID_ARGUMENT = 2,
  NOT_SUPPORTED = 3,
  NOT_FOUND = 6,
  INSUFFICIENT_SIZE = 7,
  DRIVER_NOT_LOADED = 9,
  TIMEOUT = 10,
  ARGUMENT_VERSION_MISMATCH = 25,
  UNKNOWN = 999
};

struct device {
  int ordinal;
};

struct pci { /* nvmlPciInfo_t */
  char legacy[16];
  unsigned int domain, bus, device, id, subsystem;
  char text[32];
};

/* Attributes of a device in the driver API, as cuda.h numbers them. */
enum {
  CLOCK_RATE = 13,
  ECC_ENABLED = 32,
  PCI_BUS_ID = 33,
  PCI_DEVICE_ID = 34,
  MEMORY_CLOCK_RATE = 36,
  MEMORY_BUS_WIDTH = 37,
  PCI_DOMAIN_ID = 50,
  COMPUTE_CAPABILITY_MAJOR = 75,
  COMPUTE_CAPABILITY_MINOR = 76
};

/* What the GPU's owner shows of it, as the server's Sensors numbers it; in NVML's units: degrees Celsius, milliwatts, MHz. */
enum sensor {
  SENSOR_TEMPERATURE,
  SENSOR_POWER,
  SENSOR_POWER_LIMIT,
  SENSOR_CLOCK, /* of the first type; those of the other three types follow */
  SENSOR_PERFORMANCE_STATE = SENSOR_CLOCK + 4,
  SENSOR_NVLINKS, /* how many are active */
  SENSOR_NVLINK_VERSION,
  SENSOR_NVLINK_REMOTE_TYPE,
  SENSOR_BRAND,
  SENSOR_PCIE_THROUGHPUT, /* by counter, KB/s */
  SENSOR_NVLINK_END,      /* by link: a device of the same server by its number there, or LINK_TO_SWITCH */
  SENSOR_COMMON_ANCESTOR  /* by another device of the same server */
};
#define LINK_TO_SWITCH (1u << 16)

/* ---- library.c ---- */

/* Whether nvmlInit has been called; UNINITIALIZED if not. */
int ready(void);
/* Whether the handle is one of this library's. */
int valid(const struct device *device);
/* The devices; NULL behind the last one. */
struct device *device_at(unsigned int index);
unsigned int device_count(void);
/* Copies a text to a caller's buffer. */
int text(char *to, unsigned int size, const char *from);
/* NOT_SUPPORTED; with GRAFT_DEBUG it says what of. */
int missing(const char *what);
/* GRAFT_DEBUG is set. */
bool debug(void);

/* The driver's answers about a device; the codes are NVML's. */
const char *driver_name(const struct device *device);
const uint8_t *driver_uuid(const struct device *device);
int driver_attribute(const struct device *device, int attribute, int *value);
int driver_peer_access(const struct device *device, const struct device *peer, int *can);
/* What is free and what there is for this session, within its limit. */
int driver_memory(const struct device *device, uint64_t *free, uint64_t *total);

/* NOT_SUPPORTED if the GPU has no such sensor, or its owner does not show it. The index is 0 for a sensor of which there is one. */
int driver_sensor(const struct device *device, enum sensor sensor, unsigned index, unsigned *value);
/* A device of the same server by its number there; NULL behind the last one. */
struct device *driver_neighbour(const struct device *device, unsigned ordinal);

/* Asks for the guest's sessions (activity.c). */
int driver_activity(const struct device *device, void *data, unsigned capacity, unsigned *count);

/* ---- activity.c, for nvidia-smi's table ---- */

/* The guest's processes with their memory and commands. */
int smi_processes(struct device *device, unsigned int *wanted, void *out);
/* What they did lately. *KNOWN becomes 1, as with the driver. */
int smi_samples(struct device *device, unsigned long long last_seen, unsigned int *known, unsigned int *wanted, void *out);

/* ---- links.c, topology.c ---- */

/* What nvmlDeviceGetFieldValues shows of a link (scope); NOT_SUPPORTED for other fields. */
int link_field(struct device *device, unsigned id, unsigned scope, unsigned *value);

/* Exported, and used by the other files. */
EXPORT int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci);
EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(struct device *device, unsigned int *wanted, void *out);
EXPORT int nvmlDeviceGetMPSComputeRunningProcesses_v3(struct device *device, unsigned int *wanted, void *out);

#endif
