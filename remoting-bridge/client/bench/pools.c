/* Arrays of 1 to 4 MiB that go from a pool of pinned memory to the device and back, with host functions and events around the copies; each is compared. Prints the
 * times of an array in milliseconds. Runs on any driver:
 *
 *     pools MIB ARRAYS as-jax|by-events
 *
 * as-jax: as JAX moves arrays to its memory of the kind pinned_host and back: a stream for each direction, and behind each copy a host function in a further stream, or
 * in the copy's own, for which the program waits. by-events: there and back in two streams, with a wait for an event. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4 << 20, LEAST = 1 << 20, EVENTS = 16, NON_BLOCKING = 1, PORTABLE = 1, NO_TIMING = 2 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *host, unsigned flags);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);

static void check(int error, const char *call) {
  if (!error) return;
  printf("%s: error %d\n", call, error);
  exit(1);
}
#define RUN(call) check(call, #call)

static uint8_t *pool, array[MOST];
static size_t pool_bytes, pool_at;
static void *up, *down, *across, *functions, *events[EVENTS];
static unsigned next_event;
static uint64_t first, second, random_state = 88172645463325252u;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static int queued, run; /* host functions; run is guarded by lock */

static uint64_t random_word(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b) {
  double one = *(const double *)a, other = *(const double *)b;
  return (one > other) - (one < other);
}

static void count(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  run++;
  pthread_cond_broadcast(&wake);
  pthread_mutex_unlock(&lock);
}

static void await_functions(void) {
  pthread_mutex_lock(&lock);
  while (run < queued) pthread_cond_wait(&wake, &lock);
  pthread_mutex_unlock(&lock);
}

static void queue_function(void *stream) {
  RUN(cuLaunchHostFunc(stream, count, NULL));
  queued++;
}

/* An event behind what is in a stream. */
static void *mark(void *stream) {
  void *event = events[next_event++ % EVENTS];
  RUN(cuEventRecord(event, stream));
  return event;
}

/* The same, with a function in the stream of functions. */
static void *mark_with_function(void *stream) {
  void *event = mark(stream);
  RUN(cuStreamWaitEvent(functions, event, 0));
  queue_function(functions);
  return event;
}

static uint8_t *piece(size_t bytes) {
  size_t room = (bytes + 255) / 256 * 256;
  if (pool_at + room > pool_bytes) pool_at = 0;
  pool_at += room;
  return pool + pool_at - room;
}

static bool as_jax(size_t bytes, bool from_device) {
  uint8_t *from = piece(bytes), *there = piece(bytes), *seen = piece(bytes), *back = piece(bytes);
  void *arrived;
  memcpy(from, array, bytes);
  if (from_device) {
    RUN(cuMemcpyHtoDAsync_v2(first, from, bytes, up));
    RUN(cuStreamWaitEvent(across, mark_with_function(up), 0));
    RUN(cuMemcpyDtoDAsync_v2((uintptr_t)there, first, bytes, across));
    arrived = mark_with_function(across);
  } else {
    RUN(cuMemcpyHtoDAsync_v2((uintptr_t)there, from, bytes, up));
    arrived = mark_with_function(up);
  }
  RUN(cuStreamWaitEvent(across, arrived, 0));
  RUN(cuMemcpyDtoDAsync_v2(second, (uintptr_t)there, bytes, across));
  void *returned = mark_with_function(across);
  RUN(cuStreamWaitEvent(down, arrived, 0));
  RUN(cuMemcpyDtoHAsync_v2(seen, (uintptr_t)there, bytes, down));
  queue_function(down);
  await_functions();
  RUN(cuStreamWaitEvent(down, returned, 0));
  RUN(cuMemcpyDtoHAsync_v2(back, second, bytes, down));
  queue_function(down);
  await_functions();
  return !memcmp(seen, array, bytes) && !memcmp(back, array, bytes);
}

static bool by_events(size_t bytes) {
  uint8_t *from = piece(bytes), *back = piece(bytes);
  memcpy(from, array, bytes);
  queue_function(up);
  RUN(cuMemcpyHtoDAsync_v2(first, from, bytes, up));
  void *there = mark(up);
  queue_function(up);
  RUN(cuStreamWaitEvent(down, there, 0));
  RUN(cuMemcpyDtoHAsync_v2(back, first, bytes, down));
  RUN(cuEventSynchronize(mark(down)));
  return !memcmp(back, array, bytes);
}

static void prepare(void) {
  uint64_t mapped;
  void *context;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuMemAlloc_v2(&first, MOST));
  RUN(cuMemAlloc_v2(&second, MOST));
  RUN(cuMemHostAlloc((void **)&pool, pool_bytes, PORTABLE));
  void **streams[] = {&up, &down, &across, &functions};
  for (unsigned i = 0; i < sizeof streams / sizeof *streams; i++) RUN(cuStreamCreate(streams[i], NON_BLOCKING));
  for (unsigned i = 0; i < EVENTS; i++) RUN(cuEventCreate(&events[i], NO_TIMING));
  /* The device is told of the memory and reads all of it, so that the times are those of a program that has run for a while. */
  RUN(cuMemHostGetDevicePointer_v2(&mapped, pool, 0));
  memset(pool, 7, pool_bytes);
  for (size_t at = 0; at < pool_bytes; at += MOST) RUN(cuMemcpyDtoDAsync_v2(first, mapped + at, MOST, up));
  RUN(cuCtxSynchronize());
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  pool_bytes = strtoul(argv[1], NULL, 10) << 20;
  size_t arrays = strtoul(argv[2], NULL, 10), wrong = 0;
  double *times = calloc(arrays + 1, sizeof *times);
  if (!times || !arrays || pool_bytes < 4ul * MOST) return 2;
  prepare();
  for (size_t i = 0; i < arrays; i++) {
    size_t bytes = (LEAST + random_word() % (MOST - LEAST + 1)) / 8 * 8;
    for (size_t at = 0; at < bytes; at += 8) memcpy(array + at, &(uint64_t){random_word()}, 8);
    double start = now();
    wrong += !(strcmp(argv[3], "as-jax") ? by_events(bytes) : as_jax(bytes, i % 2));
    times[i] = now() - start;
  }
  RUN(cuCtxSynchronize());
  qsort(times, arrays, sizeof *times, by_size);
  printf("%s, a pool of %zu MiB: median %.1f ms, quartiles %.1f and %.1f; %zu of %zu arrays are wrong\n", argv[3], pool_bytes >> 20,
         times[arrays / 2], times[arrays / 4], times[arrays * 3 / 4], wrong, arrays);
  free(times);
  return wrong != 0;
}
