// The sets of system calls that --calls names.
#pragma once

enum {
  BASE = 1 << 0,    // Java, and the software device
  DRIVER = 1 << 1,  // NVIDIA's driver
  SOCKETS = 1 << 2, // UCX: sockets of any kind, System V shared memory
};
