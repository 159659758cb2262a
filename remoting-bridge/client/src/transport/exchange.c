#include "transport/exchange.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

bool graft_comes_within(int fd, int milliseconds) {
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  int ready;
  do {
    ready = poll(&wait, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  if (!ready) errno = ETIMEDOUT;
  return ready > 0;
}

bool graft_exchange(int fd, const void *out, size_t out_bytes, void *in, size_t in_bytes) {
  const char *p = out;
  while (out_bytes) {
    ssize_t n = send(fd, p, out_bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    out_bytes -= (size_t)n;
  }
  char *q = in;
  while (in_bytes) {
    if (!graft_comes_within(fd, GRAFT_HANDSHAKE_MILLISECONDS)) return false;
    ssize_t n = recv(fd, q, in_bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (!n) errno = ECONNRESET;
      return false;
    }
    q += n;
    in_bytes -= (size_t)n;
  }
  return true;
}

void graft_plain_text(char *message, size_t size) {
  message[size - 1] = 0;
  for (char *c = message; *c; c++) {
    if ((unsigned char)*c < 32) *c = ' ';
  }
}
