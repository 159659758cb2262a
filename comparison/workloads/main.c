/* graft-workload: the programs of a comparison. It needs libcuda.so.1 at run time, and no part of CUDA to build.
 *
 * The same binary measures the real driver and Graft's client: it opens the libcuda.so.1 that the loader finds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

static const char usage[] =
    "Usage: graft-workload WORKLOAD [OPTION=VALUE ...]\n"
    "\n"
    "  bandwidth   copies by size, direction and kind of memory        most=BYTES seconds=S\n"
    "  remoting    copies waited for and queued, launches, allocation, a round trip, p99.9   quick=yes\n"
    "  start       the start of CUDA alone\n"
    "  load        that, and all until a first kernel has run, which the driver compiles or finds in its cache\n"
    "  step        steps of a training loop: a copy to the device, launches, a copy back                scale=N\n"
    "  plain-tcp   what plain TCP carries on loopback, without CUDA    streams=N quick=yes\n"
    "  launch      launches, synchronization, allocation, start-up     scale=N\n"
    "  synthetic   a share of the time in transfers, the rest in a kernel\n"
    "              share=PERCENT direction=h2d|d2h|both low=BYTES high=BYTES seed=N seconds=S\n"
    "              amount=TEXT: as much as a run that calibrated itself said; without it, this one calibrates\n"
    "  kernels     option pricing, Walsh transform, concurrent kernels, overlapped copies   scale=N only=NAME\n"
    "  memory      patterns of memory and compute                      scale=N only=NAME\n"
    "  sharing     one of several programs that share a device, started by graft bench sharing\n"
    "              only=calibrate|busy|calls kernel=MICROSECONDS rounds=N seconds=S\n"
    "  multi-gpu   one piece of work on one device and on several      devices=N scale=N\n"
    "              on one of each node instead: GRAFT_WORKLOAD_NODE_1 and so on hold what a process needs in its\n"
    "              environment to reach the nodes after the first, a line of NAME=VALUE each\n"
    "  exec        any program, and how long it ran: graft-workload exec PROGRAM [ARGUMENT ...]\n"
    "\n"
    "Prints a line {\"name\":...,\"size\":...,\"unit\":...,\"samples\":[...]} for each figure, and, separated by tabs, device NAME\n"
    "and amount TEXT. The last line is result=ok, result=failed: WHY or result=unsupported: WHY. Exit code: 0 ok, 1 failed, 2 wrong usage, 77 unsupported.\n";

#define DEFINE(name, parameters) int(*name) parameters;
DRIVER(DEFINE)
#undef DEFINE

struct options options = {.scale = 1,
                          .most = 64 << 20,
                          .seconds = 0.05,
                          .share = 35,
                          .direction = "both",
                          .low = 256 << 10,
                          .high = 1 << 20,
                          .seed = 1,
                          .devices = 2,
                          .streams = 6,
                          .kernel = 500,
                          .rounds = 1};

/* The kernels' PTX, terminated by a zero byte. */
extern const char kernels_ptx[];
__asm__(".section .rodata\n.global kernels_ptx\nkernels_ptx:\n.incbin \"kernels.ptx\"\n.byte 0\n.text\n");

#define MOST_DEVICES 16
static handle contexts[MOST_DEVICES], modules[MOST_DEVICES];
static int current;

static void finish(const char *word, int code, const char *format, va_list arguments) __attribute__((noreturn));
static void finish(const char *word, int code, const char *format, va_list arguments) {
  printf("result=%s: ", word);
  vprintf(format, arguments);
  printf("\n");
  exit(code);
}

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  finish("failed", 1, format, arguments);
}

void unsupported(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  finish("unsupported", 77, format, arguments);
}

void check(int result, const char *call) {
  if (!result) return;
  const char *name = NULL;
  if (cuGetErrorName) cuGetErrorName(result, &name);
  fail("%s: %s (%d)", call, name ? name : "CUDA error", result);
}

void figures(const char *name, size_t size, const double *samples, int count, const char *unit) {
  printf("{\"name\":\"%s\",\"size\":%zu,\"unit\":\"%s\",\"samples\":[", name, size, unit);
  for (int i = 0; i < count; i++) printf("%s%.6g", i ? "," : "", samples[i]);
  puts("]}");
  fflush(stdout);
}

void figure(const char *name, size_t size, double sample, const char *unit) { figures(name, size, &sample, 1, unit); }

void figure_of_process(const char *name, double milliseconds) {
  printf("{\"name\":\"%s\",\"unit\":\"ms\",\"state\":\"filled\",\"samples\":[%.6g]}\n", name, milliseconds);
  fflush(stdout);
}

bool wanted(const char *part) { return !options.only || !strcmp(options.only, part); }

unsigned scaled(unsigned count) {
  double n = count * options.scale;
  return n < 1 ? 1 : (unsigned)n;
}

int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

void load_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) unsupported("there is no CUDA driver: %s", dlerror());
#define RESOLVE(name, parameters)                                       \
  {                                                                     \
    void *found = dlsym(library, #name);                                \
    if (!found) fail("libcuda.so.1 has no %s", #name);                  \
    memcpy(&name, &found, sizeof found);                                \
  }
  DRIVER(RESOLVE)
#undef RESOLVE
  CALL(cuInit(0));
}

int devices(void) {
  int count;
  CALL(cuDeviceGetCount(&count));
  return count < MOST_DEVICES ? count : MOST_DEVICES;
}

void use_device(int index) {
  if (index >= devices()) unsupported("there is no device %d", index);
  if (!contexts[index]) {
    int device;
    CALL(cuDeviceGet(&device, index));
    CALL(cuDevicePrimaryCtxRetain(&contexts[index], device));
  }
  CALL(cuCtxSetCurrent(contexts[index]));
  current = index;
}

handle context_of(int index) { return contexts[index]; }

handle kernel(const char *name) {
  handle function;
  if (!modules[current]) CALL(cuModuleLoadData(&modules[current], kernels_ptx));
  check(cuModuleGetFunction(&function, modules[current], name), name);
  return function;
}

void launch(handle function, unsigned blocks, unsigned threads, handle stream, void **arguments) {
  CALL(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL));
}

devptr device_memory(size_t bytes) {
  devptr memory;
  check(cuMemAlloc_v2(&memory, bytes), "cuMemAlloc");
  return memory;
}

void *host_memory(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 4096, bytes)) fail("no memory for %zu bytes", bytes);
  memset(memory, 1, bytes);
  return memory;
}

void *pinned_memory(size_t bytes) {
  void *memory;
  check(cuMemHostAlloc(&memory, bytes, 0), "cuMemHostAlloc");
  memset(memory, 1, bytes);
  return memory;
}

float *randoms(unsigned count, float low, float high) {
  float *values = host_memory(count * sizeof *values);
  for (unsigned i = 0; i < count; i++) values[i] = low + (high - low) * (float)rand_r(&options.seed) / (float)RAND_MAX;
  return values;
}

bool close_to(float got, float expected, float relative) {
  return fabsf(got - expected) <= relative * fmaxf(1e-3f, fabsf(expected));
}

double timed(void (*work)(void *), void *state, int count) {
  work(state);
  CALL(cuCtxSynchronize());
  double start = now();
  for (int i = 0; i < count; i++) work(state);
  CALL(cuCtxSynchronize());
  return (now() - start) / count;
}

double measured(void (*work)(void *), void *state) {
  double once = timed(work, state, 1);
  double fit = options.seconds * 1e6 / once;
  return timed(work, state, fit < 3 ? 3 : fit > 1000 ? 1000 : (int)fit);
}

static size_t bytes(const char *text) {
  char *end;
  double value = strtod(text, &end);
  if (*end == 'K') value *= 1024;
  if (*end == 'M') value *= 1 << 20;
  return value < 1 ? 1 : (size_t)value;
}

static bool option(const char *text) {
  const char *value = strchr(text, '=');
  if (!value) return false;
  size_t length = (size_t)(value++ - text);
#define IS(name) (length == strlen(name) && !strncmp(text, name, length))
  if (IS("scale")) return (options.scale = atof(value)) > 0;
  if (IS("seconds")) return (options.seconds = atof(value)) > 0;
  if (IS("most")) return (options.most = bytes(value)) >= 1024;
  if (IS("low")) return (options.low = bytes(value)) > 0;
  if (IS("high")) return (options.high = bytes(value)) > 0;
  if (IS("share")) return (options.share = atoi(value)) > 0 && options.share < 100;
  if (IS("seed")) return (options.seed = (unsigned)atoi(value)) > 0;
  if (IS("devices")) return (options.devices = atoi(value)) > 1 && options.devices <= MOST_DEVICES;
  if (IS("amount")) return *(options.amount = value);
  if (IS("quick")) return (options.quick = !strcmp(value, "yes"));
  if (IS("streams")) return (options.streams = atoi(value)) > 0;
  if (IS("kernel")) return (options.kernel = atof(value)) > 0;
  if (IS("rounds")) return (options.rounds = atof(value)) > 0;
  if (IS("only")) return *(options.only = value);
  if (IS("direction")) {
    options.direction = value;
    return !strcmp(value, "h2d") || !strcmp(value, "d2h") || !strcmp(value, "both");
  }
#undef IS
  return false;
}

/* Runs a program and prints its run time, measured on the machine of the program. Ends with the program's exit code. */
static int execute(char **words) {
  double start = now();
  pid_t child = fork();
  if (child < 0) fail("fork: %s", strerror(errno));
  if (!child) {
    execvp(words[0], words);
    fprintf(stderr, "graft-workload: cannot run %s: %s\n", words[0], strerror(errno));
    _exit(127);
  }
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  if (!WEXITSTATUS(status)) figure_of_process("run-time", (now() - start) / 1e3);
  return WEXITSTATUS(status);
}

static void nothing(void) {}

static void load_kernels(void) {
  double start = now();
  launch(kernel("nothing"), 1, 1, NULL, NULL);
  CALL(cuCtxSynchronize());
  figure_of_process("load-kernels", (now() - start) / 1e3);
}

/* Creates the context and makes the first allocation or, in programs with kernels, loads the kernels. */
static void start_cuda(bool bare) {
  double start = now();
  load_driver();
  use_device(0);
  if (bare) {
    device_memory(1 << 20);
  } else {
    kernel("nothing");
  }
  figure_of_process(bare ? "start-up" : "start", (now() - start) / 1e3);
  int device, version;
  char name[256];
  CALL(cuDeviceGet(&device, 0));
  CALL(cuDeviceGetName(name, sizeof name, device));
  CALL(cuDriverGetVersion(&version));
  printf("device\t%s\ndriver\t%d\n", name, version);
}

int main(int argc, char **argv) {
  if (argc > 2 && !strcmp(argv[1], "exec")) return execute(argv + 2);
  static const struct {
    const char *name;
    void (*run)(void);
  } workloads[] = {{"bandwidth", bandwidth}, {"launch", launches},     {"synthetic", synthetic},
                   {"kernels", kernels},     {"memory", patterns},     {"multi-gpu", multi_gpu},
                   {"remoting", remoting},   {"plain-tcp", plain_tcp}, {"start", nothing},
                   {"load", load_kernels},   {"sharing", sharing},     {"step", steps}};
  void (*run)(void) = NULL;
  for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
    if (argc > 1 && !strcmp(argv[1], workloads[i].name)) run = workloads[i].run;
  }
  bool help = argc > 1 && !strcmp(argv[1], "--help");
  for (int i = 2; run && i < argc; i++) {
    if (!option(argv[i])) {
      fprintf(stderr, "graft-workload: what is '%s'? graft-workload --help says what there is\n", argv[i]);
      return 2;
    }
  }
  if (!run || options.low > options.high) {
    fputs(usage, help ? stdout : stderr);
    return help ? 0 : 2;
  }
  if (run == multi_gpu) start_nodes();
  bool bare = run == remoting || run == nothing || run == load_kernels || run == plain_tcp || run == steps;
  if (run != plain_tcp) start_cuda(bare);
  double start = now();
  run();
  if (!bare) figure_of_process("total", (now() - start) / 1e3);
  puts("result=ok");
  return 0;
}
