// Pages of this domain and an event channel for one session of a Xen guest. This process makes them, because whoever may
// use xenstore and Xen's devices can reach every domain. The server gets two descriptors: that of the pages can share
// further new pages and nothing else, that of the event channel is restricted to the guest's domain.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
typedef uint16_t domid_t; // the next header uses it, and only the kernel defines it
#include <xen/evtchn.h>
#include <xen/gntalloc.h>
#include "starter.h"

enum { MOST_SECONDS = 20, MOST_LIST = 1 << 20 };

#define XENSTORE "/run/xenstored/socket"
#define PAGES_DEVICE "/dev/xen/gntalloc"
#define EVENTS_DEVICE "/dev/xen/evtchn"

// A list that others can write would be theirs to say whom this process grants pages to.
bool is_listed(const char *list, const char *name, char *reason, size_t size) {
  int fd = open(list, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0) {
    snprintf(reason, size, "read %s, the list of domains that may get pages: %s", list, strerror(errno));
    if (fd >= 0) close(fd);
    return false;
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_mode & 022 || status.st_size > MOST_LIST) {
    snprintf(reason, size, "%s has to be a file of user %u that nobody else can write", list, (unsigned)geteuid());
    close(fd);
    return false;
  }
  FILE *in = fdopen(fd, "r");
  char line[2 * NAME_BYTES];
  bool found = false;
  while (in && !found && fgets(line, sizeof line, in)) {
    line[strcspn(line, "\n")] = 0;
    found = strcmp(line, name) == 0;
  }
  if (in) fclose(in);
  else close(fd);
  if (!found) snprintf(reason, size, "%s does not name the domain %s", list, name);
  return found;
}

static int share_pages(int domain, struct pages *pages, char *reason, size_t size) {
  _Alignas(struct ioctl_gntalloc_alloc_gref) char memory[sizeof(struct ioctl_gntalloc_alloc_gref) + sizeof pages->references] = {0};
  struct ioctl_gntalloc_alloc_gref *wanted = (struct ioctl_gntalloc_alloc_gref *)memory;
  wanted->domid = (uint16_t)domain;
  wanted->flags = GNTALLOC_FLAG_WRITABLE;
  wanted->count = PAGES;
  int fd = open(PAGES_DEVICE, O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    snprintf(reason, size, "open " PAGES_DEVICE " (modprobe xen-gntalloc): %s", strerror(errno));
    return -1;
  }
  if (ioctl(fd, IOCTL_GNTALLOC_ALLOC_GREF, wanted) < 0) {
    if (errno == ENOSPC) {
      snprintf(reason, size, "no %d more pages to grant: see /sys/module/xen_gntalloc/parameters/limit, and Xen's "
               "gnttab_max_frames", PAGES);
    } else snprintf(reason, size, "grant %d pages to domain %d: %s", PAGES, domain, strerror(errno));
    close(fd);
    return -1;
  }
  pages->offset = wanted->index;
  memcpy(pages->references, memory + offsetof(struct ioctl_gntalloc_alloc_gref, gref_ids), sizeof pages->references);
  return fd;
}

// The channel is one that only this domain can bind, and its descriptor can make others to this domain alone: without
// that restriction it could take the event channels of other domains' devices.
static int bind_events(int domain, struct pages *pages, char *reason, size_t size) {
  int fd = open(EVENTS_DEVICE, O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    snprintf(reason, size, "open " EVENTS_DEVICE " (modprobe xen-evtchn): %s", strerror(errno));
    return -1;
  }
  struct ioctl_evtchn_bind_unbound_port wanted = {(unsigned)domain};
  struct ioctl_evtchn_restrict_domid restricted = {(domid_t)domain};
  int port = ioctl(fd, IOCTL_EVTCHN_BIND_UNBOUND_PORT, &wanted);
  if (port < 0 || ioctl(fd, IOCTL_EVTCHN_RESTRICT_DOMID, &restricted) < 0) {
    snprintf(reason, size, "%s an event channel to domain %d: %s", port < 0 ? "make" : "restrict", domain, strerror(errno));
    close(fd);
    return -1;
  }
  pages->port = (uint32_t)port;
  return fd;
}

bool grant_pages(const char *list, const char *name, struct pages *pages, int *fds, char *reason, size_t size) {
  if (list && !is_listed(list, name, reason, size)) return false;
  int64_t deadline = now() + MOST_SECONDS * 1000;
  int store = dial_xenstore(XENSTORE), self = 0;
  if (store < 0) {
    snprintf(reason, size, "connect to xenstore at " XENSTORE ": %s", strerror(errno));
    return false;
  }
  int domain = find_domain(store, name, &self, deadline);
  if (domain < 0 && errno == ENOENT) snprintf(reason, size, "no domain of this host is named %s", name);
  else if (domain < 0) snprintf(reason, size, "look for the domain %s in xenstore: %s", name, strerror(errno));
  close(store);
  if (domain < 0) return false;
  pages->self = (uint32_t)self;
  fds[0] = share_pages(domain, pages, reason, size);
  if (fds[0] < 0) return false;
  fds[1] = bind_events(domain, pages, reason, size);
  if (fds[1] >= 0) return true;
  close(fds[0]);
  return false;
}
