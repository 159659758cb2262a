/* From the rest of an address, behind "tcp://" and the like, to a stream socket; -1 with a reason of one line. */
#ifndef GRAFT_DIAL_H
#define GRAFT_DIAL_H

#include <stddef.h>

int graft_dial_unix(const char *path, char *reason, size_t size);
int graft_dial_tcp(const char *text, char *reason, size_t size);
int graft_dial_vsock(const char *text, char *reason, size_t size);

#endif
