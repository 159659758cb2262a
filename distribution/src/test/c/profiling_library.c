/* Stands for NVIDIA's profiling library in a worker. It knows of no GPU: what a thread queues while it has pushed a number is a fill and two kernels of its own,
 * of lengths that can be recognized, one after the other. Records of work come before those that tell whose it is. As in NVIDIA's library there are none of the latter unless
 * the calls of the driver are recorded that queue the work. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEMSET = 2, DRIVER = 4, KERNEL = 10, EXTERNAL = 39 };
enum { SUCCESS = 0, INVALID_PARAMETER = 1, MAX_LIMIT_REACHED = 12 };
enum { RECORD = 160, MOST = 20000, KINDS = 64 };
enum { LAUNCH = 3, FUNCTIONS = 5 }; /* of the driver, by their numbers here */
#define AHEAD 1000000000000u /* this clock is that of the machine and so many nanoseconds more */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*request_buffer)(uint8_t **, size_t *, size_t *);
static void (*complete_buffer)(void *, uint32_t, uint8_t *, size_t, size_t);
static uint8_t records[MOST][RECORD];
static int count;
static int enabled[KINDS];
static uint8_t is_recorded[FUNCTIONS];
static uint64_t busy_until;
static uint32_t correlations;
static _Thread_local uint64_t pushed;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + AHEAD;
}

static void put(uint8_t *record, size_t at, uint32_t value) { memcpy(record + at, &value, sizeof value); }
static void put_long(uint8_t *record, size_t at, uint64_t value) { memcpy(record + at, &value, sizeof value); }

static uint8_t *add(uint32_t kind) {
  if (count == MOST || !enabled[kind]) return NULL;
  uint8_t *record = records[count++];
  memset(record, 0, RECORD);
  put(record, 0, kind);
  return record;
}

static void add_work(uint32_t kind, uint32_t correlation, uint64_t nanoseconds, const char *name) {
  uint8_t *record = add(kind);
  if (!record) return;
  put_long(record, 16, busy_until);
  put_long(record, 24, busy_until += nanoseconds);
  if (kind == MEMSET) {
    put(record, 4, 9);
    put_long(record, 8, 4096);
    put(record, 44, correlation);
    return;
  }
  for (int i = 0; i < 3; i++) put(record, 52 + 4u * (unsigned)i, 3), put(record, 64 + 4u * (unsigned)i, 4);
  put(record, 92, correlation);
  put_long(record, 104, (uint64_t)(uintptr_t)name);
}

int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
                                   void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t)) {
  request_buffer = request;
  complete_buffer = complete;
  return request && complete ? SUCCESS : INVALID_PARAMETER;
}

int cuptiActivityEnable(uint32_t kind) {
  if (kind >= KINDS) return INVALID_PARAMETER;
  enabled[kind] = 1;
  if (kind == DRIVER) memset(is_recorded, 1, sizeof is_recorded);
  return SUCCESS;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t function, const char **name) {
  if (domain != 1 || function < 1 || function >= FUNCTIONS) return INVALID_PARAMETER;
  *name = function == LAUNCH ? "cuLaunchKernel" : "cuEventQuery";
  return SUCCESS;
}

int cuptiActivityEnableDriverApi(uint32_t function, uint8_t enable) {
  if (function < 1 || function >= FUNCTIONS) return INVALID_PARAMETER;
  is_recorded[function] = enable;
  return SUCCESS;
}

int cuptiActivityDisable(uint32_t kind) {
  if (kind >= KINDS) return INVALID_PARAMETER;
  enabled[kind] = 0;
  return SUCCESS;
}

int cuptiGetTimestamp(uint64_t *time) {
  *time = now();
  return SUCCESS;
}

int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id) {
  pushed = id;
  return kind == 3 ? SUCCESS : INVALID_PARAMETER;
}

int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last) {
  pthread_mutex_lock(&lock);
  uint32_t correlation = ++correlations;
  if (busy_until < now()) busy_until = now();
  add_work(MEMSET, correlation, 100000, NULL);
  add_work(KERNEL, correlation, 300000, "first_kernel");
  add_work(KERNEL, correlation, 200000, "second_kernel");
  uint8_t *call = is_recorded[LAUNCH] ? add(DRIVER) : NULL, *record = call ? add(EXTERNAL) : NULL;
  if (call) put(call, 32, correlation);
  if (record) {
    put(record, 4, kind);
    put_long(record, 8, pushed);
    put(record, 16, correlation);
  }
  *last = pushed;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

/* Gives the records of one kind of record. */
static void give(int external) {
  uint8_t *buffer = NULL;
  size_t size = 0, most = 0, used = 0;
  for (int i = 0; i < count; i++) {
    uint32_t kind;
    memcpy(&kind, records[i], sizeof kind);
    if ((kind == EXTERNAL) != external) continue;
    if (buffer && used + RECORD > size) {
      complete_buffer(NULL, 0, buffer, size, used);
      buffer = NULL;
    }
    if (!buffer) {
      request_buffer(&buffer, &size, &most);
      used = 0;
    }
    memcpy(buffer + used, records[i], RECORD);
    used += RECORD;
  }
  if (buffer) complete_buffer(NULL, 0, buffer, size, used);
}

int cuptiActivityFlushAll(uint32_t flag) {
  pthread_mutex_lock(&lock);
  give(0);
  give(1);
  count = 0;
  pthread_mutex_unlock(&lock);
  return flag ? INVALID_PARAMETER : SUCCESS;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record) {
  uint8_t *next = *record ? *record + RECORD : buffer;
  if (next >= buffer + valid) return MAX_LIMIT_REACHED;
  *record = next;
  return SUCCESS;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped) {
  (void)context, (void)stream;
  *dropped = 0;
  return SUCCESS;
}
