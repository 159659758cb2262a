/* What NVML shows of a vGPU while another process of the same guest works on it, and what another guest, GRAFT_NAME=limited, sees of it. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);

#define MEMORY (4u << 20)
enum { SECOND = 1000, GPU_UTILIZATION = 1, QUEUED = 20 };

static long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Works without a pause, and says so after a second and a half. */
static void work(int ready) {
  uint64_t memory;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  void *kernel = load_spin();
  RUN(cuMemAlloc_v2(&memory, MEMORY));
  for (long begin = milliseconds();;) {
    for (int i = 0; i < QUEUED; i++) launch_spin(kernel, 1000000);
    RUN(cuCtxSynchronize());
    if (ready >= 0 && milliseconds() - begin > SECOND * 3 / 2) {
      if (write(ready, "", 1) != 1) exit(1);
      ready = -1;
    }
  }
}

static void *library;

static int (*function(const char *name))() {
  void *symbol = dlsym(library, name);
  int (*found)();
  memcpy(&found, &symbol, sizeof symbol);
  return found;
}

static const char *amount(int result, unsigned percent) {
  return result == 6 ? "none" : result ? "an error" : percent == 0 ? "0" : percent < 20 ? "little" : percent <= 100 ? "much" : "too much";
}

/* What nvidia-smi's table answers: whether the device is known, processes with their commands, and their use. */
static void show_table(const char *who, void *device, pid_t worker) {
  static const unsigned char TABLE[16] = {0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e, 0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4};
  static struct {
    unsigned pid;
    unsigned long long used;
    unsigned instance, compute;
    unsigned long long zero;
    char command[4096];
  } processes[4];
  static struct {
    unsigned long long timestamp;
    struct {
      unsigned percent, zero, pid, instance;
      char name[64];
    } engines[6];
  } uses[4];
  unsigned yes = 0, known = 0, count = 4, found = 4;
  int (**slots)();
  if (function("nvmlInternalGetExportTable")((void **)&slots, TABLE) || slots[72](device, &yes) || !yes ||
      slots[213](device, &count, processes) || slots[145](device, 0ull, &known, &found, uses)) {
    printf("%s: nvidia-smi gets an error\n", who);
    return;
  }
  printf("%s: nvidia-smi gets %u processes, use of %u", who, count, found);
  for (unsigned i = 0; i < count && i < found; i++) {
    bool own = processes[i].pid == (unsigned)worker && uses[i].engines[0].pid == (unsigned)worker;
    printf(", %s, %s, %s, memory %s", own ? "the other one" : "a stranger", strstr(processes[i].command, "utilization") ? "by its name" : "no name",
           amount(0, uses[i].engines[0].percent), uses[i].engines[1].pid == ~0u ? "unknown" : "known");
  }
  puts("");
}

static void show(const char *who, pid_t worker) {
  struct {
    unsigned gpu, memory;
  } rates = {0, 0};
  struct {
    unsigned pid;
    unsigned long long used;
    unsigned instance, compute;
  } processes[8];
  struct {
    unsigned pid;
    unsigned long long timestamp;
    unsigned sm, memory, encoder, decoder;
  } uses[8] = {{0}};
  struct {
    unsigned long long timestamp, value;
  } samples[32];
  unsigned count = 8;
  int type, result;
  void *device;
  if (!(library = dlopen("libnvidia-ml.so.1", RTLD_NOW)) || function("nvmlInit_v2")() ||
      function("nvmlDeviceGetHandleByIndex_v2")(0, &device)) {
    exit(2);
  }
  result = function("nvmlDeviceGetUtilizationRates")(device, &rates);
  printf("%s: utilization %s\n", who, amount(result, rates.gpu));
  result = function("nvmlDeviceGetComputeRunningProcesses_v3")(device, &count, processes);
  printf("%s: %u processes", who, result ? 99 : count);
  for (unsigned i = 0; !result && i < count; i++) {
    printf(", %s with %s", processes[i].pid == (unsigned)worker ? "the other one" : "a stranger",
           processes[i].used >= MEMORY && processes[i].used < 1u << 30 ? "its memory" : "other memory");
  }
  count = 8;
  result = function("nvmlDeviceGetProcessUtilization")(device, uses, &count, 0ull);
  printf("\n%s: its processes use %s\n", who, amount(result, uses[0].sm));
  count = 32;
  result = function("nvmlDeviceGetSamples")(device, GPU_UTILIZATION, 0ull, &type, &count, samples);
  printf("%s: last sample %s\n", who, amount(result, result ? 0 : (unsigned)samples[count - 1].value));
  show_table(who, device, worker);
  fflush(stdout);
}

int main(void) {
  int ready[2], status;
  char byte;
  if (pipe(ready)) return 2;
  pid_t worker = fork();
  if (!worker) work(ready[1]);
  close(ready[1]);
  if (read(ready[0], &byte, 1) != 1) return 2;
  pid_t other = fork();
  if (!other) {
    setenv("GRAFT_NAME", "limited", 1);
    show("another guest", worker);
    exit(0);
  }
  if (waitpid(other, &status, 0) != other || status) return 2;
  show("the same guest", worker);
  kill(worker, SIGKILL);
  waitpid(worker, &status, 0);
  return 0;
}
