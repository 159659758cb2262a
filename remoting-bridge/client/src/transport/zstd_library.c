/* Opens zstd when it is first needed. */
#include "transport/zstd_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

/* As in tls_library.c: a program may have a zstd of its own among its global symbols. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BINDING 0
#else
#define BINDING RTLD_DEEPBIND
#endif

static struct {
  pthread_mutex_t lock;
  bool loaded;
  struct graft_zstd_library functions;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool find(void *handle, char *reason, size_t size) {
#define FIND(result, name, parameters)                                                            \
  library.functions.name = (result(*) parameters)dlsym(handle, #name);                            \
  if (!library.functions.name) {                                                                  \
    snprintf(reason, size, "compression needs zstd 1.0 or later: libzstd.so.1 has no %s", #name); \
    return false;                                                                                 \
  }
  GRAFT_ZSTD_FUNCTIONS(FIND)
#undef FIND
  return true;
}

static bool load(char *reason, size_t size) {
  void *handle = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL | BINDING);
  if (!handle) {
    snprintf(reason, size, "compression needs zstd's library (Debian and Ubuntu: libzstd1; Fedora and RHEL: libzstd): %s",
             dlerror());
    return false;
  }
  bool found = find(handle, reason, size);
  if (!found) dlclose(handle);
  return found;
}

const struct graft_zstd_library *graft_zstd_library(char *reason, size_t size) {
  pthread_mutex_lock(&library.lock);
  if (!library.loaded) library.loaded = load(reason, size);
  bool loaded = library.loaded;
  pthread_mutex_unlock(&library.lock);
  return loaded ? &library.functions : NULL;
}
