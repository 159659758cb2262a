/* Which of a server's devices the program sees, and in which order. */
#ifndef GRAFT_VISIBLE_H
#define GRAFT_VISIBLE_H

#include <stdbool.h>
#include <stdint.h>

/* What CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER know a device by. */
struct graft_identity {
  uint8_t uuid[16];
  int domain, bus, slot;
  bool instance; /* of a GPU in MIG mode */
};

/* Fills in the server's ordinals of the devices that the program sees, in the program's order, and returns their number. The last two
 * are the values of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, NULL if they are not set. */
int graft_visible(const struct graft_identity *all, int count, const char *visible, const char *order, int *ordinals);

#endif
