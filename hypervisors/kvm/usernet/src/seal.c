// What a process gives up before it parses a guest's frames. libslirp has had errors that a guest could use.
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "usernet.h"

#ifndef __x86_64__
#error "the list of system calls is that of x86-64"
#endif

// The user without rights, by the number that Linux gives it (Documentation/admin-guide/sysctl/fs.rst, overflowuid).
enum { NOBODY = 65534 };

// At most so many connections of one guest: a session has some 12.
enum { DESCRIPTORS = 2048, MEMORY = 1 << 30 };

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) fail("write '%s' to %s", text, path);
  close(fd);
}

// Without root the network namespace needs a user namespace around it.
static void leave_network(void) {
  if (getuid() == 0) {
    if (unshare(CLONE_NEWNET | CLONE_NEWIPC) < 0) fail("leave the host's network (unshare)");
    return;
  }
  char map[64];
  unsigned user = getuid(), group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) < 0) {
    fail("leave the host's network (unshare, which needs user namespaces without root)");
  }
  write_file("/proc/self/setgroups", "deny");
  snprintf(map, sizeof map, "%u %u 1", user, user);
  write_file("/proc/self/uid_map", map);
  snprintf(map, sizeof map, "%u %u 1", group, group);
  write_file("/proc/self/gid_map", map);
}

const char *seal_obstacle(void) {
  pid_t child = fork();
  if (child == 0) {
    int flags = CLONE_NEWNET | CLONE_NEWIPC;
    _exit(unshare(getuid() == 0 ? flags : flags | CLONE_NEWUSER) == 0 ? 0 : EXIT_FAILED);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return "a process cannot be started";
  if (status == 0) return NULL;
  return getuid() == 0 ? "root may not make a network namespace here"
                       : "this user may not make a user namespace with a network namespace";
}

static void drop_privileges(void) {
  if (getuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)) {
    fail("become the user %d", NOBODY);
  }
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  if (syscall(SYS_capset, &header, none) < 0) fail("give up capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("set no_new_privs");
  prctl(PR_SET_DUMPABLE, 0);
}

static void limit(int resource, rlim_t most) {
  struct rlimit limit = {most, most}, now;
  if (getrlimit(resource, &now) == 0 && now.rlim_max < most) limit.rlim_cur = limit.rlim_max = now.rlim_max;
  if (setrlimit(resource, &limit) < 0) fail("limit resource %d", resource);
}

// What libslirp, GLib's allocator and the C library's call while frames are exchanged.
static const short calls[] = {
    __NR_read,        __NR_write,       __NR_readv,           __NR_writev,
    __NR_recvfrom,    __NR_sendto,      __NR_recvmsg,         __NR_sendmsg,
    __NR_connect,     __NR_shutdown,    __NR_close,           __NR_dup2,
    __NR_poll,        __NR_ppoll,       __NR_getsockopt,      __NR_setsockopt,
    __NR_getsockname, __NR_getpeername, __NR_fcntl,           __NR_ioctl,
    __NR_mmap,        __NR_munmap,      __NR_mremap,          __NR_brk,
    __NR_madvise,     __NR_futex,       __NR_clock_gettime,   __NR_gettimeofday,
    __NR_time,        __NR_getrandom,   __NR_restart_syscall, __NR_rt_sigreturn,
    __NR_exit,        __NR_exit_group,
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)

static void filter_calls(void) {
  enum { HEAD = 9, COUNT = sizeof calls / sizeof *calls };
  struct sock_filter program[HEAD + 2 * COUNT + 1] = {
      LOAD(arch),
      IF(AUDIT_ARCH_X86_64, 1, 0),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      LOAD(nr),
      // Sockets of the family of the relay's alone.
      IF(__NR_socket, 0, 4),
      LOAD(args[0]),
      IF(AF_UNIX, 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_ERRNO | EPERM),
  };
  unsigned length = HEAD;
  for (unsigned i = 0; i < COUNT; i++) {
    program[length++] = (struct sock_filter)IF((uint32_t)calls[i], 0, 1);
    program[length++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
  }
  program[length++] = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM);
  struct sock_fprog filter = {(unsigned short)length, program};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0) fail("set the filter of system calls");
}

// Closes what whoever started the main process left open.
static void close_files(int kept) {
  if (syscall(SYS_close_range, kept + 1, ~0U, 0) == 0) return;
  for (int fd = kept + 1; fd < DESCRIPTORS; fd++) close(fd); // Linux before 5.9
}

void seal(const char *root, int kept) {
  close_files(kept);
  int none = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (none < 0) fail("open /dev/null");
  leave_network();
  if (chdir(root) < 0) fail("enter %s", root);
  if (chroot(".") < 0) fail("make %s the root folder", root);
  limit(RLIMIT_NOFILE, DESCRIPTORS);
  limit(RLIMIT_DATA, MEMORY);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NPROC, 0);
  drop_privileges();
  // After the change of user, which clears it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) fail("end with the main process");
  filter_calls();
  // A guest could fill the log, which is a file.
  dup2(none, STDOUT_FILENO);
  dup2(none, STDERR_FILENO);
}
