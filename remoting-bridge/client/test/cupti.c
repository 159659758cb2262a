/* usage: cupti LIBRARY NAMES
 * Tests libcupti without a server, with test/cupti_driver.c as libcuda.so.1: it has every name that NVIDIA's library has, each function bears NULL arguments, and
 * whatever buffers a profiler gives, it gets whole records or none. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cupti/cupti.h"

int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t is_forced);
int cuptiActivityGetNextRecord(uint8_t *records, size_t valid, uint8_t **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *records);
int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
                                   void (*completion)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void));
int cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id);
int cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *last);
int cuptiSubscribe(void **to, void (*function)(void *, uint32_t, uint32_t, const void *), void *user);
int cuptiUnsubscribe(void *from);
int cuptiEnableDomain(uint32_t is_enabled, void *of, uint32_t domain);
int cuptiEnableCallback(uint32_t is_enabled, void *of, uint32_t domain, uint32_t function);

static int passed, failed;

#define CHECK(condition)                                     \
  do {                                                       \
    if (condition) {                                         \
      passed++;                                              \
    } else {                                                 \
      failed++;                                              \
      printf("FAILED: line %d: %s\n", __LINE__, #condition); \
    }                                                        \
  } while (0)

static const struct graft_work_listener *(*test_listener)(void);
static int (*test_flushes)(void);

/* ---- The profiler ---- */

static size_t give_bytes = 4096, give_most, give_offset;
static bool gives = true, flushes_again;
static int records[KINDS], completions, broken;
static struct kernel_record last_kernel;
static struct memcpy_record last_copy;
static struct external_record last_external;
static struct api_record last_api;

static void request(uint8_t **buffer, size_t *size, size_t *most) {
  *buffer = gives ? (uint8_t *)aligned_alloc(8, give_bytes + 8) + give_offset : NULL;
  *size = give_bytes;
  *most = give_most;
}

static void keep(const uint8_t *record, uint32_t kind) {
  if (kind == KIND_CONCURRENT_KERNEL) memcpy(&last_kernel, record, sizeof last_kernel);
  if (kind == KIND_MEMCPY) memcpy(&last_copy, record, sizeof last_copy);
  if (kind == KIND_EXTERNAL_CORRELATION) memcpy(&last_external, record, sizeof last_external);
  if (kind == KIND_DRIVER) memcpy(&last_api, record, sizeof last_api);
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  uint8_t *record = NULL;
  int r;
  completions++;
  while (!(r = cuptiActivityGetNextRecord(buffer, valid, &record))) {
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (kind >= KINDS || !kind) {
      broken++;
      break;
    }
    records[kind]++;
    keep(record, kind);
  }
  broken += r != MAX_LIMIT_REACHED || valid > size;
  free(buffer - give_offset);
  if (flushes_again) cuptiActivityFlushAll(0);
}

static void start(void) {
  memset(records, 0, sizeof records);
  completions = 0;
  size_t dropped;
  cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
}

static size_t dropped(void) {
  size_t count = 0;
  cuptiActivityGetNumDroppedRecords(NULL, 0, &count);
  return count;
}

/* ---- The driver ---- */

static void queue(struct graft_work work, int result) {
  static uint32_t correlation;
  static int context;
  const struct graft_work_listener *listener = test_listener();
  if (!listener) return;
  work.correlation = __atomic_add_fetch(&correlation, 1, __ATOMIC_RELAXED);
  work.context = (void *)&context;
  if (!listener->begins(&work)) return;
  listener->queued(&work, result);
  if (!result) listener->done(&work, true);
}

static void kernel(const char *name) {
  queue((struct graft_work){.kind = GRAFT_WORK_KERNEL,
                            .name = name,
                            .function = "cuLaunchKernel",
                            .grid = {4, 3, 2},
                            .block = {8, 1, 1},
                            .stream_id = 7,
                            .device = 3},
        0);
}

static void enable_all(void) {
  const uint32_t kinds[] = {KIND_MEMCPY, KIND_MEMSET, KIND_CONCURRENT_KERNEL, KIND_DRIVER, KIND_EXTERNAL_CORRELATION};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) CHECK(!cuptiActivityEnable(kinds[i]));
}

/* ---- Tests ---- */

static int call_with_null(void *symbol) {
  int (*function)(void *, void *, void *, void *, void *, void *);
  memcpy(&function, &symbol, sizeof symbol);
  return function(NULL, NULL, NULL, NULL, NULL, NULL);
}

static void has_every_name(const char *library, const char *path) {
  char name[256];
  int count = 0;
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  FILE *file = fopen(path, "r");
  CHECK(handle && file);
  while (handle && file && fgets(name, sizeof name, file)) {
    name[strcspn(name, "\n")] = 0;
    if (*name == '#' || !*name) continue;
    void *symbol = dlsym(handle, name);
    if (!symbol) printf("FAILED: %s is not exported\n", name);
    CHECK(symbol);
    if (symbol) call_with_null(symbol);
    count++;
  }
  CHECK(count == 197);
  if (file) fclose(file);
}

static void records_are_of_what_ran(void) {
  start();
  kernel("a");
  CHECK(!cuptiActivityPushExternalCorrelationId(3, 77));
  queue((struct graft_work){.kind = GRAFT_WORK_COPY, .bytes = 5, .from = GRAFT_WORK_PINNED, .to = GRAFT_WORK_DEVICE}, 0);
  CHECK(!cuptiActivityPopExternalCorrelationId(3, NULL));
  queue((struct graft_work){.kind = GRAFT_WORK_FILL, .bytes = 5, .to = GRAFT_WORK_DEVICE}, 0);
  queue((struct graft_work){.kind = GRAFT_WORK_GRAPH, .function = "cuGraphLaunch"}, 0);
  queue((struct graft_work){.kind = GRAFT_WORK_KERNEL, .name = "failed", .function = "cuLaunchKernel"}, 701);
  int before = test_flushes();
  CHECK(!cuptiActivityFlushAll(1) && test_flushes() == before + 1);
  CHECK(records[KIND_CONCURRENT_KERNEL] == 2 && records[KIND_MEMCPY] == 1 && records[KIND_MEMSET] == 1);
  CHECK(records[KIND_DRIVER] == 3 && records[KIND_EXTERNAL_CORRELATION] == 1 && last_api.result == 701);
  CHECK(!strcmp(last_kernel.name, "CUDA graph") && last_kernel.grid[0] == 1 && last_kernel.block[0] == 1);
  CHECK(last_copy.copy_kind == 1 && last_copy.from == 2 && last_copy.to == 3 && last_copy.correlation == last_external.correlation);
  CHECK(last_external.external == 77 && last_external.external_kind == 3);
  CHECK(completions == 1 && !dropped() && !broken);
  CHECK(!cuptiActivityFlushAll(0) && completions == 1); /* nothing is left */
}

static void any_buffer_gets_whole_records(void) {
  for (size_t bytes = 0; bytes < 1200; bytes += 8) {
    for (size_t most = 0; most < 3; most++) {
      start();
      give_bytes = bytes;
      give_most = most;
      for (int i = 0; i < 5; i++) kernel("k");
      cuptiActivityFlushAll(0);
      /* A kernel has a record of 216 bytes and one of 40 for the call. */
      if (records[KIND_CONCURRENT_KERNEL] != (bytes < 216 ? 0 : 5) || records[KIND_DRIVER] != (bytes < 40 ? 0 : 5)) broken++;
      if (dropped() != 10u - (unsigned)records[KIND_CONCURRENT_KERNEL] - (unsigned)records[KIND_DRIVER]) broken++;
    }
  }
  CHECK(!broken);
  give_bytes = 4096;
  give_most = 0;
  start();
  gives = false;
  kernel("k");
  gives = true;
  CHECK(dropped() == 2 && !completions);
  give_offset = 4; /* records are aligned: such a buffer is not used, and not given back */
  uint8_t *lost;
  size_t size, most;
  request(&lost, &size, &most);
  free(lost - give_offset);
  give_offset = 0;
}

static void a_profiler_may_flush_when_it_gets_a_buffer(void) {
  start();
  give_bytes = 512;
  flushes_again = true;
  for (int i = 0; i < 100; i++) kernel("k");
  cuptiActivityFlushAll(0);
  flushes_again = false;
  give_bytes = 4096;
  CHECK(records[KIND_CONCURRENT_KERNEL] == 100 && records[KIND_DRIVER] == 100 && !broken);
}

static void names_stay(void) {
  static char longest[1 << 16];
  memset(longest, 'x', sizeof longest - 1);
  start();
  kernel(longest);
  cuptiActivityFlushAll(0);
  const char *name = last_kernel.name;
  memset(longest, 'y', sizeof longest - 1);
  CHECK(strlen(name) == sizeof longest - 1 && name[0] == 'x');
  kernel(NULL);
  cuptiActivityFlushAll(0);
  CHECK(!strcmp(last_kernel.name, "kernel") && last_kernel.device == 3 && last_kernel.stream == 7 && last_kernel.grid[1] == 3);
}

static void numbers_nest(void) {
  uint64_t last = 0;
  CHECK(cuptiActivityPopExternalCorrelationId(3, &last) == QUEUE_EMPTY);
  CHECK(cuptiActivityPushExternalCorrelationId(0, 1) == INVALID_PARAMETER &&
        cuptiActivityPushExternalCorrelationId(6, 1) == INVALID_PARAMETER);
  CHECK(cuptiActivityPopExternalCorrelationId(99, &last) == INVALID_PARAMETER);
  for (uint64_t i = 0; i < 10000; i++) cuptiActivityPushExternalCorrelationId(5, i);
  for (uint64_t i = 10000; i-- > 0;) {
    if (cuptiActivityPopExternalCorrelationId(5, &last) || last != i) broken++;
  }
  CHECK(!broken && cuptiActivityPopExternalCorrelationId(5, &last) == QUEUE_EMPTY);
}

static uint64_t slow_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return ((uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec) / 10 + 5;
}

static void times_are_in_the_profilers_clock(void) {
  CHECK(cuptiActivityRegisterTimestampCallback(NULL) == INVALID_PARAMETER);
  CHECK(!cuptiActivityRegisterTimestampCallback(slow_clock));
  struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  uint64_t now = (slow_clock() - 5) * 10;
  /* The rate is found from readings that are some microseconds off on a loaded machine. */
  struct profiler_span span = profiler_span(now - 10000000, now), long_ago = profiler_span(0, 0);
  int64_t error = (int64_t)(span.start - ((now - 10000000) / 10 + 5));
  CHECK(error > -1000000 && error < 1000000);
  CHECK(span.end - span.start > 900000 && span.end - span.start < 1100000);
  CHECK(long_ago.start == long_ago.end && long_ago.end < span.end && profiler_now() >= now / 10);
}

static void what_is_no_record_is_refused(void) {
  uint8_t bytes[64] = {0}, *record = NULL;
  CHECK(cuptiActivityGetNextRecord(bytes, 0, &record) == MAX_LIMIT_REACHED && !record);
  CHECK(cuptiActivityGetNextRecord(bytes, 64, &record) == SUCCESS && record == bytes);
  CHECK(cuptiActivityGetNextRecord(bytes, 64, &record) == INVALID_KIND);
  bytes[0] = KIND_DRIVER;
  CHECK(cuptiActivityGetNextRecord(bytes, 40, &record) == MAX_LIMIT_REACHED);
  CHECK(cuptiActivityEnable(0) == NOT_SUPPORTED && cuptiActivityEnable(38) == NOT_SUPPORTED);
  CHECK(cuptiActivityEnable(64) == INVALID_KIND && cuptiActivityEnable(UINT32_MAX) == INVALID_KIND);
  CHECK(cuptiActivityDisable(UINT32_MAX) == INVALID_KIND);
}

static int calls[2], other_calls;
static void called(void *user, uint32_t domain, uint32_t function, const void *data) {
  uint32_t site;
  memcpy(&site, data, sizeof site);
  calls[site & 1]++;
}
static void called_too(void *user, uint32_t domain, uint32_t function, const void *data) { other_calls++; }

static void subscribers_are_called(void) {
  void *one, *two, *more;
  CHECK(cuptiSubscribe(NULL, called, NULL) == INVALID_PARAMETER);
  CHECK(!cuptiSubscribe(&one, called, NULL) && !cuptiSubscribe(&two, called_too, NULL));
  CHECK(cuptiEnableCallback(1, &calls, 1, 307) == INVALID_PARAMETER && cuptiEnableCallback(1, one, 1, 1024) == INVALID_PARAMETER);
  CHECK(!cuptiEnableCallback(1, two, 1, 0)); /* as proton does */
  CHECK(cuptiEnableCallback(1, one, 7, 1) == INVALID_PARAMETER && !cuptiEnableCallback(1, one, 2, 1));
  CHECK(!cuptiEnableDomain(1, one, 1) && !cuptiEnableCallback(1, two, 1, 514));
  kernel("k");
  queue((struct graft_work){.kind = GRAFT_WORK_GRAPH, .function = "cuGraphLaunch"}, 0);
  CHECK(calls[0] == 2 && calls[1] == 2 && other_calls == 2);
  for (int i = 0; i < 2; i++) CHECK(!cuptiSubscribe(&more, called, NULL));
  CHECK(cuptiSubscribe(&more, called, NULL) == MULTIPLE_SUBSCRIBERS);
  CHECK(!cuptiUnsubscribe(one) && cuptiUnsubscribe(one) == INVALID_PARAMETER && !cuptiUnsubscribe(two));
  kernel("k");
  CHECK(calls[0] == 2 && other_calls == 2);
}

static void *thread_queues(void *unused) {
  for (uint64_t i = 0; i < 500; i++) {
    cuptiActivityPushExternalCorrelationId(3, i);
    queue((struct graft_work){.kind = GRAFT_WORK_FILL, .bytes = i}, 0);
    cuptiActivityPopExternalCorrelationId(3, NULL);
    if (i % 50 == 0) cuptiActivityFlushAll(0);
  }
  return NULL;
}

static void threads_share_the_buffers(void) {
  pthread_t threads[4];
  cuptiActivityFlushAll(0);
  start();
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, thread_queues, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  cuptiActivityFlushAll(0);
  CHECK(records[KIND_MEMSET] == 2000 && records[KIND_EXTERNAL_CORRELATION] == 2000 && !broken && !dropped());
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
  void *symbol = cuda ? dlsym(cuda, "test_listener") : NULL;
  if (!symbol) {
    printf("FAILED: the libcuda.so.1 of this test is not found\n");
    return 1;
  }
  memcpy(&test_listener, &symbol, sizeof symbol);
  symbol = dlsym(cuda, "test_flushes");
  memcpy(&test_flushes, &symbol, sizeof symbol);
  has_every_name(argv[1], argv[2]);
  CHECK(!test_listener());
  cuptiActivityRegisterCallbacks(request, completed);
  enable_all();
  CHECK(test_listener());
  records_are_of_what_ran();
  any_buffer_gets_whole_records();
  a_profiler_may_flush_when_it_gets_a_buffer();
  names_stay();
  numbers_nest();
  times_are_in_the_profilers_clock();
  what_is_no_record_is_refused();
  subscribers_are_called();
  threads_share_the_buffers();
  for (uint32_t kind = 0; kind < KINDS; kind++) cuptiActivityDisable(kind);
  CHECK(!test_listener());
  printf("client-cupti: %d passed, %d failed\n", passed, failed);
  return failed != 0;
}
