/* Allocations in the region that client and server share (transport/region.h). */
#ifndef GRAFT_SHARED_MEMORY_H
#define GRAFT_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Allocates memory in the region, which the server maps and registers with CUDA. NULL if that fails. */
void *graft_region_allocate(size_t bytes);
/* The same for pinned memory: small pieces share an allocation. */
void *graft_region_allocate_pinned(size_t bytes);
/* Frees it. False if the pointer is not from the region. */
bool graft_region_free(void *pointer);
/* Frees pinned memory. A small piece is given again at once only if all work of the current context has been waited for, and no other context may use it. */
bool graft_region_free_pinned(void *pointer, bool waited);
/* True if all of this lies in one allocation of the region, or within what small pieces share. */
bool graft_region_holds(const void *pointer, size_t bytes);
/* Counts pinned or managed memory for which there was no room, and that such memory was freed. The server hears the most of it at one time. */
void graft_region_lacks(size_t bytes);
void graft_region_lacks_no_more(size_t bytes);

#endif
