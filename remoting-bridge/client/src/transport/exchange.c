#include "transport/exchange.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "transport/tls.h"

bool graft_comes_within(int fd, int milliseconds) {
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  int ready;
  do {
    ready = poll(&wait, 1, milliseconds);
  } while (ready < 0 && errno == EINTR);
  if (!ready) errno = ETIMEDOUT;
  return ready > 0;
}

ssize_t graft_wire_try(struct graft_wire wire, void *to, size_t bytes) {
  return wire.tls ? graft_tls_try(wire.tls, to, bytes) : recv(wire.fd, to, bytes, MSG_DONTWAIT);
}

static ssize_t put(struct graft_wire wire, const void *data, size_t bytes) {
  return wire.tls ? graft_tls_send(wire.tls, data, bytes, false) : send(wire.fd, data, bytes, MSG_NOSIGNAL);
}

bool graft_exchange(struct graft_wire wire, const void *out, size_t out_bytes, void *in, size_t in_bytes) {
  const char *p = out;
  while (out_bytes) {
    ssize_t n = put(wire, p, out_bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    out_bytes -= (size_t)n;
  }
  char *q = in;
  bool may_be_there = true;
  while (in_bytes) {
    if (!may_be_there && !graft_comes_within(wire.fd, GRAFT_HANDSHAKE_MILLISECONDS)) return false;
    ssize_t n = graft_wire_try(wire, q, in_bytes);
    may_be_there = n > 0;
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
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
