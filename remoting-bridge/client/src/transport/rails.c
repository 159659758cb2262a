#include "transport/rails.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN ", \t"

/* What identifies a port: the end of its first GID, or its name if that is 0. */
struct wanted {
  const char *text;
  uint64_t id;
};

/* ---- How a port is written ---- */

/* Reads "54" as 0x54. -1 if it is not a number of two hexadecimal digits. */
static int octet(const char *text) {
  return isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]) ? (int)strtol((char[]){text[0], text[1], 0}, NULL, 16)
                                                                              : -1;
}

static bool guid(const char *text, uint64_t *id) {
  bool is = strlen(text) == 18 && !strncmp(text, "0x", 2) && strspn(text + 2, "0123456789abcdefABCDEF") == 16;
  if (is) *id = strtoull(text, NULL, 16);
  return is && *id;
}

/* The first GID of an Ethernet device's port is its link-local address, which the kernel makes of the MAC as IPv6 does (RFC 4291, appendix A; make_default_gid in the kernel's drivers/infiniband/core/cache.c). */
static bool mac(const char *text, uint64_t *id) {
  uint64_t made = 0;
  if (strlen(text) != 17) return false;
  for (int i = 0; i < 6; i++) {
    int value = octet(text + 3 * i);
    if (value < 0 || (i < 5 && text[3 * i + 2] != ':')) return false;
    made = made << 8 | (unsigned)(i ? value : value ^ 2);
    if (i == 2) made = made << 16 | 0xfffe;
  }
  *id = made;
  return true;
}

static bool name(const char *text) {
  const char *colon = strchr(text, ':');
  return colon && colon > text && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

static bool parse(const char *text, struct wanted *port) {
  *port = (struct wanted){.text = text};
  return guid(text, &port->id) || mac(text, &port->id) || name(text);
}

/* ---- The machine's ports ---- */

/* As "fe80:0000:0000:0000:5254:00ff:feaa:0001"; 0 if there is none. */
static uint64_t end_of_gid(const char *folder, const char *device, const char *port) {
  char path[768];
  unsigned words[8];
  snprintf(path, sizeof path, "%s/%s/ports/%s/gids/0", folder, device, port);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  int read = fscanf(file, "%x:%x:%x:%x:%x:%x:%x:%x", &words[0], &words[1], &words[2], &words[3], &words[4], &words[5], &words[6],
                    &words[7]);
  fclose(file);
  uint64_t end = 0;
  for (int i = 4; i < 8; i++) end = end << 16 | (words[i] & 0xffff);
  return read == 8 ? end : 0;
}

/* Calls visit for each port until it returns false. */
static bool each(const char *folder, bool (*visit)(const char *name, uint64_t id, void *context), void *context) {
  char path[768], name[600];
  bool enough = false;
  DIR *devices = opendir(folder);
  for (struct dirent *d; devices && !enough && (d = readdir(devices));) {
    if (d->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s/ports", folder, d->d_name);
    DIR *ports = opendir(path);
    for (struct dirent *p; ports && !enough && (p = readdir(ports));) {
      if (p->d_name[0] == '.') continue;
      snprintf(name, sizeof name, "%s:%s", d->d_name, p->d_name);
      enough = visit(name, end_of_gid(folder, d->d_name, p->d_name), context);
    }
    if (ports) closedir(ports);
  }
  if (devices) closedir(devices);
  return enough;
}

struct text {
  char *at;
  size_t size, used;
};

static void add(struct text *to, const char *between, const char *text) {
  if (to->used < to->size)
    to->used += (size_t)snprintf(to->at + to->used, to->size - to->used, "%s%s", to->used ? between : "", text);
}

struct search {
  struct wanted port;
  struct text *devices;
};

static bool is_it(const char *name, uint64_t id, void *context) {
  struct search *search = context;
  bool is = search->port.id ? id == search->port.id : !strcmp(name, search->port.text);
  if (is) add(search->devices, ",", name);
  return is;
}

static bool list(const char *name, uint64_t id, void *context) {
  char line[640];
  snprintf(line, sizeof line, "%s (0x%016" PRIx64 ")", name, id);
  add(context, ", ", line);
  return false;
}

static bool take(const char *name, uint64_t id, void *context) {
  (void)id;
  add(context, ",", name);
  return false;
}

bool graft_rails_all(const char *folder, char *devices, size_t bytes) {
  struct text all = {.at = devices, .size = bytes};
  *devices = 0;
  each(folder, take, &all);
  return all.used < bytes;
}

static void absent(const char *folder, const char *port, char *reason, size_t size) {
  char there[300] = "";
  each(folder, list, &(struct text){.at = there, .size = sizeof there});
  snprintf(reason, size, "rdma is to go by the port %s, and %s has %s%s", port, folder,
           *there ? "others: " : "none: is its driver loaded?", there);
}

bool graft_rails(const char *folder, const char *ports, char *devices, size_t bytes, char *reason, size_t size) {
  struct text found = {.at = devices, .size = bytes};
  char one[80];
  size_t length;
  *devices = 0;
  for (const char *at = ports + strspn(ports, BETWEEN); *at; at += length, at += strspn(at, BETWEEN)) {
    struct search search = {.devices = &found};
    length = strcspn(at, BETWEEN);
    snprintf(one, sizeof one, "%.*s", (int)length, at);
    if (length >= sizeof one || !parse(one, &search.port)) {
      snprintf(reason, size,
               "'%s' is no port for rdma: write its GUID (0x and 16 digits), the MAC of an Ethernet port, or UCX's name such as "
               "mlx5_0:1",
               one);
      return false;
    }
    if (!each(folder, is_it, &search)) {
      absent(folder, one, reason, size);
      return false;
    }
    if (found.used >= bytes) {
      snprintf(reason, size, "too many ports for rdma: %s", ports);
      return false;
    }
  }
  return true;
}
