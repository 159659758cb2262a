#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "jail.h"
#include "log.h"

static int server = -1;

// Sets the socket on which failures are reported.
void tell_server(int socket) { server = socket; }

void fail(const char *what, ...) {
  char text[512];
  int error = errno;
  va_list arguments;
  va_start(arguments, what);
  int length = vsnprintf(text, sizeof text, what, arguments);
  va_end(arguments);
  if (length < 0) length = 0;
  if (length > (int)sizeof text - 1) length = sizeof text - 1;
  if (error) snprintf(text + length, sizeof text - (size_t)length, ": %s", strerror(error));
  if (server >= 0) {
    // ControlMessage.Failed: 'F', the length of the text in two bytes, and the text.
    static const char prefix[] = "the worker's jail: ";
    char packet[sizeof prefix + sizeof text + 2];
    int bytes = snprintf(packet + 3, sizeof packet - 3, "%s%s", prefix, text);
    packet[0] = 'F';
    packet[1] = (char)(bytes >> 8);
    packet[2] = (char)bytes;
    if (send(server, packet, (size_t)bytes + 3, MSG_NOSIGNAL) < 0) fprintf(stderr, "graft-jail: %s\n", text);
  } else {
    fprintf(stderr, "graft-jail: %s\n", text);
  }
  _exit(EXIT_REFUSED);
}

static void close_others(int first) {
  if (syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0) return;
  long most = sysconf(_SC_OPEN_MAX);
  for (long fd = first; fd < (most < 0 || most > 1 << 20 ? 1 << 20 : most); fd++) close((int)fd);
}

static void connect_to_server(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail("connect to %s", path);
  }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (fd < 0) fail("create a socket");
  if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect to %s", path);
  if (fd != SERVER) {
    if (dup2(fd, SERVER) < 0) fail("dup2");
    close(fd);
  }
  tell_server(SERVER);
}

int main(int count, char **arguments) {
  (void)count;
  if (arguments[1] && strcmp(arguments[1], "--check") == 0) {
    struct options options = parse(arguments + 2);
    return check(&options);
  }
  struct options options = parse(arguments + 1);
  if (!options.command) {
    errno = 0;
    fail("no command: graft-jail OPTION... -- COMMAND...; see jail/src/options.c");
  }
  close_others(options.control ? SERVER + 1 : SERVER);
  setsid();
  umask(077);
  if (options.control) tell_server(SERVER);
  if (options.connect) connect_to_server(options.connect);
  if (options.log) open_log(options.log);
  pid_t parent = getppid();
  enter_cgroup(&options);
  enter_namespaces(&options);
  enter_root(&options);
  limit(&options);
  drop_privileges(&options);
  // The worker is killed when the thread that started it ends, so that thread must live as long as the server. This
  // is set here because changing the user clears it.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) fail("prctl(PR_SET_PDEATHSIG)");
  if (getppid() != parent) _exit(EXIT_REFUSED);
  check_readable(&options);
  filter_calls(&options, options.command[0]);
  execv(options.command[0], options.command);
  fail("run %s", options.command[0]);
}
