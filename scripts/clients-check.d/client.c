/* A small client: launches one tiny kernel after another, and waits for each.
 *
 * usage: client FILE SECONDS
 *
 * Prints "ready PID" after its first round, a launch and cuCtxSynchronize, and waits until FILE exists, which holds the time of the start in
 * seconds of Unix time. From then on it makes rounds for SECONDS, and prints "rounds N rate R gap G p99.9 P": R rounds a second, G the
 * longest time between the ends of two rounds, in ms, and P what one in a thousand of these times is longer than. With SECONDS 0 it
 * ends without rounds as soon as FILE exists, and with -SECONDS that time after the start. Kernels count the rounds on the device, which
 * has to be right at the end.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Adds 1 to *count. */
static const char code[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry tiny(.param .u64 count)\n{\n"
    ".reg .b64 %a;\n.reg .b32 %r;\n"
    "ld.param.u64 %a, [count];\nld.global.u32 %r, [%a];\nadd.u32 %r, %r, 1;\nst.global.u32 [%a], %r;\nret;\n}\n";

static void *library;
static int call(const char *name, int result) {
  if (result) printf("error %d of %s\n", result, name);
  if (result) exit(1);
  return result;
}
#define CU(name, parameters, ...) call(#name, ((int(*) parameters)dlsym(library, #name))(__VA_ARGS__))

typedef int launch_function(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static launch_function *launch;
static int (*synchronize)(void);
static void *function;
static uint64_t count;

static void make_round(void) {
  void *parameters[] = {&count};
  call("cuLaunchKernel", launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
  call("cuCtxSynchronize", synchronize());
}

static uint64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* How many times fell into each range. Each power of two of nanoseconds has 64 ranges, so that a time is known to 1.6 percent. */
#define RANGES 64
static uint32_t times[64 * RANGES];

static void add_time(uint64_t ns) {
  int power = 63 - __builtin_clzll(ns | RANGES);
  times[(size_t)power * RANGES + ((ns >> (power - 6)) & (RANGES - 1))]++;
}

/* The lower end of the range that the time of this rank falls into, counted from the shortest. */
static double time_of_rank(uint64_t rank) {
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    if (rank < times[i]) return (double)((RANGES + i % RANGES) << (i / RANGES - 6));
    rank -= times[i];
  }
  return 0;
}

/* The time of the start in ns of Unix time, once the file exists. */
static uint64_t wait_for_start(const char *file) {
  FILE *opened;
  double seconds;
  while (!(opened = fopen(file, "r"))) usleep(10000);
  if (fscanf(opened, "%lf", &seconds) != 1) exit(2);
  fclose(opened);
  return (uint64_t)(seconds * 1e9);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: client FILE SECONDS\n"), 2;
  int idle = *argv[2] == '-';
  uint64_t length = (uint64_t)(atof(argv[2] + idle) * 1e9), rounds = 0, longest = 0;
  void *context, *module;
  uint32_t counted;
  setlinebuf(stdout);
  alarm(300 + (unsigned)(length / 1000000000u)); /* a client that hangs ends by itself */
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return printf("%s\n", dlerror()), 2;
  CU(cuInit, (unsigned), 0);
  CU(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
  CU(cuCtxSetCurrent, (void *), context);
  CU(cuModuleLoadData, (void **, const void *), &module, code);
  CU(cuModuleGetFunction, (void **, void *, const char *), &function, module, "tiny");
  CU(cuMemAlloc_v2, (uint64_t *, size_t), &count, 4);
  CU(cuMemsetD32_v2, (uint64_t, unsigned, size_t), count, 0, 1);
  launch = (launch_function *)dlsym(library, "cuLaunchKernel");
  synchronize = (int (*)(void))dlsym(library, "cuCtxSynchronize");
  make_round();
  printf("ready %d\n", getpid());

  uint64_t start = wait_for_start(argv[1]), unix_time = now(CLOCK_REALTIME);
  if (!length) return 0;
  if (unix_time > start) return printf("not ready in time\n"), 1;
  uint64_t first = now(CLOCK_MONOTONIC) + (start - unix_time), last = first;
  uint64_t wake = first + (idle ? length : 0);
  struct timespec until = {(time_t)(wake / 1000000000u), (long)(wake % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  if (idle) return 0;
  while (last < first + length) {
    make_round();
    uint64_t end = now(CLOCK_MONOTONIC), time = end - last;
    add_time(time);
    if (time > longest) longest = time;
    last = end;
    rounds++;
  }
  CU(cuMemcpyDtoH_v2, (void *, uint64_t, size_t), &counted, count, 4);
  if (counted != (uint32_t)(rounds + 1))
    return printf("the kernels counted %u rounds of %llu\n", counted - 1, (unsigned long long)rounds), 1;
  printf("rounds %llu rate %.1f gap %.3f p99.9 %.3f\n", (unsigned long long)rounds, (double)rounds * 1e9 / (double)(last - first),
         (double)longest / 1e6, time_of_rank(rounds - 1 - rounds / 1000) / 1e6);
  return 0;
}
