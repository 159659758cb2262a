/* The transport of each kind of address, and how its first socket is opened. A new transport gets a row here. */
#include "transport/connect.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/system.h"
#include "transport/certificates.h"
#include "transport/compression.h"
#include "transport/dial.h"
#include "transport/handshake.h"
#include "transport/tls.h"
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

/* Whether the connection is encrypted. This end decides by the address that it has dialled, and does not ask the other end, since an attacker between the two could answer. */
static bool wants_tls(const struct graft_config *config, int fd) {
  switch (config->encryption) {
    case GRAFT_ENCRYPTION_NEVER: return false;
    case GRAFT_ENCRYPTION_ALWAYS: return graft_is_tcp(fd);
    default: return graft_leaves_machine(fd);
  }
}

static bool has_tls(const struct graft_config *config, char *reason, size_t size) {
  char why[300];
  if (graft_tls_present(why, sizeof why)) return true;
  snprintf(reason, size, "the connection to %s has to be encrypted: %s", config->server, why);
  return false;
}

/* Has the kernel encrypt what is sent over a connection that stays TLS, where it can. */
static void encrypt_by_kernel(const struct graft_config *config, struct graft_connection *connection) {
  char why[200] = "GRAFT_KTLS=no";
  bool by_kernel = config->ktls && graft_tls_send_by_kernel(connection->tls, why, sizeof why);
  if (!config->debug) return;
  if (by_kernel) {
    graft_say("what is sent to %s is encrypted by the kernel", config->server);
  } else {
    graft_say("what is sent to %s is encrypted by this process: %s", config->server, why);
  }
}

/* Completes TLS if it has begun, and opens the transport, after the server's welcome. Transports that do not send their data over the socket use TLS only while the two ends agree. */
static bool open_transport(const struct graft_transport *transport, const struct graft_config *config,
                           struct graft_connection *connection, char *reason, size_t size) {
  char why[300];
  connection->transport = transport == &graft_socket_transport && connection->tls ? &graft_tls_transport : transport;
  if (connection->tls && !graft_tls_finish(connection->tls, GRAFT_HANDSHAKE_MILLISECONDS, why, sizeof why)) {
    snprintf(reason, size, "server %s: %s", config->server, why);
    return false;
  }
  if (connection->tls && !transport->open) encrypt_by_kernel(config, connection);
  bool open = !transport->open || transport->open(connection, config, reason, size);
  if (transport->open) {
    graft_tls_close(connection->tls);
    connection->tls = NULL;
  }
  return open;
}

/* Authenticates the socket for a channel or a purpose, and opens the transport on it. The certificates are NULL if the token or the session's secret is proved. */
static bool enter(const struct graft_transport *transport, const struct graft_config *config,
                  const struct graft_certificates *certificates, uint32_t channel, struct graft_session_key *key,
                  struct graft_connection *connection, char *reason, size_t size) {
  bool tls = wants_tls(config, connection->fd);
  bool ready =
      (!tls || has_tls(config, reason, size)) &&
      graft_authenticate(connection->fd, config, certificates, channel, key, tls ? &connection->tls : NULL, reason, size) &&
      open_transport(transport, config, connection, reason, size);
  if (!ready) graft_connection_close(connection);
  return ready;
}

/* Reads the certificates of this machine if the configuration names some. False with a reason. */
static bool open_certificates(const struct scheme *scheme, const struct graft_config *config,
                              struct graft_certificates **certificates, char *reason, size_t size) {
  char host[256], why[600];
  *certificates = NULL;
  if (!config->certificates[0]) return true;
  const char *rest = config->server + strlen(scheme->prefix);
  if (scheme->dial != graft_dial_tcp || !graft_host_of(rest, host, sizeof host)) {
    snprintf(
        reason, size,
        "certificates authenticate a server by its host, and %s names none: use an address such as tcp://HOST:PORT, or a token "
        "without 'certificates' and GRAFT_CERTIFICATES",
        config->server);
    return false;
  }
  *certificates = graft_certificates_open(config->certificates, host, why, sizeof why);
  if (!*certificates) snprintf(reason, size, "this machine's certificates cannot be used: %s", why);
  return *certificates;
}

bool graft_connect_session(const struct graft_config *config, struct graft_session_key *key, struct graft_connection *connection,
                           char *reason, size_t size) {
  const struct scheme *scheme = scheme_of(config->server, reason, size);
  *connection = (struct graft_connection){.fd = -1};
  if (!scheme) return false;
  const struct graft_transport *transport = scheme->transport;
  /* Checked first, since a session that cannot be used would cost the server a worker. */
  if (transport->present && !transport->present(config, reason, size)) return false;
  struct graft_certificates *certificates;
  if (!open_certificates(scheme, config, &certificates, reason, size)) return false;
  key->session = 0;
  bool entered = dial(scheme, config, connection, reason, size) &&
                 enter(transport, config, certificates, transport->number, key, connection, reason, size);
  graft_certificates_close(certificates);
  if (entered) graft_compress(connection, config, key);
  return entered;
}

bool graft_connect_further(const struct graft_config *config, const struct graft_session_key *key, enum graft_purpose purpose,
                           struct graft_connection *connection, char *reason, size_t size) {
  struct graft_session_key session = *key;
  const struct scheme *scheme = scheme_of(config->server, reason, size);
  *connection = (struct graft_connection){.fd = -1};
  if (!scheme || !dial(scheme, config, connection, reason, size)) return false;
  const struct graft_transport *transport = purpose == GRAFT_FOR_BULK_DATA ? scheme->transport : &graft_socket_transport;
  bool entered = enter(transport, config, NULL, purpose, &session, connection, reason, size);
  if (entered && purpose == GRAFT_FOR_BULK_DATA) graft_compress(connection, config, key);
  return entered;
}
