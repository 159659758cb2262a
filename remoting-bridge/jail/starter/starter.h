// graft-starter holds the privileges that workers' jails need, so that the server needs none. It starts workers by
// graft-jail, with options that come from its own configuration; all that a server chooses is the kind of device, the
// index of a GPU, and the two descriptors that the worker gets.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "protocol.h"

enum { WORDS = 1024, KINDS = 256 };

struct words {
  char **items; // ended by 0, WORDS at most
  int count;
};

// What workers of one kind are started with, besides what all are.
struct kind {
  char name[NAME_BYTES];
  int index;
  bool adapter;
  bool mps; // no worker, but MPS, which has the host's files
  const char *use;             // the parts of the jail, without limits
  struct words options;        // of graft-jail
  struct words without_cgroup; // options if there are no cgroups
  struct words environment;
  struct words command;
};

struct config {
  const char *program; // graft-jail
  bool has_users;      // each worker has a user of its own, unless mps
  bool mps;            // all workers have one user, and the folder of the sockets of NVIDIA's MPS
  uid_t first_user, last_user;
  unsigned workers; // the most at one time
  uint64_t memory;  // the most of a worker, in bytes
  uint32_t threads; // the most of a worker
  const char *domains; // the list of domains that may get pages; 0 if each may
  const char *without_limits; // why workers get no cgroups; 0 if they may
  char isolation[TEXT_BYTES / 2]; // lines for HELLO
  struct words options, environment;
  struct kind kinds[KINDS];
  int kind_count;
};

// Reads the file, which must belong to this process's user and be writable by nobody else. Ends the process if it is
// wrong.
struct config *read_config(const char *path);
const struct kind *find_kind(const struct config *config, const struct request *request);
void add_word(struct words *words, char *word);

// Prints what failed, with errno unless that is 0, and ends the process. Nothing that a server sends leads here.
void die(const char *what, ...) __attribute__((format(printf, 1, 2), noreturn));
void say(const char *what, ...) __attribute__((format(printf, 1, 2)));

// Users that no other worker on this host has (users.c).
struct workers;
int open_users(const char *file);
uid_t take_user(int file, const struct config *config, const struct workers *workers); // 0 if all are taken
void give_user(int file, uid_t user);

// The folder in which the workers of one user reach NVIDIA's MPS (pipes.c): beside the file of the users' locks, and empty.
char *open_pipes(const char *users, uid_t user);
void close_pipes(const char *folder);

// The parent of the workers' cgroups (cgroups.c); 0 if there is none, with the reason.
char *open_cgroups(const char *mount, const char *own, char *reason, size_t size);
bool set_cgroup(const char *cgroup, const char *setting, uint64_t value);

// The workers (workers.c).
bool is_taken(const struct workers *workers, uid_t user);
struct workers *make_workers(const struct config *config, const char *cgroups, const char *users);
// Starts one. Returns its number, or 0 with the reason.
uint32_t start_worker(struct workers *workers, const struct request *request, const int *fds, pid_t *pid, char *reason,
                      size_t size);
bool end_worker(struct workers *workers, uint32_t number);
bool bound_worker(struct workers *workers, const struct request *request, char *reason, size_t size);
bool share_worker(struct workers *workers, const struct request *request, char *reason, size_t size);
void end_workers(struct workers *workers);
// Removes what outlives the workers.
void leave_workers(struct workers *workers);
// Releases what an ended process had. Returns its number, 0 if the process was no worker of the present server.
uint32_t reap_worker(struct workers *workers, pid_t pid);

// The guests' folders (guests.c).
struct guests;
struct guest;
struct guests *open_guests(unsigned most); // 0 if the machine has none
// Gives a worker the folder of its guest. Returns 0 with errno if that fails.
struct guest *join_guest(struct guests *guests, uint64_t number, pid_t worker, const char **what);
void leave_guest(struct guest *guest, pid_t worker);
// Another server's numbers mean other guests.
void forget_numbers(struct guests *guests);

// The server as a child of this process (service.c), where no systemd starts it.
struct service {
  char **command; // 0 if this process does not start the server
  uid_t user;
  gid_t group;
  const char *user_name;
  pid_t pid; // 0 while it does not run
  bool is_ready, was_ready, stops;
  int failures;
  int64_t started, next_start; // milliseconds of the monotonic clock; next_start is 0 if no start is due
};
int64_t now(void);
void start_service(struct service *service);
// Handles its end. Returns the exit status of this process, or -1 if the server is started again.
int service_ended(struct service *service, int status);
void stop_service(struct service *service);

// The lists of domains, xenstore, and pages for sessions over vchan (grants.c, xenstore.c).
bool is_listed(const char *list, const char *name, char *reason, size_t size);
int dial_xenstore(const char *path);
// Returns the number of the domain of that name, other than this one, whose number is stored at self; -1 with errno, which
// is ENOENT if there is none. The deadline is one of now().
int find_domain(int fd, const char *name, int *self, int64_t deadline);
// Grants new pages to a domain that the list names (0: to any), and makes an event channel. Stores the descriptors of both,
// which are the caller's. Returns false with the reason if that fails; then there is neither.
bool grant_pages(const char *list, const char *name, struct pages *pages, int *fds, char *reason, size_t size);

// Tells systemd, if it waits for that (sd_notify(3)).
void notify(const char *state);
