#include "transport/region.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct graft_region *graft_region_new(void) {
  struct graft_region *region = calloc(1, sizeof *region);
  if (!region) return NULL;
  region->fd = -1;
  pthread_mutex_init(&region->lock, NULL);
  return region;
}

void graft_region_discard(struct graft_region *region) {
  if (!region) return;
  if (region->rings) munmap(region->rings, GRAFT_REGION_CONTROL);
  if (region->fd >= 0) close(region->fd);
  free(region);
}

void *graft_region_map(const struct graft_region *region, uint64_t offset, size_t bytes) {
  void *wanted = region->memory + offset;
  void *got = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, region->fd, (off_t)offset);
  if (got == MAP_FAILED) return NULL;
  if (got != wanted) { /* a kernel before 4.17 takes the address for a wish */
    munmap(got, bytes);
    return NULL;
  }
  madvise(got, bytes, MADV_DONTFORK); /* a forked child must not write into copies that are under way */
  return got;
}
