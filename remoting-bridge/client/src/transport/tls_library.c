/* Opens OpenSSL when it is first needed. */
#include "transport/tls_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

/* A program may have an OpenSSL of its own among its global symbols. With RTLD_DEEPBIND, libssl finds its own libcrypto before them. The
 * sanitizers do not work with it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BINDING 0
#else
#define BINDING RTLD_DEEPBIND
#endif

static struct {
  pthread_mutex_t lock;
  bool loaded;
  struct graft_tls_library functions;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool find(void *handle, char *reason, size_t size) {
#define FIND(result, name, parameters)                                                                    \
  library.functions.name = (result(*) parameters)dlsym(handle, #name);                                    \
  if (!library.functions.name) {                                                                          \
    snprintf(reason, size, "encryption needs OpenSSL 1.1.1 or later: the library here has no %s", #name); \
    return false;                                                                                         \
  }
  GRAFT_TLS_FUNCTIONS(FIND)
#undef FIND
  return true;
}

static bool load(char *reason, size_t size) {
  static const char *const names[] = {"libssl.so.3", "libssl.so.1.1"};
  char why[200] = "";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | BINDING);
    if (handle && find(handle, reason, size)) return true;
    if (handle) {
      dlclose(handle);
      return false;
    }
    if (!i) snprintf(why, sizeof why, "%s", dlerror());
  }
  snprintf(reason, size,
           "encryption needs OpenSSL's library (Debian and Ubuntu: libssl3, or libssl3t64, or libssl1.1; Fedora and RHEL: "
           "openssl-libs): %s",
           why);
  return false;
}

const struct graft_tls_library *graft_tls_library(char *reason, size_t size) {
  pthread_mutex_lock(&library.lock);
  if (!library.loaded) library.loaded = load(reason, size);
  bool loaded = library.loaded;
  pthread_mutex_unlock(&library.lock);
  return loaded ? &library.functions : NULL;
}

int64_t graft_tls_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool graft_tls_await(int fd, int error, int64_t deadline) {
  int64_t left = deadline - graft_tls_milliseconds();
  struct pollfd p = {.fd = fd, .events = error == ERROR_WANT_WRITE ? POLLOUT : POLLIN};
  if (left <= 0) return false;
  int r = poll(&p, 1, (int)left);
  return r > 0 || (r < 0 && errno == EINTR);
}
