/* Memory that the hypervisor gives this guest as BAR 2 of an ivshmem device (docs.qemu.org, "Inter-VM Shared Memory"), opened through sysfs, without a kernel module. */
#ifndef GRAFT_IVSHMEM_H
#define GRAFT_IVSHMEM_H

#include <stddef.h>
#include <stdint.h>

/* Opens the n-th such device under the folder (/sys/bus/pci/devices), and sets the size of its memory. -1 and a reason of
 * one line if there is no such device, or if it may not be opened. */
int graft_ivshmem_open(const char *devices, int n, uint64_t *bytes, char *reason, size_t size);

#endif
