/* Messages of fixed size over a socket, before the session uses it. */
#ifndef GRAFT_EXCHANGE_H
#define GRAFT_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

#define GRAFT_HANDSHAKE_MILLISECONDS 10000

struct graft_tls;

/* A socket, and TLS on it unless that is NULL. */
struct graft_wire {
  int fd;
  struct graft_tls *tls;
};

/* Whether data, or the end of the connection, arrives in time. */
bool graft_comes_within(int fd, int milliseconds);

/* Receives what has arrived, as recv(2) with MSG_DONTWAIT. */
ssize_t graft_wire_try(struct graft_wire wire, void *to, size_t bytes);

/* Sends a message and receives the answer, in limited time. */
bool graft_exchange(struct graft_wire wire, const void *out, size_t out_bytes, void *in, size_t in_bytes);

/* Makes a message of the peer, which may fill its field, printable text. */
void graft_plain_text(char *message, size_t size);

#endif
