/* A program with a given share of its time in transfers (after the Xen paper's synthetic application: its figure 8).
 *
 * A run without amount= calibrates: it determines the numbers of bytes and launches that give this share in its setting, and
 * prints them. Runs in other settings get that amount, so that their times show the cost of the setting. Transfers use
 * pageable memory; the size of each is random within the class of sizes, as in the paper. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload.h"

struct amount {
  uint64_t bytes;
  unsigned launches, iterations;
};

static handle spin;
static devptr buffer, sums;
static void *host;

static size_t any_size(unsigned *seed) {
  return options.low + (size_t)((double)(options.high - options.low) * rand_r(seed) / RAND_MAX);
}

static void transfer(size_t bytes, unsigned turn) {
  bool up = !strcmp(options.direction, "h2d") || (!strcmp(options.direction, "both") && turn % 2 == 0);
  if (up) {
    CALL(cuMemcpyHtoD_v2(buffer, host, bytes));
  } else {
    CALL(cuMemcpyDtoH_v2(host, buffer, bytes));
  }
}

static void compute(unsigned iterations) {
  void *arguments[] = {&sums, &iterations};
  launch(spin, 1, 64, NULL, arguments);
  CALL(cuCtxSynchronize());
}

static double compute_time(unsigned iterations) {
  double best = 1e12;
  for (int i = 0; i < 5; i++) {
    double start = now();
    compute(iterations);
    double took = now() - start;
    if (took < best) best = took;
  }
  return best;
}

/* The number of iterations that makes a launch long compared with the cost of the call itself. */
static unsigned long_enough(void) {
  unsigned iterations = 1024;
  while (compute_time(iterations) < 1000 && iterations < 1u << 28) iterations *= 2;
  return iterations;
}

/* Microseconds of transfers and of launches, which alternate. */
struct times {
  double moving, computing, all;
  uint64_t moved;
};
static struct times carry_out(struct amount a) {
  struct times t = {.moved = 0};
  double start = now();
  unsigned seed = options.seed, turn = 0;
  for (unsigned launched = 1; launched <= a.launches; launched++) {
    double began = now();
    compute(a.iterations);
    t.computing += now() - began;
    uint64_t until = (uint64_t)((double)a.bytes * launched / a.launches);
    began = now();
    while (t.moved < until) {
      size_t size = any_size(&seed);
      if (size > until - t.moved) size = (size_t)(until - t.moved);
      transfer(size, turn++);
      t.moved += size;
    }
    t.moving += now() - began;
  }
  t.all = now() - start;
  return t;
}

/* Starts from an estimate and corrects it three times by the result of a run: transfers between launches take a different
 * time from transfers alone. */
static struct amount calibrate(void) {
  double wanted_compute = options.seconds * 1e6 * (100 - options.share) / 100;
  double wanted_moving = options.seconds * 1e6 * options.share / 100;
  struct amount a = {.iterations = long_enough(), .bytes = 8 * options.high};
  double launches = wanted_compute / compute_time(a.iterations);
  a.launches = launches < 1 ? 1 : (unsigned)launches;
  for (int i = 0; i < 3; i++) {
    struct times t = carry_out(a);
    a.launches = (unsigned)(a.launches * wanted_compute / t.computing + 0.5);
    if (!a.launches) a.launches = 1;
    a.bytes = (uint64_t)((double)a.bytes * wanted_moving / t.moving);
  }
  return a;
}

void synthetic(void) {
  spin = kernel("spin");
  buffer = device_memory(options.high);
  sums = device_memory(64 * sizeof(float));
  host = host_memory(options.high);
  struct amount a;
  transfer(options.high, 0); /* not counted: the first transfer in each direction is slower */
  transfer(options.high, 1);
  compute(1024);
  if (!options.amount) {
    a = calibrate();
    printf("amount\t%" PRIu64 ",%u,%u\n", a.bytes, a.launches, a.iterations);
  } else if (sscanf(options.amount, "%" SCNu64 ",%u,%u", &a.bytes, &a.launches, &a.iterations) != 3) {
    fail("amount=%s is not BYTES,LAUNCHES,ITERATIONS", options.amount);
  }
  struct times t = carry_out(a);
  figure("time", 0, t.all / 1e3, "ms");
  figure("transfer", 0, t.moving / 1e3, "ms");
  figure("compute", 0, t.computing / 1e3, "ms");
  figure("transfer-share", 0, t.moving / t.all * 100, "%");
  figure("bytes", 0, (double)t.moved, "B");
}
