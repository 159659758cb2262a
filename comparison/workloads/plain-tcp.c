/* The throughput of plain TCP on this machine's loopback, without CUDA: the reference for the channel tcp. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

/* One process sends a block over several connections; another answers once it has received the whole block. */

#define MOST_STREAMS 16
#define PART (1 << 20)

struct stream {
  int fd;
  char *data;
  size_t bytes; /* of this connection's share */
};

static void all(ssize_t (*move)(int, void *, size_t, int), int fd, char *data, size_t bytes, size_t step) {
  for (size_t done = 0; done < bytes;) {
    size_t take = bytes - done < step ? bytes - done : step;
    ssize_t n = move(fd, step == bytes ? data + done : data, take, MSG_NOSIGNAL);
    if (n <= 0) exit(1);
    done += (size_t)n;
  }
}

static ssize_t send_some(int fd, void *data, size_t bytes, int flags) { return send(fd, data, bytes, flags); }

static void *send_share(void *stream) {
  struct stream *s = stream;
  all(send_some, s->fd, s->data, s->bytes, s->bytes);
  return NULL;
}

/* Receives into the same buffer repeatedly, like a receiver that forwards the data. */
static void *receive_share(void *stream) {
  struct stream *s = stream;
  all(recv, s->fd, s->data, s->bytes, PART);
  return NULL;
}

static void together(void *(*work)(void *), struct stream *streams, int count) {
  pthread_t threads[MOST_STREAMS];
  for (int i = 1; i < count; i++) {
    if (pthread_create(&threads[i], NULL, work, &streams[i])) exit(1);
  }
  work(&streams[0]);
  for (int i = 1; i < count; i++) pthread_join(threads[i], NULL);
}

static void pair(int fds[2]) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  fds[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&address, &length) || connect(fds[0], (struct sockaddr *)&address, length) ||
      (fds[1] = accept(listener, NULL, NULL)) < 0) {
    fail("loopback: %s", strerror(errno));
  }
  for (int i = 0; i < 2; i++) setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  close(listener);
}

/* Receives a byte, blocking or polling. */
static void take_byte(int fd, int flags) {
  char byte;
  while (recv(fd, &byte, 1, flags) != 1) {}
}

void plain_tcp(void) {
  int count = options.streams;
  if (count > MOST_STREAMS) fail("at most %d streams", MOST_STREAMS);
  struct stream here[MOST_STREAMS], there[MOST_STREAMS];
  int control[2], trips = 1001, first = 2, last = (int)copy_sizes();
  size_t most = sizes[last - 1];
  pair(control);
  char *data = host_memory(most);
  for (int i = 0; i < count; i++) {
    int fds[2];
    pair(fds);
    here[i].fd = fds[0];
    there[i] = (struct stream){fds[1], malloc(PART), 0};
  }
  pid_t child = fork();
  if (!child) {
    for (int flags = 0; flags <= MSG_DONTWAIT; flags += MSG_DONTWAIT) {
      for (int i = 0; i < trips; i++) {
        take_byte(control[1], flags);
        if (send(control[1], "", 1, 0) != 1) _exit(1);
      }
    }
    for (int k = first; k < last; k++) {
      for (int i = 0; i < count; i++) there[i].bytes = sizes[k] / (size_t)count;
      for (int r = 0; r < 17; r++) {
        together(receive_share, there, count);
        if (send(control[1], "", 1, 0) != 1) _exit(1);
      }
    }
    _exit(0);
  }
  double t[1001];
  for (int flags = 0; flags <= MSG_DONTWAIT; flags += MSG_DONTWAIT) {
    for (int i = 0; i < trips; i++) {
      double start = now();
      if (send(control[0], "", 1, 0) != 1) fail("the other end is gone");
      take_byte(control[0], flags);
      t[i] = now() - start;
    }
    figures(flags ? "plain-round-trip-polling" : "plain-round-trip", 0, t, trips, "us");
  }
  for (int k = first; k < last; k++) {
    size_t share = sizes[k] / (size_t)count;
    for (int i = 0; i < count; i++) {
      here[i].bytes = share;
      here[i].data = data + (size_t)i * share;
    }
    for (int r = -2; r < 15; r++) {
      double start = now();
      together(send_share, here, count);
      take_byte(control[0], 0);
      if (r >= 0) t[r] = (double)(share * (size_t)count) / (now() - start) / 1e3;
    }
    figures("plain-copy", sizes[k], t, 15, "GB/s");
  }
  int status;
  waitpid(child, &status, 0);
  if (status) fail("the other end ended with %d", status);
}

