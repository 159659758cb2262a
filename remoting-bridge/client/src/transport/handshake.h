#ifndef GRAFT_HANDSHAKE_H
#define GRAFT_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/certificates.h"
#include "transport/connect.h"
#include "transport/tls.h"

/* Begins a new session and sets the key, or, if the key has a session, makes the socket a further connection of it. The channel is a transport's number, or the purpose of the further connection. If tls is not NULL, the client demands TLS: it has begun and is to be finished, or closed if this fails. Both proofs cover that demand. A new session is proved with the secret on which the two machines agree by their certificates, or, if these are NULL, with the token. False with a reason. */
bool graft_authenticate(int fd, const struct graft_config *config, const struct graft_certificates *certificates, uint32_t channel,
                        struct graft_session_key *key, struct graft_tls **tls, char *reason, size_t size);

#endif
