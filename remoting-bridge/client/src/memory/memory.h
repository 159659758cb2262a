/* Allocations that other files make or free. */
#ifndef GRAFT_MEMORY_H
#define GRAFT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Device memory that a graph's node allocates. */
void graft_memory_of_graph(uint64_t address, size_t bytes);
/* Frees managed memory; CUDA_ERROR_INVALID_VALUE if the pointer is not managed. */
int graft_managed_free(uint64_t pointer);

#endif
