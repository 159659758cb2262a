/* Where the server is and who this client is: a file, then the environment. */
#ifndef GRAFT_CONFIG_H
#define GRAFT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAFT_BETWEEN_SERVERS ", \t" /* what stands between addresses */

struct graft_config {
  char servers[1024];     /* addresses, the best first */
  char server[256];       /* the one in use */
  char rdma_ports[1024];  /* the ports that rdma is to go by (transport/rails.h) */
  char rdma_devices[256]; /* the folder in which sysfs shows them */
  char pci_devices[256];  /* the folder in which sysfs shows PCI devices */
  char name[64];
  uint8_t token[32];
  bool has_token;
  int spin_microseconds;
  int data_connections;   /* -1 for as many as suit */
  bool managed_exclusive; /* managed memory is the program's or the device's at a time */
  bool stats;
  int debug;
};

/* Reads it; on failure writes a reason of one line. */
bool graft_config_read(struct graft_config *config, char *reason, size_t size);
/* Whether threads that wait look, and give way to others, for a while before they sleep. */
bool graft_gives_way(const struct graft_config *config);

#endif
