// graft-jail starts a worker in a jail. It is the only program of Graft that needs privileges, and it keeps none: it
// builds the jail around its own process and then becomes the worker by execve, so that the worker has its process
// id.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// SERVER is the descriptor by which a worker is connected to the server.
enum { LISTED = 1024, EXIT_REFUSED = 125, SERVER = 3 };

// The parts of a jail. The server asks for those that --check reports as possible.
enum feature {
  USER_NAMESPACE = 1 << 0,   // what a server without root needs for the others
  MOUNTS = 1 << 1,           // a root file system of its own
  NETWORK = 1 << 2,          // an empty network namespace
  IPC = 1 << 3,              // System V IPC and POSIX message queues
  UTS = 1 << 4,              // host name
  CGROUP_NAMESPACE = 1 << 5, // the path of its cgroup
  USER = 1 << 6,             // a user and a group of its own
  CAPABILITIES = 1 << 7,     // none, and no_new_privs
  SECCOMP = 1 << 8,          // only the system calls on a list
  LIMITS = 1 << 9,           // a cgroup (version 2) with limits
  GUEST_FOLDER = 1 << 10,    // the workers of a guest can share a /dev/shm, although each is another user
};

struct list {
  const char *items[LISTED];
  int count;
};

struct options {
  unsigned features;
  const char *root;      // an empty folder, over which the new root file system is mounted
  const char *connect;   // the server's socket: connected to as descriptor 3
  bool control;          // descriptor 3 is already connected to the server
  uid_t user;            // user and group
  struct list readable;  // files and folders to show, read-only, by paths without symbolic links
  struct list existing;  // the same for files that a worker can do without, as far as they exist
  struct list writable;  // folders to show that the worker may write to
  struct list links;     // PATH=TARGET, symbolic links to make
  struct list devices;   // device nodes to show
  unsigned long temporary; // bytes of /tmp
  struct list limits;    // NAME=VALUE, setrlimit(2)
  const char *cgroup;    // a folder to create
  struct list settings;  // FILE=VALUE in it
  unsigned calls;        // sets of system calls, filter.h
  const char *log;       // a file for the system calls that are not on the list, which are then allowed
  char **command;
};

// Reports what failed to standard error and to the server, and ends the process.
void fail(const char *what, ...) __attribute__((format(printf, 1, 2), noreturn));
void tell_server(int socket);

struct options parse(char **arguments);
const char *name_of(enum feature feature);

// Each of these functions ends the process if it fails.
void enter_cgroup(const struct options *options);
void enter_namespaces(const struct options *options);
void enter_root(const struct options *options);
void limit(const struct options *options);
void drop_privileges(const struct options *options);
// A user namespace is made while the host's /proc is there, and entered when the privileges are dropped.
void make_user_namespace(const struct options *options);
void enter_user_namespace(void);
void check_guest_folder(const struct options *options);
void check_readable(const struct options *options);
void filter_calls(const struct options *options, const char *program);

bool has_guest_folder(const struct options *options);

int check(const struct options *options);
