/* Opens stream sockets to the server. */
#include "transport/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include "transport/exchange.h"

int graft_dial_unix(const char *path, char *reason, size_t size) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    snprintf(reason, size, "Unix socket path is longer than %zu: %s", sizeof address.sun_path - 1, path);
    return -1;
  }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) {
    snprintf(reason, size, "cannot connect to unix://%s: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
  }
  return fd;
}

/* Connects within a time limit, since a host that drops packets never answers. */
static int connect_within(int fd, const struct sockaddr *address, socklen_t bytes) {
  int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  int r = connect(fd, address, bytes);
  if (r && errno == EINPROGRESS) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error = ETIMEDOUT;
    socklen_t length = sizeof error;
    if (poll(&p, 1, GRAFT_HANDSHAKE_MILLISECONDS) == 1) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    errno = error;
    r = error ? -1 : 0;
  }
  fcntl(fd, F_SETFL, flags);
  return r;
}

const char *graft_host_of(const char *text, char *host, size_t size) {
  const char *colon = strrchr(text, ':');
  if (!colon || !colon[1]) return NULL;
  size_t length = (size_t)(colon - text);
  bool in_brackets = length > 2 && text[0] == '[' && text[length - 1] == ']';
  snprintf(host, size, "%.*s", (int)(in_brackets ? length - 2 : length), text + in_brackets);
  return colon + 1;
}

int graft_dial_tcp(const char *text, char *reason, size_t size) {
  char name[256];
  const char *port = graft_host_of(text, name, sizeof name);
  if (!port) {
    snprintf(reason, size, "server address has no port: tcp://%s", text);
    return -1;
  }
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
  int r = getaddrinfo(name, port, &hints, &list);
  if (r) {
    snprintf(reason, size, "cannot resolve %s: %s", name, gai_strerror(r));
    return -1;
  }
  int fd = -1, error = 0;
  for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect_within(fd, a->ai_addr, a->ai_addrlen)) {
      error = errno;
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(list);
  if (fd < 0) {
    snprintf(reason, size, "cannot connect to tcp://%s: %s", text, strerror(error));
    return -1;
  }
  int on = 1, idle = 10, interval = 5, count = 4;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  return fd;
}

int graft_dial_vsock(const char *text, char *reason, size_t size) {
  unsigned cid, port;
  int end = 0;
  if (sscanf(text, "%u:%u%n", &cid, &port, &end) != 2 || text[end]) {
    snprintf(reason, size, "a vsock address is vsock://CID:PORT (the host is CID 2), not vsock://%s", text);
    return -1;
  }
  struct sockaddr_vm address = {.svm_family = AF_VSOCK, .svm_cid = cid, .svm_port = port};
  int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect_within(fd, (struct sockaddr *)&address, sizeof address)) {
    snprintf(reason, size, "cannot connect to vsock://%s: %s", text, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
  }
  return fd;
}

static bool is_loopback(const struct sockaddr_storage *address) {
  const struct sockaddr_in *four = (const struct sockaddr_in *)address;
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
  if (address->ss_family == AF_INET) return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  return address->ss_family == AF_INET6 &&
         (IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) ||
          (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) && six->sin6_addr.s6_addr[12] == IN_LOOPBACKNET));
}

/* The address of the other end; of no family if it is unknown. */
static struct sockaddr_storage peer_of(int fd) {
  struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
  socklen_t length = sizeof peer;
  if (getpeername(fd, (struct sockaddr *)&peer, &length)) peer.ss_family = AF_UNSPEC;
  return peer;
}

bool graft_is_tcp(int fd) {
  struct sockaddr_storage peer = peer_of(fd);
  return peer.ss_family == AF_INET || peer.ss_family == AF_INET6;
}

bool graft_leaves_machine(int fd) {
  struct sockaddr_storage peer = peer_of(fd);
  return peer.ss_family != AF_UNIX && peer.ss_family != AF_VSOCK && !is_loopback(&peer);
}
