/* From an address to an authenticated connection: the first of a session, or a further one. */
#ifndef GRAFT_CONNECT_H
#define GRAFT_CONNECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

/* What further connections of a session show: that they are from whoever opened it. */
struct graft_session_key {
  uint64_t session; /* 0: none yet */
  uint8_t secret[32];
};
/* What a further connection is for, as the server is told. */
enum graft_purpose { GRAFT_FOR_CALLBACKS, GRAFT_FOR_BULK_DATA, GRAFT_FOR_SHADOW_MAPPINGS };

/* Connects to config->server, and sets the key. */
bool graft_connect_session(const struct graft_config *config, struct graft_session_key *key, struct graft_connection *connection,
                           char *reason, size_t size);
/* The same with the first of the configured servers that can be had; says on stderr why one before it cannot. */
bool graft_connect_best(struct graft_config *config, struct graft_session_key *key, struct graft_connection *connection,
                        char *reason, size_t size);
/* One more connection of that session: for bulk data by the session's own transport, else a plain socket. */
bool graft_connect_further(const struct graft_config *config, const struct graft_session_key *key, enum graft_purpose purpose,
                           struct graft_connection *connection, char *reason, size_t size);

/* The transport of an address; NULL with a reason if there is none. */
const struct graft_transport *graft_transport_of(const char *address, char *reason, size_t size);

#endif
