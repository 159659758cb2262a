// The filter of the worker's system calls (seccomp(2)). A call in no set fails with EPERM, and a call that is newer
// than the sets with ENOSYS. A denied call does not kill the worker, because Java and drivers try calls for which
// they have alternatives. Only a call with the numbers of another architecture, which no program here needs, kills
// the process.
#include "filter.h"
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "calls.h"
#include "jail.h"
#include "log.h"

#ifndef __x86_64__
#error "the lists of system calls are those of x86-64"
#endif

enum { MOST = 512, X32 = 0x40000000 };

// ioctl requests, <asm/ioctls.h> and Linux's xen/evtchn.h
enum { TERMINAL = 0x5401, BYTES_TO_READ = 0x541B, RING_EVENT_CHANNEL = 0x044504 };

static struct sock_filter program[MOST];
static unsigned length;
static uint32_t denied;

static void emit(uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
  if (length == MOST) fail("a filter of more than %d instructions", MOST);
  program[length++] = (struct sock_filter){code, if_true, if_false, value};
}

static void load(size_t offset) { emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset); }

static void give(uint32_t action) { emit(BPF_RET | BPF_K, 0, 0, action); }

static void low_of(int argument) { load(offsetof(struct seccomp_data, args) + 8 * (size_t)argument); }

static void high_of(int argument) { load(offsetof(struct seccomp_data, args) + 8 * (size_t)argument + 4); }

static void deny_all_but(const uint32_t *values, int count) {
  for (int i = 0; i < count; i++) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, values[i]);
    give(SECCOMP_RET_ALLOW);
  }
  give(denied);
}

// The instructions up to end() apply to that call alone and decide about it.
static unsigned begin(int call) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)call);
  return length;
}

static void end(unsigned from) { program[from - 1].jf = (uint8_t)(length - from); }

static void allow_if(int call, int argument, const uint32_t *values, int count) {
  unsigned from = begin(call);
  low_of(argument);
  deny_all_but(values, count);
  end(from);
}

static void allow(const short *calls, size_t count) {
  for (size_t i = 0; i < count; i++) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)calls[i]);
    give(SECCOMP_RET_ALLOW);
  }
}

#define ALLOW(calls) allow(calls, sizeof(calls) / sizeof *(calls))

// Threads are allowed, other processes are not: nothing of a worker survives it, and a fork bomb is impossible.
static void check_clone(void) {
  static const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                     CLONE_NEWPID | CLONE_NEWNET;
  unsigned from = begin(__NR_clone);
  low_of(0);
  emit(BPF_JMP | BPF_JSET | BPF_K, 0, 2, CLONE_THREAD);
  emit(BPF_JMP | BPF_JSET | BPF_K, 1, 0, namespaces);
  give(SECCOMP_RET_ALLOW);
  give(denied);
  end(from);
  // The arguments of clone3 lie in memory, which a filter cannot read. The call fails, and the C library uses clone
  // instead.
  from = begin(__NR_clone3);
  give(SECCOMP_RET_ERRNO | ENOSYS);
  end(from);
}

// This process becomes the worker by execve with the string at this address. The worker itself has nothing at the
// address.
static void check_execve(const char *path) {
  uint64_t address = (uint64_t)(uintptr_t)path;
  unsigned from = begin(__NR_execve);
  low_of(0);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)address);
  give(denied);
  high_of(0);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint32_t)(address >> 32));
  give(denied);
  give(SECCOMP_RET_ALLOW);
  end(from);
}

static void check_arguments(unsigned sets, const char *path) {
  uint32_t self = (uint32_t)getpid();
  const uint32_t own[] = {self, 0};
  allow_if(__NR_tgkill, 0, own, 1);
  allow_if(__NR_kill, 0, own, 1);
  allow_if(__NR_prlimit64, 0, own, 2);
  static const uint32_t names[] = {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, 0x53564d41 /* PR_SET_VMA */};
  allow_if(__NR_prctl, 0, names, sizeof names / sizeof *names);
  check_clone();
  check_execve(path);
  static const uint32_t unix_alone[] = {AF_UNIX};
  allow_if(__NR_socketpair, 0, unix_alone, 1); // Java's file API creates one
  if (!(sets & (DRIVER | SOCKETS))) {
    static const uint32_t requests[] = {TERMINAL, BYTES_TO_READ, RING_EVENT_CHANNEL};
    allow_if(__NR_ioctl, 1, requests, sizeof requests / sizeof *requests);
  }
  if ((sets & DRIVER) && !(sets & SOCKETS)) {
    allow_if(__NR_socket, 0, unix_alone, 1);
  }
}

static void build(unsigned sets, const char *path) {
  length = 0;
  load(offsetof(struct seccomp_data, arch));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64);
  give(SECCOMP_RET_KILL_PROCESS);
  load(offsetof(struct seccomp_data, nr));
  emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32);
  give(SECCOMP_RET_KILL_PROCESS);
  check_arguments(sets, path);
  ALLOW(base_calls);
  if (sets & DRIVER) ALLOW(driver_calls);
  if (sets & SOCKETS) ALLOW(network_calls);
  emit(BPF_JMP | BPF_JGT | BPF_K, 0, 1, NEWEST_CALL);
  give(SECCOMP_RET_ERRNO | ENOSYS);
  give(denied);
}

void filter_calls(const struct options *options, const char *path) {
  if (!(options->features & SECCOMP)) return;
  denied = options->log ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | EPERM;
  build(options->calls | BASE, path);
  struct sock_fprog filter = {(unsigned short)length, program};
  int logger = options->log ? start_log() : -1;
  unsigned flags = options->log ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
  if (result < 0) fail("set the filter of system calls");
  if (options->log) hand_to_log(logger, (int)result);
}
