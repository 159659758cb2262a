/* Messages of fixed size over a socket, before anything else runs on it. */
#ifndef GRAFT_EXCHANGE_H
#define GRAFT_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#define GRAFT_HANDSHAKE_MILLISECONDS 10000

/* Whether there is something to receive, or an end, before time is up. */
bool graft_comes_within(int fd, int milliseconds);

/* Sends a message and receives the answer, in limited time. */
bool graft_exchange(int fd, const void *out, size_t out_bytes, void *in, size_t in_bytes);

#endif
