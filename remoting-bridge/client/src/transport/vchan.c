#include "transport/vchan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "transport/exchange.h"
#include "transport/ring_channel.h"
#include "transport/xen.h"

/* How long the server may take to open Xen's library and to grant the pages: more than ten seconds on a busy host. */
#define SHARE_MILLISECONDS 60000
#define BYTES ((size_t)GRAFT_GRANTED_PAGES * GRAFT_GRANTED_PAGE)

#define XEN_DEVICES "/dev/xen"

static int open_device(const char *devices, const char *name, char *reason, size_t size) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", devices, name);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) snprintf(reason, size, "vchan needs %s of a guest of Xen (modprobe xen-%s): %s", path, name, strerror(errno));
  return fd;
}

bool graft_grants_present(const char *devices, char *reason, size_t size) {
  int memory = open_device(devices, "gntdev", reason, size);
  int events = memory < 0 ? -1 : open_device(devices, "evtchn", reason, size);
  if (memory >= 0) close(memory);
  if (events >= 0) close(events);
  return events >= 0;
}

struct answer {
  uint32_t magic, status;
  uint32_t domain, port, pages;
  char message[108];
};
_Static_assert(sizeof(struct answer) == 128, "the server's answer has a fixed size");

/* Receives the server's domain, its event channel's port, and its pages. */
static bool ask(struct graft_wire wire, struct answer *answer, uint32_t *pages, char *reason, size_t size) {
  uint32_t question = GRAFT_GRANTS_MAGIC;
  if (!graft_exchange(wire, &question, sizeof question, NULL, 0) || !graft_comes_within(wire.fd, SHARE_MILLISECONDS) ||
      !graft_exchange(wire, NULL, 0, answer, sizeof *answer)) {
    snprintf(reason, size, "the server does not say which pages it shares: %s", strerror(errno));
    return false;
  }
  if (answer->magic != GRAFT_GRANTS_MAGIC) {
    snprintf(reason, size, "the server says something else than which pages it shares");
    return false;
  }
  if (answer->status) {
    graft_plain_text(answer->message, sizeof answer->message);
    snprintf(reason, size, "%s", answer->message);
    return false;
  }
  if (answer->pages != GRAFT_GRANTED_PAGES) {
    snprintf(reason, size, "the server shares %u pages, not %u", answer->pages, GRAFT_GRANTED_PAGES);
    return false;
  }
  if (graft_exchange(wire, NULL, 0, pages, GRAFT_GRANTED_PAGES * sizeof *pages)) return true;
  snprintf(reason, size, "the server does not say which pages it shares: %s", strerror(errno));
  return false;
}

/* The pages stay mapped when the descriptor is closed. */
static uint8_t *map(const char *devices, uint32_t domain, const uint32_t *pages, char *reason, size_t size) {
  size_t list = sizeof(struct ioctl_gntdev_map_grant_ref) + (GRAFT_GRANTED_PAGES - 1) * sizeof(struct ioctl_gntdev_grant_ref);
  struct ioctl_gntdev_map_grant_ref *wanted = calloc(1, list);
  snprintf(reason, size, "no memory");
  int fd = wanted ? open_device(devices, "gntdev", reason, size) : -1;
  if (fd < 0) {
    free(wanted);
    return NULL;
  }
  wanted->count = GRAFT_GRANTED_PAGES;
  for (unsigned i = 0; i < GRAFT_GRANTED_PAGES; i++) wanted->refs[i] = (struct ioctl_gntdev_grant_ref){domain, pages[i]};
  void *memory = MAP_FAILED;
  if (!ioctl(fd, IOCTL_GNTDEV_MAP_GRANT_REF, wanted)) {
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)wanted->index);
  }
  if (memory == MAP_FAILED) snprintf(reason, size, "cannot map the server's pages: %s", strerror(errno));
  free(wanted);
  close(fd);
  if (memory == MAP_FAILED) return NULL;
  madvise(memory, BYTES, MADV_DONTFORK);
  return memory;
}

static bool bind_events(const char *devices, const struct answer *answer, struct graft_events *events, char *reason, size_t size) {
  int fd = open_device(devices, "evtchn", reason, size);
  if (fd < 0) return false;
  struct ioctl_evtchn_bind_interdomain wanted = {answer->domain, answer->port};
  int port = ioctl(fd, IOCTL_EVTCHN_BIND_INTERDOMAIN, &wanted);
  if (port < 0) {
    snprintf(reason, size, "cannot bind the server's event channel: %s", strerror(errno));
    close(fd);
    return false;
  }
  *events = (struct graft_events){fd, (uint32_t)port};
  return true;
}

bool graft_grants_join(struct graft_wire wire, const char *devices, struct graft_grants *grants, char *reason, size_t size) {
  struct answer answer;
  uint32_t pages[GRAFT_GRANTED_PAGES];
  if (!ask(wire, &answer, pages, reason, size)) return false;
  uint8_t *rings = map(devices, answer.domain, pages, reason, size);
  if (!rings) return false;
  if (!bind_events(devices, &answer, &grants->events, reason, size)) {
    munmap(rings, BYTES);
    return false;
  }
  grants->rings = rings;
  return true;
}

static bool present(const struct graft_config *config, char *reason, size_t size) {
  (void)config;
  return graft_grants_present(XEN_DEVICES, reason, size);
}

static bool open_vchan(struct graft_connection *connection, const struct graft_config *config, char *reason, size_t size) {
  static const struct graft_ring_layout layout = {GRAFT_GRANTED_REQUESTS, GRAFT_GRANTED_REQUESTS_DATA, GRAFT_GRANTED_ANSWERS,
                                                  GRAFT_GRANTED_ANSWERS_DATA, GRAFT_GRANTED_RING_BYTES};
  struct graft_grants grants;
  (void)config;
  if (!graft_grants_join(graft_connection_wire(connection), XEN_DEVICES, &grants, reason, size)) return false;
  if (graft_ring_channel_open(connection, grants.rings, &layout, grants.events, false)) return true;
  snprintf(reason, size, "no memory");
  munmap(grants.rings, BYTES);
  close(grants.events.fd);
  return false;
}

const struct graft_transport graft_vchan_transport = {
    .name = "vchan",
    .number = 4,
    .capabilities = GRAFT_TRANSPORT_RINGS,
    .tries = GRAFT_RING_TRIES,
    .present = present,
    .open = open_vchan,
    .close = graft_ring_channel_close,
    .try = graft_ring_channel_try,
    .wait = graft_ring_channel_wait,
    .requests = graft_ring_channel_requests,
};
