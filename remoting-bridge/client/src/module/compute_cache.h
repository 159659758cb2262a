/* The compute cache: what compilers in this process (NVRTC, and cuDNN by it) have made of a source, kept on disk as the driver
 * keeps it. They ask the driver for it by a private table. */
#ifndef GRAFT_COMPUTE_CACHE_H
#define GRAFT_COMPUTE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table's slots, as NVRTC 13.0 was seen to use them on driver 580.159 (slot 5 was not called). An entry's name is made of all
 * that it depends on: a kind, the compiler's input and options, its host and build, and the architecture. */
int graft_cache_open(void **entry, int kind, const void *input, size_t bytes, const char *options, const char *host,
                     const char *build, unsigned architecture);
int graft_cache_close(void *entry);
/* What the entry holds, to be given back by graft_cache_release; GRAFT_NOT_FOUND if there is nothing. */
int graft_cache_load(void *entry, unsigned part, void **data, uint32_t *bytes);
int graft_cache_store(void *entry, unsigned part, const void *data, size_t bytes);
int graft_cache_release(void *data);
/* Whether the program's environment leaves the cache on (CUDA_CACHE_DISABLE, CUDA_CACHE_MAXSIZE). */
bool graft_cache_is_on(void);

#endif
