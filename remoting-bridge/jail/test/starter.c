// Attacks graft-starter and its configuration: whatever a compromised server sends, it can only start, end and bound
// the workers that the configuration lists. This program also plays graft-jail (--control ...) and a server (serve).
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../starter/starter.h"

#define CHECK(what) ((what) ? (void)0 : failed(#what, __LINE__))

static char folder[] = "/tmp/graft-starter-test-XXXXXX";
static const char *self, *program;
static char conf[64], path[64], users[64], cgroups[64], pid_file[64], marks[64];
static pid_t starter;

static void failed(const char *what, int line) {
  fprintf(stderr, "FAILED at line %d: %s (errno %s)\n", line, what, strerror(errno));
  if (starter > 0) kill(starter, SIGKILL);
  exit(1);
}

void die(const char *what, ...) {
  failed(what, 0);
  _exit(1);
}

void say(const char *what, ...) { (void)what; }

// graft-jail: tells its words, its environment and its descriptors to the other end of the control socket, and waits.
static int play_jail(int count, char **arguments, char **environment) {
  char text[8192];
  size_t length = 0;
  for (int i = 1; i < count; i++) length += (size_t)snprintf(text + length, sizeof text - length, "%s ", arguments[i]);
  for (; *environment; environment++) length += (size_t)snprintf(text + length, sizeof text - length, "{%s} ", *environment);
  for (int fd = 0; fd < 64; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) length += (size_t)snprintf(text + length, sizeof text - length, "fd%d ", fd);
  }
  send(3, text, length, 0);
  char byte;
  ssize_t got = recv(3, &byte, 1, 0);
  return got == 1 ? byte : 0;
}

static int dial(const char *where) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, where);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  // The starter may not listen yet.
  for (int tries = 0; connect(fd, (struct sockaddr *)&address, sizeof address) < 0; tries++) {
    if ((errno != ENOENT && errno != ECONNREFUSED) || tries == 2000) {
      close(fd);
      return -1;
    }
    poll(0, 0, 5);
  }
  return fd;
}

static struct answer reply;

// The type of the next answer, 0 at the connection's end.
static uint32_t next(int fd) {
  memset(&reply, 0, sizeof reply);
  ssize_t count = recv(fd, &reply, sizeof reply, 0);
  if (count <= 0) return 0;
  CHECK(count >= ANSWER_HEAD && reply.magic == MAGIC && (size_t)count == ANSWER_HEAD + reply.length);
  return reply.type;
}

static int hello(void) {
  int fd = dial(path);
  CHECK(fd >= 0);
  CHECK(next(fd) == HELLO);
  return fd;
}

static void pass(int fd, const void *bytes, size_t size, const int *fds, int count) {
  struct iovec part = {(void *)(uintptr_t)bytes, size};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(32 * sizeof(int))] = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (count) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){.cmsg_len = CMSG_LEN((size_t)count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(head), fds, (size_t)count * sizeof(int));
  }
  sendmsg(fd, &message, MSG_NOSIGNAL);
}

static struct request request_of(uint32_t type) {
  struct request request;
  memset(&request, 0, sizeof request);
  request.magic = MAGIC;
  request.type = type;
  if (type == START) {
    request.index = -1;
    strcpy(request.name, "software");
  }
  return request;
}

// A worker's descriptors: [0] the server's end and [1] the worker's end of the control socket, [2] and [3] of the log.
struct ends {
  int fds[4];
};

static struct ends make_ends(void) {
  struct ends ends;
  CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.fds) == 0);
  CHECK(pipe2(ends.fds + 2, O_CLOEXEC) == 0);
  return ends;
}

static void close_ends(struct ends *ends) {
  for (int i = 0; i < 4; i++) close(ends->fds[i]);
}

static uint32_t start(int fd, const struct request *request, struct ends *ends) {
  *ends = make_ends();
  int passed[] = {ends->fds[1], ends->fds[3]};
  pass(fd, request, sizeof *request, passed, 2);
  uint32_t type = next(fd);
  close(ends->fds[1]);
  ends->fds[1] = -1;
  return type;
}

static void write_config_with(const char *first, const char *more) {
  FILE *out = fopen(conf, "w");
  CHECK(out);
  fprintf(out, "graft-starter 1\n%sprogram %s\nusers 1880000000 1880000003\nworkers 3\nmemory 1073741824\nthreads 100\n"
               "domains /nowhere/domains\npart mounts ok\npart user no, for a reason\npart guest-folder ok\noption --root /nowhere\nenvironment COMMON=1\n"
               "kind software -1 plain\nuse mounts,ipc\noption --calls base\nwithout-cgroup --limit data=9\n"
               "environment OWN=a b\nargument /bin/true\nargument two words\n"
               "kind cuda 1 adapter\nuse mounts\nargument /bin/true\n%s", first, self, more);
  fclose(out);
  CHECK(chmod(conf, 0600) == 0);
}

static void write_config(const char *more) { write_config_with("", more); }

static void run_starter(char *const *more) {
  const char *words[32] = {program, "--config", conf, "--socket", path, "--users", users, "--cgroups", cgroups};
  int count = 9;
  for (; more && *more; more++) words[count++] = *more;
  starter = fork();
  CHECK(starter >= 0);
  if (starter == 0) {
    if (!getenv("VERBOSE") && !freopen("/dev/null", "w", stderr)) _exit(126);
    clearenv();
    setenv("SECRET", "of the operator", 1);
    execv(program, (char *const *)words);
    _exit(127);
  }
}

static int exit_of(pid_t pid) {
  int status;
  CHECK(waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void stop_starter(void) {
  kill(starter, SIGTERM);
  CHECK(exit_of(starter) == 0);
  starter = 0;
}

static int count_of(const char *what) {
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/%s", (int)starter, what);
  int count = 0;
  DIR *all = opendir(name);
  while (all && readdir(all)) count++;
  if (all) closedir(all);
  return count;
}

static bool has_children(void) {
  char name[64], line[256] = "";
  snprintf(name, sizeof name, "/proc/%d/task/%d/children", (int)starter, (int)starter);
  FILE *in = fopen(name, "r");
  bool has = in && fgets(line, sizeof line, in) && line[0];
  if (in) fclose(in);
  return has;
}

// Each field that a type does not use, and each value beyond its range.
static void everyFieldOfARequestIsChecked(void) {
  struct request good = request_of(START);
  CHECK(!wrong(&good, sizeof good, 2));
  for (int fds = 0; fds < 8; fds++) CHECK(fds == 2 || wrong(&good, sizeof good, fds));
  for (size_t size = 0; size < 2 * sizeof good; size++) CHECK(size == sizeof good || wrong(&good, size, 2));
  static const char *const names[] = {"", "Software", "a/b", "../x", "a b", "a\n", "--user", "\xff"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct request bad = request_of(START);
    memset(bad.name, 0, sizeof bad.name);
    strcpy(bad.name, names[i]);
    CHECK(strcmp(names[i], "--user") == 0 || wrong(&bad, sizeof bad, 2));
  }
  struct request endless = request_of(START), after = request_of(START);
  memset(endless.name, 'a', sizeof endless.name);
  after.name[NAME_BYTES - 1] = 'x';
  CHECK(wrong(&endless, sizeof endless, 2) && wrong(&after, sizeof after, 2));
  static const char *const domains[] = {"", "a/b", "a b", "a\n", "\x7f", " "};
  for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
    struct request bad = request_of(GRANT);
    strcpy(bad.name, domains[i]);
    CHECK(wrong(&bad, sizeof bad, 0));
  }
  struct request guest = request_of(GRANT);
  strcpy(guest.name, "Guest_1.lab");
  CHECK(!wrong(&guest, sizeof guest, 0) && wrong(&guest, sizeof guest, 2));
  guest.name[NAME_BYTES - 1] = 'x';
  CHECK(wrong(&guest, sizeof guest, 0));
  memset(guest.name, 'a', sizeof guest.name);
  CHECK(wrong(&guest, sizeof guest, 0));
  struct request many = request_of(START);
  many.connections = MOST_CONNECTIONS;
  CHECK(!wrong(&many, sizeof many, 2));
  many.connections++;
  CHECK(wrong(&many, sizeof many, 2));
  for (uint32_t type = 0; type < 300; type++) {
    for (size_t at = 0; at < sizeof(struct request); at++) {
      if (at >= offsetof(struct request, type) && at < offsetof(struct request, worker)) continue;
      struct request bad = request_of(type);
      ((char *)&bad)[at] ^= 0x40;
      const char *why = wrong(&bad, sizeof bad, type == START ? 2 : 0);
      bool may_pass = (type == END && at >= 8 && at < 12) || (type == BOUND && ((at >= 8 && at < 12) || (at >= 20 && at < 28) || (at >= 32 && at < 40))) ||
                      (type == START && ((at >= 12 && at < 16) || at >= 64)) || (type == SHARE && at >= 40 && at < 48) || (type == GRANT && at == 64);
      CHECK(may_pass || why);
    }
  }
}

static void aWorkerGetsWhatTheConfigurationSaysAlone(void) {
  int fd = hello();
  CHECK(strstr(reply.text, "mounts ok\n") && strstr(reply.text, "user no, for a reason\n") && strstr(reply.text, "limits "));
  struct request request = request_of(START);
  struct ends ends;
  CHECK(start(fd, &request, &ends) == STARTED && reply.worker && reply.pid > 0);
  uint32_t worker = reply.worker;
  char text[8192] = "";
  CHECK(recv(ends.fds[0], text, sizeof text - 1, 0) > 0);
  char wanted[256];
  snprintf(wanted, sizeof wanted, "--control 3 --use mounts,ipc --root /nowhere --calls base --user 18800000");
  CHECK(strncmp(text, wanted, strlen(wanted)) == 0);
  CHECK(strstr(text, " --limit data=9 -- /bin/true two words {COMMON=1} {OWN=a b} fd0 fd1 fd2 fd3 "));
  CHECK(!strstr(text, "SECRET") && !strstr(text, "fd4"));
  char status = 7;
  send(ends.fds[0], &status, 1, 0);
  CHECK(next(fd) == ENDED && reply.worker == worker && WEXITSTATUS(reply.status) == 7);
  close_ends(&ends);
  CHECK(!strstr(text, "GRAFT_WORKER_ADDRESSES"));
  request.addresses = MOST_ADDRESSES;
  CHECK(start(fd, &request, &ends) == STARTED && recv(ends.fds[0], text, sizeof text - 1, 0) > 0);
  CHECK(strstr(text, " {GRAFT_WORKER_ADDRESSES=7} "));
  CHECK(!strstr(text, "CUDA_DEVICE_MAX_CONNECTIONS"));
  send(ends.fds[0], &status, 1, 0);
  CHECK(next(fd) == ENDED);
  close_ends(&ends);
  request.addresses = 0;
  request.connections = MOST_CONNECTIONS;
  CHECK(start(fd, &request, &ends) == STARTED && recv(ends.fds[0], text, sizeof text - 1, 0) > 0);
  CHECK(strstr(text, " {CUDA_DEVICE_MAX_CONNECTIONS=32} {COMMON=1} "));
  send(ends.fds[0], &status, 1, 0);
  CHECK(next(fd) == ENDED);
  close_ends(&ends);
  request.connections = 0;
  CHECK(start(fd, &request, &ends) == STARTED && reply.worker != worker);
  struct request end = request_of(END);
  end.worker = reply.worker;
  pass(fd, &end, sizeof end, 0, 0);
  CHECK(next(fd) == DONE);
  CHECK(next(fd) == ENDED && reply.worker == end.worker && WTERMSIG(reply.status) == SIGKILL);
  close_ends(&ends);
  close(fd);
}

static void whatTheConfigurationDoesNotListIsRefused(void) {
  int fd = hello();
  struct ends ends;
  struct request request = request_of(START);
  for (int i = 0; i < 4; i++) {
    request = request_of(START);
    if (i == 0) request.index = 1;
    if (i == 1) request.adapter = 1;
    if (i == 2) strcpy(request.name, "cuda");
    if (i == 3) strcpy(request.name, "softwar");
    request.name[i == 3 ? 7 : 8] = 0;
    if (i == 2) memset(request.name + 4, 0, NAME_BYTES - 4);
    CHECK(start(fd, &request, &ends) == REFUSED && strstr(reply.text, "configuration"));
    close_ends(&ends);
  }
  struct ends all[4];
  request = request_of(START);
  for (int i = 0; i < 3; i++) CHECK(start(fd, &request, &all[i]) == STARTED);
  CHECK(start(fd, &request, &all[3]) == REFUSED && strstr(reply.text, "3 workers run"));
  struct request bound = request_of(BOUND);
  bound.worker = 1;
  pass(fd, &bound, sizeof bound, 0, 0);
  CHECK(next(fd) == REFUSED);
  close(fd);
  for (int i = 0; i < 4; i++) close_ends(&all[i]);
}

// The host's own /dev/shm must not be covered by a guest's folder because a jail is not complete, or is none.
static void onlyAWorkerInACompleteJailGetsAGuestsFolder(void) {
  int fd = hello();
  while (has_children()) poll(0, 0, 5); // those of the server before
  struct request start_it = request_of(START), share = request_of(SHARE);
  struct ends ends;
  CHECK(start(fd, &start_it, &ends) == STARTED);
  share.guest = 1;
  share.worker = reply.worker;
  pass(fd, &share, sizeof share, 0, 0);
  CHECK(next(fd) == REFUSED && strstr(reply.text, "cannot ") + !strncmp(reply.text, "this host", 9));
  share.worker++;
  pass(fd, &share, sizeof share, 0, 0);
  CHECK(next(fd) == REFUSED && strstr(reply.text, "no such worker"));
  close(fd);
  close_ends(&ends);
}

static void aDomainThatIsNotListedGetsNoPages(void) {
  int fd = hello();
  struct request request = request_of(GRANT);
  strcpy(request.name, "right");
  pass(fd, &request, sizeof request, 0, 0);
  CHECK(next(fd) == REFUSED && strstr(reply.text, "domains, the list of domains"));
  pass(fd, &request, sizeof request, 0, 0);
  CHECK(next(fd) == REFUSED); // the connection goes on
  close(fd);
}

static void descriptorsOfOtherKindsAreRefused(void) {
  int fd = hello();
  while (has_children()) poll(0, 0, 5); // those of the server before
  struct request request = request_of(START);
  struct ends ends = make_ends();
  int file = open(conf, O_RDONLY), tcp = socket(AF_INET, SOCK_STREAM, 0), memory = open("/proc/self/mem", O_RDWR), stream[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, stream) == 0);
  int pairs[][2] = {{file, ends.fds[3]}, {tcp, ends.fds[3]}, {stream[0], ends.fds[3]}, {ends.fds[1], file},
                    {ends.fds[1], memory}, {ends.fds[1], ends.fds[2]}, {ends.fds[3], ends.fds[1]}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    pass(fd, &request, sizeof request, pairs[i], 2);
    CHECK(next(fd) == REFUSED && strstr(reply.text, "descriptor"));
  }
  CHECK(!has_children());
  close(file), close(tcp), close(memory), close(stream[0]), close(stream[1]);
  close_ends(&ends);
  close(fd);
}

static void aServerThatSendsNonsenseLosesItsWorkersAndNothingElseHappens(void) {
  int first = hello(), before = count_of("fd");
  close(first);
  unsigned seed = 1;
  for (int round = 0; round < 2000; round++) {
    int fd = dial(path);
    CHECK(fd >= 0);
    // The connection before this one may not have been closed yet; then this one is refused.
    if (next(fd) != HELLO) {
      close(fd);
      continue;
    }
    struct request request = request_of(START);
    struct ends ends;
    if (round % 50 == 0) {
      while (has_children()) poll(0, 0, 5); // workers of the connections before count until they have ended
      CHECK(start(fd, &request, &ends) == STARTED);
    }
    char bytes[4 * sizeof request];
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, &request, sizeof request);
    size_t size = sizeof request;
    struct ends more = make_ends();
    int passed[16], count = 2;
    for (int i = 0; i < 16; i++) passed[i] = more.fds[i & 3];
    passed[0] = more.fds[1], passed[1] = more.fds[3];
    switch (round % 4) {
      case 0: size = (size_t)rand_r(&seed) % sizeof bytes; break;
      case 1: for (size_t i = 0; i < size; i++) bytes[i] = (char)rand_r(&seed); break;
      case 2: bytes[(size_t)rand_r(&seed) % size] ^= (char)(1 + rand_r(&seed) % 255); break;
      default: count = rand_r(&seed) % 17; break;
    }
    pass(fd, bytes, size, passed, count);
    if (size == 0) shutdown(fd, SHUT_RDWR);
    shutdown(fd, SHUT_WR);
    uint32_t type;
    while ((type = next(fd))) CHECK(type == ENDED || type == REFUSED || type == STARTED || type == DONE);
    close(fd);
    close_ends(&more);
    if (round % 50 == 0) close_ends(&ends);
  }
  int fd = -1;
  do {
    if (fd >= 0) close(fd);
    fd = dial(path);
    CHECK(fd >= 0);
  } while (next(fd) != HELLO);
  while (has_children()) poll(0, 0, 5);
  CHECK(count_of("fd") == before);
  close(fd);
}

static void oneServerOfOneUserMayConnect(void) {
  int fd = hello(), second = dial(path);
  CHECK(second >= 0 && next(second) == 0);
  close(second);
  if (geteuid() == 0) {
    CHECK(chmod(folder, 0755) == 0 && chmod(path, 0777) == 0);
    close(fd);
    pid_t child = fork();
    if (child == 0) {
      if (setresuid(65534, 65534, 65534) < 0) _exit(3);
      int stranger = dial(path);
      _exit(stranger >= 0 && next(stranger) == 0 ? 0 : 4);
    }
    CHECK(exit_of(child) == 0);
  } else {
    close(fd);
  }
}

static void aServersEndEndsItsWorkers(void) {
  int fd = hello();
  struct request request = request_of(START);
  struct ends ends;
  CHECK(start(fd, &request, &ends) == STARTED);
  char text[8192];
  CHECK(recv(ends.fds[0], text, sizeof text, 0) > 0);
  close(fd);
  CHECK(recv(ends.fds[0], text, sizeof text, 0) == 0);
  close_ends(&ends);
}

static void aConfigurationThatOthersCanWriteIsRefused(void) {
  CHECK(chmod(conf, 0620) == 0);
  run_starter(0);
  CHECK(exit_of(starter) == 1);
  static const char *const wrong_lines[] = {"unknown x\n", "kind x 99999 plain\n", "kind x 1 other\nuse a\nargument b\n", "kind x 1 plain\n",
                                            "program /bin/sh\n"};
  for (size_t i = 0; i < sizeof wrong_lines / sizeof *wrong_lines; i++) {
    write_config(wrong_lines[i]);
    run_starter(0);
    CHECK(exit_of(starter) == 1);
  }
  write_config("");
  char elsewhere[64];
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
  CHECK(rename(conf, elsewhere) == 0 && symlink(elsewhere, conf) == 0);
  run_starter(0);
  CHECK(exit_of(starter) == 1);
  CHECK(unlink(conf) == 0 && rename(elsewhere, conf) == 0);
}

// A folder stands for the kernel's hierarchy.
static void cgroupsAreDividedWithTheirControllers(void) {
  char reason[512], name[128], line[64] = "";
  CHECK(!open_cgroups(cgroups, 0, reason, sizeof reason) && strstr(reason, "version 2"));
  CHECK(mkdir(cgroups, 0755) == 0);
  const char *files[][2] = {{"cgroup.controllers", "cpu io memory pids\n"}, {"cgroup.subtree_control", "cpu memory pids\n"}};
  for (int i = 0; i < 2; i++) {
    snprintf(name, sizeof name, "%s/%s", cgroups, files[i][0]);
    FILE *out = fopen(name, "w");
    CHECK(out && fputs(files[i][1], out) > 0);
    fclose(out);
  }
  char child[96], dead[128], own[128], swap[128];
  snprintf(child, sizeof child, "%s/graft", cgroups);
  snprintf(dead, sizeof dead, "%s/999999999-1", child);
  snprintf(own, sizeof own, "%s/%d-1", child, (int)getpid());
  snprintf(name, sizeof name, "%s/cgroup.subtree_control", child);
  CHECK(mkdir(child, 0755) == 0 && mkdir(dead, 0755) == 0 && mkdir(own, 0755) == 0);
  FILE *out = fopen(name, "w");
  CHECK(out && fputs("memory pids\n", out) > 0);
  fclose(out);
  snprintf(swap, sizeof swap, "%s/memory.swap.max", child);
  out = fopen(swap, "w");
  CHECK(out && fputs("max\n", out) > 0);
  fclose(out);
  char *opened = open_cgroups(cgroups, 0, reason, sizeof reason);
  CHECK(opened && strcmp(opened, child) == 0);
  FILE *in = fopen(name, "r");
  CHECK(in && fgets(line, sizeof line, in) && strncmp(line, "+cpu", 4) == 0);
  fclose(in);
  in = fopen(swap, "r");
  CHECK(in && fgetc(in) == '0');
  fclose(in);
  CHECK(access(dead, F_OK) < 0 && access(own, F_OK) == 0);
  free(opened);
  snprintf(name, sizeof name, "rm -r %s", cgroups);
  CHECK(system(name) == 0);
}

// A server: says that it is ready, and ends as the next character of a file says.
static int play_server(const char *where, const char *file) {
  int at = open(file, O_RDWR), fd = dial(where);
  char line[16] = "";
  CHECK(at >= 0 && fd >= 0 && next(fd) == HELLO);
  ssize_t count = read(at, line, sizeof line - 1);
  CHECK(count > 0 && lseek(at, 0, SEEK_SET) == 0);
  CHECK(ftruncate(at, 0) == 0 && write(at, line + 1, strlen(line) - 1) >= 0);
  struct request ready = request_of(READY);
  pass(fd, &ready, sizeof ready, 0, 0);
  CHECK(next(fd) == DONE);
  if (line[0] == 'w') pause();
  return line[0] - '0';
}

static void set_marks(const char *text) {
  FILE *out = fopen(marks, "w");
  CHECK(out && fputs(text, out) > 0);
  fclose(out);
}

static void aServerIsStartedAgainAndEndsWithItsStarter(void) {
  char *user = geteuid() == 0 ? "root" : getenv("USER");
  if (!user) return;
  char *ends_at_once[] = {"--server-user", user, "--", "/bin/sh", "-c", "exit 3", 0};
  run_starter(ends_at_once);
  CHECK(exit_of(starter) == 3);
  char *serves[] = {"--server-user", user, "--pid-file", pid_file, "--", (char *)(uintptr_t)self, "serve", path, marks, 0};
  set_marks("10");
  run_starter(serves);
  CHECK(exit_of(starter) == 0); // failed once, then ended by itself
  set_marks("w");
  run_starter(serves);
  while (access(pid_file, F_OK) < 0) poll(0, 0, 5);
  kill(starter, SIGTERM);
  CHECK(exit_of(starter) == 0);
  CHECK(access(pid_file, F_OK) < 0 && access(path, F_OK) < 0);
}

// The folder of MPS' sockets, as a worker's words name it; its user is that of all workers.
static void pipes_of(const char *text, char *pipes, size_t size, unsigned *user) {
  const char *named = strstr(text, "--write "), *number = strstr(text, "--user ");
  CHECK(named && number && sscanf(number, "--user %u ", user) == 1);
  snprintf(pipes, size, "%.*s", (int)strcspn(named + 8, " "), named + 8);
}

static void allWorkersHaveOneUserAndMpsFolder(void) {
  write_config_with("mps\n", "kind mps -1 plain\nuse ipc\nargument /bin/true\n");
  char text[8192], pipes[128], again[128], left[160], outside[96], wanted[256];
  // What a killed starter left goes, but for what MPS does not make; a link leads nowhere else.
  snprintf(outside, sizeof outside, "%s/outside", folder);
  CHECK(mkdir(outside, 0700) == 0);
  for (unsigned user = 1880000000; user < 1880000004; user++) {
    snprintf(left, sizeof left, "%s/mps-%u-1", folder, user);
    CHECK(mkdir(left, 0700) == 0);
    snprintf(left, sizeof left, "%s/mps-%u-1/control", folder, user);
    CHECK(mkfifo(left, 0600) == 0);
    snprintf(left, sizeof left, "%s/mps-%u-2", folder, user);
    CHECK(symlink(outside, left) == 0);
  }
  run_starter(0);
  int fd = hello();
  struct request request = request_of(START);
  struct ends first, second;
  unsigned user = 0, other = 0;
  memset(text, 0, sizeof text);
  CHECK(start(fd, &request, &first) == STARTED && recv(first.fds[0], text, sizeof text - 1, 0) > 0);
  pipes_of(text, pipes, sizeof pipes, &user);
  snprintf(wanted, sizeof wanted, " {CUDA_MPS_PIPE_DIRECTORY=%s} ", pipes);
  CHECK(strstr(text, wanted));
  struct stat status;
  CHECK(lstat(pipes, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == user && (status.st_mode & 0777) == 0700);
  snprintf(left, sizeof left, "%s/mps-%u-1", folder, user);
  CHECK(access(left, F_OK) < 0 && access(outside, F_OK) == 0);
  memset(request.name, 0, sizeof request.name);
  strcpy(request.name, "mps");
  memset(text, 0, sizeof text);
  CHECK(start(fd, &request, &second) == STARTED && recv(second.fds[0], text, sizeof text - 1, 0) > 0);
  pipes_of(text, again, sizeof again, &other);
  CHECK(strcmp(again, pipes) == 0 && other == user && !strstr(text, "--root"));
  // The user stays when a worker ends.
  char byte = 0;
  send(first.fds[0], &byte, 1, 0);
  CHECK(next(fd) == ENDED);
  close_ends(&first);
  strcpy(request.name, "software");
  memset(text, 0, sizeof text);
  CHECK(start(fd, &request, &first) == STARTED && recv(first.fds[0], text, sizeof text - 1, 0) > 0);
  pipes_of(text, again, sizeof again, &other);
  CHECK(strcmp(again, pipes) == 0 && other == user);
  // A second starter of the same range takes another user.
  char path_before[64];
  strcpy(path_before, path);
  pid_t before = starter;
  snprintf(path, sizeof path, "%s/second", folder);
  run_starter(0);
  int second_fd = hello();
  struct ends third;
  memset(text, 0, sizeof text);
  CHECK(start(second_fd, &request, &third) == STARTED && recv(third.fds[0], text, sizeof text - 1, 0) > 0);
  pipes_of(text, again, sizeof again, &other);
  CHECK(strcmp(again, pipes) != 0 && other != user);
  close(second_fd);
  close_ends(&third);
  stop_starter();
  CHECK(access(again, F_OK) < 0 && access(pipes, F_OK) == 0);
  starter = before;
  strcpy(path, path_before);
  close(fd);
  close_ends(&first);
  close_ends(&second);
  stop_starter();
  CHECK(access(pipes, F_OK) < 0);
}

int main(int count, char **arguments, char **environment) {
  if (count > 1 && strcmp(arguments[1], "--control") == 0) return play_jail(count, arguments, environment);
  if (count == 4 && strcmp(arguments[1], "serve") == 0) return play_server(arguments[2], arguments[3]);
  program = realpath(arguments[1], 0);
  self = realpath(arguments[0], 0);
  CHECK(program && self && mkdtemp(folder));
  signal(SIGPIPE, SIG_IGN);
  snprintf(conf, sizeof conf, "%s/conf", folder);
  snprintf(path, sizeof path, "%s/socket", folder);
  snprintf(users, sizeof users, "%s/users", folder);
  snprintf(cgroups, sizeof cgroups, "%s/cgroups", folder);
  snprintf(pid_file, sizeof pid_file, "%s/pid", folder);
  snprintf(marks, sizeof marks, "%s/marks", folder);
  everyFieldOfARequestIsChecked();
  cgroupsAreDividedWithTheirControllers();
  write_config("");
  aConfigurationThatOthersCanWriteIsRefused();
  run_starter(0);
  aWorkerGetsWhatTheConfigurationSaysAlone();
  whatTheConfigurationDoesNotListIsRefused();
  onlyAWorkerInACompleteJailGetsAGuestsFolder();
  aDomainThatIsNotListedGetsNoPages();
  descriptorsOfOtherKindsAreRefused();
  aServerThatSendsNonsenseLosesItsWorkersAndNothingElseHappens();
  aServersEndEndsItsWorkers();
  oneServerOfOneUserMayConnect();
  stop_starter();
  aServerIsStartedAgainAndEndsWithItsStarter();
  allWorkersHaveOneUserAndMpsFolder();
  char clean[128];
  snprintf(clean, sizeof clean, "rm -r %s", folder);
  CHECK(system(clean) == 0);
  printf("graft-starter: 12 tests passed\n");
  return 0;
}
