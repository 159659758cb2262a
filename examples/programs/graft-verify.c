// Checks that CUDA works on this machine and measures it briefly. Needs libcuda.so.1 at run time, nothing of
// CUDA to build. See --help.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "Usage: graft-verify [--device=N] [--size=MIB] [--seconds=S] [--no-measure] [--json]\n"
    "\n"
    "Starts CUDA, copies to each device and back, runs a kernel there and checks its result; then measures copies\n"
    "and launches of the first. Prints one KEY=VALUE a line, the last one result=ok or result=failed: WHY.\n"
    "\n"
    "  --device=N     only the device of that number\n"
    "  --size=MIB     size of a measured copy, 1 to 1024 (8)\n"
    "  --seconds=S    how long copies are measured each way, 1 to 600 (0.2)\n"
    "  --no-measure   only check\n"
    "  --json         print one JSON object instead\n"
    "\n"
    "Keys: device, compute_capability, memory_bytes, driver_version, channel (the address that Graft's client\n"
    "uses), for each further device device_1, channel_1 and so on, client_version (its own), start_ms (cuInit until the context is there), then, measured: round_trip_us (the median of a call\n"
    "that waits for an answer), host_to_device_mb_s and device_to_host_mb_s (pageable memory, 10^6 bytes a\n"
    "second), pinned_to_device_mb_s and pinned_to_host_mb_s, queued_to_device_mb_s (pinned, copies that\n"
    "are waited for once, all of the same memory), spread_to_device_mb_s (the same, up to 8 MiB each, through 16 MiB),\n"
    "spread_to_host_mb_s (back, up to 8 MiB each, waited for after each 32 MiB),\n"
    "launch_us (one of many launches that are not waited for), launch_wait_us (launch and wait, the median).\n"
    "\n"
    "Exit code: 0 ok, 1 failed, 2 wrong usage.\n";

// ---- What this program needs of cuda.h, which comes with the toolkit ----

typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;

#define DRIVER_FUNCTIONS(F)                                                                                \
  F(cuInit, (unsigned))                                                                                    \
  F(cuGetErrorName, (CUresult, const char **))                                                             \
  F(cuDriverGetVersion, (int *))                                                                           \
  F(cuDeviceGetCount, (int *))                                                                             \
  F(cuDeviceGet, (CUdevice *, int))                                                                        \
  F(cuDeviceGetName, (char *, int, CUdevice))                                                              \
  F(cuDeviceGetAttribute, (int *, int, CUdevice))                                                          \
  F(cuDeviceTotalMem_v2, (size_t *, CUdevice))                                                             \
  F(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                                     \
  F(cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                              \
  F(cuCtxSetCurrent, (CUcontext))                                                                          \
  F(cuCtxSynchronize, (void))                                                                              \
  F(cuModuleLoadData, (CUmodule *, const void *))                                                          \
  F(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                                           \
  F(cuModuleUnload, (CUmodule))                                                                            \
  F(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                                \
  F(cuMemFree_v2, (CUdeviceptr))                                                                           \
  F(cuMemGetInfo_v2, (size_t *, size_t *))                                                                 \
  F(cuMemHostAlloc, (void **, size_t, unsigned))                                                           \
  F(cuMemFreeHost, (void *))                                                                               \
  F(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                                  \
  F(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, void *))                                      \
  F(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                                        \
  F(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, void *))                                            \
  F(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, \
                     void **, void **))

#define DECLARE(name, parameters) static CUresult(*name) parameters;
DRIVER_FUNCTIONS(DECLARE)

enum { COMPUTE_CAPABILITY_MAJOR = 75, COMPUTE_CAPABILITY_MINOR = 76 };

// y[i] = a * x[i] + y[i] for i < n.
static const char ptx[] =
    ".version 6.0\n"
    ".target sm_52\n"
    ".address_size 64\n"
    ".visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %i, %count, %block, %width, %thread;\n"
    "  .reg .f32 %scale, %value, %sum;\n"
    "  .reg .b64 %x, %y, %offset;\n"
    "  ld.param.f32 %scale, [a];\n"
    "  ld.param.u64 %x, [x];\n"
    "  ld.param.u64 %y, [y];\n"
    "  ld.param.u32 %count, [n];\n"
    "  mov.u32 %block, %ctaid.x;\n"
    "  mov.u32 %width, %ntid.x;\n"
    "  mov.u32 %thread, %tid.x;\n"
    "  mad.lo.s32 %i, %block, %width, %thread;\n"
    "  setp.ge.s32 %p, %i, %count;\n"
    "  @%p bra DONE;\n"
    "  cvta.to.global.u64 %x, %x;\n"
    "  cvta.to.global.u64 %y, %y;\n"
    "  mul.wide.s32 %offset, %i, 4;\n"
    "  add.s64 %x, %x, %offset;\n"
    "  add.s64 %y, %y, %offset;\n"
    "  ld.global.f32 %value, [%x];\n"
    "  ld.global.f32 %sum, [%y];\n"
    "  fma.rn.f32 %sum, %scale, %value, %sum;\n"
    "  st.global.f32 [%y], %sum;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n";

// ---- Printing ----

static bool json;
static int printed;

static void print_quoted(const char *text) {
  putchar('"');
  for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
    if (*c == '"' || *c == '\\') {
      printf("\\%c", *c);
    } else if (*c < 0x20) {
      printf("\\u%04x", *c);
    } else {
      putchar(*c);
    }
  }
  putchar('"');
}

static void print_text(const char *key, const char *value) {
  if (json) {
    printf("%s\"%s\":", printed++ == 0 ? "{" : ",", key);
    print_quoted(value);
  } else {
    printf("%s=%s\n", key, value);
  }
  fflush(stdout);
}

static void print_number(const char *key, double value, int digits) {
  if (json) {
    printf("%s\"%s\":%.*f", printed++ == 0 ? "{" : ",", key, digits, value);
  } else {
    printf("%s=%.*f\n", key, digits, value);
  }
  fflush(stdout);
}

static void finish(int code, const char *result) {
  print_text("result", result);
  if (json) {
    printf("}\n");
  }
  exit(code);
}

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
  char why[512] = "failed: ";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why + strlen(why), sizeof why - strlen(why), format, arguments);
  va_end(arguments);
  finish(1, why);
  abort();  // not reached
}

#define CHECK(call)                                                \
  do {                                                             \
    CUresult error_ = (call);                                      \
    if (error_ != 0) {                                             \
      const char *name_ = NULL;                                    \
      if (cuGetErrorName(error_, &name_) != 0 || name_ == NULL) {  \
        name_ = "unknown error";                                   \
      }                                                            \
      fail("%s: %s (%d)", #call, name_, error_);                   \
    }                                                              \
  } while (0)

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (memory == NULL) {
    fail("no memory for %zu bytes", bytes);
  }
  return memory;
}

// ---- The check and the measurements ----

static void *driver;

static void open_driver(void) {
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL) {
    fail("%s", dlerror());
  }
#define RESOLVE(name, parameters)                         \
  *(void **)&name = dlsym(driver, #name);                 \
  if (name == NULL) {                                     \
    fail("libcuda.so.1 has no function %s", #name);       \
  }
  DRIVER_FUNCTIONS(RESOLVE)
}

static void describe(CUdevice device) {
  char name[256];
  int major, minor, version;
  size_t memory;
  CHECK(cuDeviceGetName(name, sizeof name, device));
  CHECK(cuDeviceGetAttribute(&major, COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(cuDeviceGetAttribute(&minor, COMPUTE_CAPABILITY_MINOR, device));
  CHECK(cuDeviceTotalMem_v2(&memory, device));
  CHECK(cuDriverGetVersion(&version));
  char capability[32];
  snprintf(capability, sizeof capability, "%d.%d", major, minor);
  print_text("device", name);
  print_text("compute_capability", capability);
  print_number("memory_bytes", (double)memory, 0);
  print_number("driver_version", version, 0);
}

// Graft's client says how it reaches the server and which version it is; a real driver has no such functions.
static void describe_client(void) {
  const char *names[][2] = {{"channel", "graftChannel"}, {"client_version", "graftVersion"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *(*value)(void);
    *(void **)&value = dlsym(driver, names[i][1]);
    if (value != NULL && value() != NULL) {
      print_text(names[i][0], value());
    }
  }
}

// A client of several servers shows the devices of those that it reaches.
static void check_servers(void) {
  int (*servers)(int *);
  *(void **)&servers = dlsym(driver, "graftServers");
  int reached, all = servers ? servers(&reached) : 0;
  if (servers && reached < all) {
    fail("%d of %d servers cannot be reached", all - reached, all);
  }
}

static void launch(CUfunction saxpy, float a, CUdeviceptr x, CUdeviceptr y, int n) {
  void *parameters[] = {&a, &x, &y, &n};
  CHECK(cuLaunchKernel(saxpy, (unsigned)(n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
}

static void check_kernel(CUfunction saxpy) {
  // n is no multiple of the block: the threads past the end must do nothing.
  enum { N = 10000, GUARD = 100, ALL = N + GUARD };
  float *x = allocate(ALL * sizeof *x);
  float *y = allocate(ALL * sizeof *y);
  for (int i = 0; i < ALL; i++) {
    x[i] = (float)(i % 1024);
    y[i] = (float)i;
  }
  CUdeviceptr device_x, device_y;
  CHECK(cuMemAlloc_v2(&device_x, ALL * sizeof *x));
  CHECK(cuMemAlloc_v2(&device_y, ALL * sizeof *y));
  CHECK(cuMemcpyHtoD_v2(device_x, x, ALL * sizeof *x));
  CHECK(cuMemcpyHtoD_v2(device_y, y, ALL * sizeof *y));
  launch(saxpy, 3.0f, device_x, device_y, N);
  memset(y, 0xff, ALL * sizeof *y);
  CHECK(cuMemcpyDtoH_v2(y, device_y, ALL * sizeof *y));
  for (int i = 0; i < ALL; i++) {
    // Whole numbers below 2^24: exact in a float.
    float expected = i < N ? 3.0f * (float)(i % 1024) + (float)i : (float)i;
    if (y[i] != expected) {
      fail("the kernel's element %d is %g, not %g", i, y[i], expected);
    }
  }
  CHECK(cuMemFree_v2(device_x));
  CHECK(cuMemFree_v2(device_y));
  free(x);
  free(y);
}

static void describe_further(CUdevice device, int ordinal) {
  char key[32], name[256];
  CHECK(cuDeviceGetName(name, sizeof name, device));
  snprintf(key, sizeof key, "device_%d", ordinal);
  print_text(key, name);
  const char *(*channel)(void);
  *(void **)&channel = dlsym(driver, "graftChannel");
  if (channel && channel()) {
    snprintf(key, sizeof key, "channel_%d", ordinal);
    print_text(key, channel());
  }
}

static void check_further(int ordinal) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction saxpy;
  CHECK(cuDeviceGet(&device, ordinal));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  describe_further(device, ordinal);
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&saxpy, module, "saxpy"));
  check_kernel(saxpy);
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease_v2(device));
}

static void *allocate_for_copies(size_t bytes, bool pinned) {
  void *memory;
  if (!pinned) {
    return allocate(bytes);
  }
  CHECK(cuMemHostAlloc(&memory, bytes, 0));
  return memory;
}

static void free_of_copies(void *memory, bool pinned) {
  if (pinned) {
    CHECK(cuMemFreeHost(memory));
  } else {
    free(memory);
  }
}

static unsigned char filled_with(size_t i) { return (unsigned char)((i * 2654435761u) >> 13); }

static void fill(unsigned char *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    memory[i] = filled_with(i);
  }
}

static void check_filled(const unsigned char *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (memory[i] != filled_with(i)) {
      fail("of %zu bytes copied to the device number %zu came back changed", bytes, i);
    }
  }
}

#define SPREAD (16u << 20)
#define SPREAD_BACK (32u << 20)

// Copies that are queued: of `bytes` each, one behind the other through `all` bytes.
struct queue {
  const char *name;
  bool to_host;
  size_t bytes, all;
  CUdeviceptr device;
  unsigned char *memory;
};

// Queues so many and waits: how long that takes. Back to the same memory nobody queues twice without a wait between.
static double run_queue(const struct queue *q, size_t count) {
  double start = seconds();
  for (size_t i = 0; i < count; i++) {
    size_t at = i * q->bytes % q->all;
    if (!q->to_host) {
      CHECK(cuMemcpyHtoDAsync_v2(q->device + at, q->memory + at, q->bytes, NULL));
      continue;
    }
    if (i > 0 && at == 0) {
      CHECK(cuCtxSynchronize());
    }
    CHECK(cuMemcpyDtoHAsync_v2(q->memory + at, q->device + at, q->bytes, NULL));
  }
  CHECK(cuCtxSynchronize());
  return seconds() - start;
}

// As the tools do that measure a wire: queues what takes so many seconds, once as many have gone by uncounted. A channel so slow
// that the first of them take longer is not asked again.
static void measure_queue(struct queue q, double limit) {
  size_t count = (q.all > SPREAD ? q.all : SPREAD) / q.bytes;
  if (count < 2) {
    count = 2;
  }
  q.memory = allocate_for_copies(q.all, true);
  CHECK(cuMemAlloc_v2(&q.device, q.all));
  fill(q.memory, q.all);
  if (q.to_host) {
    CHECK(cuMemcpyHtoD_v2(q.device, q.memory, q.all));
    memset(q.memory, 0, q.all);
  }
  double start = seconds(), took;
  do {
    took = run_queue(&q, count);
  } while (seconds() - start < limit);
  if (took < limit) {
    count = (size_t)((double)count * limit / took) + 1;
    took = run_queue(&q, count);
  }
  print_number(q.name, 1e-6 * (double)count * (double)q.bytes / took, 1);
  if (!q.to_host) {
    memset(q.memory, 0, q.all);
    CHECK(cuMemcpyDtoH_v2(q.memory, q.device, q.all));
  }
  check_filled(q.memory, q.all);
  CHECK(cuMemFree_v2(q.device));
  free_of_copies(q.memory, true);
}

// Copies both ways for so many seconds each after one copy that is not counted, and compares what came back.
static void measure_copies(size_t bytes, bool pinned, double limit) {
  unsigned char *memory = allocate_for_copies(bytes, pinned);
  unsigned char *back = allocate_for_copies(bytes, pinned);
  fill(memory, bytes);
  memset(back, 0, bytes);
  CUdeviceptr device;
  CHECK(cuMemAlloc_v2(&device, bytes));
  CHECK(cuMemcpyHtoD_v2(device, memory, bytes));
  CHECK(cuCtxSynchronize());
  double copied = 0, start = seconds(), end;
  do {
    CHECK(cuMemcpyHtoD_v2(device, memory, bytes));
    CHECK(cuCtxSynchronize());
    copied += (double)bytes;
    end = seconds();
  } while (end - start < limit);
  print_number(pinned ? "pinned_to_device_mb_s" : "host_to_device_mb_s", 1e-6 * copied / (end - start), 1);

  CHECK(cuMemcpyDtoH_v2(back, device, bytes));
  copied = 0;
  start = seconds();
  do {
    CHECK(cuMemcpyDtoH_v2(back, device, bytes));
    copied += (double)bytes;
    end = seconds();
  } while (end - start < limit);
  print_number(pinned ? "pinned_to_host_mb_s" : "device_to_host_mb_s", 1e-6 * copied / (end - start), 1);
  check_filled(back, bytes);
  CHECK(cuMemFree_v2(device));
  free_of_copies(memory, pinned);
  free_of_copies(back, pinned);
}

static int compare(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return (difference > 0) - (difference < 0);
}

// A call that needs the driver's answer and no work of the device.
static void measure_round_trips(void) {
  enum { CALLS = 51 };
  double calls[CALLS];
  for (int i = 0; i < CALLS; i++) {
    size_t unused, total;
    double start = seconds();
    CHECK(cuMemGetInfo_v2(&unused, &total));
    calls[i] = seconds() - start;
  }
  qsort(calls, CALLS, sizeof calls[0], compare);
  print_number("round_trip_us", 1e6 * calls[CALLS / 2], 2);
}

static void measure_launches(CUfunction saxpy) {
  enum { MANY = 200, WAITS = 21, N = 128 };
  CUdeviceptr x, y;
  CHECK(cuMemAlloc_v2(&x, N * sizeof(float)));
  CHECK(cuMemAlloc_v2(&y, N * sizeof(float)));
  static const float zeros[N];
  CHECK(cuMemcpyHtoD_v2(x, zeros, sizeof zeros));
  CHECK(cuMemcpyHtoD_v2(y, zeros, sizeof zeros));
  CHECK(cuCtxSynchronize());
  double start = seconds();
  for (int i = 0; i < MANY; i++) {
    launch(saxpy, 1.0f, x, y, N);
  }
  double end = seconds();
  CHECK(cuCtxSynchronize());
  print_number("launch_us", 1e6 * (end - start) / MANY, 2);

  double waits[WAITS];
  for (int i = 0; i < WAITS; i++) {
    start = seconds();
    launch(saxpy, 1.0f, x, y, N);
    CHECK(cuCtxSynchronize());
    waits[i] = seconds() - start;
  }
  qsort(waits, WAITS, sizeof waits[0], compare);
  print_number("launch_wait_us", 1e6 * waits[WAITS / 2], 2);
  CHECK(cuMemFree_v2(x));
  CHECK(cuMemFree_v2(y));
}

static long number(const char *option, const char *text, long lowest, long highest) {
  char *end;
  long value = strtol(text, &end, 10);
  if (*text == 0 || *end != 0 || value < lowest || value > highest) {
    fprintf(stderr, "graft-verify: %s takes a number from %ld to %ld, not '%s'\n", option, lowest, highest, text);
    exit(2);
  }
  return value;
}

int main(int count, char **arguments) {
  long ordinal = -1, mebibytes = 8;
  double limit = 0.2;
  bool measure = true;
  for (int i = 1; i < count; i++) {
    const char *argument = arguments[i];
    if (strcmp(argument, "--json") == 0) {
      json = true;
    } else if (strcmp(argument, "--no-measure") == 0) {
      measure = false;
    } else if (strncmp(argument, "--device=", 9) == 0) {
      ordinal = number("--device", argument + 9, 0, 1000);
    } else if (strncmp(argument, "--size=", 7) == 0) {
      mebibytes = number("--size", argument + 7, 1, 1024);
    } else if (strncmp(argument, "--seconds=", 10) == 0) {
      limit = (double)number("--seconds", argument + 10, 1, 600);
    } else if (strcmp(argument, "--help") == 0) {
      fputs(usage, stdout);
      return 0;
    } else {
      fprintf(stderr, "graft-verify: unknown argument '%s'\n\n%s", argument, usage);
      return 2;
    }
  }

  open_driver();
  double start = seconds();
  CHECK(cuInit(0));
  int devices;
  CHECK(cuDeviceGetCount(&devices));
  check_servers();
  bool all = ordinal < 0;
  ordinal = all ? 0 : ordinal;
  if (ordinal >= devices) {
    fail("device %ld of %d", ordinal, devices);
  }
  CUdevice device;
  CUcontext context;
  CHECK(cuDeviceGet(&device, (int)ordinal));
  describe(device);
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  double ready = seconds();
  describe_client();
  print_number("start_ms", 1e3 * (ready - start), 1);

  CUmodule module;
  CUfunction saxpy;
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&saxpy, module, "saxpy"));
  check_kernel(saxpy);
  if (measure) {
    measure_round_trips();
    measure_copies((size_t)mebibytes << 20, false, limit);
    measure_copies((size_t)mebibytes << 20, true, limit);
    size_t bytes = (size_t)mebibytes << 20, spread = SPREAD / bytes * bytes, back = SPREAD_BACK / bytes * bytes;
    measure_queue((struct queue){.name = "queued_to_device_mb_s", .bytes = bytes, .all = bytes}, limit);
    if (bytes <= SPREAD / 2) {
      measure_queue((struct queue){.name = "spread_to_device_mb_s", .bytes = bytes, .all = spread}, limit);
      measure_queue((struct queue){.name = "spread_to_host_mb_s", .to_host = true, .bytes = bytes, .all = back}, limit);
    }
    measure_launches(saxpy);
  }
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease_v2(device));
  for (int further = 1; all && further < devices; further++) {
    check_further(further);
  }
  finish(0, "ok");
}
