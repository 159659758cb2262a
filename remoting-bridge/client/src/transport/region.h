/* The memory that client and server share on the transports "shm" and "ivshmem": rings, staging buffers, and what the program
 * pins. Both ends map it at the same addresses, so that an address in it means the same to the program, the server and the GPU.
 *
 * On shm the region is a sparse file of this process, and this process chooses the layout. On ivshmem the region is memory that the
 * hypervisor shows to the whole guest as a PCI device; the server assigns parts of it to this process.
 */
#ifndef GRAFT_REGION_H
#define GRAFT_REGION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/ring.h"

/* Where the region lies in both processes: far from what loaders, heaps, the JVM and CUDA use. */
#define GRAFT_REGION_BASE 0x200000000000ull

/* An allocation. */
struct graft_block {
  struct graft_block *next; /* sorted by offset */
  uint64_t offset, bytes;
};

struct graft_region {
  int fd;
  bool served;     /* the server assigns parts of it to this process */
  uint8_t *memory; /* the address of the file's beginning, which this process need not have mapped */
  uint8_t *rings;
  uint64_t bytes;
  pthread_mutex_t lock;
  struct graft_block *blocks; /* guarded by lock */
  struct graft_slab *slabs;   /* guarded by lock (memory/region.c) */
  uint64_t lacked;            /* guarded by lock: the pinned and managed memory that has no room in it */
  uint64_t most_lacked;       /* guarded by lock: what the server was told of that */
};

/* Makes a region without memory. NULL if there is no memory for it. */
struct graft_region *graft_region_new(void);
/* Ends a region that no session uses yet. */
void graft_region_discard(struct graft_region *region);
/* Maps part of the file at its address. NULL if that fails, or if something else is mapped there. */
void *graft_region_map(const struct graft_region *region, uint64_t offset, size_t bytes);

#endif
