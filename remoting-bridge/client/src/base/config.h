/* The client's configuration: a file, which the environment overrides. */
#ifndef GRAFT_CONFIG_H
#define GRAFT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAFT_BETWEEN_SERVERS ", \t" /* what separates the addresses of a server */
#define GRAFT_MOST_SERVERS 7         /* that one program uses; each has a range of addresses for its device memory */

/* Which TCP connections are encrypted: those that leave this machine, all, or none. */
enum graft_encryption { GRAFT_ENCRYPTION_AUTO, GRAFT_ENCRYPTION_ALWAYS, GRAFT_ENCRYPTION_NEVER };

/* Whether what is sent over TCP is compressed: where that is faster, wherever it becomes smaller, or nowhere. */
enum graft_compression { GRAFT_COMPRESSION_AUTO, GRAFT_COMPRESSION_YES, GRAFT_COMPRESSION_NO };

/* Whether data that the server has from an earlier session is sent again (memory/known_data.h): not where the connection is slow, not at all, or always. */
enum graft_known_data_choice { GRAFT_KNOWN_DATA_AUTO, GRAFT_KNOWN_DATA_YES, GRAFT_KNOWN_DATA_NO };

struct graft_config {
  char servers[1024];     /* addresses, the best first */
  int server_count;       /* how many servers the program has */
  int addresses;          /* the range in which the server has to place device memory, 0 for anywhere */
  char server[256];       /* the one in use */
  char rdma_ports[1024];  /* the ports that rdma uses (transport/rails.h) */
  char rdma_devices[256]; /* the folder in which sysfs shows them */
  char pci_devices[256];  /* the folder in which sysfs shows PCI devices */
  char name[64];
  uint8_t token[32];
  bool has_token;
  char certificates
      [256]; /* the folder of the certificates that are used in place of a token (transport/certificates.h); empty for none */
  int spin_microseconds;
  int data_connections;   /* -1 chooses a number */
  bool managed_exclusive; /* managed memory is exclusive: at any time the program's or the device's */
  enum graft_encryption encryption;
  bool ktls; /* the kernel encrypts what is sent, if it can (transport/ktls.h) */
  enum graft_compression compression;
  enum graft_known_data_choice known_data;
  bool stats;
  int debug;
};

/* Reads the configuration for one of the program's servers, counted from 0. The settings of several servers are separated by ';'; a name, a token file or a folder of certificates that is given once is that of all servers. False with a reason of one line. */
bool graft_config_read(struct graft_config *config, int server, char *reason, size_t size);
/* Whether threads that wait poll and yield the CPU for a while before they sleep. */
bool graft_gives_way(const struct graft_config *config);

#endif
