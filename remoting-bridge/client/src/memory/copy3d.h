/* Copies of several dimensions, as graphs need them. */
#ifndef GRAFT_COPY3D_H
#define GRAFT_COPY3D_H

#include <stdint.h>

/* Makes a CUDA_MEMCPY3D fit for a graph: arrays beside it, host memory replaced by what the device can see of it. */
int graft_copy_of_graph(uint8_t copy[200], void **source, void **target);
void graft_copy_set_arrays(uint8_t copy[200], void *source, void *target);

#endif
