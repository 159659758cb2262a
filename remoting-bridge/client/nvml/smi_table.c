/* nvidia-smi's internal table.
 * On an H200, nvidia-smi 580.159 asks for one table of 270 words, whose first word is the table's size. For its default output, -L,
 * --query-gpu, --query-compute-apps, dmon and pmon it calls the functions below; what they get and return was seen there. */
#include <stdio.h>
#include <string.h>

#include "nvml.h"

static const uint8_t smi_table[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
                                      0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};
#define SMI_SLOTS 270
enum { SMI_LOG = 26, SMI_MONITORED = 72, SMI_BUS_ID = 81, SMI_SAMPLES = 145, SMI_COMPUTE = 213, SMI_GRAPHICS = 214, SMI_MPS = 215 };

static int smi_log(void) { return OK; } /* (format, ...): a line for NVML's log */

/* The bus id of the device of an index. */
static int smi_bus_id(unsigned int index, char *to) {
  struct pci pci;
  int r = nvmlDeviceGetPciInfo_v3(device_at(index), &pci);
  if (!r && to) strcpy(to, pci.legacy);
  return r;
}

/* Whether dmon and pmon know the device. */
static int smi_monitored(struct device *device, unsigned int *yes) {
  int r = valid(device);
  if (r || !yes) return r ? r : INVALID_ARGUMENT;
  *yes = 1;
  return OK;
}

static int smi_missing(int slot) {
  char what[64];
  snprintf(what, sizeof what, "slot %d of nvidia-smi's table", slot);
  return missing(what);
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
  slots[SMI_MONITORED] = (void *)smi_monitored;
  slots[SMI_SAMPLES] = (void *)smi_samples;
  slots[SMI_COMPUTE] = (void *)smi_processes;
  slots[SMI_GRAPHICS] = (void *)nvmlDeviceGetGraphicsRunningProcesses_v3;
  slots[SMI_MPS] = (void *)nvmlDeviceGetMPSComputeRunningProcesses_v3;
  *table = slots;
  return OK;
}
