#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "graft.h"
#include "ring.h"

/* Where the region lies in both processes: far from what loaders, heaps, the JVM and CUDA use. */
#define BASE 0x200000000000ull
#define STRIDE GRAFT_REGION_BYTES
#define TRIES 16
#define GRAIN (2ull << 20)

/* Linux 5.14 and 6.1; a kernel or libc that does not know them does without. */
#define MADVISE_POPULATE_WRITE 23
#define MADVISE_COLLAPSE 25

struct piece {
  struct piece *next; /* sorted by offset */
  uint64_t offset, bytes;
};

static struct {
  int fd;
  uint8_t *memory;
  pthread_mutex_t lock;
  struct piece *pieces;
} r = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

uint8_t *graft_region_memory(void) { return r.memory; }

static bool send_descriptor(int fd) {
  struct {
    uint32_t magic, version;
    uint64_t bytes, address;
  } message = {GRAFT_REGION_MAGIC, GRAFT_REGION_VERSION, GRAFT_REGION_BYTES, (uintptr_t)r.memory};
  union {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {&message, sizeof message};
  struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(c), &r.fd, sizeof(int));
  return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

bool graft_region_share(int fd, char *reason, size_t size) {
  r.fd = memfd_create("graft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  /* It may not shrink: the server would fault on what it has mapped. */
  if (r.fd < 0 || ftruncate(r.fd, (off_t)GRAFT_REGION_BYTES) || fcntl(r.fd, F_ADD_SEALS, F_SEAL_SHRINK)) {
    snprintf(reason, size, "cannot create shared memory: %s", strerror(errno));
    return false;
  }
  for (int i = 0; i < TRIES && !r.memory; i++) {
    void *at = mmap((void *)(BASE + (uint64_t)i * STRIDE), GRAFT_REGION_CONTROL, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED_NOREPLACE, r.fd, 0);
    if (at != MAP_FAILED) r.memory = at;
  }
  if (!r.memory) {
    snprintf(reason, size, "no room in the address space for shared memory: %s", strerror(errno));
    return false;
  }
  madvise(r.memory, GRAFT_REGION_CONTROL, MADV_DONTFORK);
  if (!send_descriptor(fd)) {
    snprintf(reason, size, "cannot hand shared memory to the server: %s", strerror(errno));
    return false;
  }
  return true;
}

/* First fit between the pieces in use. */
static struct piece *reserve(size_t bytes) {
  uint64_t at = (GRAFT_REGION_CONTROL + GRAIN - 1) / GRAIN * GRAIN;
  struct piece **p = &r.pieces;
  while (*p && (*p)->offset - at < bytes) {
    at = (*p)->offset + (*p)->bytes;
    p = &(*p)->next;
  }
  if (at + bytes > GRAFT_REGION_BYTES) return NULL;
  struct piece *piece = malloc(sizeof *piece);
  if (!piece) return NULL;
  *piece = (struct piece){*p, at, bytes};
  *p = piece;
  return piece;
}

static void drop(uint64_t offset) {
  for (struct piece **p = &r.pieces; *p; p = &(*p)->next) {
    if ((*p)->offset == offset) {
      struct piece *gone = *p;
      *p = gone->next;
      free(gone);
      return;
    }
  }
}

void *graft_region_allocate(size_t bytes) {
  if (!r.memory || !bytes || bytes > GRAFT_REGION_BYTES / 2) return NULL;
  bytes = (bytes + GRAIN - 1) / GRAIN * GRAIN;
  pthread_mutex_lock(&r.lock);
  struct piece *piece = reserve(bytes);
  uint64_t offset = piece ? piece->offset : 0;
  pthread_mutex_unlock(&r.lock);
  if (!piece) return NULL;
  void *wanted = r.memory + offset;
  void *got = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, r.fd, (off_t)offset);
  if (got == wanted) {
    /* Huge pages, where the kernel lets us have them, make the device's transfers half as fast again. */
    madvise(got, bytes, MADV_HUGEPAGE);
    if (!madvise(got, bytes, MADVISE_POPULATE_WRITE)) madvise(got, bytes, MADVISE_COLLAPSE);
    madvise(got, bytes, MADV_DONTFORK); /* a forked child must not write into copies that are under way */
    if (!rpc_graftRegionMap(offset, bytes)) return got;
  }
  if (got != MAP_FAILED) munmap(got, bytes);
  pthread_mutex_lock(&r.lock);
  drop(offset);
  pthread_mutex_unlock(&r.lock);
  return NULL;
}

bool graft_region_free(void *pointer) {
  if (!r.memory || (uint8_t *)pointer < r.memory) return false;
  uint64_t offset = (uint64_t)((uint8_t *)pointer - r.memory), bytes = 0;
  pthread_mutex_lock(&r.lock);
  for (struct piece *p = r.pieces; p; p = p->next) {
    if (p->offset == offset) bytes = p->bytes;
  }
  pthread_mutex_unlock(&r.lock);
  if (!bytes) return false;
  /* The server lets go first; then the pages go back, and only then may the place be used again. */
  rpc_graftRegionUnmap(offset, bytes);
  munmap(pointer, bytes);
  fallocate(r.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
  pthread_mutex_lock(&r.lock);
  drop(offset);
  pthread_mutex_unlock(&r.lock);
  return true;
}

bool graft_region_holds(const void *pointer, size_t bytes) {
  if (!r.memory || (const uint8_t *)pointer < r.memory) return false;
  uint64_t offset = (uint64_t)((const uint8_t *)pointer - r.memory);
  if (offset >= GRAFT_REGION_BYTES || bytes > GRAFT_REGION_BYTES) return false;
  bool found = false;
  pthread_mutex_lock(&r.lock);
  for (struct piece *p = r.pieces; p && !found; p = p->next) {
    found = offset >= p->offset && offset + bytes <= p->offset + p->bytes;
  }
  pthread_mutex_unlock(&r.lock);
  return found;
}
