/* The throughput of the channel "rdma" between two processes of this machine, without a server, to compare with other programs over UCX. UCX_TLS and UCX_NET_DEVICES choose the transport.
 *
 *   channel BYTES COUNT    COUNT copies of BYTES, each sent after the previous one; prints MB/s as a measurement,
 *                          {"name":"channel","size":BYTES,"unit":"MB/s","samples":[...]}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "transport/ucx.h"

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *why) {
  fprintf(stderr, "channel: %s\n", why);
  exit(1);
}

static struct graft_ucx *join(int socket) {
  char reason[400];
  struct graft_ucx *c = graft_ucx_open(socket, NULL, reason, sizeof reason);
  if (!c) fail(reason);
  return c;
}

static void receive(struct graft_ucx *c, uint8_t *to, size_t bytes) {
  while (bytes) {
    ssize_t n = graft_ucx_receive(c, to, bytes);
    if (n <= 0) fail("the other end is gone");
    to += n;
    bytes -= (size_t)n;
  }
}

/* Reports the arrival of the first copy, which does not count, and of the last one. Ends after the other end. */
static int receiver(int socket, uint8_t *memory, size_t bytes, long count) {
  struct graft_ucx *c = join(socket);
  for (long i = 0; i <= count; i++) {
    receive(c, memory, bytes);
    if (i == 0 || i == count) graft_ucx_send(c, memory, 1);
  }
  uint8_t end;
  graft_ucx_receive(c, &end, 1);
  graft_ucx_close(c);
  return 0;
}

int main(int words, char **word) {
  if (words < 3) fail("usage: channel BYTES COUNT");
  size_t bytes = strtoul(word[1], NULL, 10);
  long count = strtol(word[2], NULL, 10);
  uint8_t *memory = bytes && count > 0 ? malloc(bytes) : NULL, done;
  if (!memory) fail("BYTES and COUNT are numbers from 1 on");
  memset(memory, 1, bytes);
  if (words == 4) return receiver(atoi(word[3]), memory, bytes, count);

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("no sockets");
  pid_t other = fork(); /* the child executes this program again, since a process that has used UCX must not fork */
  if (!other) {
    char socket[12];
    snprintf(socket, sizeof socket, "%d", ends[1]);
    close(ends[0]);
    execl("/proc/self/exe", "channel", word[1], word[2], socket, NULL);
    _exit(127);
  }
  close(ends[1]);
  struct graft_ucx *c = join(ends[0]);
  if (!graft_ucx_send(c, memory, bytes)) fail("the other end is gone");
  receive(c, &done, 1);
  double start = seconds();
  for (long i = 0; i < count; i++) {
    if (!graft_ucx_send(c, memory, bytes)) fail("the other end is gone");
  }
  receive(c, &done, 1);
  double rate = 1e-6 * (double)bytes * (double)count / (seconds() - start);
  printf("{\"name\":\"channel\",\"size\":%zu,\"unit\":\"MB/s\",\"samples\":[%.1f]}\n", bytes, rate);
  graft_ucx_close(c);
  close(ends[0]);
  int status;
  return waitpid(other, &status, 0) == other && status == 0 ? 0 : 1;
}
