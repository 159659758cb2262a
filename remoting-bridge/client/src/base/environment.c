/* CUDA programming guide, "CUDA Environment Variables". */
#include "base/environment.h"

#include <stdlib.h>

struct graft_environment graft_environment = {.node_priority = -1};

/* The value of the first variable that is set, -1 if none is. */
static int number(const char *first, const char *second) {
  const char *value = getenv(first);
  if (!value && second) value = getenv(second);
  return value ? atoi(value) != 0 : -1;
}

#define MOST_CONNECTIONS 32

static unsigned connections(void) {
  const char *value = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  int given = value ? atoi(value) : 0;
  return given < 1 || given > MOST_CONNECTIONS ? 0 : (unsigned)given;
}

void graft_environment_read(void) {
  graft_environment = (struct graft_environment){
      .launch_blocking = number("CUDA_LAUNCH_BLOCKING", NULL) > 0,
      .disable_ptx = number("CUDA_DISABLE_PTX_JIT", "CUDA_DISABLE_JIT") > 0,
      .force_ptx = number("CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT") > 0,
      .node_priority = number("CUDA_GRAPHS_USE_NODE_PRIORITY", NULL),
      .connections = connections(),
  };
}
