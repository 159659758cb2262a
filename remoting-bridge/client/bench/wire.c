/* What TLS costs on connections of this machine, without a server and a GPU: bulk data over TCP on the loopback interface, as data
 * connections send it, without and with TLS.
 *
 *   wire CONNECTIONS MIB    sends MIB over each connection, first plain, then with TLS, and then, if the kernel can, with TLS that the kernel
 *                           encrypts; prints for each the throughput of all connections and the CPU seconds that a GB takes at both ends, as
 *                           measurements,
 *                           {"setting":"tcp","name":"wire","size":BYTES,"unit":"MB/s","samples":[...]}
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "transport/tls.h"

#define CHUNK (512u << 10)
#define HEAD 24
#define MEMORY (32u << 20) /* more than a core's cache holds */
#define MOST 64

enum setting { TCP, TLS, KTLS };

struct end {
  int fd;
  enum setting setting;
  bool sends;
  size_t bytes;
  double cpu, start, stop;
  uint8_t *memory;
  struct graft_tls *tls;
};

static pthread_barrier_t open_all;

static void fail(const char *why) {
  fprintf(stderr, "wire: %s\n", why);
  exit(1);
}

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void put(struct end *e, const void *data, size_t bytes, bool more) {
  const uint8_t *at = data;
  while (bytes) {
    ssize_t n = e->tls ? graft_tls_send(e->tls, at, bytes, more) : send(e->fd, at, bytes, MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    if (n <= 0) fail("sending failed");
    at += n;
    bytes -= (size_t)n;
  }
}

static void take(struct end *e, void *to, size_t bytes) {
  uint8_t *at = to;
  while (bytes) {
    ssize_t n = e->tls ? graft_tls_receive(e->tls, at, bytes) : recv(e->fd, at, bytes, MSG_WAITALL);
    if (n <= 0) fail("receiving failed");
    at += n;
    bytes -= (size_t)n;
  }
}

static void *run(void *end) {
  static const uint8_t key[GRAFT_TLS_KEY] = {7};
  struct end *e = end;
  char reason[400];
  uint8_t head[HEAD] = {0};
  if (e->setting != TCP && !(e->tls = graft_tls_open(e->fd, e->sends, key, 10000, reason, sizeof reason))) fail(reason);
  if (e->setting == KTLS && e->sends && !graft_tls_send_by_kernel(e->tls, reason, sizeof reason)) {
    fprintf(stderr, "wire: the kernel does not encrypt: %s\n", reason);
    exit(0); /* what was measured before is printed */
  }
  pthread_barrier_wait(&open_all);
  e->start = seconds(CLOCK_MONOTONIC);
  double cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
  for (size_t done = 0; done < e->bytes; done += CHUNK) {
    uint8_t *at = e->memory + done % MEMORY;
    if (e->sends) {
      put(e, head, sizeof head, true);
      put(e, at, CHUNK, false);
    } else {
      take(e, head, sizeof head);
      take(e, at, CHUNK);
    }
  }
  e->cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
  e->stop = seconds(CLOCK_MONOTONIC);
  return NULL;
}

/* The two ends of a connection. */
static void connect_ends(struct end *one, struct end *other) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  one->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&at, &length) || connect(one->fd, (struct sockaddr *)&at, sizeof at) ||
      (other->fd = accept(listener, NULL, NULL)) < 0) {
    fail("no connection over the loopback interface");
  }
  setsockopt(one->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(other->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  close(listener);
}

static void print(enum setting setting, const char *name, size_t bytes, const char *unit, double value) {
  static const char *const names[] = {"tcp", "tls", "ktls"};
  printf("{\"setting\":\"%s\",\"name\":\"%s\",\"size\":%zu,\"unit\":\"%s\",\"samples\":[%.3f]}\n", names[setting], name, bytes,
         unit, value);
}

static void measure(enum setting setting, int connections, size_t bytes, uint8_t *memory) {
  struct end ends[2 * MOST];
  pthread_t threads[2 * MOST];
  double start = 0, stop = 0, cpu[2] = {0, 0};
  int count = 2 * connections;
  memset(ends, 0, sizeof ends);
  pthread_barrier_init(&open_all, NULL, (unsigned)count);
  for (int i = 0; i < count; i += 2) connect_ends(&ends[i], &ends[i + 1]);
  for (int i = 0; i < count; i++) {
    ends[i].memory = memory + (size_t)i * MEMORY;
    ends[i].setting = setting;
    ends[i].sends = i % 2;
    ends[i].bytes = bytes;
    if (pthread_create(&threads[i], NULL, run, &ends[i])) fail("no thread");
  }
  for (int i = 0; i < count; i++) {
    pthread_join(threads[i], NULL);
    if (!i || ends[i].start < start) start = ends[i].start;
    if (ends[i].stop > stop) stop = ends[i].stop;
    cpu[i % 2] += ends[i].cpu;
    graft_tls_close(ends[i].tls);
  }
  for (int i = 0; i < count; i++) close(ends[i].fd);
  pthread_barrier_destroy(&open_all);
  double gigabytes = 1e-9 * (double)bytes * connections;
  print(setting, "wire", bytes, "MB/s", 1e3 * gigabytes / (stop - start));
  print(setting, "wire-cpu-sending", bytes, "s/GB", cpu[1] / gigabytes);
  print(setting, "wire-cpu-receiving", bytes, "s/GB", cpu[0] / gigabytes);
}

int main(int words, char **word) {
  int connections = words == 3 ? atoi(word[1]) : 0;
  size_t bytes = words == 3 ? strtoul(word[2], NULL, 10) << 20 : 0;
  if (connections < 1 || connections > MOST || !bytes) fail("usage: wire CONNECTIONS MIB");
  size_t all = 2 * (size_t)connections * MEMORY;
  uint8_t *memory = malloc(all);
  if (!memory) fail("no memory");
  memset(memory, 1, all);
  for (enum setting setting = TCP; setting <= KTLS; setting++) measure(setting, connections, bytes, memory);
  return 0;
}
