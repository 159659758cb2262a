#include "api/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/system.h"

#define BUFFER (256u << 10)
#define LARGEST (16u << 10) /* of an object without its name */
#define FLUSH_NANOSECONDS UINT64_C(1000000000)
#define NAME 4096 /* longer names, as those of C++ templates, are cut */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd = -1;
static pid_t owner;
static bool has_failed;
static const char *separator = "[\n";
static uint64_t flushed; /* when; a program that is killed loses what came after */
static size_t held;
static char buffer[BUFFER]; /* not stdio's, which a forked child would write once more */

/* The caller holds the lock, as in the functions below. */
static void flush(void) {
  for (size_t done = 0; done < held && !has_failed;) {
    ssize_t n = write(fd, buffer + done, held - done);
    if (n > 0) done += (size_t)n;
    has_failed = n < 0 && errno != EINTR; /* the disk is full: the trace ends here, and the program goes on */
  }
  held = 0;
}

static void put(const char *text, size_t bytes) {
  memcpy(buffer + held, text, bytes);
  held += bytes;
}

static void put_text(const char *text) { put(text, strlen(text)); }

/* Bytes that are no UTF-8 would make the whole file unreadable, and all others above 127 are rare in names: they become question marks. */
static void put_string(const char *text) {
  put("\"", 1);
  for (size_t i = 0; text[i] && i < NAME; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') put("\\", 1);
    put(c < ' ' || c > '~' ? "?" : text + i, 1);
  }
  put("\"", 1);
}

static bool begin(void) {
  pthread_mutex_lock(&lock);
  if (fd < 0 || has_failed || getpid() != owner) return false;
  uint64_t now = graft_now();
  if (sizeof buffer - held < LARGEST + 4 * NAME || now - flushed > FLUSH_NANOSECONDS) {
    flush();
    flushed = now;
  }
  put_text(separator);
  separator = ",\n";
  return true;
}

static void put_row(struct graft_trace_row row) {
  char text[80];
  snprintf(text, sizeof text, ",\"pid\":%llu,\"tid\":%llu", (unsigned long long)row.process, (unsigned long long)row.thread);
  put_text(text);
}

void graft_trace_file_span(struct graft_trace_row row, const char *category, const char *name, uint64_t start, uint64_t end,
                           const char *more) {
  if (begin()) {
    char times[120];
    uint64_t lasted = end > start ? end - start : 0;
    snprintf(times, sizeof times, ",\"ts\":%llu.%03u,\"dur\":%llu.%03u", (unsigned long long)(start / 1000),
             (unsigned)(start % 1000), (unsigned long long)(lasted / 1000), (unsigned)(lasted % 1000));
    put_text("{\"ph\":\"X\",\"cat\":");
    put_string(category);
    put_text(",\"name\":");
    put_string(name);
    put_text(times);
    put_row(row);
    if (*more) {
      put_text(",\"args\":{");
      put(more, strnlen(more, LARGEST / 2));
      put_text("}");
    }
    put_text("}");
  }
  pthread_mutex_unlock(&lock);
}

void graft_trace_file_name(struct graft_trace_row row, const char *what, const char *name) {
  if (begin()) {
    put_text("{\"ph\":\"M\",\"name\":");
    put_string(what);
    put_row(row);
    put_text(",\"args\":{\"name\":");
    put_string(name);
    put_text("}}");
  }
  pthread_mutex_unlock(&lock);
}

/* The path with the process's id. False if it is too long. */
static bool expand(const char *path, char *to, size_t size) {
  const char *mark = strstr(path, "%p");
  int n =
      mark ? snprintf(to, size, "%.*s%ld%s", (int)(mark - path), path, (long)getpid(), mark + 2) : snprintf(to, size, "%s", path);
  return n >= 0 && (size_t)n < size;
}

bool graft_trace_file_open(const char *path) {
  char file[4096];
  if (!expand(path, file, sizeof file)) {
    errno = ENAMETOOLONG;
    return false;
  }
  pthread_mutex_lock(&lock);
  separator = "[\n";
  has_failed = false;
  held = 0;
  fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  owner = getpid();
  bool is_open = fd >= 0;
  pthread_mutex_unlock(&lock);
  return is_open;
}

void graft_trace_file_close(void) {
  pthread_mutex_lock(&lock);
  if (fd >= 0 && getpid() == owner) {
    put_text(*separator == '[' ? "[\n]\n" : "\n]\n");
    flush();
    close(fd);
    fd = -1;
  }
  pthread_mutex_unlock(&lock);
}
