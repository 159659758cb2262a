/* The ports that the guest's virtual functions have, for the channel "rdma". */
#ifndef GRAFT_RAILS_H
#define GRAFT_RAILS_H

#include <stdbool.h>
#include <stddef.h>

/* Finds ports by their GUIDs (0x and 16 digits, between them blanks or commas) in /sys/class/infiniband or a folder like it,
 * and writes them as UCX names them: "mlx5_0:1,mlx5_1:1". False with a reason if one of them is not there. */
bool graft_rails(const char *folder, const char *guids, char *devices, size_t bytes, char *reason, size_t size);

#endif
