/* Whether threads that poll compete for CPUs: as many threads want to run as there are CPUs, so that none is left for one that wakes, or a thread that yielded the CPU did not get it back for a while. A thread that polls then keeps others from running, one of which it may wait for; the kernel can let a thread of another control group that has slept a lot wait for hundreds of milliseconds. */
#ifndef GRAFT_CROWD_H
#define GRAFT_CROWD_H

#include <stdbool.h>
#include <stdint.h>

/* All zero at first; any thread may use it. */
struct graft_crowd {
  uint64_t looked, until;
  bool crowded;
};

/* Yields the CPU; without doing so it returns false if there is contention, so that the thread should sleep. */
bool graft_crowd_yield(struct graft_crowd *crowd, uint64_t now);
/* Whether a thread that has waited for so long should poll on: it yields the CPU while there is no contention, and otherwise keeps the CPU for 0.25 ms, since a thread that wakes from sleep waits for a CPU for up to 4 ms. */
bool graft_crowd_polls_on(struct graft_crowd *crowd, uint64_t waited, uint64_t now);
/* Whether there is contention; now is of graft_now. */
bool graft_crowd_seen(struct graft_crowd *crowd, uint64_t now);
/* Notes that a thread yielded the CPU, and ran again. */
void graft_crowd_yielded(struct graft_crowd *crowd, uint64_t yielded, uint64_t now);
/* How many threads of the system want to run, as the text of /proc/loadavg says; 0 if it does not. */
int graft_crowd_runnable(const char *loads);

#endif
