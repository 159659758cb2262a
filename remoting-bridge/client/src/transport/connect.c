/* The transport of each kind of address, and how its first socket is opened. A new transport gets a row here. */
#include "transport/connect.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "transport/dial.h"
#include "transport/handshake.h"
#include "transport/transport.h"

static const struct scheme {
  const char *prefix;
  int (*dial)(const char *rest, char *reason, size_t size);
  const struct graft_transport *transport;
} schemes[] = {
    {"tcp://", graft_dial_tcp, &graft_socket_transport},      {"unix://", graft_dial_unix, &graft_socket_transport},
    {"vsock://", graft_dial_vsock, &graft_socket_transport},  {"shm://", graft_dial_unix, &graft_shm_transport},
    {"ivshmem://", graft_dial_tcp, &graft_ivshmem_transport}, {"ivshmem+vsock://", graft_dial_vsock, &graft_ivshmem_transport},
    {"rdma://", graft_dial_tcp, &graft_ucx_transport},        {"vchan://", graft_dial_tcp, &graft_vchan_transport},
};

static const struct scheme *scheme_of(const char *address, char *reason, size_t size) {
  size_t count = sizeof schemes / sizeof *schemes;
  for (size_t i = 0; i < count; i++) {
    if (!strncmp(address, schemes[i].prefix, strlen(schemes[i].prefix))) return &schemes[i];
  }
  size_t used = (size_t)snprintf(reason, size, "server address must start with ");
  for (size_t i = 0; i < count && used < size; i++) {
    const char *before = !i ? "" : i + 1 < count ? ", " : " or ";
    used += (size_t)snprintf(reason + used, size - used, "%s%s", before, schemes[i].prefix);
  }
  if (used < size) snprintf(reason + used, size - used, ", not %s", address);
  return NULL;
}

const struct graft_transport *graft_transport_of(const char *address, char *reason, size_t size) {
  const struct scheme *scheme = scheme_of(address, reason, size);
  return scheme ? scheme->transport : NULL;
}

static bool dial(const struct scheme *scheme, const struct graft_config *config, struct graft_connection *connection, char *reason,
                 size_t size) {
  connection->fd = scheme->dial(config->server + strlen(scheme->prefix), reason, size);
  return connection->fd >= 0;
}

/* Opens the transport, after the server's welcome. */
static bool open_transport(const struct graft_transport *transport, const struct graft_config *config,
                           struct graft_connection *connection, char *reason, size_t size) {
  connection->transport = transport;
  return !transport->open || transport->open(connection, config, reason, size);
}

bool graft_connect_session(const struct graft_config *config, struct graft_session_key *key, struct graft_connection *connection,
                           char *reason, size_t size) {
  const struct scheme *scheme = scheme_of(config->server, reason, size);
  *connection = (struct graft_connection){.fd = -1};
  if (!scheme) return false;
  const struct graft_transport *transport = scheme->transport;
  /* Checked first, since a session that cannot be used would cost the server a worker. */
  if (transport->present && !transport->present(config, reason, size)) return false;
  if (!dial(scheme, config, connection, reason, size)) return false;
  key->session = 0;
  bool ready = graft_authenticate(connection->fd, config, transport->number, key, reason, size) &&
               open_transport(transport, config, connection, reason, size);
  if (!ready) graft_connection_close(connection);
  return ready;
}

bool graft_connect_further(const struct graft_config *config, const struct graft_session_key *key, enum graft_purpose purpose,
                           struct graft_connection *connection, char *reason, size_t size) {
  struct graft_session_key session = *key;
  const struct scheme *scheme = scheme_of(config->server, reason, size);
  *connection = (struct graft_connection){.fd = -1};
  if (!scheme || !dial(scheme, config, connection, reason, size)) return false;
  const struct graft_transport *transport = purpose == GRAFT_FOR_BULK_DATA ? scheme->transport : &graft_socket_transport;
  bool ready = graft_authenticate(connection->fd, config, purpose, &session, reason, size) &&
               open_transport(transport, config, connection, reason, size);
  if (!ready) graft_connection_close(connection);
  return ready;
}
