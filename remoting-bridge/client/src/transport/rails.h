/* The ports that the channel "rdma" uses, at both ends. */
#ifndef GRAFT_RAILS_H
#define GRAFT_RAILS_H

#include <stdbool.h>
#include <stddef.h>

/* Finds ports in /sys/class/infiniband or a folder like it, and writes their names for UCX: "mlx5_0:1,mlx5_1:1". A port is given by its GUID (0x and 16 digits), by the MAC of an Ethernet port (02:00:00:00:00:01), or by its name for UCX; ports are separated by blanks or commas. False with a reason if a port is malformed or missing. */
__attribute__((visibility("default"))) bool graft_rails(const char *folder, const char *ports, char *devices, size_t bytes,
                                                        char *reason, size_t size);
/* Writes the names of all ports in that folder. False if there are more than the names have room for. */
bool graft_rails_all(const char *folder, char *devices, size_t bytes);

#endif
