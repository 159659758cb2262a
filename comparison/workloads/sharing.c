/* One program among several that share a GPU. It prints "ready" when it could begin, and waits for a line "begin START" on
 * standard input, so that all programs of a measurement begin together. START is in seconds since 1970; what happens before
 * START and after options.seconds from then does not count.
 *
 * only=calibrate  the rounds of the kernel's loop in a microsecond, which the other kinds get as rounds=
 * only=busy       keeps kernels of kernel= microseconds queued: the GPU time of those that finished
 * only=calls      such a kernel 100 times a second: how long each took, with its wait
 *
 * A kernel does a fixed amount of work: a clock in it would go on while another program has the GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "workload.h"

enum { MOST_CALLS = 100000, BATCH_MICROSECONDS = 1000, PERIOD_NANOSECONDS = 10000000 };

static handle spin, stream;
static devptr sums;

static double wall(void) { /* seconds since 1970 */
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void enqueue(unsigned rounds) {
  void *arguments[] = {&sums, &rounds};
  launch(spin, 1, 32, stream, arguments);
}

static double call(unsigned rounds) {
  double start = now();
  enqueue(rounds);
  CALL(cuStreamSynchronize(stream));
  return now() - start;
}

/* What 20 times as many rounds take longer, in microseconds, which leaves out the time of launch and wait. A busy machine makes
 * calls longer and never shorter: the shortest of each kind are compared. */
static double longer(unsigned rounds) {
  double many = call(rounds), few = call(rounds / 20);
  for (int i = 0; i < 20; i++) {
    double took = call(rounds);
    if (took < many) many = took;
    took = call(rounds / 20);
    if (took < few) few = took;
  }
  return many - few;
}

static void calibrate(void) {
  unsigned rounds = 1000;
  double microseconds;
  while ((microseconds = longer(rounds)) < 2000 && rounds < 1u << 30) rounds *= 2;
  if (microseconds <= 0) fail("the machine is too busy: a long kernel took no longer than a short one");
  figure("rounds", 0, rounds * 0.95 / microseconds, "1/us");
}

static void busy(unsigned rounds, double start) {
  int batch = options.kernel >= BATCH_MICROSECONDS ? 1 : (int)(BATCH_MICROSECONDS / options.kernel);
  handle events[2];
  long finished = 0;
  for (int i = 0; i < 2; i++) CALL(cuEventCreate(&events[i], 2));
  for (long i = 0;; i++) {
    for (int k = 0; k < batch; k++) enqueue(rounds);
    CALL(cuEventRecord(events[i & 1], stream));
    if (!i) continue;
    CALL(cuEventSynchronize(events[(i - 1) & 1]));
    double at = wall();
    if (at > start + options.seconds) break;
    if (at > start) finished += batch;
  }
  figure("busy", 0, (double)finished * options.kernel / 1e6, "s");
}

static void calls(unsigned rounds, double start) {
  double *times = host_memory(MOST_CALLS * sizeof *times), at;
  int count = 0;
  while ((at = wall()) < start + options.seconds && count < MOST_CALLS) {
    double took = call(rounds);
    if (at > start) times[count++] = took;
    struct timespec pause = {0, (long)(PERIOD_NANOSECONDS - took * 1e3)};
    if (pause.tv_nsec > 0) nanosleep(&pause, NULL);
  }
  if (!count) fail("no call began in time");
  figures("call", 0, times, count, "us");
  free(times);
}

void sharing(void) {
  if (!options.only) fail("only=calibrate, only=busy or only=calls is missing");
  spin = kernel("spin");
  CALL(cuStreamCreate(&stream, 1));
  sums = device_memory(32 * sizeof(float));
  unsigned rounds = (unsigned)(options.kernel * options.rounds + 1);
  call(1);
  if (wanted("calibrate")) {
    calibrate();
    return;
  }
  double start;
  puts("ready");
  fflush(stdout);
  if (scanf("begin %lf", &start) != 1) fail("the line 'begin START' did not come");
  if (wanted("busy")) {
    busy(rounds, start);
  } else {
    calls(rounds, start);
  }
}
