/* A transport is a table of operations with stated capabilities, as in UCX's uct (uct_iface_ops, the flags of uct_iface_attr).
 * A sender or receiver asks for a capability or calls an operation; no file asks which transport a connection has.
 *
 * Every transport starts from an authenticated stream socket, carries the records of a session in order and without loss, and
 * ends when that socket ends. One thread at a time may send on a connection, and one receive.
 */
#ifndef GRAFT_TRANSPORT_H
#define GRAFT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/exchange.h"

struct graft_bell;
struct graft_config;
struct graft_connection;
struct graft_region;
struct graft_ring;
struct graft_tls;

/* Capabilities. */
enum {
  /* The server itself takes the requests out of a ring (operation "requests"), and bulk data of any size follows its record
   * there. Without it the records have to be sent. */
  GRAFT_TRANSPORT_RINGS = 1,
  /* Client and server map one region at the same addresses (graft_connection.region). Data in the region is never sent. */
  GRAFT_TRANSPORT_SHARED_MEMORY = 2,
  /* The session may open data connections, whose chunks are not ordered with the records or each other. Such a connection has
   * the same transport, and the operations "begin", "is_over" and "work". */
  GRAFT_TRANSPORT_DATA_CONNECTIONS = 4,
};

struct graft_transport {
  const char *name;
  uint32_t number; /* as the greeting tells it to the server */
  unsigned capabilities;
  unsigned tries;     /* so many calls of try cost about as much as reading the clock */
  size_t sends_alone; /* up to this many bytes are sent without the server's help, so that a waiting thread can send them itself */
  size_t largest_chunk;      /* on a data connection */
  int chunks_per_connection; /* the number of chunks of a transfer for each data connection */
  int least_connections;     /* data connections worth having on a machine with few processors */

  /* Whether this machine meets the transport's requirements; called before connecting. NULL if every machine does. */
  bool (*present)(const struct graft_config *config, char *reason, size_t size);
  /* Sets up the transport after the server's welcome. NULL if the socket itself carries the bytes. */
  bool (*open)(struct graft_connection *connection, const struct graft_config *config, char *reason, size_t size);
  /* Ends what open set up. No other thread may be in any operation. NULL if there is nothing to end. */
  void (*close)(struct graft_connection *connection);

  /* Receives what has arrived, as recv(2): -1 with EAGAIN if nothing has, 0 if the server has closed the connection. */
  ssize_t (*try)(const struct graft_connection *connection, void *to, size_t bytes);
  /* Sleeps until there may be something to receive. The parameter is how long the thread has waited already. False if the server is gone. */
  bool (*wait)(const struct graft_connection *connection, uint64_t waited_nanoseconds);

  /* With GRAFT_TRANSPORT_RINGS: where requests go, and what wakes the server. */
  void (*requests)(const struct graft_connection *connection, struct graft_ring *ring, struct graft_bell *bell);

  /* Without GRAFT_TRANSPORT_RINGS. Sends at least one byte; as send(2). */
  ssize_t (*send)(const struct graft_connection *connection, const void *data, size_t bytes, bool more);
  /* Receives at least one byte, and all of them if that takes no longer; as recv(2). */
  ssize_t (*receive)(const struct graft_connection *connection, void *to, size_t bytes);
  /* Called by a sending thread before it waits for a bell. Returns when everything sent leaves without further calls, or when the bell rings. */
  void (*before_sleep)(const struct graft_connection *connection, int bell);

  /* With GRAFT_TRANSPORT_DATA_CONNECTIONS. Begins to send a chunk behind its header; both have to stay as they are until is_over
   * says so of the mark. False if it failed at once. */
  bool (*begin)(const struct graft_connection *connection, const void *header, size_t header_bytes, const void *data, size_t bytes,
                uint64_t *mark);
  bool (*is_over)(const struct graft_connection *connection, uint64_t mark);
  /* Continues sending what was begun, and sleeps if there is nothing to do. False if the connection is broken; then everything begun is over. */
  bool (*work)(const struct graft_connection *connection);
};

struct graft_connection {
  const struct graft_transport *transport;
  int fd;                      /* the authenticated socket; -1 without a connection */
  struct graft_tls *tls;       /* TLS on that socket, while something is sent over it that another could use; or NULL */
  void *state;                 /* the transport's own */
  struct graft_region *region; /* with GRAFT_TRANSPORT_SHARED_MEMORY; lives as long as the process */
};

/* One for each row of docs/architecture.md, "Transports"; connect.c maps addresses to transports. */
extern const struct graft_transport graft_socket_transport, graft_tls_transport, graft_shm_transport, graft_ivshmem_transport,
    graft_ucx_transport, graft_vchan_transport;

static inline bool graft_connection_can(const struct graft_connection *connection, unsigned capability) {
  return connection->transport && connection->transport->capabilities & capability;
}

static inline struct graft_wire graft_connection_wire(const struct graft_connection *connection) {
  return (struct graft_wire){connection->fd, connection->tls};
}

bool graft_connection_send_all(const struct graft_connection *connection, const void *data, size_t bytes, bool more);
bool graft_connection_receive_all(const struct graft_connection *connection, void *to, size_t bytes);
/* Shuts the connection down, which wakes threads that wait on it. */
void graft_connection_shutdown(const struct graft_connection *connection);
/* No other thread may be in any operation. */
void graft_connection_close(struct graft_connection *connection);

#endif
