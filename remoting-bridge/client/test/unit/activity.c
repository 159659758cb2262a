/* nvml/activity.c with a server's answer as the test says. The library's other parts are those of nvlinks.c. */
#include "../../nvml/activity.c"

#include "unit.h"

static struct answer *told;
static unsigned told_count;
static int told_result;

int driver_activity(const struct device *device, void *data, unsigned capacity, unsigned *count) {
  size_t bytes = sizeof *told + told_count * sizeof *told->sessions;
  (void)device;
  if (told_result) return told_result;
  memcpy(data, told, bytes < capacity ? bytes : capacity);
  *count = told_count;
  return OK;
}

static void tell(unsigned count, uint64_t time) {
  free(told);
  told = calloc(1, sizeof *told + count * sizeof *told->sessions);
  told->time = time;
  told_count = count;
}

static void busy(unsigned session, uint64_t process, uint64_t memory, uint32_t nanoseconds) {
  told->sessions[session].process = process;
  told->sessions[session].memory = memory;
  for (int period = 0; period < PERIODS; period++) told->sessions[session].busy[period] = nanoseconds;
}

static void test_rates(struct device *device) {
  struct rates rates;
  CHECK(nvmlDeviceGetUtilizationRates(device, NULL) == INVALID_ARGUMENT);
  tell(0, 10 * (uint64_t)PERIOD);
  CHECK(!nvmlDeviceGetUtilizationRates(device, &rates) && rates.gpu == 0 && rates.memory == 0);
  tell(2, 10 * (uint64_t)PERIOD);
  busy(0, 11, 0, PERIOD / 4);
  busy(1, 0, 0, PERIOD / 4);
  CHECK(!nvmlDeviceGetUtilizationRates(device, &rates) && rates.gpu == 50);
  busy(1, 0, 0, UINT32_MAX); /* no period has more than its length */
  CHECK(!nvmlDeviceGetUtilizationRates(device, &rates) && rates.gpu == 100);
  told->time += PERIOD - 1;
  CHECK(!nvmlDeviceGetUtilizationRates(device, &rates) && rates.gpu == 100);
  told_result = NOT_SUPPORTED;
  CHECK(nvmlDeviceGetUtilizationRates(device, &rates) == NOT_SUPPORTED);
  told_result = OK;
}

static void test_samples(struct device *device) {
  struct sample samples[PERIODS];
  unsigned count = PERIODS;
  int type = 0;
  CHECK(nvmlDeviceGetSamples(device, 0, 0, &type, &count, samples) == NOT_SUPPORTED);
  CHECK(nvmlDeviceGetSamples(device, 1, 0, NULL, &count, samples) == INVALID_ARGUMENT);
  CHECK(!nvmlDeviceGetSamples(device, 1, 0, &type, &count, NULL) && count == LAST);
  tell(1, 1000 * (uint64_t)PERIOD + 5);
  busy(0, 11, 0, PERIOD / 4);
  CHECK(!nvmlDeviceGetSamples(device, 1, 0, &type, &count, samples) && count == LAST && type == 1);
  CHECK(samples[0].value.ui == 25 && samples[1].timestamp - samples[0].timestamp == PERIOD / 1000);
  unsigned long long last = samples[LAST - 1].timestamp;
  count = PERIODS;
  CHECK(nvmlDeviceGetSamples(device, 1, last, &type, &count, samples) == NOT_FOUND && count == 0);
  told->time += PERIOD;
  count = PERIODS;
  CHECK(!nvmlDeviceGetSamples(device, 1, last, &type, &count, samples) && count == 1);
  CHECK(samples[0].timestamp == last + PERIOD / 1000);
}

static void test_processes(struct device *device) {
  enum { MANY = 100 }; /* more than a first question has room for */
  static struct process processes[MANY];
  static struct process_use uses[MANY];
  static struct process_engines engines[MANY];
  unsigned count = 0;
  tell(MANY + 2, 10 * (uint64_t)PERIOD);
  for (unsigned i = 0; i < MANY; i++) busy(i, i + 1, 5, PERIOD / 100);
  busy(MANY, 1, 7, PERIOD / 100);     /* another session of the first process */
  busy(MANY + 1, 0, 7, PERIOD / 100); /* a client that does not say its process */
  CHECK(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL) == INSUFFICIENT_SIZE && count == MANY);
  count = 1;
  CHECK(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes) == INSUFFICIENT_SIZE && count == MANY);
  CHECK(!nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes) && count == MANY);
  CHECK(processes[0].pid == 1 && processes[0].used == 12 && processes[99].pid == MANY && processes[99].used == 5);
  CHECK(processes[0].gpu_instance == ~0u);
  CHECK(!nvmlDeviceGetComputeRunningProcesses(device, &count, processes) && count == MANY);
  CHECK(!memcmp((char *)processes + offsetof(struct process, gpu_instance), &(unsigned){2},
                4)); /* the second one of the first version */
  count = 0;
  CHECK(nvmlDeviceGetProcessUtilization(device, NULL, &count, 0) == INSUFFICIENT_SIZE && count == MANY);
  CHECK(!nvmlDeviceGetProcessUtilization(device, uses, &count, 0) && uses[0].sm == 2 && uses[1].sm == 1);
  struct processes_engines all = {0, 0, 0, engines};
  CHECK(nvmlDeviceGetProcessesUtilizationInfo(device, &all) == ARGUMENT_VERSION_MISMATCH);
  all = (struct processes_engines){sizeof all | 1 << 24, MANY, 0, engines};
  CHECK(!nvmlDeviceGetProcessesUtilizationInfo(device, &all) && all.count == MANY && engines[0].sm == 2);
  tell(0, 10 * (uint64_t)PERIOD);
  CHECK(!nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes) && count == 0);
  CHECK(nvmlDeviceGetProcessUtilization(device, uses, &count, 0) == NOT_FOUND);
  tell(1, 0);
  busy(0, UINT64_MAX, 5, 0); /* no process */
  CHECK(!nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes) && count == 0);
  told_count = MAX_SESSIONS + 1; /* more than a server has */
  tell(told_count, 0);
  CHECK(nvmlDeviceGetComputeRunningProcesses_v3(device, &count, processes) == NOT_SUPPORTED);
}

void test_activity(void) {
  struct device device = {0};
  test_rates(&device);
  test_samples(&device);
  test_processes(&device);
  free(told);
}
