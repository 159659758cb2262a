#ifndef GRAFT_HANDSHAKE_H
#define GRAFT_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/certificates.h"
#include "transport/connect.h"

/* Begins a new session and sets the key, or, if the key has a session, makes the socket a further connection of it. The channel is a transport's number, or the purpose of the further connection. If tls_key is not NULL, the client demands TLS: the server performs it from here on, with the key that is written there. Both proofs cover that demand. A new session is proved with the secret on which the two machines agree by their certificates, or, if these are NULL, with the token. False with a reason. */
bool graft_authenticate(int fd, const struct graft_config *config, const struct graft_certificates *certificates, uint32_t channel,
                        struct graft_session_key *key, uint8_t *tls_key, char *reason, size_t size);

#endif
