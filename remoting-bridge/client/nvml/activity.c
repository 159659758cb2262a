/* Utilization and processes: for how long the guest's own sessions have lately had work on the GPU, and what memory they have, as their
 * server measures it. Nothing of another guest is in it, and nothing that the GPU's owner does with the GPU. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nvml.h"

/* graftActivity's answer (remoting-bridge/api/README.md, "Activity"). */
enum { PERIODS = 16, PERIOD = 200000000 /* ns */, LAST = PERIODS - 1, WINDOW = 5 /* whole periods that a percentage is of */ };

struct session {
  uint64_t process, memory;
  uint32_t busy[PERIODS];
};
struct answer {
  uint64_t time; /* ns */
  struct session sessions[];
};

/* Asks for the sessions of the guest; the caller frees the answer. */
static int ask(const struct device *device, struct answer **out, unsigned *count) {
  unsigned room = 64;
  for (int attempt = 0; attempt < 2; attempt++) {
    struct answer *answer = calloc(1, sizeof *answer + room * sizeof *answer->sessions);
    if (!answer) return UNKNOWN;
    if (driver_activity(device, answer, (unsigned)(sizeof *answer + room * sizeof *answer->sessions), count) ||
        *count > MAX_SESSIONS) {
      free(answer);
      return NOT_SUPPORTED;
    }
    if (*count <= room || attempt) {
      if (*count > room) *count = room; /* some began in between */
      *out = answer;
      return OK;
    }
    free(answer);
    room = *count;
  }
  return UNKNOWN;
}

/* Nanoseconds with work of some sessions in a period: all of them, or those of a process. The sessions of a guest take turns if guests have shares; else several
 * of them can have work at once, so that there may be less than the sum. */
static uint64_t busy_in(const struct answer *answer, unsigned count, unsigned process, int period) {
  uint64_t sum = 0, most = period == LAST ? answer->time % PERIOD : PERIOD;
  for (unsigned i = 0; i < count; i++) {
    if (!process || answer->sessions[i].process == process) sum += answer->sessions[i].busy[period];
  }
  return sum < most ? sum : most;
}

/* Percent of the last second or a little more. */
static unsigned percent(const struct answer *answer, unsigned count, unsigned process) {
  uint64_t sum = 0, window = WINDOW * (uint64_t)PERIOD + answer->time % PERIOD;
  for (int period = LAST - WINDOW; period <= LAST; period++) sum += busy_in(answer, count, process, period);
  return (unsigned)((sum * 100 + window / 2) / window);
}

/* The end of a period in microseconds since the epoch. What the server's clock is behind stays as it was found first, so that a period has one timestamp. */
static unsigned long long timestamp(const struct device *device, const struct answer *answer, int period) {
  static atomic_llong offsets[MAX_DEVICES];
  atomic_llong *offset = &offsets[device->ordinal];
  long long none = 0;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  atomic_compare_exchange_strong(offset, &none, now.tv_sec * 1000000LL + now.tv_nsec / 1000 - (long long)(answer->time / 1000));
  return (unsigned long long)(*offset + (long long)(answer->time / PERIOD + 1 - (uint64_t)(LAST - period)) * (PERIOD / 1000));
}

struct rates { /* nvmlUtilization_t */
  unsigned int gpu, memory;
};

/* For how long the memory was read or written is not measured: NVML cannot leave one of the two out. */
EXPORT int nvmlDeviceGetUtilizationRates(struct device *device, struct rates *rates) {
  struct answer *answer;
  unsigned count;
  int r = valid(device);
  if (r || !rates) return r ? r : INVALID_ARGUMENT;
  r = ask(device, &answer, &count);
  if (r) return r;
  *rates = (struct rates){percent(answer, count, 0), 0};
  free(answer);
  return OK;
}

struct sample { /* nvmlSample_t */
  unsigned long long timestamp;
  union {
    unsigned int ui;
    unsigned long long ull;
  } value;
};

EXPORT int nvmlDeviceGetSamples(struct device *device, int type, unsigned long long last_seen, int *value_type,
                                unsigned int *wanted, struct sample *samples) {
  enum { GPU_UTILIZATION = 1, TYPES = 10, UNSIGNED_INT = 1 };
  struct answer *answer;
  unsigned count, found = 0;
  int r = valid(device);
  if (r || type < 0 || type >= TYPES || !wanted || !value_type || (samples && !*wanted)) return r ? r : INVALID_ARGUMENT;
  if (type != GPU_UTILIZATION) return NOT_SUPPORTED;
  *value_type = UNSIGNED_INT;
  if (!samples) {
    *wanted = LAST;
    return OK;
  }
  r = ask(device, &answer, &count);
  if (r) return r;
  for (int period = 0; period < LAST && found < *wanted; period++) {
    unsigned long long at = timestamp(device, answer, period);
    if (at <= last_seen) continue;
    samples[found].timestamp = at;
    samples[found].value.ull = 0;
    samples[found++].value.ui = (unsigned)(busy_in(answer, count, 0, period) * 100 / PERIOD);
  }
  free(answer);
  *wanted = found;
  return found ? OK : NOT_FOUND;
}

/* ---- Processes ---- */

/* The first session of each process that the guest has named. */
static bool is_first(const struct answer *answer, unsigned i) {
  const struct session *sessions = answer->sessions;
  unsigned before = 0;
  while (before < i && sessions[before].process != sessions[i].process) before++;
  return before == i && sessions[i].process && sessions[i].process <= UINT32_MAX;
}

/* Enters an element of a caller's array for each process. */
typedef void enter(const struct device *device, const struct answer *answer, unsigned count, unsigned process, void *at);

static int each_process(const struct device *device, unsigned int *wanted, void *out, size_t size, enter *put) {
  struct answer *answer;
  unsigned count, found = 0;
  int r = ask(device, &answer, &count);
  if (r) return r;
  for (unsigned i = 0; i < count; i++) {
    if (!is_first(answer, i)) continue;
    if (out && found < *wanted) put(device, answer, count, (unsigned)answer->sessions[i].process, (char *)out + found * size);
    found++;
  }
  free(answer);
  r = found > (out ? *wanted : 0) ? INSUFFICIENT_SIZE : OK;
  *wanted = found;
  return r;
}

/* nvmlProcessInfo_t; its first version ends before the instances. */
struct process {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
};

static struct process process_of(const struct answer *answer, unsigned count, unsigned process) {
  struct process result = {process, 0, ~0u, ~0u};
  for (unsigned i = 0; i < count; i++) {
    if (answer->sessions[i].process == process) result.used += answer->sessions[i].memory;
  }
  return result;
}
static void enter_process(const struct device *device, const struct answer *answer, unsigned count, unsigned process, void *at) {
  (void)device;
  *(struct process *)at = process_of(answer, count, process);
}
static void enter_process_v1(const struct device *device, const struct answer *answer, unsigned count, unsigned process, void *at) {
  struct process v2 = process_of(answer, count, process);
  (void)device;
  memcpy(at, &v2, offsetof(struct process, gpu_instance));
}

#define PROCESSES(name, size, enter)                                        \
  EXPORT int name(struct device *device, unsigned int *wanted, void *out) { \
    int r = valid(device);                                                  \
    if (r || !wanted) return r ? r : INVALID_ARGUMENT;                      \
    return each_process(device, wanted, *wanted ? out : NULL, size, enter); \
  }
PROCESSES(nvmlDeviceGetComputeRunningProcesses, offsetof(struct process, gpu_instance), enter_process_v1)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, sizeof(struct process), enter_process)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, sizeof(struct process), enter_process)

struct process_use { /* nvmlProcessUtilizationSample_t */
  unsigned int pid;
  unsigned long long timestamp;
  unsigned int sm, memory, encoder, decoder;
};

static void enter_use(const struct device *device, const struct answer *answer, unsigned count, unsigned process, void *at) {
  *(struct process_use *)at =
      (struct process_use){process, timestamp(device, answer, LAST - 1), percent(answer, count, process), 0, 0, 0};
}

/* Processes without work are among them. What an earlier call has returned is returned again within a period. */
EXPORT int nvmlDeviceGetProcessUtilization(struct device *device, struct process_use *out, unsigned int *wanted,
                                           unsigned long long last_seen) {
  int r = valid(device);
  (void)last_seen;
  if (r || !wanted) return r ? r : INVALID_ARGUMENT;
  r = each_process(device, wanted, out, sizeof *out, enter_use);
  return r || *wanted ? r : NOT_FOUND;
}

struct process_engines { /* nvmlProcessUtilizationInfo_v1_t */
  unsigned long long timestamp;
  unsigned int pid, sm, memory, encoder, decoder, jpeg, optical_flow;
};
struct processes_engines { /* nvmlProcessesUtilizationInfo_v1_t */
  unsigned int version, count;
  unsigned long long last_seen;
  struct process_engines *processes;
};

static void enter_engines(const struct device *device, const struct answer *answer, unsigned count, unsigned process, void *at) {
  *(struct process_engines *)at =
      (struct process_engines){timestamp(device, answer, LAST - 1), process, percent(answer, count, process), 0, 0, 0, 0, 0};
}

EXPORT int nvmlDeviceGetProcessesUtilizationInfo(struct device *device, struct processes_engines *out) {
  int r = valid(device);
  if (r || !out) return r ? r : INVALID_ARGUMENT;
  if (out->version != (sizeof *out | 1 << 24)) return ARGUMENT_VERSION_MISMATCH;
  r = each_process(device, &out->count, out->processes, sizeof *out->processes, enter_engines);
  return r || out->count ? r : NOT_FOUND;
}

/* ---- What nvidia-smi asks for by its own table ---- */

struct smi_process {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
  unsigned long long zero;
  char command[4096]; /* its words, each ended by a zero byte */
};
_Static_assert(sizeof(struct smi_process) == 4128, "as the driver has it");

static void enter_smi_process(const struct device *device, const struct answer *answer, unsigned count, unsigned process,
                              void *at) {
  struct smi_process *to = at;
  struct process own = process_of(answer, count, process);
  char path[32];
  (void)device;
  *to = (struct smi_process){
      .pid = own.pid, .used = own.used, .gpu_instance = own.gpu_instance, .compute_instance = own.compute_instance};
  snprintf(path, sizeof path, "/proc/%u/cmdline", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return; /* the process is in another container of the guest, or has ended */
  if (read(file, to->command, sizeof to->command - 1) < 0) to->command[0] = '\0';
  close(file);
}

int smi_processes(struct device *device, unsigned int *wanted, void *out) {
  int r = valid(device);
  if (r || !wanted) return r ? r : INVALID_ARGUMENT;
  return each_process(device, wanted, *wanted ? out : NULL, sizeof(struct smi_process), enter_smi_process);
}

enum { SM, SMI_ENGINES = 6 };
struct smi_sample {
  unsigned long long timestamp; /* us since 1970 */
  struct {
    unsigned int percent, zero, pid, instance; /* the pid is ~0 where nothing is known */
    char name[64];
  } engines[SMI_ENGINES];
};
_Static_assert(sizeof(struct smi_sample) == 488, "as the driver has it");

static void enter_smi_sample(const struct device *device, const struct answer *answer, unsigned count, unsigned process, void *at) {
  struct smi_sample *to = at;
  *to = (struct smi_sample){.timestamp = timestamp(device, answer, LAST - 1)};
  for (int i = 0; i < SMI_ENGINES; i++) to->engines[i].pid = ~0u;
  to->engines[SM].percent = percent(answer, count, process);
  to->engines[SM].pid = process;
}

int smi_samples(struct device *device, unsigned long long last_seen, unsigned int *known, unsigned int *wanted, void *out) {
  int r = valid(device);
  (void)last_seen;
  if (r || !known || !wanted || !out) return r ? r : INVALID_ARGUMENT;
  *known = 1;
  return each_process(device, wanted, out, sizeof(struct smi_sample), enter_smi_sample);
}
