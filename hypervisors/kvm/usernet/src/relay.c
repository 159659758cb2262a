// Forwards each connection that a sealed process makes to the relay's Unix socket to the server, two threads a
// connection. The sealed processes' limits of descriptors bound the number of connections of each guest.
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "usernet.h"

enum { STACK = 64 << 10, BUFFER = 256 << 10 };

static const struct options *options;
static char folder[64], socket_path[80];
static pthread_attr_t small;

struct pair {
  int guest, server;
  int ends; // threads that use them; changed atomically
};

static int dial(void) {
  struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
  if (getaddrinfo(options->to_host, options->to_port, &hints, &found)) return -1;
  int fd = -1, yes = 1;
  for (struct addrinfo *one = found; one && fd < 0; one = one->ai_next) {
    fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen) < 0) {
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(found);
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

static bool send_all(int to, const char *bytes, ssize_t count) {
  while (count > 0) {
    ssize_t sent = send(to, bytes, (size_t)count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= sent;
  }
  return true;
}

// Copies until the sender has ended. An error ends both directions.
static void copy(int from, int to) {
  char *buffer = malloc(BUFFER);
  ssize_t count = -1;
  while (buffer && ((count = recv(from, buffer, BUFFER, 0)) > 0 || (count < 0 && errno == EINTR))) {
    if (count > 0 && !send_all(to, buffer, count)) {
      count = -1;
      break;
    }
  }
  free(buffer);
  if (count == 0) {
    shutdown(to, SHUT_WR);
  } else {
    shutdown(from, SHUT_RDWR);
    shutdown(to, SHUT_RDWR);
  }
}

static void leave(struct pair *pair) {
  if (__atomic_sub_fetch(&pair->ends, 1, __ATOMIC_ACQ_REL)) return;
  close(pair->guest);
  if (pair->server >= 0) close(pair->server);
  free(pair);
}

static void *to_guest(void *argument) {
  struct pair *pair = argument;
  copy(pair->server, pair->guest);
  leave(pair);
  return NULL;
}

static void *to_server(void *argument) {
  struct pair *pair = argument;
  pthread_t other;
  pair->server = dial();
  if (pair->server >= 0) {
    pair->ends = 2;
    if (!pthread_create(&other, &small, to_guest, pair)) {
      copy(pair->guest, pair->server);
    } else {
      pair->ends = 1;
    }
  }
  leave(pair);
  return NULL;
}

static void *accept_all(void *argument) {
  int listener = *(int *)argument;
  free(argument);
  while (true) {
    int guest = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (guest < 0) {
      if (errno != EINTR && errno != ECONNABORTED) sleep(1); // out of descriptors or memory
      continue;
    }
    struct pair *pair = calloc(1, sizeof *pair);
    pthread_t thread;
    if (!pair) {
      close(guest);
      continue;
    }
    *pair = (struct pair){.guest = guest, .server = -1, .ends = 1};
    if (pthread_create(&thread, &small, to_server, pair)) leave(pair);
  }
  return NULL;
}

void remove_relay_folder(void) {
  unlink(socket_path);
  rmdir(folder);
}

const char *start_relay(const struct options *given) {
  options = given;
  strcpy(folder, access("/run", W_OK) == 0 ? "/run/graft-usernet.XXXXXX" : "/tmp/graft-usernet.XXXXXX");
  // Sealed processes of root's have another user, who has to get at the socket. Whoever else connects to it reaches
  // what everybody on this machine reaches, the server's port.
  if (!mkdtemp(folder) || chmod(folder, 0711) < 0) fail("create %s", folder);
  snprintf(socket_path, sizeof socket_path, "%s/" RELAY_SOCKET, folder);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, socket_path);
  int *listener = malloc(sizeof *listener);
  if (!listener) fail("allocate memory");
  *listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (*listener < 0 || bind(*listener, (struct sockaddr *)&address, sizeof address) < 0 || chmod(socket_path, 0666) < 0 ||
      listen(*listener, 1024) < 0) {
    fail("listen at %s", socket_path);
  }
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK);
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  errno = pthread_create(&thread, &small, accept_all, listener);
  if (errno) fail("start a thread");
  return folder;
}
