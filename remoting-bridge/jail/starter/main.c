// graft-starter --config FILE --socket PATH OPTION... [-- SERVER ARGUMENT...]
//   --config FILE     what workers are started with, made by "graft serve --write-starter-config FILE"
//   --socket PATH     where the server connects; its folder must exist
//   --server-user U   the server's user, by name; the only one that may connect (default: this process's user)
//   --users FILE      the locks of the workers' users (default: /run/graft/worker-users)
//   --cgroups FOLDER  where cgroups are mounted (default: /sys/fs/cgroup)
//   --own-cgroup      the workers' cgroups lie in this process's own, which systemd delegates
//   --pid-file FILE   a file for this process's id, which exists while a server is ready
//   --once            ends when the server's connection, or standard input, ends
// With a server's command the starter runs it as the server's user, starts it again when it fails, and ends with it.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "starter.h"

enum { EXIT_USAGE = 2, SEND_BUFFER = 4 << 20, GRACE = 10000, PASSED = 8, MOST_LINES = 30, GRANTED_DESCRIPTORS = 2 };

struct state {
  const char *config_file, *socket, *server_user, *users, *cgroup_mount, *pid_file;
  bool own_cgroup, once, ends;
  int exit_status;
  int listener, connection, signals; // connection is -1 without a server
  int64_t kill_at;                   // when a server that does not end is killed, 0 for never
  struct config *config;
  struct workers *workers;
  struct service service;
};

// A hostile server could have the starter fill its log, so that only so many lines are written a minute.
void say(const char *what, ...) {
  static int64_t minute;
  static int lines;
  char text[1024];
  int error = errno;
  if (now() / 60000 != minute) {
    minute = now() / 60000;
    lines = 0;
  }
  if (lines++ >= MOST_LINES) return;
  va_list arguments;
  va_start(arguments, what);
  vsnprintf(text, sizeof text, what, arguments);
  va_end(arguments);
  fprintf(stderr, "graft-starter: %s%s%s\n", text, error ? ": " : "", error ? strerror(error) : "");
}

void die(const char *what, ...) {
  char text[1024];
  int error = errno;
  va_list arguments;
  va_start(arguments, what);
  vsnprintf(text, sizeof text, what, arguments);
  va_end(arguments);
  fprintf(stderr, "graft-starter: %s%s%s\n", text, error ? ": " : "", error ? strerror(error) : "");
  _exit(EXIT_FAILURE);
}

static void write_pid(const struct state *state) {
  if (!state->pid_file) return;
  char unfinished[PATH_MAX];
  snprintf(unfinished, sizeof unfinished, "%s.unfinished", state->pid_file);
  unlink(unfinished);
  int fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0 || rename(unfinished, state->pid_file) < 0) {
    say("write %s", state->pid_file);
  }
  if (fd >= 0) close(fd);
}

static void server_left(struct state *state) {
  if (state->connection < 0) return;
  close(state->connection);
  state->connection = -1;
  state->service.is_ready = false;
  if (state->pid_file) unlink(state->pid_file);
  end_workers(state->workers);
  if (state->once) state->ends = true;
}

// Sends an answer of that length, with two descriptors unless fds is 0. A server that does not read its answers is as one
// that has left.
static void answer_with(struct state *state, struct answer *answer, size_t length, const int *fds) {
  answer->magic = MAGIC;
  answer->length = (uint32_t)length;
  if (state->connection < 0) return;
  struct iovec part = {answer, ANSWER_HEAD + length};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(GRANTED_DESCRIPTORS * sizeof *fds)] = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (fds) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){CMSG_LEN(GRANTED_DESCRIPTORS * sizeof *fds), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(head), fds, GRANTED_DESCRIPTORS * sizeof *fds);
  }
  if (sendmsg(state->connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno != EPIPE && errno != ECONNRESET) say("answer the server");
    server_left(state);
  }
}

static void answer(struct state *state, struct answer *answer) {
  answer_with(state, answer, strnlen(answer->text, TEXT_BYTES), 0);
}

static void grant(struct state *state, const struct request *request) {
  struct answer reply = {.type = GRANTED};
  struct pages pages = {0};
  int fds[GRANTED_DESCRIPTORS];
  if (!grant_pages(state->config->domains, request->name, &pages, fds, reply.text, sizeof reply.text)) {
    reply.type = REFUSED;
    answer(state, &reply);
    return;
  }
  memcpy(reply.text, &pages, sizeof pages);
  answer_with(state, &reply, sizeof pages, fds);
  for (int i = 0; i < GRANTED_DESCRIPTORS; i++) close(fds[i]);
}

static void handle(struct state *state, const struct request *request, const int *fds) {
  struct answer reply = {.type = DONE, .worker = request->worker};
  pid_t pid = 0;
  switch (request->type) {
    case START:
      reply.worker = start_worker(state->workers, request, fds, &pid, reply.text, sizeof reply.text);
      reply.type = reply.worker ? STARTED : REFUSED;
      reply.pid = (int32_t)pid;
      break;
    case END: end_worker(state->workers, request->worker); break;
    case BOUND:
      if (!bound_worker(state->workers, request, reply.text, sizeof reply.text)) reply.type = REFUSED;
      break;
    case SHARE:
      if (!share_worker(state->workers, request, reply.text, sizeof reply.text)) reply.type = REFUSED;
      break;
    case GRANT: grant(state, request); return;
    default: // READY
      state->service.is_ready = state->service.was_ready = true;
      write_pid(state);
  }
  answer(state, &reply);
}

// Receives one request. All that is received is hostile until wrong() has accepted it.
static void receive(struct state *state) {
  char bytes[sizeof(struct request) + 1];
  struct iovec part = {bytes, sizeof bytes};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(PASSED * sizeof(int))];
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t count = recvmsg(state->connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  int fds[PASSED], passed = 0;
  for (struct cmsghdr *head = count < 0 ? 0 : CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    size_t size = head->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof(int) <= size && passed < PASSED; at += sizeof(int)) {
      memcpy(&fds[passed++], CMSG_DATA(head) + at, sizeof(int));
    }
  }
  struct request request;
  memset(&request, 0, sizeof request);
  const char *why = 0;
  if (count > 0) {
    memcpy(&request, bytes, (size_t)count < sizeof request ? (size_t)count : sizeof request);
    why = message.msg_flags & (MSG_CTRUNC | MSG_TRUNC) ? "a request with too much" : wrong(&request, (size_t)count, passed);
  }
  if (count <= 0 || why) {
    errno = 0;
    if (why) say("the server is disconnected, and its workers end: it sent %s", why);
    server_left(state);
  } else {
    handle(state, &request, fds);
  }
  for (int i = 0; i < passed; i++) close(fds[i]);
}

static void accept_server(struct state *state) {
  int fd = accept4(state->listener, 0, 0, SOCK_CLOEXEC);
  if (fd < 0) return;
  struct ucred peer;
  socklen_t size = sizeof peer;
  bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == state->service.user;
  // A server that this process started is the only one.
  if (known && state->service.command) known = peer.pid == state->service.pid;
  if (!known || state->connection >= 0) {
    errno = 0;
    say("process %d of user %u may not connect%s", (int)peer.pid, (unsigned)peer.uid,
        known ? ": a server is connected" : "");
    close(fd);
    return;
  }
  int buffer = SEND_BUFFER;
  setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
  state->connection = fd;
  struct answer hello = {.type = HELLO};
  snprintf(hello.text, sizeof hello.text, "%s", state->config->isolation);
  answer(state, &hello);
}

static void reap(struct state *state) {
  pid_t pid;
  int status;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (state->service.command && pid == state->service.pid) {
      server_left(state);
      int code = service_ended(&state->service, status);
      if (code >= 0) {
        state->exit_status = code;
        state->ends = true;
      }
      continue;
    }
    struct answer ended = {.type = ENDED, .status = status};
    ended.worker = reap_worker(state->workers, pid);
    if (ended.worker) answer(state, &ended);
  }
}

static void stop(struct state *state) {
  if (!state->service.command || !state->service.pid) {
    state->ends = true;
    return;
  }
  stop_service(&state->service);
  if (!state->kill_at) state->kill_at = now() + GRACE;
}

static void take_signals(struct state *state) {
  struct signalfd_siginfo info;
  while (read(state->signals, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) stop(state);
  }
  reap(state);
}

static int timeout(const struct state *state) {
  int64_t next = state->service.next_start;
  if (state->kill_at && (!next || state->kill_at < next)) next = state->kill_at;
  if (!next) return -1;
  int64_t left = next - now();
  return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static void keep_time(struct state *state) {
  if (state->service.next_start && now() >= state->service.next_start) start_service(&state->service);
  if (state->kill_at && now() >= state->kill_at) {
    state->kill_at = 0;
    if (state->service.pid > 0) kill(state->service.pid, SIGKILL);
  }
}

static void run(struct state *state) {
  while (!state->ends) {
    struct pollfd ready[] = {{state->signals, POLLIN, 0},
                             {state->listener, POLLIN, 0},
                             {state->connection, POLLIN, 0},
                             {state->once ? 0 : -1, 0, 0}};
    if (poll(ready, sizeof ready / sizeof *ready, timeout(state)) < 0 && errno != EINTR) die("poll");
    if (ready[2].revents) receive(state);
    if (ready[0].revents) take_signals(state);
    if (ready[1].revents) accept_server(state);
    if (ready[3].revents) state->ends = true;
    keep_time(state);
  }
}

// The socket appears under its name when it listens and has its owner.
static void listen_at(struct state *state) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int length = snprintf(address.sun_path, sizeof address.sun_path, "%s.new", state->socket);
  errno = ENAMETOOLONG;
  if (length < 0 || (size_t)length >= sizeof address.sun_path) die("listen at %s", state->socket);
  unlink(address.sun_path);
  state->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  umask(0177);
  if (state->listener < 0 || bind(state->listener, (struct sockaddr *)&address, sizeof address) < 0 ||
      lchown(address.sun_path, state->service.user, state->service.group) < 0 || listen(state->listener, 4) < 0 ||
      rename(address.sun_path, state->socket) < 0) {
    die("listen at %s", state->socket);
  }
  umask(077);
}

static void find_user(struct state *state) {
  state->service.user = geteuid();
  state->service.group = getegid();
  state->service.user_name = state->server_user;
  if (!state->server_user) return;
  errno = 0;
  struct passwd *entry = getpwnam(state->server_user);
  if (!entry) die("there is no user %s", state->server_user);
  state->service.user = entry->pw_uid;
  state->service.group = entry->pw_gid;
}

static void parse(struct state *state, char **arguments) {
  for (; *arguments; arguments++) {
    const char *option = *arguments;
    if (strcmp(option, "--once") == 0) state->once = true;
    else if (strcmp(option, "--own-cgroup") == 0) state->own_cgroup = true;
    else if (strcmp(option, "--") == 0) {
      state->service.command = arguments[1] ? arguments + 1 : 0;
      break;
    } else {
      const char **value = strcmp(option, "--config") == 0        ? &state->config_file
                           : strcmp(option, "--socket") == 0      ? &state->socket
                           : strcmp(option, "--server-user") == 0 ? &state->server_user
                           : strcmp(option, "--users") == 0       ? &state->users
                           : strcmp(option, "--cgroups") == 0     ? &state->cgroup_mount
                           : strcmp(option, "--pid-file") == 0    ? &state->pid_file
                                                                  : 0;
      if (!value || !arguments[1]) {
        fprintf(stderr, "graft-starter: %s %s\n", value ? "no value for" : "unknown option", option);
        exit(EXIT_USAGE);
      }
      *value = *++arguments;
    }
  }
  if (!state->config_file || !state->socket || (state->service.command && !state->server_user)) {
    fprintf(stderr, "usage: graft-starter --config FILE --socket PATH [--server-user USER] [OPTION...] [-- SERVER...]\n");
    exit(EXIT_USAGE);
  }
}

// The path of this process's cgroup: the line "0::PATH" of /proc/self/cgroup.
static const char *own_cgroup(void) {
  static char line[PATH_MAX];
  FILE *in = fopen("/proc/self/cgroup", "re");
  while (in && fgets(line, sizeof line, in)) {
    if (strncmp(line, "0::", 3) != 0) continue;
    line[strcspn(line, "\n")] = 0;
    fclose(in);
    return strcmp(line, "0::/") == 0 ? "" : line + 3;
  }
  if (in) fclose(in);
  return 0;
}

static void open_workers(struct state *state) {
  char reason[512], *cgroups = 0;
  const char *own = state->own_cgroup ? own_cgroup() : 0;
  if (state->config->without_limits) snprintf(reason, sizeof reason, "%s", state->config->without_limits);
  else cgroups = open_cgroups(state->cgroup_mount, own, reason, sizeof reason);
  size_t length = strlen(state->config->isolation);
  snprintf(state->config->isolation + length, sizeof state->config->isolation - length, "limits %s\n",
           cgroups ? "ok" : reason);
  if (strcmp(state->users, "/run/graft/worker-users") == 0) {
    if (mkdir("/run/graft", 0755) < 0 && errno != EEXIST) die("create /run/graft");
    // Whatever umask it was made with: servers of another user than root pass through it to their starters' sockets.
    if (chmod("/run/graft", 0755) < 0) die("let other users enter /run/graft");
  }
  state->workers = make_workers(state->config, cgroups, state->users);
}

int main(int count, char **arguments) {
  (void)count;
  static struct state state = {.users = "/run/graft/worker-users", .cgroup_mount = "/sys/fs/cgroup", .connection = -1};
  parse(&state, arguments + 1);
  umask(077);
  // Ctrl-C in the server's terminal is for the server, which then ends its workers in order.
  if (state.once) setsid();
  find_user(&state);
  state.config = read_config(state.config_file);
  sigset_t handled;
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  sigaddset(&handled, SIGTERM);
  sigaddset(&handled, SIGINT);
  sigprocmask(SIG_SETMASK, &handled, 0);
  signal(SIGPIPE, SIG_IGN);
  state.signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  if (state.signals < 0) die("signalfd");
  open_workers(&state);
  listen_at(&state);
  if (state.service.command) start_service(&state.service);
  notify("READY=1");
  run(&state);
  notify("STOPPING=1");
  server_left(&state);
  end_workers(state.workers);
  while (waitpid(-1, 0, 0) > 0 || errno == EINTR) {}
  leave_workers(state.workers);
  unlink(state.socket);
  return state.exit_status;
}
