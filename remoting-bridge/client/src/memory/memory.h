/* Allocations that other parts make or end. */
#ifndef GRAFT_MEMORY_H
#define GRAFT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Device memory that a graph's node allocates. */
void graft_memory_of_graph(uint64_t address, size_t bytes);
/* Ends managed memory; INVALID_VALUE if the pointer is none. */
int graft_managed_free(uint64_t pointer);

#endif
