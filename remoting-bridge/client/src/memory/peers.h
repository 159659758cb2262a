/* Links between the servers of a program, on which copies between their devices go past the program. Only used if graft_several_servers
 * is set. */
#ifndef GRAFT_PEERS_H
#define GRAFT_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;

/* A copy between devices of two servers. */
struct graft_peer_copy {
  struct graft_object *target, *source; /* contexts of the two sessions */
  uint64_t to, from;
  size_t bytes;
};

/* Makes the copy over a link between the two servers, which the first copy opens. False if that is not possible: the copy has then to go
 * through the program, which also gives the error of a server that is lost. */
bool graft_peers_copy(const struct graft_peer_copy *copy);

#endif
