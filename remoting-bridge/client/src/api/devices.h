/* The server's GPUs, as it described them when the session began. */
#ifndef GRAFT_DEVICES_H
#define GRAFT_DEVICES_H

#include <stdint.h>

#define GRAFT_CUDA_VERSION 13000
#define GRAFT_MAX_DEVICES 32
#define GRAFT_ATTRIBUTES 256

struct graft_device {
  uint64_t total_memory;
  uint8_t uuid[16];
  char name[256];
  int priority_low, priority_high;
  int attributes[GRAFT_ATTRIBUTES];
  uint32_t attribute_count;
};
int graft_device_count(void);
const struct graft_device *graft_device(int index);
int graft_driver_version(void);
/* The owner's driver as tools print it, "" if it has none. */
const char *graft_driver_text(void);
/* Reads the snapshot; called once by the session's opening. */
int graft_devices_load(void);

#endif
