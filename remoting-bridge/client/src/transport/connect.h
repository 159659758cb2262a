/* Makes an authenticated connection to an address: the first of a session, or a further one. */
#ifndef GRAFT_CONNECT_H
#define GRAFT_CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

/* The key by which further connections prove that they belong to a session. */
struct graft_session_key {
  uint64_t session; /* 0: none yet */
  uint8_t secret[32];
  bool takes_blocks;             /* what the client sends may go in blocks (transport/blocks.h) */
  uint64_t greeting_nanoseconds; /* how long the server took to answer the session's greeting: a round trip, and little more */
};
/* The purpose of a further connection, as it is sent to the server. */
enum graft_purpose { GRAFT_FOR_CALLBACKS, GRAFT_FOR_BULK_DATA, GRAFT_FOR_SHADOW_MAPPINGS };

/* Connects to config->server, and sets the key. */
bool graft_connect_session(const struct graft_config *config, struct graft_session_key *key, struct graft_connection *connection,
                           char *reason, size_t size);
/* The same with the first of the configured servers that works; prints on stderr why an earlier one does not. */
bool graft_connect_best(struct graft_config *config, struct graft_session_key *key, struct graft_connection *connection,
                        char *reason, size_t size);
/* Makes a further connection of that session: for bulk data over the session's own transport, else over a plain socket. */
bool graft_connect_further(const struct graft_config *config, const struct graft_session_key *key, enum graft_purpose purpose,
                           struct graft_connection *connection, char *reason, size_t size);

/* The transport of an address; NULL with a reason if there is none. */
const struct graft_transport *graft_transport_of(const char *address, char *reason, size_t size);

#endif
