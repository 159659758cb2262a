#include "base/crowd.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/system.h"

/* How long a thread that yielded is kept off the CPU at least if another one wants it too. */
#define NOT_RUNNING_NANOSECONDS 500000u
/* For how long that counts. */
#define LASTS_NANOSECONDS 100000000u
/* How long a thread keeps the CPU in spite of contention. */
#define MOMENT_NANOSECONDS 250000u
/* How often it is looked how many threads want to run, which takes some microseconds. */
#define LOOK_NANOSECONDS 500000u

int graft_crowd_runnable(const char *loads) {
  for (int averages = 3; averages; averages--) {
    loads = strchr(loads, ' ');
    if (!loads++) return 0;
  }
  long runnable = strtol(loads, NULL, 10);
  return runnable > 0 && runnable <= INT_MAX ? (int)runnable : 0;
}

/* The file is opened each time: a program may close all descriptors that it does not know. */
static bool is_crowded(void) {
  static long cpus; /* every thread finds the same */
  if (!__atomic_load_n(&cpus, __ATOMIC_RELAXED)) __atomic_store_n(&cpus, sysconf(_SC_NPROCESSORS_ONLN), __ATOMIC_RELAXED);
  char text[128];
  int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t n = read(file, text, sizeof text - 1);
  close(file);
  text[n < 0 ? 0 : n] = 0;
  return graft_crowd_runnable(text) >= __atomic_load_n(&cpus, __ATOMIC_RELAXED);
}

bool graft_crowd_seen(struct graft_crowd *crowd, uint64_t now) {
  if (now - __atomic_load_n(&crowd->looked, __ATOMIC_RELAXED) >= LOOK_NANOSECONDS) {
    __atomic_store_n(&crowd->looked, now, __ATOMIC_RELAXED);
    __atomic_store_n(&crowd->crowded, is_crowded(), __ATOMIC_RELAXED);
  }
  return __atomic_load_n(&crowd->crowded, __ATOMIC_RELAXED) || now < __atomic_load_n(&crowd->until, __ATOMIC_RELAXED);
}

void graft_crowd_yielded(struct graft_crowd *crowd, uint64_t yielded, uint64_t now) {
  if (now - yielded >= NOT_RUNNING_NANOSECONDS) __atomic_store_n(&crowd->until, now + LASTS_NANOSECONDS, __ATOMIC_RELAXED);
}

bool graft_crowd_yield(struct graft_crowd *crowd, uint64_t now) {
  if (graft_crowd_seen(crowd, now)) return false;
  sched_yield();
  graft_crowd_yielded(crowd, now, graft_now());
  return true;
}

bool graft_crowd_polls_on(struct graft_crowd *crowd, uint64_t waited, uint64_t now) {
  return graft_crowd_yield(crowd, now) || waited <= MOMENT_NANOSECONDS;
}
