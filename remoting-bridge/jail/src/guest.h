// What the jail and the starter agree on so that the workers of one guest can share files.
#pragma once

enum {
  // The user and group that each worker is to itself, in a user namespace of its own; on the host each is another user.
  // NVIDIA's driver looks for the file of another process's event under a name that contains its own user. 65533 has no
  // meaning on a host: systemd's "Users, Groups, UIDs and GIDs on systemd Systems" and Debian's policy leave it out.
  GUEST_USER = 65533,
  // The size of a worker's /dev/shm, and of the folder of a guest that is mounted over it.
  GUEST_FOLDER_BYTES = 64 << 20,
};
