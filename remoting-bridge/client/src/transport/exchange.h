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

/* A message of a peer's that fills its field, as text for people. */
void graft_plain_text(char *message, size_t size);

#endif
