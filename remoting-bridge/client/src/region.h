/* The memory that client and server share on the channels "shm" and "ivshmem": rings, staging buffers, and what the program
 * pins. Both ends map it at the same addresses, so that an address in it means the same to the program, the server and the GPU.
 *
 * On shm it is a sparse file of this process's own, and this process says what lies where. On ivshmem it is memory that the
 * hypervisor shows to the whole guest as a PCI device; the server says which pieces are this process's.
 */
#ifndef GRAFT_REGION_H
#define GRAFT_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Creates a region and hands its descriptor to the server. */
bool graft_region_share(int fd, char *reason, size_t size);
/* Whether this guest has shared memory that this process may open; devices is the folder of PCI devices. */
bool graft_region_present(const char *devices, char *reason, size_t size);
/* Asks the server for a part of the guest's shared memory and finds it here. */
bool graft_region_join(int fd, const char *devices, char *reason, size_t size);
/* Whether it is the guest's own memory, and not this process's. */
bool graft_region_is_guests(void);
/* Where the rings are, NULL without a region. */
uint8_t *graft_region_rings(void);
/* Memory in the region that the server has mapped and registered with CUDA; NULL if there is none to be had. */
void *graft_region_allocate(size_t bytes);
/* Gives it back. False if the pointer is not from graft_region_allocate. */
bool graft_region_free(void *pointer);
/* True if all of this lies in one allocation of the region. */
bool graft_region_holds(const void *pointer, size_t bytes);

#endif
