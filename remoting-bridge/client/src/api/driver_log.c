/* The driver's profiler and its log of errors: this client keeps none, which reads as an empty one. */
#include <stdio.h>

#include "api/contexts.h"
#include "api/rpc.h"
#include "graft_rpc.h"

/* Nothing here collects a profile: the owner of the GPU may. */
GRAFT_EXPORT int cuProfilerStart(void) { return graft_usable(); }
GRAFT_EXPORT int cuProfilerStop(void) { return graft_usable(); }
GRAFT_EXPORT int cuProfilerInitialize(const char *config, const char *output, int mode) {
  (void)config, (void)output, (void)mode;
  return graft_not_served("cuProfilerInitialize");
}

/* The driver ignores the flags of the first two. */
GRAFT_EXPORT int cuLogsCurrent(void *iterator, unsigned int flags) {
  (void)flags;
  if (!iterator) return GRAFT_INVALID_VALUE;
  *(unsigned *)iterator = 0;
  return 0;
}
GRAFT_EXPORT int cuLogsDumpToFile(void *iterator, const char *path, unsigned int flags) {
  (void)iterator, (void)flags;
  FILE *file = path ? fopen(path, "a") : NULL;
  return file && !fclose(file) ? GRAFT_OK : GRAFT_INVALID_VALUE;
}
GRAFT_EXPORT int cuLogsDumpToMemory(void *iterator, void *buffer, void *size, unsigned int flags) {
  (void)iterator;
  if (!buffer || !size || flags) return GRAFT_INVALID_VALUE;
  if (*(size_t *)size) *(char *)buffer = 0;
  *(size_t *)size = 0;
  return 0;
}
GRAFT_EXPORT int cuLogsRegisterCallback(void *function, void *data, void *callback) {
  (void)data;
  if (!function) return GRAFT_INVALID_VALUE;
  if (callback) *(void **)callback = function;
  return 0;
}
GRAFT_EXPORT int cuLogsUnregisterCallback(void *callback) { return callback ? GRAFT_OK : GRAFT_INVALID_VALUE; }
