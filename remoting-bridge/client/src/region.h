/* The memory that client and server share on a "shm" channel: rings, staging buffers, and what the program pins.
 * Both ends map it at the same addresses, so that an address in it means the same to the program, the server and the GPU.
 */
#ifndef GRAFT_REGION_H
#define GRAFT_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Creates the region and hands its descriptor to the server. */
bool graft_region_share(int fd, char *reason, size_t size);
/* The region's start, NULL without one. */
uint8_t *graft_region_memory(void);
/* Memory in the region that the server has mapped and registered with CUDA; NULL if there is none to be had. */
void *graft_region_allocate(size_t bytes);
/* Gives it back. False if the pointer is not from graft_region_allocate. */
bool graft_region_free(void *pointer);
/* True if all of this lies in one allocation of the region. */
bool graft_region_holds(const void *pointer, size_t bytes);

#endif
