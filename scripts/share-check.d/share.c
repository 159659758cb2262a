/* A guest that uses the GPU for a while: share KIND MICROSECONDS ROUNDS START SECONDS
 *
 * KIND is calibrate (prints how many rounds of the kernel's loop take a microsecond), busy (keeps kernels queued; prints how many
 * finished), or calls (a kernel 100 times a second; prints how long each took). MICROSECONDS is the kernel's time, ROUNDS what calibrate
 * printed. It counts from START (seconds since 1970) for SECONDS; all programs of a row get the same two. The kernel does a fixed amount of
 * work, since clocks go on while another program has the GPU.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuModuleLoadData(void **, const char *);
int cuModuleGetFunction(void **, void *, const char *);
int cuStreamCreate(void **, unsigned);
int cuStreamSynchronize(void *);
int cuEventCreate(void **, unsigned);
int cuEventRecord(void *, void *);
int cuEventSynchronize(void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

#define CHECK(call)                           \
  do {                                        \
    int error = (call);                       \
    if (error) {                              \
      printf("%s: error %d\n", #call, error); \
      exit(1);                                \
    }                                         \
  } while (0)

enum { MOST_CALLS = 100000 };

static const char *const code =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry work(.param .u64 out, .param .u32 rounds) {\n"
    ".reg .u32 %r<4>;\n.reg .u64 %d<2>;\n.reg .pred %p;\n"
    "ld.param.u64 %d1, [out];\nld.param.u32 %r1, [rounds];\nmov.u32 %r2, %tid.x;\n"
    "again:\nmad.lo.u32 %r2, %r2, 1664525, 1013904223;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra again;\n"
    "st.global.u32 [%d1], %r2;\nret;\n}\n";

static void *kernel, *stream;
static uint64_t out;

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void launch(unsigned rounds) {
  void *parameters[] = {&out, &rounds};
  CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL));
}

static double timed(unsigned rounds) {
  double start = now(CLOCK_MONOTONIC);
  launch(rounds);
  CHECK(cuStreamSynchronize(stream));
  return now(CLOCK_MONOTONIC) - start;
}

static int by_time(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median of what 20 times as many rounds take longer, which leaves out the time of launch and wait. */
static void calibrate(void) {
  double times[21];
  unsigned rounds = 1000;
  while (timed(rounds) < 2e-3) rounds *= 2;
  for (int i = 0; i < 21; i++) times[i] = timed(rounds) - timed(rounds / 20);
  qsort(times, 21, sizeof *times, by_time);
  printf("%.4f\n", rounds * 0.95 / (times[10] * 1e6));
}

static void busy(unsigned rounds, double micros, double start, double end) {
  int batch = micros >= 1000 ? 1 : (int)(1000 / micros);
  void *events[2];
  long finished = 0;
  for (int i = 0; i < 2; i++) CHECK(cuEventCreate(&events[i], 2));
  for (long i = 0;; i++) {
    for (int k = 0; k < batch; k++) launch(rounds);
    CHECK(cuEventRecord(events[i & 1], stream));
    if (!i) continue;
    CHECK(cuEventSynchronize(events[(i - 1) & 1]));
    double at = now(CLOCK_REALTIME);
    if (at > end) break;
    if (at > start) finished += batch;
  }
  printf("finished %ld seconds %.6f\n", finished, (double)finished * micros / 1e6);
}

static void calls(unsigned rounds, double start, double end) {
  double *times = malloc(MOST_CALLS * sizeof *times), at;
  int n = 0;
  while ((at = now(CLOCK_REALTIME)) < end && n < MOST_CALLS) {
    double took = timed(rounds);
    if (at > start) times[n++] = took;
    double left = at + 0.01 - now(CLOCK_REALTIME);
    struct timespec pause = {0, (long)(left * 1e9)};
    if (left > 0) nanosleep(&pause, NULL);
  }
  if (!n) exit(1);
  qsort(times, (size_t)n, sizeof *times, by_time);
  printf("calls %d median %.1f p99 %.1f most %.1f\n", n, times[n / 2] * 1e6, times[n * 99 / 100] * 1e6, times[n - 1] * 1e6);
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  void *context, *module;
  CHECK(cuInit(0));
  CHECK(cuDevicePrimaryCtxRetain(&context, 0));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuMemAlloc_v2(&out, 64));
  CHECK(cuModuleLoadData(&module, code));
  CHECK(cuModuleGetFunction(&kernel, module, "work"));
  CHECK(cuStreamCreate(&stream, 1));
  timed(1);
  if (!strcmp(arguments[1], "calibrate")) {
    calibrate();
    return 0;
  }
  if (count < 6) return 2;
  double micros = atof(arguments[2]), start = atof(arguments[4]), end = start + atof(arguments[5]);
  unsigned rounds = (unsigned)(micros * atof(arguments[3]) + 1);
  if (!strcmp(arguments[1], "busy")) {
    busy(rounds, micros, start, end);
  } else {
    calls(rounds, start, end);
  }
  return 0;
}
