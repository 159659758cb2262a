// Options, and the main process: accepts QEMU's connections and starts a sealed process for each.
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "usernet.h"

// The guests of one server. Another card is refused, so that whoever can connect to the loopback cannot fill the
// process table.
enum { MOST_CARDS = 256, CARD = 3 };

extern char **environ;
static volatile sig_atomic_t cards;
static const char *pid_file;

static const char usage[] =
    "usage: graft-usernet serve --listen HOST:PORT --to HOST:PORT --guest-port PORT --pid-file FILE\n"
    "       graft-usernet --check\n"
    "\n"
    "The network of guests that may reach one server and nothing else. QEMU connects the guests' cards to the\n"
    "address of --listen; the guests reach the server of --to at 10.0.2.2, port --guest-port.\n"
    "--check prints why this machine cannot do that, and ends with 1; or prints ok.\n"
    "\n"
    "example: graft-usernet serve --listen 127.0.0.1:8451 --to 127.0.0.1:8450 --guest-port 8450 \\\n"
    "           --pid-file /run/lab.pid\n";

void fail(const char *what, ...) {
  int error = errno;
  va_list arguments;
  va_start(arguments, what);
  fputs("graft-usernet: ", stderr);
  vfprintf(stderr, what, arguments);
  va_end(arguments);
  fprintf(stderr, error ? ": %s\n" : "\n", strerror(error));
  _exit(EXIT_FAILED);
}

static void refuse(const char *argument) {
  fprintf(stderr, "graft-usernet: not understood: %s\n%s", argument, usage);
  exit(EXIT_USAGE);
}

static uint16_t port_of(const char *text) {
  char *end;
  unsigned long port = strtoul(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || port == 0 || port > UINT16_MAX) refuse(text);
  return (uint16_t)port;
}

// Splits HOST:PORT, or [HOST]:PORT, in place.
static void split(char *text, const char **host, const char **port) {
  char *colon = strrchr(text, ':');
  if (!colon || colon == text) refuse(text);
  port_of(colon + 1);
  *colon = 0;
  *port = colon + 1;
  *host = text;
  if (*text == '[' && colon[-1] == ']') {
    colon[-1] = 0;
    *host = text + 1;
  }
}

static struct options parse(char **arguments) {
  struct options options = {0};
  for (; *arguments; arguments += 2) {
    char *name = arguments[0], *value = arguments[1];
    if (!value) refuse(name);
    if (!strcmp(name, "--listen")) {
      split(value, &options.listen_host, &options.listen_port);
    } else if (!strcmp(name, "--to")) {
      split(value, &options.to_host, &options.to_port);
    } else if (!strcmp(name, "--guest-port")) {
      options.guest_port = port_of(value);
    } else if (!strcmp(name, "--pid-file")) {
      options.pid_file = value;
    } else {
      refuse(name);
    }
  }
  if (!options.listen_host) refuse("no --listen");
  if (!options.to_host) refuse("no --to");
  if (!options.guest_port) refuse("no --guest-port");
  if (!options.pid_file) refuse("no --pid-file");
  return options;
}

static void card_ended(int signal_number) {
  (void)signal_number;
  int error = errno;
  while (waitpid(-1, NULL, WNOHANG) > 0) cards--;
  errno = error;
}

static void stop(int signal_number) {
  (void)signal_number;
  unlink(pid_file);
  remove_relay_folder();
  _exit(0);
}

static void on(int signal_number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, NULL);
}

static int listen_at(const struct options *options) {
  struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICHOST};
  errno = 0;
  int wrong = getaddrinfo(options->listen_host, options->listen_port, &hints, &found);
  if (wrong) fail("%s is no address: %s", options->listen_host, gai_strerror(wrong));
  int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  if (fd < 0) fail("create a socket");
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, 64) < 0) {
    fail("listen at %s port %s", options->listen_host, options->listen_port);
  }
  freeaddrinfo(found);
  return fd;
}

static void write_pid_file(const char *path) {
  char text[32];
  int length = snprintf(text, sizeof text, "%d\n", (int)getpid());
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 || write(fd, text, (size_t)length) != length || close(fd) < 0) fail("write %s", path);
}

// A program executed anew has none of this process's memory and, but for the card, none of its descriptors.
static void start_card(int card, const char *folder, const char *guest_port) {
  char *arguments[] = {"graft-usernet", "--card", (char *)folder, (char *)guest_port, NULL};
  char *none[] = {NULL};
  posix_spawn_file_actions_t files;
  pid_t child;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, card, CARD);
  int wrong = posix_spawn(&child, "/proc/self/exe", &files, NULL, arguments, none);
  posix_spawn_file_actions_destroy(&files);
  if (wrong) {
    fprintf(stderr, "graft-usernet: start a process for a card: %s\n", strerror(wrong));
  } else {
    cards++;
  }
}

static void serve(const struct options *options) {
  const char *obstacle = stack_obstacle();
  if (!obstacle) obstacle = seal_obstacle();
  errno = 0;
  if (obstacle) fail("%s", obstacle);
  sigset_t children, before;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  on(SIGCHLD, card_ended);
  on(SIGPIPE, SIG_IGN);
  pid_file = options->pid_file;
  int listener = listen_at(options);
  char guest_port[8];
  snprintf(guest_port, sizeof guest_port, "%u", options->guest_port);
  // The relay's threads get no signals.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  const char *folder = start_relay(options);
  sigprocmask(SIG_SETMASK, &before, NULL);
  on(SIGTERM, stop);
  on(SIGINT, stop);
  write_pid_file(pid_file);
  while (true) {
    int card = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (card < 0) {
      if (errno != EINTR && errno != ECONNABORTED) sleep(1); // out of descriptors or memory
      continue;
    }
    // The count of cards is changed by the signal's handler as well.
    sigprocmask(SIG_BLOCK, &children, NULL);
    if (cards < MOST_CARDS) start_card(card, folder, guest_port);
    sigprocmask(SIG_UNBLOCK, &children, NULL);
    close(card);
  }
}

int main(int count, char **arguments) {
  if (count == 4 && !strcmp(arguments[1], "--card")) run_stack(CARD, arguments[2], port_of(arguments[3]));
  if (count == 2 && !strcmp(arguments[1], "--check")) {
    const char *obstacle = stack_obstacle();
    if (!obstacle) obstacle = seal_obstacle();
    puts(obstacle ? obstacle : "ok");
    return obstacle ? EXIT_FAILED : 0;
  }
  if (count == 2 && !strcmp(arguments[1], "--help")) return fputs(usage, stdout) < 0;
  if (count < 2 || strcmp(arguments[1], "serve")) refuse(count < 2 ? "nothing" : arguments[1]);
  struct options options = parse(arguments + 2);
  serve(&options);
}
