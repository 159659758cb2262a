// The folder that the workers of one guest share as their /dev/shm: a tmpfs of limited size. NVIDIA's driver keeps
// events for other processes in files there, of mode 0600. On the host each worker is another user, so that each sees the
// folder through an idmapped mount of its own (mount_setattr(2), MOUNT_ATTR_IDMAP): all files on the tmpfs belong to
// GUEST_USER, and in each worker to the worker's user. The mapping is that of the worker's user namespace (src/users.c).
//
// A worker's jail is built before its guest is known. The folder is mounted over the jail's own /dev/shm when the
// worker is handed to a guest. Nothing inside the jail is trusted at that time: the only path that is looked up there
// is /dev/shm, on a file system that the worker cannot change, and nothing of the jail is run or read.
//
// The functions that return a number return -1 with errno and with what failed in *what.
#pragma once
#include <stdint.h>
#include <sys/types.h>

enum { GUEST_FOLDER_FILES = 4096 };

// Makes a mount namespace that contains nothing but the guests' folders. No process is in it; the kernel removes it
// when this process ends. Before any other function here.
int guest_folders_open(const char **what);

// Makes the folder of a guest. Returns a descriptor of it.
int guest_folder_make(uint64_t guest, const char **what);

// Removes the folder of a guest, whose workers have all ended, and closes its descriptor.
void guest_folder_remove(uint64_t guest, int folder);

// Mounts the folder over /dev/shm of a worker, a child of this process that has not been waited for. Fails if the
// worker is not yet in its user namespace, which it enters after its jail's root has been built. The caller has no other
// threads, and the root is its working directory afterwards.
int guest_folder_give(int folder, pid_t worker, const char **what);

// Removes the files that NVIDIA's driver made in a worker that has ended: "cuda.shm.USER.PROCESS.NUMBER", in hexadecimal.
void guest_folder_forget(int folder, pid_t worker);
