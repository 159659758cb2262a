// The server as a child of the starter, on a host without systemd: it runs as its own user without privileges, is
// started again when it fails, and ends with the starter.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "starter.h"

// A server that has served is started again after 1, 2, 4 ... 30 seconds, and at most this often in a row; a run of
// HEALTHY milliseconds ends the row.
enum { MOST_FAILURES = 10, FIRST_DELAY = 1000, MOST_DELAY = 30000, HEALTHY = 600000 };

int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void drop(const struct service *service) {
  if (geteuid() == 0) {
    // Another user's process has no capabilities, and with no_new_privs never gets any.
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++) prctl(PR_CAPBSET_DROP, capability);
    if (initgroups(service->user_name, service->group) < 0) die("set the groups of %s", service->user_name);
    if (setresgid(service->group, service->group, service->group) < 0) die("become the group of %s", service->user_name);
    if (setresuid(service->user, service->user, service->user) < 0) die("become %s", service->user_name);
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) die("prctl(PR_SET_NO_NEW_PRIVS)");
}

void start_service(struct service *service) {
  pid_t parent = getpid();
  service->next_start = 0;
  service->started = now();
  service->pid = fork();
  if (service->pid < 0) die("fork");
  if (service->pid) return;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, 0);
  signal(SIGPIPE, SIG_DFL);
  umask(077);
  if (chdir("/") < 0) die("enter /");
  drop(service);
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0) die("prctl(PR_SET_PDEATHSIG)");
  if (getppid() != parent) _exit(EXIT_FAILURE);
  execv(service->command[0], service->command);
  die("run %s", service->command[0]);
}

int service_ended(struct service *service, int status) {
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  service->pid = 0;
  service->is_ready = false;
  if (service->stops || code == 0 || !service->was_ready) return service->stops ? 0 : code;
  if (now() - service->started > HEALTHY) service->failures = 0;
  if (service->failures == MOST_FAILURES) {
    errno = 0;
    say("the server ended with status %d, %d times in a row: it is not started again", code, MOST_FAILURES + 1);
    return code;
  }
  int64_t delay = FIRST_DELAY;
  for (int i = 0; i < service->failures && delay < MOST_DELAY; i++) delay *= 2;
  if (delay > MOST_DELAY) delay = MOST_DELAY;
  service->failures++;
  service->next_start = now() + delay;
  errno = 0;
  say("the server ended with status %d: it is started again in %d s", code, (int)(delay / 1000));
  return -1;
}

void stop_service(struct service *service) {
  service->stops = true;
  service->next_start = 0;
  if (service->pid > 0) kill(service->pid, SIGTERM);
}

void notify(const char *state) {
  const char *path = getenv("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path) return;
  strcpy(address.sun_path, path);
  if (path[0] == '@') address.sun_path[0] = 0;
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
  if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, length) < 0) say("notify systemd");
  close(fd);
}
