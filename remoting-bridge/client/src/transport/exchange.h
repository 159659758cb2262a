/* Messages of fixed size over a socket, before the session uses it. */
#ifndef GRAFT_EXCHANGE_H
#define GRAFT_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#define GRAFT_HANDSHAKE_MILLISECONDS 10000

/* Whether data, or the end of the connection, arrives in time. */
bool graft_comes_within(int fd, int milliseconds);

/* Sends a message and receives the answer, in limited time. */
bool graft_exchange(int fd, const void *out, size_t out_bytes, void *in, size_t in_bytes);

/* Makes a message of the peer, which may fill its field, printable text. */
void graft_plain_text(char *message, size_t size);

#endif
