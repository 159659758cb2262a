#include "ivshmem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
    bool ours = *device != '.' && attribute(dirfd(list), device, "vendor") == VENDOR &&
                attribute(dirfd(list), device, "device") == DEVICE;
    if (!ours || n--) continue;
    fd = open_memory(dirfd(list), device, bytes, reason, size);
    break;
  }
  closedir(list);
  return fd;
}
