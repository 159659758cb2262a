#ifndef GRAFT_HANDSHAKE_H
#define GRAFT_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/connect.h"

/* Begins a new session if the key has none, and sets the key; else makes the socket a further connection of it. The channel is a
 * transport's number, or the further connection's purpose. False with a reason. */
bool graft_authenticate(int fd, const struct graft_config *config, uint32_t channel, struct graft_session_key *key, char *reason,
                        size_t size);

#endif
