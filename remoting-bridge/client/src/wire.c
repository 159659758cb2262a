#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ucx.h"

ssize_t graft_wire_send(const struct graft_wire *wire, const void *data, size_t bytes, bool more) {
  if (wire->ucx) return graft_ucx_send(wire->ucx, data, bytes) ? (ssize_t)bytes : -1;
  return send(wire->fd, data, bytes, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
}

bool graft_wire_send_all(const struct graft_wire *wire, const void *data, size_t bytes, bool more) {
  const uint8_t *at = data;
  while (bytes) {
    ssize_t n = graft_wire_send(wire, at, bytes, more);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

ssize_t graft_wire_try(const struct graft_wire *wire, void *to, size_t bytes) {
  return wire->ucx ? graft_ucx_try(wire->ucx, to, bytes) : recv(wire->fd, to, bytes, MSG_DONTWAIT);
}

void graft_wire_wait(const struct graft_wire *wire) {
  if (wire->ucx) {
    graft_ucx_wait(wire->ucx);
    return;
  }
  struct pollfd p = {.fd = wire->fd, .events = POLLIN};
  poll(&p, 1, -1);
}

/* All of it if the kernel can wait for that: vsock waits for less than its buffer holds (256 KiB), and refuses more at once. */
static ssize_t receive_most(int fd, void *to, size_t bytes) {
  ssize_t n = recv(fd, to, bytes, MSG_WAITALL);
  return n < 0 && errno == ENOMEM ? recv(fd, to, bytes, 0) : n;
}

bool graft_wire_receive_all(const struct graft_wire *wire, void *to, size_t bytes) {
  uint8_t *at = to;
  while (bytes) {
    ssize_t n = wire->ucx ? graft_ucx_receive(wire->ucx, at, bytes) : receive_most(wire->fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (!n) errno = 0;
      return false;
    }
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

void graft_wire_before_sleep(const struct graft_wire *wire, int bell) {
  if (wire->ucx) graft_ucx_send_left(wire->ucx, bell);
}

void graft_wire_shutdown(const struct graft_wire *wire) {
  if (wire->fd >= 0) shutdown(wire->fd, SHUT_RDWR);
}

void graft_wire_close(struct graft_wire *wire) {
  if (wire->ucx) graft_ucx_close(wire->ucx);
  if (wire->fd >= 0) close(wire->fd);
  *wire = (struct graft_wire){.fd = -1};
}
