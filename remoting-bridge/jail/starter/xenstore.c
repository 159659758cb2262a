// What xenstore says of this host's domains, by its protocol (Xen's public/io/xs_wire.h), so that this process needs no
// library of Xen. A domain's number changes with each start of the guest; its name does not, and only dom0 writes it.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "starter.h"

enum { XS_DIRECTORY = 1, XS_READ = 2, XS_ERROR = 16, MOST_PAYLOAD = 4096, FIRST_RESERVED = 0x7FF0 };

struct head {
  uint32_t type, request, transaction, length;
};

int dial_xenstore(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
  int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return -1;
}

// Sends or receives all of these bytes before the deadline.
static bool move(int fd, bool sends, void *bytes, size_t size, int64_t deadline) {
  for (size_t at = 0; at < size;) {
    int64_t left = deadline - now();
    struct pollfd ready = {fd, sends ? POLLOUT : POLLIN, 0};
    errno = ETIMEDOUT;
    int count = left <= 0 ? 0 : poll(&ready, 1, (int)left);
    if (count == 0 || (count < 0 && errno != EINTR)) return false;
    if (count < 0) continue;
    ssize_t moved = sends ? send(fd, (char *)bytes + at, size - at, MSG_NOSIGNAL) : recv(fd, (char *)bytes + at, size - at, 0);
    if (moved == 0) errno = ECONNRESET;
    if (moved == 0 || (moved < 0 && errno != EINTR && errno != EAGAIN)) return false;
    if (moved > 0) at += (size_t)moved;
  }
  return true;
}

// Asks for the names below a path or for its value; answer has room for MOST_PAYLOAD bytes and a 0. Returns the number of
// bytes, or -1 with errno, which is ENOENT if there is no such entry.
static ssize_t ask(int fd, uint32_t type, const char *path, char *answer, int64_t deadline) {
  struct head question = {.type = type, .request = 1, .length = (uint32_t)strlen(path) + 1}, reply;
  if (!move(fd, true, &question, sizeof question, deadline) || !move(fd, true, (void *)(uintptr_t)path, question.length, deadline) ||
      !move(fd, false, &reply, sizeof reply, deadline)) {
    return -1;
  }
  errno = EPROTO;
  if ((reply.type != type && reply.type != XS_ERROR) || reply.request != 1 || reply.length > MOST_PAYLOAD) return -1;
  if (!move(fd, false, answer, reply.length, deadline)) return -1;
  answer[reply.length] = 0;
  if (reply.type == type) return reply.length;
  errno = strcmp(answer, "ENOENT") == 0 ? ENOENT : strcmp(answer, "EACCES") == 0 ? EACCES : EPROTO;
  return -1;
}

static int number_of(const char *text) {
  char *end;
  unsigned long value = strtoul(text, &end, 10);
  return *text >= '0' && *text <= '9' && !*end && value < FIRST_RESERVED ? (int)value : -1;
}

int find_domain(int fd, const char *name, int *self, int64_t deadline) {
  char names[MOST_PAYLOAD + 1], value[MOST_PAYLOAD + 1], path[64];
  *self = 0;
  ssize_t size = ask(fd, XS_READ, "domid", value, deadline);
  if (size < 0 && errno != ENOENT) return -1;
  errno = EPROTO;
  if (size >= 0 && (*self = number_of(value)) < 0) return -1;
  size = ask(fd, XS_DIRECTORY, "/local/domain", names, deadline);
  if (size < 0) return -1;
  for (const char *at = names; at < names + size; at += strlen(at) + 1) {
    int number = number_of(at);
    if (number < 0 || number == *self) continue;
    snprintf(path, sizeof path, "/local/domain/%d/name", number);
    ssize_t length = ask(fd, XS_READ, path, value, deadline);
    if (length < 0 && errno != ENOENT) return -1; // a domain that has just gone, or is being made, has no name
    if (length >= 0 && strlen(value) == (size_t)length && strcmp(value, name) == 0) return number;
  }
  errno = ENOENT;
  return -1;
}
