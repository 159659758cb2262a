/* What this code uses of zstd, which is opened when it is first needed. The build needs no headers of it: these functions have not changed
 * since zstd 1.0. */
#ifndef GRAFT_ZSTD_LIBRARY_H
#define GRAFT_ZSTD_LIBRARY_H

#include <stddef.h>

typedef struct ZSTD_CCtx_s ZSTD_CCtx;
typedef struct ZSTD_DCtx_s ZSTD_DCtx;

#define GRAFT_ZSTD_FUNCTIONS(F)                                                                           \
  F(ZSTD_CCtx *, ZSTD_createCCtx, (void))                                                                 \
  F(size_t, ZSTD_freeCCtx, (ZSTD_CCtx *))                                                                 \
  F(size_t, ZSTD_compressCCtx, (ZSTD_CCtx *, void *to, size_t room, const void *from, size_t bytes, int)) \
  F(ZSTD_DCtx *, ZSTD_createDCtx, (void))                                                                 \
  F(size_t, ZSTD_freeDCtx, (ZSTD_DCtx *))                                                                 \
  F(size_t, ZSTD_decompressDCtx, (ZSTD_DCtx *, void *to, size_t room, const void *from, size_t bytes))    \
  F(unsigned, ZSTD_isError, (size_t))

struct graft_zstd_library {
#define DECLARE(result, name, parameters) result(*name) parameters;
  GRAFT_ZSTD_FUNCTIONS(DECLARE)
#undef DECLARE
};

/* NULL with a reason that names the package. */
const struct graft_zstd_library *graft_zstd_library(char *reason, size_t size);

#endif
