/* Shadow mappings: memory at one address here and at the server, which has registered it with CUDA. Where the transport shares
 * memory that is one memory; else it is two, both zero at first, which mirror.h keeps equal. On the wire they are called twins. */
#ifndef GRAFT_SHADOW_H
#define GRAFT_SHADOW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_shadow_mappings {
  pthread_mutex_t lock;
  struct graft_shadow_mapping *first; /* guarded by lock */
};

/* The functions are about the calling thread's session. NULL if there is none to be had. */
void *graft_shadow_allocate(size_t bytes);
/* The same, and never shared. */
void *graft_shadow_pair(size_t bytes);
/* Memory here alone, at an address where the server is likely to have room for a shadow mapping later. For transports that share none.
 * NULL if there is none to be had. */
void *graft_shadow_reserve(size_t bytes);
/* Whether an address lies in such memory. */
bool graft_shadow_is_alone(uint64_t address);
/* Makes such memory a shadow mapping. False if it is none, or the server has no room at its address. */
bool graft_shadow_complete(const void *pointer);
/* False if it does not begin such memory. */
bool graft_shadow_free(void *pointer);
/* Copies to and from the server's side at once, whatever the session's other calls wait for. Over channels that share none;
 * false if it cannot be done so. */
bool graft_shadow_write(uint64_t address, const void *from, size_t bytes);
bool graft_shadow_read(uint64_t address, void *to, size_t bytes);
/* The same for the marked bytes of whole words (merge.h). */
bool graft_shadow_merge(uint64_t address, const void *from, const uint8_t *mask, size_t words);

#endif
