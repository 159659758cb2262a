/* The hostile server's end of a connection: a socket, or rings in memory that it shares with the client. */
#ifndef GRAFT_TEST_HOSTILE_LINK_H
#define GRAFT_TEST_HOSTILE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/ring.h"

enum channel { TCP, UNIX, SHM, IVSHMEM, CHANNELS };

struct listener {
  int tcp, unix_socket, port;
  char folder[32]; /* holds the Unix socket, and the folder of a PCI device of shared memory */
};

struct link {
  int fd;
  uint8_t *memory; /* NULL on sockets */
  struct graft_ring requests, answers;
  pid_t scribbler;
};

/* Ends the process if the sockets or files cannot be made. */
void listener_open(struct listener *listener);
void listener_close(struct listener *listener);
/* The client's setting GRAFT_SERVER for a channel, and GRAFT_PCI_DEVICES. */
void listener_settings(const struct listener *listener, enum channel channel);

/* Accepts a client and shares memory with it. False if the client or a hostile answer ended the connection. */
bool link_accept(struct link *link, const struct listener *listener, enum channel channel, uint64_t (*draw)(uint64_t));
/* From now on a process of its own changes positions and contents of the rings at random. */
void link_scribble(struct link *link, uint64_t seed);
void link_close(struct link *link);
bool link_get(struct link *link, void *to, size_t bytes);
bool link_put(struct link *link, const void *data, size_t bytes);

#endif
