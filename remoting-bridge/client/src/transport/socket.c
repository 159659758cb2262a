/* The transports of "tcp://", "unix://" and "vsock://": stream sockets, with and without TLS. Further connections of every session use them, too. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "transport/tls.h"
#include "transport/transport.h"

#define LARGEST_CHUNK (1u << 20)

static ssize_t try_socket(const struct graft_connection *connection, void *to, size_t bytes) {
  return recv(connection->fd, to, bytes, MSG_DONTWAIT);
}

static bool wait_socket(const struct graft_connection *connection, uint64_t waited_nanoseconds) {
  (void)waited_nanoseconds;
  struct pollfd p = {.fd = connection->fd, .events = POLLIN};
  poll(&p, 1, -1);
  return true;
}

static ssize_t send_socket(const struct graft_connection *connection, const void *data, size_t bytes, bool more) {
  return send(connection->fd, data, bytes, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
}

/* Waits for all bytes where the kernel can. A vsock refuses to wait for more than its buffer holds (256 KiB). */
static ssize_t receive_socket(const struct graft_connection *connection, void *to, size_t bytes) {
  ssize_t n = recv(connection->fd, to, bytes, MSG_WAITALL);
  return n < 0 && errno == ENOMEM ? recv(connection->fd, to, bytes, 0) : n;
}

static ssize_t try_tls(const struct graft_connection *connection, void *to, size_t bytes) {
  return graft_tls_try(connection->tls, to, bytes);
}

static ssize_t send_tls(const struct graft_connection *connection, const void *data, size_t bytes, bool more) {
  return graft_tls_send(connection->tls, data, bytes, more);
}

static ssize_t receive_tls(const struct graft_connection *connection, void *to, size_t bytes) {
  return graft_tls_receive(connection->tls, to, bytes);
}

/* The kernel sends the bytes that it has accepted without further calls. */
static void nothing_left(const struct graft_connection *connection, int bell) {
  (void)connection;
  (void)bell;
}

/* Returns when the kernel has taken everything, so that no mark is needed. */
static bool begin_socket(const struct graft_connection *connection, const void *header, size_t header_bytes, const void *data,
                         size_t bytes, uint64_t *mark) {
  *mark = 0;
  return graft_connection_send_all(connection, header, header_bytes, true) &&
         graft_connection_send_all(connection, data, bytes, false);
}

static bool is_over(const struct graft_connection *connection, uint64_t mark) {
  (void)connection;
  (void)mark;
  return true;
}

static bool nothing_begun(const struct graft_connection *connection) {
  (void)connection;
  return true;
}

#define OF_SOCKETS                                                                                         \
  .number = 0, .capabilities = GRAFT_TRANSPORT_DATA_CONNECTIONS, .tries = 1, .sends_alone = SIZE_MAX,      \
  .largest_chunk = LARGEST_CHUNK, .chunks_per_connection = 2, .least_connections = 1, .wait = wait_socket, \
  .before_sleep = nothing_left, .begin = begin_socket, .is_over = is_over, .work = nothing_begun

const struct graft_transport graft_socket_transport = {OF_SOCKETS, .name = "socket", .try = try_socket, .send = send_socket,
                                                       .receive = receive_socket};

const struct graft_transport graft_tls_transport = {OF_SOCKETS, .name = "tls", .try = try_tls, .send = send_tls,
                                                    .receive = receive_tls};
