/* Operations that are the same on every transport. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/tls.h"
#include "transport/transport.h"

bool graft_connection_send_all(const struct graft_connection *connection, const void *data, size_t bytes, bool more) {
  const uint8_t *at = data;
  while (bytes) {
    ssize_t n = connection->transport->send(connection, at, bytes, more);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

bool graft_connection_receive_all(const struct graft_connection *connection, void *to, size_t bytes) {
  uint8_t *at = to;
  while (bytes) {
    ssize_t n = connection->transport->receive(connection, at, bytes);
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

void graft_connection_shutdown(const struct graft_connection *connection) {
  if (connection->fd >= 0) shutdown(connection->fd, SHUT_RDWR);
}

void graft_connection_close(struct graft_connection *connection) {
  if (connection->transport && connection->transport->close) connection->transport->close(connection);
  graft_tls_close(connection->tls);
  if (connection->fd >= 0) close(connection->fd);
  *connection = (struct graft_connection){.fd = -1};
}
