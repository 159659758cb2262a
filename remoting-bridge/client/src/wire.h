/* What carries bytes to the server: a socket, or UCX beside a socket. One thread at a time may send, one receive. */
#ifndef GRAFT_WIRE_H
#define GRAFT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct graft_ucx;

struct graft_wire {
  int fd; /* -1 without a connection */
  struct graft_ucx *ucx;
};

/* Sends some of it at least; as send(2). */
ssize_t graft_wire_send(const struct graft_wire *wire, const void *data, size_t bytes, bool more);
bool graft_wire_send_all(const struct graft_wire *wire, const void *data, size_t bytes, bool more);
/* What there is now, -1 with EAGAIN if there is nothing, 0 if the server has closed; as recv(2). */
ssize_t graft_wire_try(const struct graft_wire *wire, void *to, size_t bytes);
/* Sleeps until there may be something, or the server is gone. */
void graft_wire_wait(const struct graft_wire *wire);
bool graft_wire_receive_all(const struct graft_wire *wire, void *to, size_t bytes);
/* For a thread that sends and is about to wait for a bell: sees to it that all it has sent leaves. */
void graft_wire_before_sleep(const struct graft_wire *wire, int bell);
/* Ends the connection for whoever waits for it. */
void graft_wire_shutdown(const struct graft_wire *wire);
/* Nobody may be in any of the others. */
void graft_wire_close(struct graft_wire *wire);

#endif
