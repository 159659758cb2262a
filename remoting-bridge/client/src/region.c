#include "region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "graft.h"
#include "ivshmem.h"
#include "ring.h"

/* Where the region lies in both processes: far from what loaders, heaps, the JVM and CUDA use. */
#define BASE 0x200000000000ull
#define STRIDE GRAFT_REGION_BYTES
#define TRIES 16
#define GRAIN (2ull << 20)
#define SERVED_GRAIN (64ull << 10)

/* Linux 5.14 and 6.1; a kernel or libc that does not know them does without. */
#define MADVISE_POPULATE_WRITE 23
#define MADVISE_COLLAPSE 25

struct piece {
  struct piece *next; /* sorted by offset */
  uint64_t offset, bytes;
};

static struct {
  int fd;
  bool served;      /* the server says which pieces are ours */
  uint8_t *memory;  /* where the file's begin is, or would be if it were ours; NULL without a region */
  uint8_t *rings;
  uint64_t bytes;
  pthread_mutex_t lock;
  struct piece *pieces;
} r = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

bool graft_region_is_guests(void) { return r.served; }
uint8_t *graft_region_rings(void) { return r.memory ? r.rings : NULL; }

/* Maps part of the file at its place, which nothing else may have taken. */
static void *map_piece(uint64_t offset, size_t bytes) {
  void *wanted = r.memory + offset;
  void *got = mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, r.fd, (off_t)offset);
  if (got == MAP_FAILED) return NULL;
  if (got != wanted) { /* a kernel before 4.17 takes the address for a wish */
    munmap(got, bytes);
    return NULL;
  }
  madvise(got, bytes, MADV_DONTFORK); /* a forked child must not write into copies that are under way */
  return got;
}

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
  for (int i = 0; i < TRIES && !r.rings; i++) {
    r.memory = (uint8_t *)(BASE + (uint64_t)i * STRIDE);
    r.rings = map_piece(0, GRAFT_REGION_CONTROL);
  }
  if (!r.rings) {
    r.memory = NULL;
    snprintf(reason, size, "no room in the address space for shared memory: %s", strerror(errno));
    return false;
  }
  r.bytes = GRAFT_REGION_BYTES;
  if (!send_descriptor(fd)) {
    snprintf(reason, size, "cannot hand shared memory to the server: %s", strerror(errno));
    munmap(r.rings, GRAFT_REGION_CONTROL);
    r.memory = r.rings = NULL; /* the next channel is not over it */
    return false;
  }
  return true;
}

/* ---- A guest's own region ---- */

struct answer {
  uint32_t status, reserved;
  uint64_t bytes, offset;
  uint8_t mark[16];
  char message[88];
};
_Static_assert(sizeof(struct answer) == 128, "the server's answer has a fixed size");

bool graft_region_present(const char *devices, char *reason, size_t size) {
  uint64_t bytes;
  int fd = graft_ivshmem_open(devices, 0, &bytes, reason, size);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static bool ask(int fd, struct answer *answer, char *reason, size_t size) {
  struct {
    uint32_t magic, version;
    uint64_t bytes, address;
  } question = {GRAFT_REGION_MAGIC, GRAFT_REGION_VERSION, 0, (uintptr_t)r.memory};
  if (!graft_exchange(fd, &question, sizeof question, answer, sizeof *answer)) {
    snprintf(reason, size, "the server does not say which part of the shared memory to use: %s", strerror(errno));
    return false;
  }
  if (answer->status) {
    graft_plain_text(answer->message, sizeof answer->message);
    snprintf(reason, size, "%s", answer->message);
    return false;
  }
  uint64_t page = 4096;
  if (answer->bytes > STRIDE || answer->offset % page || answer->offset > answer->bytes ||
      answer->bytes - answer->offset < GRAFT_REGION_CONTROL) {
    snprintf(reason, size, "the server names a part of the shared memory that cannot be");
    return false;
  }
  return true;
}

/* Of several devices, the one that shows what the server has written. */
static bool find(const char *devices, const struct answer *answer, char *reason, size_t size) {
  for (int n = 0;; n++) {
    uint64_t bytes;
    r.fd = graft_ivshmem_open(devices, n, &bytes, reason, size);
    if (r.fd < 0) {
      if (n) snprintf(reason, size, "the shared memory of this guest is not the one that the server has");
      return false;
    }
    if (bytes >= answer->bytes) {
      r.rings = map_piece(answer->offset, GRAFT_REGION_CONTROL);
      if (r.rings && !memcmp(r.rings, answer->mark, sizeof answer->mark)) return true;
      if (r.rings) munmap(r.rings, GRAFT_REGION_CONTROL);
    }
    close(r.fd);
  }
}

bool graft_region_join(int fd, const char *devices, char *reason, size_t size) {
  struct answer answer;
  r.memory = (uint8_t *)BASE;
  if (!ask(fd, &answer, reason, size) || !find(devices, &answer, reason, size)) {
    r.memory = NULL;
    return false;
  }
  r.bytes = answer.bytes;
  r.served = true;
  return true;
}

/* ---- Pieces ---- */

static bool insert(struct piece **before, uint64_t offset, size_t bytes) {
  struct piece *piece = malloc(sizeof *piece);
  if (!piece) return false;
  *piece = (struct piece){*before, offset, bytes};
  *before = piece;
  return true;
}

/* First fit between the pieces in use. False if there is no room. */
static bool reserve(size_t bytes, uint64_t *offset) {
  uint64_t at = (GRAFT_REGION_CONTROL + GRAIN - 1) / GRAIN * GRAIN;
  struct piece **p = &r.pieces;
  while (*p && (*p)->offset - at < bytes) {
    at = (*p)->offset + (*p)->bytes;
    p = &(*p)->next;
  }
  *offset = at;
  return at + bytes <= r.bytes && insert(p, at, bytes);
}

/* A piece that the server has given us. */
static bool note(uint64_t offset, size_t bytes) {
  struct piece **p = &r.pieces;
  while (*p && (*p)->offset < offset) p = &(*p)->next;
  return insert(p, offset, bytes);
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

static void *allocate_shared(size_t bytes) {
  uint64_t offset;
  pthread_mutex_lock(&r.lock);
  bool reserved = reserve(bytes, &offset);
  pthread_mutex_unlock(&r.lock);
  if (!reserved) return NULL;
  void *got = map_piece(offset, bytes);
  if (got) {
    /* Huge pages, where the kernel lets us have them, make the device's transfers half as fast again. */
    madvise(got, bytes, MADV_HUGEPAGE);
    if (!madvise(got, bytes, MADVISE_POPULATE_WRITE)) madvise(got, bytes, MADVISE_COLLAPSE);
    if (!rpc_graftRegionMap(offset, bytes)) return got;
    munmap(got, bytes);
  }
  pthread_mutex_lock(&r.lock);
  drop(offset);
  pthread_mutex_unlock(&r.lock);
  return NULL;
}

static void *allocate_served(size_t bytes) {
  uint64_t offset;
  if (rpc_graftRegionTake(bytes, &offset)) return NULL;
  bool fits = offset <= r.bytes && bytes <= r.bytes - offset;
  void *got = fits ? map_piece(offset, bytes) : NULL;
  pthread_mutex_lock(&r.lock);
  bool noted = got && note(offset, bytes);
  pthread_mutex_unlock(&r.lock);
  if (noted) {
    memset(got, 0, bytes); /* another process of this guest may have had it */
    return got;
  }
  if (got) munmap(got, bytes);
  rpc_graftRegionUnmap(offset, bytes);
  return NULL;
}

void *graft_region_allocate(size_t bytes) {
  if (!r.memory || !bytes || bytes > r.bytes / 2) return NULL;
  size_t grain = r.served ? SERVED_GRAIN : GRAIN;
  bytes = (bytes + grain - 1) / grain * grain;
  return r.served ? allocate_served(bytes) : allocate_shared(bytes);
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
  if (!r.served) fallocate(r.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
  pthread_mutex_lock(&r.lock);
  drop(offset);
  pthread_mutex_unlock(&r.lock);
  return true;
}

bool graft_region_holds(const void *pointer, size_t bytes) {
  if (!r.memory || (const uint8_t *)pointer < r.memory) return false;
  uint64_t offset = (uint64_t)((const uint8_t *)pointer - r.memory);
  if (offset >= r.bytes || bytes > r.bytes) return false;
  bool found = false;
  pthread_mutex_lock(&r.lock);
  for (struct piece *p = r.pieces; p && !found; p = p->next) {
    found = offset >= p->offset && offset + bytes <= p->offset + p->bytes;
  }
  pthread_mutex_unlock(&r.lock);
  return found;
}
