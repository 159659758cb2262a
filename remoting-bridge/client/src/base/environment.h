/* CUDA's environment variables that change what calls do, as the program had them at cuInit. CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER:
 * api/visible.h; CUDA_CACHE_*: module/compute_cache.h. */
#ifndef GRAFT_ENVIRONMENT_H
#define GRAFT_ENVIRONMENT_H

#include <stdbool.h>

struct graft_environment {
  bool launch_blocking; /* CUDA_LAUNCH_BLOCKING: a launch returns when the work is done */
  bool disable_ptx;     /* CUDA_DISABLE_PTX_JIT, CUDA_DISABLE_JIT: PTX is not compiled */
  bool force_ptx;       /* CUDA_FORCE_PTX_JIT, CUDA_FORCE_JIT: machine code beside PTX is not used */
  int node_priority;    /* CUDA_GRAPHS_USE_NODE_PRIORITY: 0 or 1, -1 if it is not set */
  unsigned connections; /* CUDA_DEVICE_MAX_CONNECTIONS: 1 to 32, 0 if it is not set */
};

/* Constant from cuInit on. */
extern struct graft_environment graft_environment;

void graft_environment_read(void);

#endif
