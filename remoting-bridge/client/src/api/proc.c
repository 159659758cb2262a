/* Look-up of functions by name and version, and the texts of errors. */
#include <stdlib.h>
#include <string.h>

#include "api/rpc.h"
#include "base/system.h"
#include "graft_rpc.h"
#include "session/session.h"

struct graft_proc {
  const char *name;
  int version;
  void *function;
  int per_thread_version;
  void *per_thread;
};

GRAFT_EXPORT int cuGetProcAddress_v2(const char *symbol, void *pfn, int version, uint64_t flags, void *status);
GRAFT_EXPORT int cuGetProcAddress(const char *symbol, void *pfn, int version, uint64_t flags);

#include "graft_procs.h"

#define PROCS (sizeof graft_procs / sizeof *graft_procs)
#define PER_THREAD 2
enum { FOUND = 0, NOT_FOUND = 1, VERSION_TOO_LOW = 2 }; /* CUdriverProcAddressQueryResult */

/* The newest variant that a program of this version may get. */
static void *find(const char *symbol, int version, uint64_t flags, int *status) {
  size_t low = 0, high = PROCS;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (strcmp(graft_procs[middle].name, symbol) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *status = NOT_FOUND;
  void *found = NULL;
  for (; low < PROCS && !strcmp(graft_procs[low].name, symbol); low++) {
    const struct graft_proc *p = &graft_procs[low];
    if (p->version > version) {
      if (!found) *status = VERSION_TOO_LOW;
      break;
    }
    bool per_thread = flags & PER_THREAD && p->per_thread && p->per_thread_version <= version;
    found = per_thread ? p->per_thread : p->function;
    *status = FOUND;
  }
  return found;
}

GRAFT_EXPORT int cuGetProcAddress_v2(const char *symbol, void *pfn, int version, uint64_t flags, void *status) {
  if (!symbol || !pfn || flags > PER_THREAD) return GRAFT_INVALID_VALUE;
  int found;
  *(void **)pfn = find(symbol, version, flags, &found);
  /* The name without a suffix means the five-argument form from 12.0 on. */
  if (status) *(int *)status = found;
  if (found && graft_debug()) graft_say("cuGetProcAddress: %s for version %d: none", symbol, version);
  return GRAFT_OK;
}

GRAFT_EXPORT int cuGetProcAddress(const char *symbol, void *pfn, int version, uint64_t flags) {
  if (!symbol || !pfn || flags > PER_THREAD) return GRAFT_INVALID_VALUE;
  int status;
  void *found = find(symbol, version, flags, &status);
  if (status) return GRAFT_NOT_FOUND;
  *(void **)pfn = found;
  return GRAFT_OK;
}

static const struct {
  int code;
  const char *name, *description;
} errors[] = {
#include "api/errors.h"
};

static int text_of(int error, bool name, const char **out) {
  if (!out) return GRAFT_INVALID_VALUE;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    if (errors[i].code == error) {
      *out = name ? errors[i].name : errors[i].description;
      return GRAFT_OK;
    }
  }
  *out = NULL;
  return GRAFT_INVALID_VALUE;
}

GRAFT_EXPORT int cuGetErrorName(int error, void *text) { return text_of(error, true, text); }
GRAFT_EXPORT int cuGetErrorString(int error, void *text) { return text_of(error, false, text); }

int graft_not_served(const char *name) {
  if (graft_debug()) graft_say("%s is not supported yet: CUDA_ERROR_NOT_SUPPORTED", name);
  return GRAFT_NOT_SUPPORTED;
}
