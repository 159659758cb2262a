/* Open a stream socket to an address, without its "tcp://" or the like. -1 with a reason of one line. */
#ifndef GRAFT_DIAL_H
#define GRAFT_DIAL_H

#include <stdbool.h>
#include <stddef.h>

int graft_dial_unix(const char *path, char *reason, size_t size);
int graft_dial_tcp(const char *text, char *reason, size_t size);
int graft_dial_vsock(const char *text, char *reason, size_t size);

/* Takes the host from "HOST:PORT" or "[HOST]:PORT", and returns where the port is; NULL if there is none. */
const char *graft_host_of(const char *text, char *host, size_t size);

bool graft_is_tcp(int fd);
/* Whether what is sent over this socket can leave this machine: it is a TCP socket whose other end is not on the loopback interface. A socket whose other end is unknown can. */
bool graft_leaves_machine(int fd);

#endif
