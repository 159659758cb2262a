/* Allocations in the region that client and server share (transport/region.h). */
#ifndef GRAFT_SHARED_MEMORY_H
#define GRAFT_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Memory in the region that the server has mapped and registered with CUDA; NULL if there is none to be had. */
void *graft_region_allocate(size_t bytes);
/* Gives it back. False if the pointer is not from graft_region_allocate. */
bool graft_region_free(void *pointer);
/* True if all of this lies in one allocation of the region. */
bool graft_region_holds(const void *pointer, size_t bytes);

#endif
