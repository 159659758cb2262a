#include "rails.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN ", \t"

/* A port's GUID is the end of its first GID, as "fe80:0000:0000:0000:5254:00ff:feaa:0001". */
static bool has_guid(const char *folder, const char *device, const char *port, uint64_t guid) {
  char path[768];
  unsigned words[8];
  snprintf(path, sizeof path, "%s/%s/ports/%s/gids/0", folder, device, port);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  int read = fscanf(file, "%x:%x:%x:%x:%x:%x:%x:%x", &words[0], &words[1], &words[2], &words[3], &words[4], &words[5], &words[6], &words[7]);
  fclose(file);
  uint64_t own = 0;
  for (int i = 4; i < 8; i++) own = own << 16 | (words[i] & 0xffff);
  return read == 8 && own == guid;
}

static bool port_of(const char *folder, const char *device, uint64_t guid, char *name, size_t size) {
  char path[768];
  bool found = false;
  snprintf(path, sizeof path, "%s/%s/ports", folder, device);
  DIR *ports = opendir(path);
  for (struct dirent *e; ports && !found && (e = readdir(ports));) {
    found = e->d_name[0] != '.' && has_guid(folder, device, e->d_name, guid);
    if (found) snprintf(name, size, "%s:%s", device, e->d_name);
  }
  if (ports) closedir(ports);
  return found;
}

static bool find(const char *folder, uint64_t guid, char *name, size_t size) {
  bool found = false;
  DIR *devices = opendir(folder);
  for (struct dirent *e; devices && !found && (e = readdir(devices));) {
    found = e->d_name[0] != '.' && port_of(folder, e->d_name, guid, name, size);
  }
  if (devices) closedir(devices);
  return found;
}

bool graft_rails(const char *folder, const char *guids, char *devices, size_t bytes, char *reason, size_t size) {
  size_t used = 0;
  const char *at = guids + strspn(guids, BETWEEN);
  for (; *at; at += strspn(at, BETWEEN)) {
    char name[600], *end;
    uint64_t guid = strtoull(at, &end, 16);
    if (end == at || (*end && !strchr(BETWEEN, *end))) {
      snprintf(reason, size, "'rdma-ports' or GRAFT_RDMA_PORTS is '%s': it can be GUIDs, such as 0x525400fffeaa0001", guids);
      return false;
    }
    if (!find(folder, guid, name, sizeof name)) {
      snprintf(reason, size, "rdma goes by the port 0x%016" PRIx64 ", and %s has none of that GUID: is its driver loaded?", guid, folder);
      return false;
    }
    used += (size_t)snprintf(devices + used, bytes - used, "%s%s", used ? "," : "", name);
    if (used >= bytes) {
      snprintf(reason, size, "too many ports for rdma: %s", guids);
      return false;
    }
    at = end;
  }
  return true;
}
