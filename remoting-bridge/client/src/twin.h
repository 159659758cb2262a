/* Memory at one address here and at the server, which has registered it with CUDA: shared where the channel shares memory,
 * else two memories, both zero at first (mirror.h keeps them equal). */
#ifndef GRAFT_TWIN_H
#define GRAFT_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL if there is none to be had. */
void *graft_twin_allocate(size_t bytes);
/* False if it does not begin such memory. */
bool graft_twin_free(void *pointer);
/* Copies to and from the server's side at once, whatever the session's other calls wait for. Over channels that share none;
 * false if it cannot be done so. */
bool graft_twin_write(uint64_t address, const void *from, size_t bytes);
bool graft_twin_read(uint64_t address, void *to, size_t bytes);

#endif
