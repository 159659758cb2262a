/* Copies of several dimensions, as graphs need them. */
#ifndef GRAFT_COPY3D_H
#define GRAFT_COPY3D_H

#include <stdint.h>

struct graft_object;

/* Prepares a CUDA_MEMCPY3D for a graph or an executable graph: takes the arrays out, and replaces host memory by its mirrors. */
int graft_copy_of_graph(struct graft_object *graph, uint8_t copy[200], void **source, void **target);
void graft_copy_set_arrays(uint8_t copy[200], void *source, void *target);

#endif
