// A user namespace in which a worker's user has the number that all workers have to themselves, GUEST_USER. It gives
// the worker nothing else: its other namespaces belong to the host's user namespace, and it has no capabilities.
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "guest.h"
#include "jail.h"

static void write_map(pid_t process, char kind, uid_t outside) {
  char path[64], line[64];
  snprintf(path, sizeof path, "/proc/%d/%cid_map", (int)process, kind);
  int length = snprintf(line, sizeof line, "%d %u 1", GUEST_USER, (unsigned)outside);
  int map = open(path, O_WRONLY | O_CLOEXEC);
  if (map < 0 || write(map, line, (size_t)length) != length) fail("write '%s' to %s", line, path);
  close(map);
}

// Returns a descriptor of the namespace. Only a process outside of it may write its map, and only a process inside can
// make it, so that another process is started for a moment.
static int make_namespace(uid_t outside) {
  int ends[2];
  char byte, path[64];
  if (pipe2(ends, O_CLOEXEC) < 0) fail("pipe");
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWUSER) < 0 || write(ends[1], "", 1) != 1) _exit(errno);
    for (;;) pause();
  }
  close(ends[1]);
  if (read(ends[0], &byte, 1) != 1) {
    int status;
    if (waitpid(child, &status, 0) == child && WIFEXITED(status)) errno = WEXITSTATUS(status);
    fail("make a user namespace");
  }
  close(ends[0]);
  write_map(child, 'u', outside);
  write_map(child, 'g', outside);
  snprintf(path, sizeof path, "/proc/%d/ns/user", (int)child);
  int space = open(path, O_RDONLY | O_CLOEXEC);
  if (space < 0) fail("open %s", path);
  kill(child, SIGKILL);
  waitpid(child, 0, 0);
  return space;
}

static int made = -1;

void make_user_namespace(const struct options *options) { made = make_namespace(options->user); }

void enter_user_namespace(void) {
  if (setns(made, CLONE_NEWUSER) < 0) fail("enter a user namespace");
  close(made);
}

// Whether guests' folders (starter/guest_folder.h) are possible: the files of a tmpfs must be able to belong to a
// worker's user in one mount and to another's in the next. Nothing is mounted anywhere.
void check_guest_folder(const struct options *options) {
  errno = 0;
  if (geteuid() != 0) fail("only root can give a worker the folder of its guest");
  int space = make_namespace(options->user);
  int tmpfs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
  if (tmpfs < 0 || syscall(SYS_fsconfig, tmpfs, FSCONFIG_CMD_CREATE, 0, 0, 0) < 0) fail("make a tmpfs");
  int mounted = (int)syscall(SYS_fsmount, tmpfs, FSMOUNT_CLOEXEC, 0);
  if (mounted < 0) fail("make a mount of a tmpfs");
  struct mount_attr attributes = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)space};
  if (syscall(SYS_mount_setattr, mounted, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0) {
    fail("map the users of a tmpfs, which needs Linux 6.3");
  }
}
