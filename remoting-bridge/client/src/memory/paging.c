#include "memory/paging.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include "base/system.h"

#define PAGE 4096u

/* Linux 5.7 and 5.11; the headers of older systems do not have them. */
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static struct {
  pthread_mutex_t lock;
  bool tried;
  int fd;
  int later[2]; /* a pipe of addresses for the thread that may wait */
  bool (*at_once)(uint64_t address, pid_t thread);
  void (*touched)(uint64_t address);
} paging = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static void *watcher(void *unused) {
  (void)unused;
  struct uffd_msg message;
  for (;;) {
    ssize_t n = read(paging.fd, &message, sizeof message);
    if (n < 0 && errno != EINTR && errno != EAGAIN) return NULL;
    if (n != sizeof message || message.event != UFFD_EVENT_PAGEFAULT) continue;
    uint64_t address = message.arg.pagefault.address;
    if (paging.at_once(address, (pid_t)message.arg.pagefault.feat.ptid)) continue;
    if (write(paging.later[1], &address, sizeof address) != sizeof address) return NULL;
  }
}

static void *waiter(void *unused) {
  (void)unused;
  uint64_t address;
  for (;;) {
    ssize_t n = read(paging.later[0], &address, sizeof address);
    if (n == sizeof address) {
      paging.touched(address);
    } else if (n >= 0 || errno != EINTR) {
      return NULL;
    }
  }
}

/* Faults in system calls are handled only if the kernel allows this process to handle faults of the kernel. */
static int open_faults(void) {
  int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  return fd >= 0 || errno != EPERM ? fd : (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
}

static bool start(void) {
  int fd = open_faults();
  struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_THREAD_ID};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || pipe2(paging.later, O_CLOEXEC)) {
    graft_say("GRAFT_MANAGED=exclusive needs userfaultfd, which this system refuses (%s): allow it, or do not set GRAFT_MANAGED",
              strerror(errno));
    if (fd >= 0) close(fd);
    return false;
  }
  paging.fd = fd;
  if (graft_start_thread(watcher, NULL) && graft_start_thread(waiter, NULL)) return true;
  paging.fd = -1;
  graft_say("GRAFT_MANAGED=exclusive: no thread for it: %s", strerror(errno));
  return false;
}

bool graft_paging_start(bool (*at_once)(uint64_t address, pid_t thread), void (*touched)(uint64_t address)) {
  pthread_mutex_lock(&paging.lock);
  if (!paging.tried) {
    paging.tried = true;
    paging.at_once = at_once;
    paging.touched = touched;
    start();
  }
  pthread_mutex_unlock(&paging.lock);
  return paging.fd >= 0;
}

bool graft_paging_watch(void *memory, size_t bytes) {
  struct uffdio_register all = {.range = {(uintptr_t)memory, bytes}, .mode = UFFDIO_REGISTER_MODE_MISSING};
  return !ioctl(paging.fd, UFFDIO_REGISTER, &all);
}

void *graft_paging_take(void *memory, size_t bytes) {
  /* The kernel chooses the address; with this flag it would take a hint, too. */
  void *taken = mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
  return taken == MAP_FAILED ? NULL : taken;
}

void graft_paging_wake(uint64_t address) {
  struct uffdio_range page = {address / PAGE * PAGE, PAGE};
  ioctl(paging.fd, UFFDIO_WAKE, &page);
}

void graft_paging_put(void *at, const void *from, size_t bytes) {
  struct uffdio_copy copy = {.dst = (uintptr_t)at, .src = (uintptr_t)from, .len = bytes};
  while (copy.len && ioctl(paging.fd, UFFDIO_COPY, &copy)) {
    if (errno != EAGAIN && errno != EEXIST) return; /* the memory is gone */
    uint64_t done = copy.copy > 0 ? (uint64_t)copy.copy : 0;
    if (errno == EEXIST && !done) { /* the page is there already */
      graft_paging_wake(copy.dst);
      done = PAGE;
    }
    copy = (struct uffdio_copy){.dst = copy.dst + done, .src = copy.src + done, .len = copy.len - done};
  }
}
