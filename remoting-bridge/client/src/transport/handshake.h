#ifndef GRAFT_HANDSHAKE_H
#define GRAFT_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/connect.h"

/* Begins a new session and sets the key, or, if the key has a session, makes the socket a further connection of it. The channel is a transport's number, or the purpose of the further connection. False with a reason. */
bool graft_authenticate(int fd, const struct graft_config *config, uint32_t channel, struct graft_session_key *key, char *reason,
                        size_t size);

#endif
