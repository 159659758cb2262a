#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <asm/unistd.h>
#include "jail.h"

static const char *const call_names[] = {
#include "call_names.h"
};

enum { KINDS = 4096 };

static int file = -1;

void open_log(const char *path) {
  file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) fail("open %s", path);
}

// Returns whether a call with that number and that request or family has not been logged yet.
static bool is_new(int call, unsigned detail) {
  static struct {
    int call;
    unsigned detail;
  } seen[KINDS];
  static int count;
  for (int i = 0; i < count; i++) {
    if (seen[i].call == call && seen[i].detail == detail) return false;
  }
  if (count == KINDS) return false;
  seen[count].call = call;
  seen[count++].detail = detail;
  return true;
}

static void write_down(const struct seccomp_data *data) {
  unsigned detail = 0;
  if (data->nr == __NR_ioctl) detail = (unsigned)data->args[1];
  else if (data->nr == __NR_socket || data->nr == __NR_prctl || data->nr == __NR_clone) detail = (unsigned)data->args[0];
  if (!is_new(data->nr, detail)) return;
  bool known = data->nr >= 0 && (size_t)data->nr < sizeof call_names / sizeof *call_names && call_names[data->nr];
  dprintf(file, "%d %s(0x%llx, 0x%llx, 0x%llx)\n", data->nr, known ? call_names[data->nr] : "?",
          (unsigned long long)data->args[0], (unsigned long long)data->args[1], (unsigned long long)data->args[2]);
}

static void watch(int listener) {
  while (true) {
    struct pollfd ready = {listener, POLLIN, 0};
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) return;
    if (ready.revents & POLLHUP) return;
    struct seccomp_notif call;
    memset(&call, 0, sizeof call);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0) continue;
    write_down(&call.data);
    struct seccomp_notif_resp answer = {.id = call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
}

static struct msghdr message_of(struct iovec *part, void *control, size_t bytes) {
  return (struct msghdr){.msg_iov = part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = bytes};
}

static int receive(int socket) {
  char byte;
  struct iovec part = {&byte, 1};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  struct msghdr message = message_of(&part, control, sizeof control);
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0 || message.msg_controllen == 0) _exit(EXIT_REFUSED);
  int fd;
  memcpy(&fd, CMSG_DATA((struct cmsghdr *)control), sizeof fd);
  return fd;
}

int start_log(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) fail("socketpair");
  pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    close(3); // the server waits for the end of the worker on this socket
    close(ends[0]);
    watch(receive(ends[1]));
    _exit(0);
  }
  close(ends[1]);
  return ends[0];
}

void hand_to_log(int logger, int listener) {
  char byte = 0;
  struct iovec part = {&byte, 1};
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
  struct msghdr message = message_of(&part, control, sizeof control);
  struct cmsghdr *head = (struct cmsghdr *)control;
  *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(head), &listener, sizeof listener);
  if (sendmsg(logger, &message, 0) < 0) fail("hand over the filter");
  close(logger);
  close(listener);
}
