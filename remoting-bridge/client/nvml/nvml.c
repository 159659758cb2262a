/* libnvidia-ml.so.1 for a guest: answers queries of tools and frameworks about a vGPU, through the client's libcuda.so.1. It uses the driver API alone, so a process that uses both libraries has one session. Questions about hardware (temperature, power, clocks) return NVML_ERROR_NOT_SUPPORTED, since they concern the owner alone. Names, structures and codes: NVML API reference. */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_DEVICES 32

enum {
  OK = 0,
  UNINITIALIZED = 1,
  INVALID_ARGUMENT = 2,
  NOT_SUPPORTED = 3,
  NOT_FOUND = 6,
  INSUFFICIENT_SIZE = 7,
  DRIVER_NOT_LOADED = 9,
  UNKNOWN = 999
};

struct device {
  int ordinal;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, count;
static struct device devices[MAX_DEVICES];

static int (*Init)(unsigned), (*GetCount)(int *), (*GetName)(char *, int, int), (*GetUuid)(uint8_t *, int);
static int (*TotalMem)(size_t *, int), (*GetAttribute)(int *, int, int), (*DriverVersion)(int *);
static int (*CanAccessPeer)(int *, int, int);
static int (*GetExportTable)(const void **, const void *);

/* The client's own table (tables.c): memory in use as the session counts it, without a context. */
static const uint8_t graft_table[16] = {'g', 'r', 'a', 'f', 't', '.', 'n', 'v', 'm', 'l', '.', '1'};
struct graft_functions {
  size_t bytes;
  int (*memory)(int device, uint64_t *free, uint64_t *total);
  const char *(*driver)(void);
};

static int resolve(void *library, const char *name, void *to) {
  void *found = dlsym(library, name);
  memcpy(to, &found, sizeof found);
  return found != NULL;
}

static int start(void) {
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!cuda) return DRIVER_NOT_LOADED;
  if (!resolve(cuda, "cuInit", &Init) || !resolve(cuda, "cuDeviceGetCount", &GetCount) ||
      !resolve(cuda, "cuDeviceGetName", &GetName) || !resolve(cuda, "cuDeviceGetUuid", &GetUuid) ||
      !resolve(cuda, "cuDeviceTotalMem_v2", &TotalMem) || !resolve(cuda, "cuDeviceGetAttribute", &GetAttribute) ||
      !resolve(cuda, "cuDeviceCanAccessPeer", &CanAccessPeer) || !resolve(cuda, "cuDriverGetVersion", &DriverVersion) ||
      !resolve(cuda, "cuGetExportTable", &GetExportTable)) {
    return DRIVER_NOT_LOADED;
  }
  if (Init(0) || GetCount(&count)) return DRIVER_NOT_LOADED;
  if (count > MAX_DEVICES) count = MAX_DEVICES;
  for (int i = 0; i < count; i++) devices[i].ordinal = i;
  return OK;
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

EXPORT const char *nvmlErrorString(int error) {
  switch (error) {
    case OK: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
    case INSUFFICIENT_SIZE: return "Insufficient Size";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    default: return "Unknown Error";
  }
}

static int text(char *to, unsigned int size, const char *from) {
  if (!to) return INVALID_ARGUMENT;
  if (strlen(from) >= size) return INSUFFICIENT_SIZE;
  strcpy(to, from);
  return OK;
}

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version) {
  if (!users) return UNINITIALIZED;
  if (!version) return INVALID_ARGUMENT;
  return DriverVersion(version) ? UNKNOWN : OK;
}
EXPORT int nvmlSystemGetCudaDriverVersion(int *version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

EXPORT int nvmlDeviceGetCount_v2(unsigned int *out) {
  if (!users) return UNINITIALIZED;
  if (!out) return INVALID_ARGUMENT;
  *out = (unsigned)count;
  return OK;
}
EXPORT int nvmlDeviceGetCount(unsigned int *out) { return nvmlDeviceGetCount_v2(out); }

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct device **device) {
  if (!users) return UNINITIALIZED;
  if (!device || index >= (unsigned)count) return INVALID_ARGUMENT;
  *device = &devices[index];
  return OK;
}
EXPORT int nvmlDeviceGetHandleByIndex(unsigned int index, struct device **device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

static int valid(const struct device *device) {
  if (!users) return UNINITIALIZED;
  return device >= devices && device < devices + count ? OK : INVALID_ARGUMENT;
}

EXPORT int nvmlDeviceGetName(struct device *device, char *name, unsigned int size) {
  char full[256];
  int r = valid(device);
  if (r) return r;
  return GetName(full, sizeof full, device->ordinal) ? UNKNOWN : text(name, size, full);
}

static int uuid_text(const struct device *device, char out[41]) {
  uint8_t u[16];
  if (GetUuid(u, device->ordinal)) return UNKNOWN;
  snprintf(out, 41, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5],
           u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  return OK;
}

EXPORT int nvmlDeviceGetUUID(struct device *device, char *uuid, unsigned int size) {
  char full[41];
  int r = valid(device);
  if (!r) r = uuid_text(device, full);
  return r ? r : text(uuid, size, full);
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, struct device **device) {
  if (!users) return UNINITIALIZED;
  if (!uuid || !device) return INVALID_ARGUMENT;
  for (int i = 0; i < count; i++) {
    char full[41];
    if (!uuid_text(&devices[i], full) && !strcasecmp(full, uuid)) {
      *device = &devices[i];
      return OK;
    }
  }
  return NOT_FOUND;
}

struct pci { /* nvmlPciInfo_t */
  char legacy[16];
  unsigned int domain, bus, device, id, subsystem;
  char text[32];
};

EXPORT int nvmlDeviceGetPciInfo_v3(struct device *device, struct pci *pci) {
  int r = valid(device), domain, bus, slot;
  if (r) return r;
  if (!pci) return INVALID_ARGUMENT;
  if (GetAttribute(&domain, 50, device->ordinal) || GetAttribute(&bus, 33, device->ordinal) ||
      GetAttribute(&slot, 34, device->ordinal)) {
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

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct device **device) {
  if (!users) return UNINITIALIZED;
  if (!id || !device) return INVALID_ARGUMENT;
  unsigned domain, bus, slot;
  if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) return INVALID_ARGUMENT;
  for (int i = 0; i < count; i++) {
    struct pci pci;
    if (!nvmlDeviceGetPciInfo_v3(&devices[i], &pci) && pci.domain == domain && pci.bus == bus && pci.device == slot) {
      *device = &devices[i];
      return OK;
    }
  }
  return NOT_FOUND;
}
EXPORT int nvmlDeviceGetHandleByPciBusId(const char *id, struct device **device) {
  return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

struct memory { /* nvmlMemory_t */
  unsigned long long total, free, used;
};
struct memory2 { /* nvmlMemory_v2_t */
  unsigned int version;
  unsigned long long total, reserved, free, used;
};

static int memory(struct device *device, uint64_t *free, uint64_t *total) {
  int r = valid(device);
  if (r) return r;
  const struct graft_functions *graft;
  if (!GetExportTable((const void **)&graft, graft_table) && !graft->memory(device->ordinal, free, total)) return OK;
  size_t bytes;
  if (TotalMem(&bytes, device->ordinal)) return UNKNOWN;
  *free = *total = bytes;
  return OK;
}

EXPORT int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *out) {
  uint64_t free, total;
  if (!out) return INVALID_ARGUMENT;
  int r = memory(device, &free, &total);
  if (!r) *out = (struct memory){total, free, total - free};
  return r;
}
EXPORT int nvmlDeviceGetMemoryInfo_v2(struct device *device, struct memory2 *out) {
  uint64_t free, total;
  if (!out) return INVALID_ARGUMENT;
  int r = memory(device, &free, &total);
  if (!r) {
    out->total = total;
    out->reserved = 0;
    out->free = free;
    out->used = total - free;
  }
  return r;
}

EXPORT int nvmlDeviceGetCudaComputeCapability(struct device *device, int *major, int *minor) {
  int r = valid(device);
  if (r) return r;
  if (!major || !minor) return INVALID_ARGUMENT;
  return GetAttribute(major, 75, device->ordinal) || GetAttribute(minor, 76, device->ordinal) ? UNKNOWN : OK;
}

EXPORT int nvmlDeviceGetIndex(struct device *device, unsigned int *index) {
  int r = valid(device);
  if (r) return r;
  if (!index) return INVALID_ARGUMENT;
  *index = (unsigned)device->ordinal;
  return OK;
}
EXPORT int nvmlDeviceGetMinorNumber(struct device *device, unsigned int *minor) { return nvmlDeviceGetIndex(device, minor); }

/* NCCL first calls this function for every pair of devices, also for a device and itself. Reads and writes are supported if CUDA lets kernels of one device use the other's memory; the rest (NVLink, atomics) is not known in a guest. */
EXPORT int nvmlDeviceGetP2PStatus(struct device *device, struct device *peer, int index, int *status) {
  enum { CAPS_WRITE = 1, STATUS_OK = 0, STATUS_NOT_SUPPORTED = 5 };
  int r = valid(device), can = 1;
  if (!r) r = valid(peer);
  if (r) return r;
  if (!status || index < 0) return INVALID_ARGUMENT;
  if (index > CAPS_WRITE) return NOT_SUPPORTED;
  if (device != peer && CanAccessPeer(&can, device->ordinal, peer->ordinal)) return UNKNOWN;
  *status = can ? STATUS_OK : STATUS_NOT_SUPPORTED;
  return OK;
}

/* nvmlPciInfoExt_t, version 1 */
struct pci_extended {
  unsigned int version, domain, bus, device, id, subsystem, base_class, sub_class;
  char text[32];
};
EXPORT int nvmlDeviceGetPciInfoExt(struct device *device, struct pci_extended *out) {
  struct pci pci;
  if (!out) return INVALID_ARGUMENT;
  int r = nvmlDeviceGetPciInfo_v3(device, &pci);
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

/* ---- Processes: only the memory use of this process's session is known ---- */

/* nvmlProcessInfo_t; its first version ends before the instances. */
struct process {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
};

static int processes(struct device *device, unsigned int *wanted, uint8_t *out, size_t size) {
  uint64_t free, total;
  if (!wanted) return INVALID_ARGUMENT;
  int r = memory(device, &free, &total);
  if (r) return r;
  unsigned int room = *wanted;
  *wanted = total > free;
  if (!*wanted) return OK;
  if (!room || !out) return INSUFFICIENT_SIZE;
  struct process self = {(unsigned)getpid(), total - free, ~0u, ~0u};
  memcpy(out, &self, size);
  return OK;
}
#define PROCESSES(name, size) \
  EXPORT int name(struct device *device, unsigned int *wanted, void *out) { return processes(device, wanted, out, size); }
PROCESSES(nvmlDeviceGetComputeRunningProcesses, offsetof(struct process, gpu_instance))
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, sizeof(struct process))
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, sizeof(struct process))

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
  snprintf(path, sizeof path, "/proc/%u/comm", pid);
  FILE *file = fopen(path, "re");
  if (!file) return NOT_FOUND;
  char *got = fgets(full, sizeof full, file);
  fclose(file);
  full[strcspn(full, "\n")] = 0;
  return got ? text(name, size, full) : UNKNOWN;
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

/* Events of the hardware: a set can be made, but no event ever occurs. */
EXPORT int nvmlEventSetCreate(void **set) {
  static int none;
  if (!users || !set) return users ? INVALID_ARGUMENT : UNINITIALIZED;
  *set = &none;
  return OK;
}
EXPORT int nvmlEventSetFree(void *set) { return users ? OK : UNINITIALIZED; }

/* ---- nvidia-smi's internal table ----
 * On an H200, nvidia-smi 580.159 asks for one table of 270 words, whose first word is the table's size. For its default output, -L,
 * --query-gpu and --query-compute-apps it calls the functions below.
 */

static const uint8_t smi_table[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                      0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};
#define SMI_SLOTS 270
enum { SMI_LOG = 26, SMI_BUS_ID = 81, SMI_COMPUTE = 213, SMI_GRAPHICS = 214, SMI_MPS = 215 };

static int smi_log(void) { return OK; } /* (format, ...): a line for NVML's log */

/* The bus id of the device of an index. */
static int smi_bus_id(unsigned int index, char *to) {
  struct device *device;
  struct pci pci;
  int r = nvmlDeviceGetHandleByIndex_v2(index, &device);
  if (!r) r = nvmlDeviceGetPciInfo_v3(device, &pci);
  if (!r && to) strcpy(to, pci.legacy);
  return r;
}

static int debug(void) {
  const char *value = getenv("GRAFT_DEBUG");
  return value && *value && strcmp(value, "0");
}

static int smi_missing(int slot) {
  if (debug()) fprintf(stderr, "graft: slot %d of nvidia-smi's table is not there: NVML_ERROR_NOT_SUPPORTED\n", slot);
  return NOT_SUPPORTED;
}

/* clang-format off */
#define TEN(F, tens) F(tens##0) F(tens##1) F(tens##2) F(tens##3) F(tens##4) F(tens##5) F(tens##6) F(tens##7) F(tens##8) F(tens##9)
#define ALL_SLOTS(F) \
  TEN(F, ) \
  TEN(F, 1) TEN(F, 2) TEN(F, 3) TEN(F, 4) TEN(F, 5) TEN(F, 6) TEN(F, 7) TEN(F, 8) TEN(F, 9) \
  TEN(F, 10) TEN(F, 11) TEN(F, 12) TEN(F, 13) TEN(F, 14) TEN(F, 15) TEN(F, 16) TEN(F, 17) TEN(F, 18) \
  TEN(F, 19) TEN(F, 20) TEN(F, 21) TEN(F, 22) TEN(F, 23) TEN(F, 24) TEN(F, 25) TEN(F, 26)
/* clang-format on */
#define STUB(slot) \
  static int smi_slot_##slot(void) { return smi_missing(slot); }
#define ENTRY(slot) (void *)smi_slot_##slot,
ALL_SLOTS(STUB)

EXPORT int nvmlInternalGetExportTable(const void **table, const void *id) {
  static void *slots[SMI_SLOTS] = {ALL_SLOTS(ENTRY)};
  if (!table || !id) return INVALID_ARGUMENT;
  if (memcmp(id, smi_table, sizeof smi_table)) {
    if (debug()) {
      const uint8_t *b = id;
      fprintf(stderr, "graft: NVML's table %02x%02x%02x%02x... is not there\n", b[0], b[1], b[2], b[3]);
    }
    return NOT_FOUND;
  }
  slots[0] = (void *)(uintptr_t)sizeof slots;
  slots[SMI_LOG] = (void *)smi_log;
  slots[SMI_BUS_ID] = (void *)smi_bus_id;
  slots[SMI_COMPUTE] = (void *)nvmlDeviceGetComputeRunningProcesses_v3;
  slots[SMI_GRAPHICS] = (void *)nvmlDeviceGetGraphicsRunningProcesses_v3;
  slots[SMI_MPS] = (void *)nvmlDeviceGetMPSComputeRunningProcesses_v3;
  *table = slots;
  return OK;
}

/* Functions that only the owner of the hardware may use. */
#define UNSUPPORTED(name)                  \
  EXPORT int name(struct device *device) { \
    int r = valid(device);                 \
    return r ? r : NOT_SUPPORTED;          \
  }
UNSUPPORTED(nvmlDeviceGetTemperature)
UNSUPPORTED(nvmlDeviceGetPowerUsage)
UNSUPPORTED(nvmlDeviceGetEnforcedPowerLimit)
UNSUPPORTED(nvmlDeviceGetPowerManagementLimit)
UNSUPPORTED(nvmlDeviceGetFanSpeed)
UNSUPPORTED(nvmlDeviceGetPerformanceState)
UNSUPPORTED(nvmlDeviceGetUtilizationRates)
UNSUPPORTED(nvmlDeviceGetClockInfo)
UNSUPPORTED(nvmlDeviceGetMaxClockInfo)
UNSUPPORTED(nvmlDeviceGetMigMode)
UNSUPPORTED(nvmlDeviceGetNvLinkState)
UNSUPPORTED(nvmlDeviceGetSerial)
UNSUPPORTED(nvmlDeviceGetPersistenceMode)
UNSUPPORTED(nvmlDeviceGetEccMode)
UNSUPPORTED(nvmlDeviceGetTemperatureV)
UNSUPPORTED(nvmlDeviceGetTotalEccErrors)
UNSUPPORTED(nvmlDeviceGetBAR1MemoryInfo)
UNSUPPORTED(nvmlDeviceGetConfComputeProtectedMemoryUsage)
UNSUPPORTED(nvmlDeviceGetAccountingMode)
UNSUPPORTED(nvmlDeviceGetEncoderUtilization)
UNSUPPORTED(nvmlDeviceGetDecoderUtilization)
UNSUPPORTED(nvmlDeviceGetTotalEnergyConsumption)
UNSUPPORTED(nvmlDeviceGetCurrentClocksThrottleReasons)
UNSUPPORTED(nvmlDeviceGetCurrPcieLinkGeneration)
UNSUPPORTED(nvmlDeviceGetCurrPcieLinkWidth)
UNSUPPORTED(nvmlDeviceGetMaxPcieLinkGeneration)
UNSUPPORTED(nvmlDeviceGetMaxPcieLinkWidth)
UNSUPPORTED(nvmlDeviceGetVbiosVersion)
UNSUPPORTED(nvmlDeviceGetBrand)
UNSUPPORTED(nvmlDeviceGetBoardPartNumber)

EXPORT int nvmlSystemGetNVMLVersion(char *version, unsigned int size) { return text(version, size, "13.580.0"); }
/* This guest has no kernel driver of NVIDIA. */
EXPORT int nvmlSystemGetDriverVersion(char *version, unsigned int size) {
  const struct graft_functions *graft;
  if (!users) return UNINITIALIZED;
  if (GetExportTable((const void **)&graft, graft_table)) return UNKNOWN;
  return text(version, size, graft->driver()[0] ? graft->driver() : "0.0");
}
