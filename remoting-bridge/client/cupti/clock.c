/* The profiler's time. A program may give a clock of its own, such as the processor's counter: its rate is found from two readings. */
#include <pthread.h>
#include <time.h>

#include "cupti.h"

enum { READING_TRIES = 10, CLOSE_NANOSECONDS = 500 };

struct reading {
  uint64_t monotonic, profiler;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t (*given)(void);
static struct reading first;

static uint64_t read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t now_by(uint64_t (*clock)(void)) { return clock ? clock() : read_clock(CLOCK_REALTIME); }

/* Both clocks at one moment. A thread that loses its processor between two looks would take the pause for time, so the closest of a few tries counts. */
static struct reading take(uint64_t (*clock)(void)) {
  struct reading closest = {0, 0};
  uint64_t error = UINT64_MAX;
  for (int i = 0; i < READING_TRIES && error > CLOSE_NANOSECONDS; i++) {
    uint64_t before = read_clock(CLOCK_MONOTONIC), profiler = now_by(clock), between = read_clock(CLOCK_MONOTONIC) - before;
    if (between >= error) continue;
    error = between;
    closest = (struct reading){.monotonic = before + between / 2, .profiler = profiler};
  }
  return closest;
}

EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)(void)) {
  if (!clock) return INVALID_PARAMETER;
  pthread_mutex_lock(&lock);
  if (given != clock) {
    given = clock;
    first = take(clock);
  }
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

uint64_t profiler_now(void) {
  pthread_mutex_lock(&lock);
  uint64_t (*clock)(void) = given;
  pthread_mutex_unlock(&lock);
  return now_by(clock);
}

struct profiler_span profiler_span(uint64_t start, uint64_t end) {
  pthread_mutex_lock(&lock);
  uint64_t (*clock)(void) = given;
  struct reading from = first, now = take(clock);
  pthread_mutex_unlock(&lock);
  double rate = 1;
  if (clock && now.monotonic > from.monotonic) {
    rate = (double)(now.profiler - from.profiler) / (double)(now.monotonic - from.monotonic);
  }
  /* From the nearer reading, so that little is multiplied by the rate's error, which could take hours ago below zero. */
  double ago = (double)(int64_t)(now.monotonic - start) * rate;
  uint64_t begin = ago < (double)now.profiler ? now.profiler - (uint64_t)(int64_t)ago : 0;
  return (struct profiler_span){.start = begin, .end = begin + (uint64_t)((double)(end - start) * rate)};
}
