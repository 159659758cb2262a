// The jail's root file system: in memory, read-only, with bind mounts of only what the worker needs.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "filter.h"
#include "guest.h"
#include "jail.h"

static void make_folder(const char *path) {
  if (mkdir(path, 0755) < 0 && errno != EEXIST) fail("create the folder %s in the jail", path);
}

// Creates the parent folders of a path in the new root, which is the working directory.
static void make_folders(char *path) {
  for (char *slash = path; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    make_folder(path);
    *slash = '/';
  }
}

// Sets flags of a mount and of the mounts below it. In a user namespace, the flags that a mount already has cannot be
// cleared.
static void restrict_mount(const char *path, unsigned long flags) {
  struct mount_attr attributes = {0};
  if (flags & MS_RDONLY) attributes.attr_set |= MOUNT_ATTR_RDONLY;
  if (flags & MS_NOSUID) attributes.attr_set |= MOUNT_ATTR_NOSUID;
  if (flags & MS_NODEV) attributes.attr_set |= MOUNT_ATTR_NODEV;
  if (flags & MS_NOEXEC) attributes.attr_set |= MOUNT_ATTR_NOEXEC;
  // Workers map libraries of the server's folder as code. A starter has that folder in /run, which Debian mounts noexec.
  if (!(flags & MS_NOEXEC)) attributes.attr_clr |= MOUNT_ATTR_NOEXEC;
  if (syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes, sizeof attributes) == 0) return;
  attributes.attr_clr = 0;
  if (syscall(SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes, sizeof attributes) == 0) return;
  // Linux before 5.12 has no mount_setattr.
  struct statvfs now;
  if (statvfs(path, &now) < 0) fail("query the mount %s", path);
  static const unsigned long kept[][2] = {
      {ST_RDONLY, MS_RDONLY},   {ST_NOSUID, MS_NOSUID},         {ST_NODEV, MS_NODEV},       {ST_NOEXEC, MS_NOEXEC},
      {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    if (now.f_flag & kept[i][0]) flags |= kept[i][1];
  }
  if (mount(0, path, 0, MS_REMOUNT | MS_BIND | flags, 0) < 0) fail("restrict the mount %s", path);
}

// Shows a file or a folder at a path of the new root. Mounts below the folder are included only if the kernel
// requires it.
static void show(const char *from, const char *to, unsigned long flags, bool with_mounts) {
  char path[PATH_MAX];
  struct stat status, there;
  if (stat(from, &status) < 0) fail("look at %s", from);
  snprintf(path, sizeof path, "%s", to[0] == '/' ? to + 1 : to);
  // The path may lie in a folder that is already shown.
  bool exists = stat(path, &there) == 0;
  if (exists && there.st_dev == status.st_dev && there.st_ino == status.st_ino) return;
  make_folders(path);
  if (S_ISDIR(status.st_mode)) {
    make_folder(path);
  } else if (!exists) {
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0444);
    if (fd < 0) fail("create the file %s in the jail", path);
    close(fd);
  }
  if (mount(from, path, 0, MS_BIND | (with_mounts ? MS_REC : 0), 0) < 0) fail("show %s in the jail", from);
  restrict_mount(path, flags);
}

static void show_link(const char *path, const char *target) {
  char place[PATH_MAX];
  snprintf(place, sizeof place, "%s", path + 1);
  make_folders(place);
  // The path may lie in a folder that is already shown.
  struct stat there;
  if (lstat(place, &there) == 0) return;
  if (symlink(target, place) < 0) fail("create the link %s in the jail", path);
}

static void mount_memory(const char *path, unsigned long bytes, const char *mode) {
  char data[128];
  snprintf(data, sizeof data, "size=%lu,nr_inodes=%d,mode=%s", bytes, 10000, mode);
  if (mount("graft", path, "tmpfs", MS_NOSUID | MS_NODEV, data) < 0) fail("mount a tmpfs on %s", path);
}

// NVIDIA's driver names its threads through /proc/self/task/TID/comm, and cuInit fails with
// CUDA_ERROR_OPERATING_SYSTEM if that is not possible (580.159). The other writable files there belong to the process
// itself.
static void show_threads(const char *process) {
  char from[80];
  snprintf(from, sizeof from, "%s/task", process);
  if (mount(from, from + 1, 0, MS_BIND, 0) < 0) fail("show %s in the jail", from);
  restrict_mount(from + 1, MS_NOSUID | MS_NODEV | MS_NOEXEC);
}

// Shows only the process itself.
static void show_process(const struct options *options, bool with_mounts) {
  char process[64], number[32];
  snprintf(process, sizeof process, "/proc/%d", (int)getpid());
  snprintf(number, sizeof number, "%d", (int)getpid());
  show(process, process, MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, with_mounts);
  if (options->calls & DRIVER) show_threads(process);
  show_link("/proc/self", number);
  show_link("/proc/net", "self/net");
  show_link("/proc/mounts", "self/mounts");
}

void enter_root(const struct options *options) {
  if (!(options->features & MOUNTS)) return;
  // In a user namespace, the mounts that are inherited from the host cannot be separated from those below them.
  bool with_mounts = options->features & USER_NAMESPACE;
  if (mount(0, "/", 0, MS_REC | MS_PRIVATE, 0) < 0) fail("make the mounts private");
  mount_memory(options->root, 1 << 20, "0755");
  if (chdir(options->root) < 0) fail("enter %s", options->root);
  umask(022);
  // /tmp is mounted first, because paths below it may have to be shown.
  make_folder("tmp");
  mount_memory("tmp", options->temporary, "1777");
  restrict_mount("tmp", MS_NOSUID | MS_NODEV | MS_NOEXEC);
  for (int i = 0; i < options->readable.count; i++) {
    const char *path = options->readable.items[i];
    show(path, path, MS_RDONLY | MS_NOSUID | MS_NODEV, with_mounts);
  }
  for (int i = 0; i < options->existing.count; i++) {
    const char *path = options->existing.items[i];
    if (access(path, F_OK) == 0) show(path, path, MS_RDONLY | MS_NOSUID | MS_NODEV, with_mounts);
  }
  for (int i = 0; i < options->writable.count; i++) {
    const char *path = options->writable.items[i];
    show(path, path, MS_NOSUID | MS_NODEV | MS_NOEXEC, with_mounts);
  }
  static const char *const nodes[] = {"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) show(nodes[i], nodes[i], MS_NOSUID | MS_NOEXEC, with_mounts);
  for (int i = 0; i < options->devices.count; i++) {
    show(options->devices.items[i], options->devices.items[i], MS_NOSUID | MS_NOEXEC, with_mounts);
  }
  show_process(options, with_mounts);
  for (int i = 0; i < options->links.count; i++) {
    char path[PATH_MAX];
    const char *link = options->links.items[i], *target = strchr(link, '=');
    if (!target) fail("--link %s has no target", link);
    snprintf(path, sizeof path, "%.*s", (int)(target - link), link);
    show_link(path, target + 1);
  }
  show_link("/dev/fd", "/proc/self/fd");
  // A guest's folder is mounted over this one, see starter/guest_folder.h.
  make_folder("dev/shm");
  mount_memory("dev/shm", GUEST_FOLDER_BYTES, "1777");
  restrict_mount("dev/shm", MS_NOSUID | MS_NODEV | MS_NOEXEC);
  umask(077);
  // pivot_root(2), "pivot_root(".", ".")"
  if (syscall(SYS_pivot_root, ".", ".") < 0) fail("pivot_root");
  if (umount2(".", MNT_DETACH) < 0) fail("leave the old root");
  if (mount(0, "/", 0, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, 0) < 0) fail("make the root read-only");
  if (chdir("/") < 0) fail("enter the root");
}
