#include "module/compute_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "api/devices.h"
#include "api/rpc.h"
#include "base/crypto.h"
#include "base/system.h"
#include "session/session.h"

/* CUDA programming guide, "CUDA Environment Variables": the default and the most for CUDA_CACHE_MAXSIZE. */
#define DEFAULT_BYTES (1ull << 30)
#define MOST_BYTES (4ull << 30)
#define MOST_ENTRY (256u << 20)
#define NAME 64

struct entry {
  char name[NAME + 1]; /* SHA-256 in hexadecimal */
};

/* The head of a file. A file that is incomplete or damaged counts as missing. */
struct head {
  char magic[8];
  uint64_t bytes;
  uint8_t hash[32];
};
static const char magic[8] = "GRAFTCC1";

static bool is_disabled(void) {
  const char *value = getenv("CUDA_CACHE_DISABLE");
  return value && !strcmp(value, "1");
}

static uint64_t most_bytes(void) {
  const char *value = getenv("CUDA_CACHE_MAXSIZE");
  uint64_t bytes = value ? strtoull(value, NULL, 10) : DEFAULT_BYTES;
  return bytes < MOST_BYTES ? bytes : MOST_BYTES;
}

bool graft_cache_is_on(void) { return !is_disabled() && most_bytes() > sizeof(struct head); }

/* A separate folder within the driver's, whose files have another format. */
static bool folder(char *path, size_t size) {
  const char *given = getenv("CUDA_CACHE_PATH"), *home = getenv("HOME");
  int n = given && *given ? snprintf(path, size, "%s/graft", given)
          : home && *home ? snprintf(path, size, "%s/.nv/ComputeCache/graft", home)
                          : -1;
  return n > 0 && (size_t)n < size;
}

/* Makes a folder and those above it, for its owner alone. */
static bool make_folders(char *path) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = 0;
    bool made = !mkdir(path, 0700) || errno == EEXIST;
    *at = '/';
    if (!made) return false;
  }
  return !mkdir(path, 0700) || errno == EEXIST;
}

static void say_why_not(const char *what, const char *path) {
  if (graft_debug()) graft_say("compute cache: cannot %s %s: %s", what, path, strerror(errno));
}

/* ---- When the cache is full, the oldest entries are deleted ---- */

struct file {
  char name[NAME + 1];
  time_t used;
  uint64_t bytes;
};

static int by_age(const void *left, const void *right) {
  const struct file *l = left, *r = right;
  return l->used < r->used ? -1 : l->used > r->used;
}

/* Makes room for so many more bytes. Other processes may delete files at the same time. */
static void make_room(int at, uint64_t wanted) {
  struct file *files = NULL;
  size_t count = 0, room = 0;
  uint64_t total = wanted, most = most_bytes();
  int copy = dup(at);
  DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;
  if (!listing) {
    if (copy >= 0) close(copy);
    return;
  }
  rewinddir(listing); /* the copy shares its position with the original */
  for (struct dirent *d; (d = readdir(listing));) {
    struct stat status;
    if (strlen(d->d_name) != NAME || fstatat(at, d->d_name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode)) continue;
    if (count == room) {
      struct file *grown = realloc(files, (room = room ? 2 * room : 256) * sizeof *grown);
      if (!grown) break;
      files = grown;
    }
    memcpy(files[count].name, d->d_name, NAME + 1);
    files[count].used = status.st_mtime;
    files[count++].bytes = (uint64_t)status.st_size;
    total += (uint64_t)status.st_size;
  }
  closedir(listing);
  if (total > most && count) {
    qsort(files, count, sizeof *files, by_age);
    for (size_t i = 0; i < count && total > most; i++) {
      if (!unlinkat(at, files[i].name, 0)) total -= files[i].bytes;
    }
  }
  free(files);
}

/* ---- Entries ---- */

/* -1 if there is none, with a line if GRAFT_DEBUG is set. */
static int open_folder(bool make) {
  char path[4096];
  if (is_disabled() || !folder(path, sizeof path)) return -1;
  if (make && !make_folders(path)) {
    say_why_not("make", path);
    return -1;
  }
  int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0 && errno != ENOENT) say_why_not("open", path);
  return at;
}

int graft_cache_open(void **entry, int kind, const void *input, size_t bytes, const char *options, const char *host,
                     const char *build, unsigned architecture) {
  if (!entry || (bytes && !input)) return GRAFT_INVALID_VALUE;
  struct entry *e = malloc(sizeof *e);
  if (!e) return GRAFT_OUT_OF_MEMORY;
  /* The hash of each part, so that parts cannot run into each other. */
  const char *texts[] = {options ? options : "", host ? host : "", build ? build : ""};
  uint8_t parts[5 * 32], hash[32];
  uint32_t numbers[3] = {(uint32_t)kind, architecture, (uint32_t)graft_driver_version()};
  graft_sha256(numbers, sizeof numbers, parts);
  graft_sha256(input, bytes, parts + 32);
  for (int i = 0; i < 3; i++) graft_sha256(texts[i], strlen(texts[i]), parts + 64 + 32 * i);
  graft_sha256(parts, sizeof parts, hash);
  for (int i = 0; i < 32; i++) snprintf(e->name + 2 * i, 3, "%02x", hash[i]);
  *entry = e;
  return GRAFT_OK;
}

int graft_cache_close(void *entry) {
  free(entry);
  return GRAFT_OK;
}

int graft_cache_release(void *data) {
  free(data);
  return GRAFT_OK;
}

static bool read_all(int fd, void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = read(fd, (char *)to + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

static bool write_all(int fd, const void *from, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = write(fd, (const char *)from + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += (size_t)n;
  }
  return true;
}

static void *read_entry(int fd, uint32_t *bytes) {
  struct head head;
  uint8_t hash[32];
  if (!read_all(fd, &head, sizeof head) || memcmp(head.magic, magic, sizeof magic) || !head.bytes || head.bytes > MOST_ENTRY) {
    return NULL;
  }
  void *data = malloc(head.bytes);
  if (!data) return NULL;
  if (read_all(fd, data, head.bytes)) {
    graft_sha256(data, head.bytes, hash);
    if (!memcmp(hash, head.hash, sizeof hash)) {
      *bytes = (uint32_t)head.bytes;
      return data;
    }
  }
  free(data);
  return NULL;
}

int graft_cache_load(void *entry, unsigned part, void **data, uint32_t *bytes) {
  const struct entry *e = entry;
  if (!e || part || !data || !bytes) return GRAFT_INVALID_VALUE;
  int at = open_folder(false);
  if (at < 0) return GRAFT_NOT_FOUND;
  int fd = openat(at, e->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  close(at);
  if (fd < 0) return GRAFT_NOT_FOUND;
  void *found = read_entry(fd, bytes);
  if (found) futimens(fd, NULL); /* marks the file as used, so that it is kept */
  close(fd);
  if (!found) return GRAFT_NOT_FOUND;
  *data = found;
  return GRAFT_OK;
}

/* The entry appears complete or not at all. Failing to store it is not an error for the compiler. */
static void keep(int at, const struct entry *e, const void *data, size_t bytes) {
  char draft[NAME + 32];
  struct head head = {.bytes = bytes};
  memcpy(head.magic, magic, sizeof magic);
  graft_sha256(data, bytes, head.hash);
  snprintf(draft, sizeof draft, ".%s.%d.%llx", e->name, (int)getpid(), (unsigned long long)graft_now());
  int fd = openat(at, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    say_why_not("write", draft);
    return;
  }
  bool whole = write_all(fd, &head, sizeof head) && write_all(fd, data, bytes);
  whole = !close(fd) && whole;
  if (!whole || renameat(at, draft, at, e->name)) {
    say_why_not("write", draft);
    unlinkat(at, draft, 0);
  }
}

int graft_cache_store(void *entry, unsigned part, const void *data, size_t bytes) {
  if (!entry || part || !data || !bytes) return GRAFT_INVALID_VALUE;
  if (bytes > MOST_ENTRY || bytes + sizeof(struct head) > most_bytes()) return GRAFT_OK;
  int at = open_folder(true);
  if (at < 0) return GRAFT_OK;
  make_room(at, bytes + sizeof(struct head));
  keep(at, entry, data, bytes);
  close(at);
  return GRAFT_OK;
}
