#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "starter.h"

// What a server may lower a worker's limits to; below that a Java runtime does not work.
enum { LEAST_MEMORY = 64 << 20, LEAST_THREADS = 64, MOST_WEIGHT = 100, CONTROL = 3 };

struct worker {
  uint32_t number; // 0 if the place is free
  pid_t pid;
  uid_t user;
  char *cgroup;
  struct guest *guest; // whose folder it has; 0 before its guest is known
  uint32_t weight;     // its share of the CPU if it were its guest's only worker
  bool is_left; // its server has gone, and no other server is told of its end
};

struct workers {
  const struct config *config;
  const char *cgroups; // 0 without
  int users;           // -1 without
  struct guests *guests; // 0 without
  uid_t shared_user;     // that all workers have; 0 if each has its own
  char *pipes;           // the folder of the sockets of NVIDIA's MPS; 0 without
  uint32_t last_number;
  struct worker all[];
};

struct workers *make_workers(const struct config *config, const char *cgroups, const char *users) {
  struct workers *workers = calloc(1, sizeof *workers + config->workers * sizeof *workers->all);
  if (!workers) die("allocate memory");
  workers->config = config;
  workers->cgroups = cgroups;
  workers->users = config->has_users ? open_users(users) : -1;
  workers->guests = strstr(config->isolation, "guest-folder ok\n") ? open_guests(config->workers) : 0;
  if (config->mps) {
    if (config->has_users && !(workers->shared_user = take_user(workers->users, config, workers))) {
      errno = 0;
      die("all users %u to %u have a worker: give the server more (--worker-users)", (unsigned)config->first_user,
          (unsigned)config->last_user);
    }
    workers->pipes = open_pipes(users, workers->shared_user ? workers->shared_user : geteuid());
  }
  return workers;
}

bool is_taken(const struct workers *workers, uid_t user) {
  for (unsigned i = 0; i < workers->config->workers; i++) {
    if (workers->all[i].number && workers->all[i].user == user) return true;
  }
  return false;
}

static struct worker *find(struct workers *workers, uint32_t number) {
  for (unsigned i = 0; i < workers->config->workers; i++) {
    if (workers->all[i].number == number) return &workers->all[i];
  }
  return 0;
}

// Finds a worker of the server that is connected.
static struct worker *find_own(struct workers *workers, uint32_t number) {
  struct worker *worker = number ? find(workers, number) : 0;
  return worker && !worker->is_left ? worker : 0;
}

// The process that becomes graft-jail writes to these descriptors while it is still root, so they may only be what a
// message cannot be harmful to: a packet socket between processes of this host, and a pipe.
static const char *unfit(const int *fds) {
  int domain = 0, type = 0;
  socklen_t size = sizeof domain, bytes = sizeof type;
  if (getsockopt(fds[0], SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_UNIX ||
      getsockopt(fds[0], SOL_SOCKET, SO_TYPE, &type, &bytes) < 0 || type != SOCK_SEQPACKET) {
    return "the first descriptor is no Unix packet socket";
  }
  struct stat status;
  int flags = fcntl(fds[1], F_GETFL);
  if (fstat(fds[1], &status) < 0 || !S_ISFIFO(status.st_mode) || flags < 0 || (flags & O_ACCMODE) != O_WRONLY) {
    return "the second descriptor is no writing end of a pipe";
  }
  return 0;
}

static void add_all(struct words *to, const struct words *from) {
  for (int i = 0; i < from->count; i++) add_word(to, from->items[i]);
}

static char *formatted(const char *format, unsigned long long number) {
  char *text = 0;
  if (asprintf(&text, format, number) < 0) die("allocate memory");
  return text;
}

static void add_pair(struct words *to, const char *option, char *value) {
  add_word(to, (char *)option);
  add_word(to, value);
}

static struct words command_of(const struct workers *workers, const struct kind *kind, const struct worker *worker) {
  const struct config *config = workers->config;
  struct words words = {0};
  add_word(&words, (char *)config->program);
  add_pair(&words, "--control", formatted("%llu", CONTROL));
  char *use = 0;
  if (asprintf(&use, "%s%s", kind->use, worker->cgroup ? ",limits" : "") < 0) die("allocate memory");
  add_pair(&words, "--use", use);
  if (!kind->mps) add_all(&words, &config->options);
  add_all(&words, &kind->options);
  if (worker->user) add_pair(&words, "--user", formatted("%llu", worker->user));
  if (workers->pipes) add_pair(&words, "--write", workers->pipes);
  if (worker->cgroup) {
    add_pair(&words, "--cgroup", worker->cgroup);
    add_pair(&words, "--set", formatted("memory.max=%llu", config->memory));
    add_pair(&words, "--set", formatted("pids.max=%llu", config->threads));
    add_pair(&words, "--set", formatted("cpu.weight=%llu", MOST_WEIGHT));
  } else {
    add_all(&words, &kind->without_cgroup);
  }
  add_word(&words, "--");
  add_all(&words, &kind->command);
  return words;
}

static int move_up(int fd) {
  int moved = fcntl(fd, F_DUPFD, CONTROL + 1);
  if (moved < 0) _exit(EXIT_FAILURE);
  return moved;
}

// Becomes the worker's graft-jail. What this allocates ends with the process's present memory.
static void become_jail(const struct workers *workers, const struct kind *kind, const struct worker *worker,
                        const struct request *request, const int *fds) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, 0);
  signal(SIGPIPE, SIG_DFL);
  struct words command = command_of(workers, kind, worker), environment = {0};
  // Of two words for one variable a program sees the first.
  if (request->connections) add_word(&environment, formatted("CUDA_DEVICE_MAX_CONNECTIONS=%llu", request->connections));
  add_all(&environment, &workers->config->environment);
  add_all(&environment, &kind->environment);
  char *pipes = 0;
  if (workers->pipes) {
    if (asprintf(&pipes, "CUDA_MPS_PIPE_DIRECTORY=%s", workers->pipes) < 0) _exit(EXIT_FAILURE);
    add_word(&environment, pipes);
  }
  if (request->addresses) add_word(&environment, formatted("GRAFT_WORKER_ADDRESSES=%llu", request->addresses));
  char *const no_environment[] = {0};
  // Java prints to standard output why it ends a process that crashes, and MPS its log.
  int control = move_up(fds[0]), log = move_up(fds[1]), null = open("/dev/null", O_RDWR);
  if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || dup2(control, CONTROL) < 0 ||
      chdir("/") < 0) {
    _exit(EXIT_FAILURE);
  }
  execve(command.items[0], command.items, environment.items ? environment.items : no_environment);
  _exit(EXIT_FAILURE);
}

// The workers of a guest have the weight of one together, so that a guest gets no more of the CPU by more sessions.
static bool set_weight(const struct workers *workers, const struct worker *worker) {
  unsigned count = 0;
  for (unsigned i = 0; i < workers->config->workers; i++) count += workers->all[i].guest == worker->guest;
  if (!worker->guest) count = 1;
  return set_cgroup(worker->cgroup, "cpu.weight", worker->weight > count ? worker->weight / count : 1);
}

// A worker whose weight cannot be written keeps the one that it has.
static void divide_weight(const struct workers *workers, const struct guest *guest) {
  for (unsigned i = 0; i < workers->config->workers; i++) {
    const struct worker *worker = &workers->all[i];
    if (worker->guest == guest && worker->cgroup) set_weight(workers, worker);
  }
}

static void release(struct workers *workers, struct worker *worker) {
  struct guest *guest = worker->guest;
  if (guest) leave_guest(guest, worker->pid);
  if (worker->cgroup) {
    rmdir(worker->cgroup);
    free(worker->cgroup);
  }
  if (worker->user && !workers->shared_user) give_user(workers->users, worker->user);
  memset(worker, 0, sizeof *worker);
  if (guest) divide_weight(workers, guest);
}

static bool take_place(struct workers *workers, struct worker *worker, char *reason, size_t size) {
  worker->user = workers->shared_user;
  if (!worker->user && workers->users >= 0 && !(worker->user = take_user(workers->users, workers->config, workers))) {
    snprintf(reason, size, "all users %u to %u have a worker: give the server more (--worker-users)",
             (unsigned)workers->config->first_user, (unsigned)workers->config->last_user);
    return false;
  }
  do workers->last_number++;
  while (!workers->last_number || find(workers, workers->last_number));
  worker->number = workers->last_number;
  worker->weight = MOST_WEIGHT;
  if (workers->cgroups &&
      asprintf(&worker->cgroup, "%s/%d-%u", workers->cgroups, (int)getpid(), (unsigned)worker->number) < 0) {
    die("allocate memory");
  }
  return true;
}

uint32_t start_worker(struct workers *workers, const struct request *request, const int *fds, pid_t *pid, char *reason,
                      size_t size) {
  const struct kind *kind = find_kind(workers->config, request);
  if (!kind) {
    snprintf(reason, size, "the starter's configuration has no device %s with index %d%s", request->name,
             (int)request->index, request->adapter ? " for rdma" : "");
    return 0;
  }
  const char *why = unfit(fds);
  struct worker *worker = find(workers, 0);
  if (why || !worker) {
    if (why) snprintf(reason, size, "%s", why);
    else snprintf(reason, size, "%u workers run, which is the most", workers->config->workers);
    return 0;
  }
  if (!take_place(workers, worker, reason, size)) return 0;
  pid_t child = fork();
  if (child == 0) become_jail(workers, kind, worker, request, fds);
  if (child < 0) {
    snprintf(reason, size, "fork: %s", strerror(errno));
    release(workers, worker);
    return 0;
  }
  worker->pid = *pid = child;
  return worker->number;
}

bool end_worker(struct workers *workers, uint32_t number) {
  struct worker *worker = find_own(workers, number);
  // The process is this one's child and has not been waited for, so that its id cannot be another's.
  if (worker) kill(worker->pid, SIGKILL);
  return worker;
}

static bool is_within(uint64_t value, uint64_t least, uint64_t most) { return !value || (value >= least && value <= most); }

bool bound_worker(struct workers *workers, const struct request *request, char *reason, size_t size) {
  const struct config *config = workers->config;
  struct worker *worker = find_own(workers, request->worker);
  if (!worker || !worker->cgroup) {
    snprintf(reason, size, worker ? "there are no cgroups on this host" : "there is no such worker");
    return false;
  }
  if (!is_within(request->memory, LEAST_MEMORY, config->memory) ||
      !is_within(request->threads, LEAST_THREADS, config->threads) || !is_within(request->weight, 1, MOST_WEIGHT)) {
    snprintf(reason, size, "limits beyond those of the starter's configuration");
    return false;
  }
  if (request->weight) worker->weight = request->weight;
  if ((request->memory && !set_cgroup(worker->cgroup, "memory.max", request->memory)) ||
      (request->threads && !set_cgroup(worker->cgroup, "pids.max", request->threads)) ||
      (request->weight && !set_weight(workers, worker))) {
    snprintf(reason, size, "cannot write to %s: %s", worker->cgroup, strerror(errno));
    return false;
  }
  return true;
}

bool share_worker(struct workers *workers, const struct request *request, char *reason, size_t size) {
  struct worker *worker = find_own(workers, request->worker);
  const char *what = "find a place";
  if (!worker || worker->guest || !workers->guests) {
    snprintf(reason, size, "%s",
             !worker         ? "there is no such worker"
             : worker->guest ? "the worker has a guest already"
                             : "this host has no folders for guests");
    return false;
  }
  errno = ENOSPC;
  worker->guest = join_guest(workers->guests, request->guest, worker->pid, &what);
  if (!worker->guest) {
    snprintf(reason, size, "cannot %s: %s", what, strerror(errno));
    return false;
  }
  divide_weight(workers, worker->guest);
  return true;
}

void end_workers(struct workers *workers) {
  if (workers->guests) forget_numbers(workers->guests);
  for (unsigned i = 0; i < workers->config->workers; i++) {
    if (!workers->all[i].number) continue;
    workers->all[i].is_left = true;
    kill(workers->all[i].pid, SIGKILL);
  }
}

void leave_workers(struct workers *workers) {
  if (workers->pipes) close_pipes(workers->pipes);
}

uint32_t reap_worker(struct workers *workers, pid_t pid) {
  for (unsigned i = 0; i < workers->config->workers; i++) {
    struct worker *worker = &workers->all[i];
    if (worker->number && worker->pid == pid) {
      uint32_t number = worker->is_left ? 0 : worker->number;
      release(workers, worker);
      return number;
    }
  }
  return 0;
}
