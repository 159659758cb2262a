/* The compute cache: the results of compilers in this process (NVRTC, and cuDNN through it), kept on disk as the driver keeps them. The compilers use it by a private table of the driver. */
#ifndef GRAFT_COMPUTE_CACHE_H
#define GRAFT_COMPUTE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The table's slots, as NVRTC 13.0 uses them on driver 580.159 (slot 5 is not called). An entry's name is made of everything that it depends on: a kind, the compiler's input and options, its host and build, and the architecture. */
int graft_cache_open(void **entry, int kind, const void *input, size_t bytes, const char *options, const char *host,
                     const char *build, unsigned architecture);
int graft_cache_close(void *entry);
/* The contents of an entry, which the caller frees with graft_cache_release. GRAFT_NOT_FOUND if there is none. */
int graft_cache_load(void *entry, unsigned part, void **data, uint32_t *bytes);
int graft_cache_store(void *entry, unsigned part, const void *data, size_t bytes);
int graft_cache_release(void *data);
/* Whether the program's environment leaves the cache on (CUDA_CACHE_DISABLE, CUDA_CACHE_MAXSIZE). */
bool graft_cache_is_on(void);

#endif
