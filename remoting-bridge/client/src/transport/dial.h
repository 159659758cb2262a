/* Open a stream socket to an address, without its "tcp://" or the like. -1 with a reason of one line. */
#ifndef GRAFT_DIAL_H
#define GRAFT_DIAL_H

#include <stddef.h>

int graft_dial_unix(const char *path, char *reason, size_t size);
int graft_dial_tcp(const char *text, char *reason, size_t size);
int graft_dial_vsock(const char *text, char *reason, size_t size);

#endif
