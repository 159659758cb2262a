/* The same work on one device and divided among several: each device receives its data, runs a kernel and returns the data.
 *
 * The devices are those that the program sees, or one device of each node. With nodes there is one process for each, as in
 * an MPI program; the environment of the process directs it to that node's server. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workload.h"

#define WORDS (4 << 20)
#define ITERATIONS 40000

/* ---- A device's part ---- */

struct part {
  devptr data, sums;
  handle bump, spin;
  unsigned *host;
};

static struct part prepare(void) {
  unsigned words = scaled(WORDS);
  struct part p = {device_memory(words * 4), device_memory(32 * sizeof(float)), kernel("bump"), kernel("spin"),
                   pinned_memory(words * 4)};
  memset(p.host, 0, words * 4);
  return p;
}

/* The number of words of a part if the work is divided among COUNT devices. */
static unsigned words_of(int count) { return scaled(WORDS) / (unsigned)count; }

/* Starts the current device's part of work that is divided among COUNT devices. */
static void begin(struct part *p, int count) {
  unsigned words = words_of(count), iterations = scaled(ITERATIONS) / (unsigned)count;
  CALL(cuMemcpyHtoDAsync_v2(p->data, p->host, words * 4, NULL));
  void *bump[] = {&p->data, &words}, *spin[] = {&p->sums, &iterations};
  launch(p->bump, (words + BLOCK - 1) / BLOCK, BLOCK, NULL, bump);
  launch(p->spin, 1, 32, NULL, spin);
  CALL(cuMemcpyDtoHAsync_v2(p->host, p->data, words * 4, NULL));
}

/* The work takes less than a millisecond on a GPU: it is done this often on one device and on all, in turn. */
#define RUNS 15

/* Each run adds one to every word of its part. */
static void expect(const struct part *p, unsigned word, unsigned runs) {
  if (p->host[word] != runs) fail("multi-gpu: a wrong result");
}

/* The time in microseconds of each run on one device, and on all COUNT. Sorts both. */
static void print(int count, double *one, double *all) {
  qsort(one, RUNS, sizeof *one, by_value);
  qsort(all, RUNS, sizeof *all, by_value);
  double gain = one[RUNS / 2] / all[RUNS / 2];
  for (int i = 0; i < RUNS; i++) one[i] /= 1e3, all[i] /= 1e3;
  figures("one-device", 1, one, RUNS, "ms");
  figures("all-devices", (size_t)count, all, RUNS, "ms");
  figure("speed-up", (size_t)count, gain, "x");
}

/* ---- Devices of this program ---- */

static double run(struct part *parts, int count) {
  double start = now();
  for (int i = 0; i < count; i++) {
    use_device(i);
    begin(&parts[i], count);
  }
  for (int i = 0; i < count; i++) {
    use_device(i);
    CALL(cuCtxSynchronize());
  }
  return now() - start;
}

/* Copies from the first device to the second, directly where the devices can reach each other. */
#define COPIES 4
static void copy_between(const struct part *parts) {
  enum { LEAST = 1 << 20 };
  size_t most = (size_t)scaled(WORDS) * 4;
  for (int i = 0; i < 2; i++) {
    use_device(i);
    cuCtxEnablePeerAccess(context_of(!i), 0); /* an error says that there is no direct path, or that it is open already */
  }
  use_device(0);
  for (size_t bytes = LEAST; bytes <= most; bytes *= 16) {
    double samples[COPIES];
    for (int i = -1; i < COPIES; i++) {
      double start = now();
      CALL(cuMemcpyPeerAsync(parts[1].data, context_of(1), parts[0].data, context_of(0), bytes, NULL));
      CALL(cuCtxSynchronize());
      if (i >= 0) samples[i] = (double)bytes / (now() - start) / 1e3;
    }
    figures("between-devices", bytes, samples, COPIES, "GB/s");
  }
}

static void on_devices(void) {
  int count = options.devices, there = devices();
  if (there < count) unsupported("%d devices are wanted, and there %s %d", count, there == 1 ? "is" : "are", there);
  struct part *parts = calloc((size_t)count, sizeof *parts);
  for (int i = 0; i < count; i++) {
    use_device(i);
    parts[i] = prepare();
  }
  double one[RUNS], all[RUNS];
  run(parts, count);
  for (int i = 0; i < RUNS; i++) {
    one[i] = run(parts, 1);
    all[i] = run(parts, count);
  }
  /* The first device's part was also the whole work. */
  expect(&parts[0], words_of(count) - 1, 2 * RUNS + 1);
  expect(&parts[0], words_of(1) - 1, RUNS);
  for (int i = 1; i < count; i++) expect(&parts[i], words_of(count) - 1, RUNS + 1);
  print(count, one, all);
  copy_between(parts);
  free(parts);
}

/* ---- Devices of several nodes ---- */

#define MOST_NODES 16

/* The processes of the nodes after the first. Each receives the number of devices among which the work is divided, and
 * reports the end of its part over its socket. */
static struct {
  int socket;
  FILE *says;
} others[MOST_NODES];
static int nodes = 1;

/* Sets variables of the environment, given as lines of NAME=VALUE. */
static void become(char *settings) {
  for (char *line = strtok(settings, "\n"); line; line = strtok(NULL, "\n")) {
    if (putenv(line)) fail("putenv: %s", strerror(errno));
  }
}

/* The main loop of a node's process: does its part of the work each time it is asked, until the socket is closed. */
static void work(int socket) __attribute__((noreturn));
static void work(int socket) {
  load_driver();
  use_device(0);
  struct part p = prepare();
  puts("done");
  fflush(stdout);
  int count;
  for (unsigned runs = 1; read(socket, &count, sizeof count) == sizeof count; runs++) {
    begin(&p, count);
    CALL(cuCtxSynchronize());
    expect(&p, words_of(count) - 1, runs);
    puts("done");
    fflush(stdout);
  }
  exit(0);
}

void start_nodes(void) {
  for (; nodes < MOST_NODES; nodes++) {
    char name[40];
    snprintf(name, sizeof name, "GRAFT_WORKLOAD_NODE_%d", nodes);
    char *settings = getenv(name);
    int ends[2];
    if (!settings) return;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) fail("socketpair: %s", strerror(errno));
    pid_t process = fork();
    if (process < 0) fail("fork: %s", strerror(errno));
    if (!process) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (int i = 1; i < nodes; i++) fclose(others[i].says);
      close(ends[0]);
      dup2(ends[1], STDOUT_FILENO);
      become(settings);
      work(ends[1]);
    }
    close(ends[1]);
    others[nodes].socket = ends[0];
    others[nodes].says = fdopen(ends[0], "r");
    if (!others[nodes].says) fail("no memory");
  }
}

/* Asks the nodes' processes for their parts. A process that has ended is noticed when its answer is awaited. */
static void ask(int count) {
  for (int i = 1; i < nodes; i++) send(others[i].socket, &count, sizeof count, MSG_NOSIGNAL);
}

static void await(void) {
  for (int i = 1; i < nodes; i++) {
    char line[512] = "its process was killed";
    fgets(line, sizeof line, others[i].says);
    line[strcspn(line, "\n")] = '\0';
    if (!strcmp(line, "done")) continue;
    const char *why = strstr(line, ": ");
    fail("node %d: %s", i, why ? why + 2 : line);
  }
}

static double run_nodes(struct part *p, int count) {
  double start = now();
  if (count > 1) ask(count);
  begin(p, count);
  CALL(cuCtxSynchronize());
  if (count > 1) await();
  return now() - start;
}

static void on_nodes(void) {
  use_device(0);
  struct part p = prepare();
  await(); /* until the processes are ready */
  double one[RUNS], all[RUNS];
  run_nodes(&p, nodes);
  for (int i = 0; i < RUNS; i++) {
    one[i] = run_nodes(&p, 1);
    all[i] = run_nodes(&p, nodes);
  }
  expect(&p, words_of(nodes) - 1, 2 * RUNS + 1);
  expect(&p, words_of(1) - 1, RUNS);
  print(nodes, one, all);
}

void multi_gpu(void) {
  if (nodes > 1) {
    on_nodes();
  } else {
    on_devices();
  }
}
