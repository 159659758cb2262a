/* Memory at one address here and at the server, which has registered it with CUDA: shared where the channel shares memory,
 * else two memories, both zero at first (mirror.h keeps them equal). */
#ifndef GRAFT_TWIN_H
#define GRAFT_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL if there is none to be had. */
void *graft_twin_allocate(size_t bytes);
/* The same, and never shared. */
void *graft_twin_pair(size_t bytes);
/* Memory here alone, at an address where the server is likely to have room for a twin later. For channels that share none.
 * NULL if there is none to be had. */
void *graft_twin_reserve(size_t bytes);
/* Whether an address lies in such memory. */
bool graft_twin_is_alone(uint64_t address);
/* Gives it its twin. False if it is none, or there is no room. */
bool graft_twin_complete(const void *pointer);
/* False if it does not begin such memory. */
bool graft_twin_free(void *pointer);
/* Copies to and from the server's side at once, whatever the session's other calls wait for. Over channels that share none;
 * false if it cannot be done so. */
bool graft_twin_write(uint64_t address, const void *from, size_t bytes);
bool graft_twin_read(uint64_t address, void *to, size_t bytes);
/* The same for the marked bytes of whole words (merge.h). */
bool graft_twin_merge(uint64_t address, const void *from, const uint8_t *mask, size_t words);

#endif
