/* The configuration of a launch, as programs pass it. */
#ifndef GRAFT_LAUNCH_H
#define GRAFT_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#define GRAFT_LAUNCH_ATTRIBUTE 72 /* the bytes of a CUlaunchAttribute */
#define GRAFT_LAUNCH_ATTRIBUTES 32

enum { GRAFT_COOPERATIVE = 2, GRAFT_CLUSTER_DIMENSION = 4 }; /* CUlaunchAttributeID */

struct graft_launch_config { /* CUlaunchConfig */
  unsigned grid[3], block[3], shared;
  void *stream;
  uint8_t *attributes;
  unsigned count;
};
_Static_assert(sizeof(struct graft_launch_config) == 56, "as in cuda.h");

/* Copies the launch's attributes, with ids in the place of handles; returns an error for those that cannot be served. */
int graft_launch_attributes(const struct graft_launch_config *c, uint8_t *copy);

#endif
