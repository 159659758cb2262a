/* Memory at one address here and at the server, which has registered it with CUDA: shared where the channel shares memory,
 * else two memories, both zero at first (mirror.h keeps them equal). */
#ifndef GRAFT_TWIN_H
#define GRAFT_TWIN_H

#include <stdbool.h>
#include <stddef.h>

/* NULL if there is none to be had. */
void *graft_twin_allocate(size_t bytes);
/* False if it does not begin such memory. */
bool graft_twin_free(void *pointer);

#endif
