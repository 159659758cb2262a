#include "guest_folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../src/guest.h"

// Mount namespaces: this process's, and that of the guests' folders.
static int home = -1, guests = -1;

static int failed(const char *step, const char **what) {
  *what = step;
  return -1;
}

// Closes a descriptor and leaves errno as it is.
static void discard(int fd) {
  int error = errno;
  close(fd);
  errno = error;
}

// Goes back from another mount namespace. This process must not run with another root than its own.
static void go_home(void) {
  int error = errno;
  if (setns(home, CLONE_NEWNS) < 0) abort();
  errno = error;
}

// In a process of its own: makes a root that is an empty tmpfs. Any folder can be its place, since nothing else is in
// the namespace.
static int empty_namespace(void) {
  static const char any[] = "/proc";
  if (unshare(CLONE_NEWNS) < 0 || mount(0, "/", 0, MS_REC | MS_PRIVATE, 0) < 0) return -1;
  if (mount("graft", any, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k,mode=0700") < 0 || chdir(any) < 0) return -1;
  return syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ? -1 : 0;
}

int guest_folders_open(const char **what) {
  int made[2], error = 0;
  char path[64];
  home = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (home < 0 || pipe2(made, O_CLOEXEC) < 0) return failed("open this process's mount namespace", what);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    error = empty_namespace() < 0 ? errno : 0;
    if (write(made[1], &error, sizeof error) != sizeof error) _exit(1);
    for (;;) pause();
  }
  close(made[1]);
  bool done = child > 0 && read(made[0], &error, sizeof error) == sizeof error && error == 0;
  if (!done && error) errno = error;
  discard(made[0]);
  if (done) {
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)child);
    guests = open(path, O_RDONLY | O_CLOEXEC);
  }
  error = errno;
  if (child > 0) {
    kill(child, SIGKILL);
    waitpid(child, 0, 0);
  }
  errno = error;
  return guests < 0 ? failed("make a mount namespace for the guests' folders", what) : 0;
}

static void name_of(char *path, size_t size, uint64_t guest) { snprintf(path, size, "/%llu", (unsigned long long)guest); }

// Called in the guests' namespace.
static int mount_folder(const char *path) {
  char options[128];
  snprintf(options, sizeof options, "size=%d,nr_inodes=%d,mode=0700,uid=%d,gid=%d", GUEST_FOLDER_BYTES, GUEST_FOLDER_FILES,
           GUEST_USER, GUEST_USER);
  if (mkdir(path, 0700) < 0) return -1;
  int folder = -1;
  if (mount("graft", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0) {
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) return folder;
  }
  int error = errno;
  umount2(path, MNT_DETACH);
  rmdir(path);
  errno = error;
  return -1;
}

int guest_folder_make(uint64_t guest, const char **what) {
  char path[32];
  name_of(path, sizeof path, guest);
  if (setns(guests, CLONE_NEWNS) < 0) return failed("enter the guests' mount namespace", what);
  int folder = mount_folder(path);
  go_home();
  return folder < 0 ? failed("make a guest's folder", what) : folder;
}

void guest_folder_remove(uint64_t guest, int folder) {
  char path[32];
  name_of(path, sizeof path, guest);
  close(folder);
  if (setns(guests, CLONE_NEWNS) < 0) return;
  umount2(path, MNT_DETACH);
  rmdir(path);
  go_home();
}

// Returns a descriptor of a mount of the folder that is not yet anywhere, in which its files belong to the user of that
// user namespace.
static int mapped_copy(int folder, int users, const char **what) {
  if (setns(guests, CLONE_NEWNS) < 0) return failed("enter the guests' mount namespace", what);
  int copy = (int)syscall(SYS_open_tree, folder, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  go_home();
  if (copy < 0) return failed("copy the mount of a guest's folder", what);
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
                                  .propagation = MS_PRIVATE,
                                  .userns_fd = (uint64_t)users};
  // The kernel refuses the host's user namespace here, in which a worker is until its jail is built.
  if (syscall(SYS_mount_setattr, copy, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0) return copy;
  discard(copy);
  return failed("map the user of a guest's folder to the worker's", what);
}

// Called in the worker's mount namespace.
static int mount_here(int copy) {
  // The root of the jail is read-only and belongs to root, so that the worker cannot put anything else here. The
  // checks do not rely on that.
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                         .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  int target = (int)syscall(SYS_openat2, AT_FDCWD, "/dev/shm", &how, sizeof how);
  if (target < 0) return -1;
  struct statfs kind;
  struct statx status;
  int result = -1;
  if (fstatfs(target, &kind) == 0 && statx(target, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) == 0) {
    errno = ENOTUNIQ;
    if (kind.f_type == TMPFS_MAGIC && (status.stx_attributes & STATX_ATTR_MOUNT_ROOT)) {
      result = (int)syscall(SYS_move_mount, copy, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
    }
  }
  discard(target);
  return result;
}

static int open_namespace(pid_t worker, const char *kind) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)worker, kind);
  return open(path, O_RDONLY | O_CLOEXEC);
}

int guest_folder_give(int folder, pid_t worker, const char **what) {
  // In this order: a worker that is in its user namespace has had a mount namespace of its own for longer.
  int users = open_namespace(worker, "user"), mounts = users < 0 ? -1 : open_namespace(worker, "mnt");
  int copy = -1, result = -1;
  if (mounts < 0) {
    failed("open a worker's namespaces", what);
  } else {
    copy = mapped_copy(folder, users, what);
  }
  if (copy >= 0) {
    failed("mount a guest's folder in a worker's jail", what);
    if (setns(mounts, CLONE_NEWNS) == 0) {
      result = mount_here(copy);
      go_home();
    }
    discard(copy);
  }
  if (users >= 0) discard(users);
  if (mounts >= 0) discard(mounts);
  return result;
}

// Whether the driver made a file of that name in that process.
static bool is_of(const char *name, pid_t process) {
  static const char prefix[] = "cuda.shm.";
  unsigned user, number;
  int end = 0;
  if (strncmp(name, prefix, strlen(prefix)) != 0) return false;
  return sscanf(name + strlen(prefix), "%x.%x.%n", &user, &number, &end) == 2 && end > 0 && number == (unsigned)process;
}

void guest_folder_forget(int folder, pid_t worker) {
  int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *files = again < 0 ? 0 : fdopendir(again);
  if (!files) {
    if (again >= 0) close(again);
    return;
  }
  // A sibling could add files for as long as this reads.
  struct dirent *file;
  for (int left = 2 * GUEST_FOLDER_FILES; left > 0 && (file = readdir(files)); left--) {
    if (is_of(file->d_name, worker)) unlinkat(folder, file->d_name, 0);
  }
  closedir(files);
}
