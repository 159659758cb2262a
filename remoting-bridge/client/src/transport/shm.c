/* The transport of "shm://": a region that this process makes, and whose descriptor is sent to the server over a Unix socket. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/region.h"
#include "transport/ring_channel.h"

#define TRIES 16 /* at addresses that are a region apart */

static bool send_descriptor(int fd, const struct graft_region *region) {
  struct {
    uint32_t magic, version;
    uint64_t bytes, address;
  } message = {GRAFT_REGION_MAGIC, GRAFT_REGION_VERSION, GRAFT_REGION_BYTES, (uintptr_t)region->memory};
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
  memcpy(CMSG_DATA(c), &region->fd, sizeof(int));
  return sendmsg(fd, &m, MSG_NOSIGNAL) == (ssize_t)sizeof message;
}

static bool share(int fd, struct graft_region *region, char *reason, size_t size) {
  region->fd = memfd_create("graft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  /* The file may not shrink: the server would fault on what it has mapped. */
  if (region->fd < 0 || ftruncate(region->fd, (off_t)GRAFT_REGION_BYTES) || fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK)) {
    snprintf(reason, size, "cannot create shared memory: %s", strerror(errno));
    return false;
  }
  for (int i = 0; i < TRIES && !region->rings; i++) {
    region->memory = (uint8_t *)(GRAFT_REGION_BASE + (uint64_t)i * GRAFT_REGION_BYTES);
    region->rings = graft_region_map(region, 0, GRAFT_REGION_CONTROL);
  }
  if (!region->rings) {
    snprintf(reason, size, "no room in the address space for shared memory: %s", strerror(errno));
    return false;
  }
  region->bytes = GRAFT_REGION_BYTES;
  if (send_descriptor(fd, region)) return true;
  snprintf(reason, size, "cannot hand shared memory to the server: %s", strerror(errno));
  return false;
}

static bool open_shm(struct graft_connection *connection, const struct graft_config *config, char *reason, size_t size) {
  (void)config;
  struct graft_region *region = graft_region_new();
  snprintf(reason, size, "no memory for shared memory");
  if (region && share(connection->fd, region, reason, size) &&
      graft_ring_channel_open(connection, region->rings, &graft_region_layout, (struct graft_events){.fd = -1}, false)) {
    connection->region = region;
    return true;
  }
  graft_region_discard(region);
  return false;
}

const struct graft_transport graft_shm_transport = {
    .name = "shm",
    .number = 1,
    .capabilities = GRAFT_TRANSPORT_RINGS | GRAFT_TRANSPORT_SHARED_MEMORY,
    .tries = GRAFT_RING_TRIES,
    .open = open_shm,
    .close = graft_ring_channel_close,
    .try = graft_ring_channel_try,
    .wait = graft_ring_channel_wait,
    .requests = graft_ring_channel_requests,
};
