/* The transport of "ivshmem://" and "ivshmem+vsock://": memory shared by the guest and its host, of which the server assigns a part. */
#include "transport/ivshmem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/config.h"
#include "transport/exchange.h"
#include "transport/region.h"
#include "transport/ring.h"
#include "transport/ring_channel.h"
#include "transport/transport.h"

#define VENDOR 0x1af4 /* Red Hat */
#define DEVICE 0x1110 /* Inter-VM shared memory */

static long attribute(int folder, const char *device, const char *name) {
  char path[300], text[32];
  snprintf(path, sizeof path, "%s/%s", device, name);
  int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return -1;
  text[n] = 0;
  return strtol(text, NULL, 16);
}

static int open_memory(int folder, const char *device, uint64_t *bytes, char *reason, size_t size) {
  char path[300];
  snprintf(path, sizeof path, "%s/resource2", device);
  int fd = openat(folder, path, O_RDWR | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status)) {
    snprintf(reason, size, "the guest's shared memory, PCI device %s, may not be used: %s", device, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
  }
  *bytes = (uint64_t)status.st_size;
  return fd;
}

int graft_ivshmem_open(const char *devices, int n, uint64_t *bytes, char *reason, size_t size) {
  DIR *list = opendir(devices);
  snprintf(reason, size, "the guest has no %sPCI device of shared memory (ivshmem)", n ? "other " : "");
  if (!list) return -1;
  int fd = -1;
  struct dirent *entry;
  while ((entry = readdir(list))) {
    const char *device = entry->d_name;
    bool ours =
        *device != '.' && attribute(dirfd(list), device, "vendor") == VENDOR && attribute(dirfd(list), device, "device") == DEVICE;
    if (!ours || n--) continue;
    fd = open_memory(dirfd(list), device, bytes, reason, size);
    break;
  }
  closedir(list);
  return fd;
}

struct answer {
  uint32_t status, reserved;
  uint64_t bytes, offset;
  uint8_t mark[16];
  char message[88];
};
_Static_assert(sizeof(struct answer) == 128, "the server's answer has a fixed size");

static bool present(const struct graft_config *config, char *reason, size_t size) {
  uint64_t bytes;
  int fd = graft_ivshmem_open(config->pci_devices, 0, &bytes, reason, size);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

static bool ask(struct graft_wire wire, const struct graft_region *region, struct answer *answer, char *reason, size_t size) {
  struct {
    uint32_t magic, version;
    uint64_t bytes, address;
  } question = {GRAFT_REGION_MAGIC, GRAFT_REGION_VERSION, 0, (uintptr_t)region->memory};
  if (!graft_exchange(wire, &question, sizeof question, answer, sizeof *answer)) {
    snprintf(reason, size, "the server does not say which part of the shared memory to use: %s", strerror(errno));
    return false;
  }
  if (answer->status) {
    graft_plain_text(answer->message, sizeof answer->message);
    snprintf(reason, size, "%s", answer->message);
    return false;
  }
  uint64_t page = 4096;
  if (answer->bytes > GRAFT_REGION_BYTES || answer->offset % page || answer->offset > answer->bytes ||
      answer->bytes - answer->offset < GRAFT_REGION_CONTROL) {
    snprintf(reason, size, "the server assigns an impossible part of the shared memory");
    return false;
  }
  return true;
}

/* Finds the device whose memory has the mark that the server has written. */
static bool find(struct graft_region *region, const char *devices, const struct answer *answer, char *reason, size_t size) {
  for (int n = 0;; n++) {
    uint64_t bytes;
    region->fd = graft_ivshmem_open(devices, n, &bytes, reason, size);
    if (region->fd < 0) {
      if (n) snprintf(reason, size, "the shared memory of this guest is not the one that the server has");
      return false;
    }
    if (bytes >= answer->bytes) {
      region->rings = graft_region_map(region, answer->offset, GRAFT_REGION_CONTROL);
      if (region->rings && !memcmp(region->rings, answer->mark, sizeof answer->mark)) return true;
      if (region->rings) munmap(region->rings, GRAFT_REGION_CONTROL);
      region->rings = NULL;
    }
    close(region->fd);
    region->fd = -1;
  }
}

static bool open_ivshmem(struct graft_connection *connection, const struct graft_config *config, char *reason, size_t size) {
  struct answer answer;
  struct graft_region *region = graft_region_new();
  snprintf(reason, size, "no memory for shared memory");
  if (region) region->memory = (uint8_t *)(GRAFT_REGION_BASE + (uint64_t)config->addresses * GRAFT_REGION_BYTES);
  if (region && ask(graft_connection_wire(connection), region, &answer, reason, size) &&
      find(region, config->pci_devices, &answer, reason, size) &&
      graft_ring_channel_open(connection, region->rings, &graft_region_layout, (struct graft_events){.fd = -1}, true)) {
    region->bytes = answer.bytes;
    region->served = true;
    connection->region = region;
    return true;
  }
  graft_region_discard(region);
  return false;
}

const struct graft_transport graft_ivshmem_transport = {
    .name = "ivshmem",
    .number = 2,
    .capabilities = GRAFT_TRANSPORT_RINGS | GRAFT_TRANSPORT_SHARED_MEMORY,
    .tries = GRAFT_RING_TRIES,
    .present = present,
    .open = open_ivshmem,
    .close = graft_ring_channel_close,
    .try = graft_ring_channel_try,
    .wait = graft_ring_channel_wait,
    .requests = graft_ring_channel_requests,
};
