/* GRAFT_STATS=1 prints at exit how often each function was called, how often and how long the program waited, and how much data was sent. The counts are those of the process, over all sessions. */
#include "session/stats.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/system.h"
#include "graft_rpc.h"
#include "session/session.h"
#include "transport/compression.h"

static bool enabled;
static uint64_t calls[GRAFT_FUNCTIONS], waits[GRAFT_FUNCTIONS], waited[GRAFT_FUNCTIONS];
static uint64_t record_bytes, bulk_out, received_bytes, known_bytes, brought_bytes, fetched_bytes;

static void add(uint64_t *counter, uint64_t value) { __atomic_fetch_add(counter, value, __ATOMIC_RELAXED); }

void graft_stats_call(int function, size_t bytes, size_t bulk) {
  if (graft_debug() > 1) graft_say("call %s", graft_function_names[function]);
  if (!enabled) return;
  add(&calls[function], 1);
  add(&record_bytes, bytes);
  add(&bulk_out, bulk);
}

void graft_stats_round_trip(int function, uint64_t nanoseconds) {
  if (!enabled) return;
  add(&waits[function], 1);
  add(&waited[function], nanoseconds);
}

void graft_stats_received(size_t bytes) {
  if (enabled) add(&received_bytes, bytes);
}

void graft_stats_known(size_t bytes) {
  if (enabled) add(&known_bytes, bytes);
}

void graft_stats_brought(size_t bytes) {
  if (enabled) add(&brought_bytes, bytes);
}

void graft_stats_fetched(size_t bytes) {
  if (enabled) add(&fetched_bytes, bytes);
}

static void print(void) {
  uint64_t total = 0, round_trips = 0, time = 0;
  for (int i = 0; i < GRAFT_FUNCTIONS; i++) {
    total += calls[i];
    round_trips += waits[i];
    time += waited[i];
  }
  fprintf(stderr,
          "graft: calls=%llu asynchronous=%llu round-trips=%llu waited=%.3fms records=%lluB bulk-out=%lluB received=%lluB\n",
          (unsigned long long)total, (unsigned long long)(total - round_trips), (unsigned long long)round_trips, (double)time / 1e6,
          (unsigned long long)record_bytes, (unsigned long long)bulk_out, (unsigned long long)received_bytes);
  uint64_t from, to;
  graft_compressed(&from, &to);
  if (from) fprintf(stderr, "graft: compressed %lluB to %lluB\n", (unsigned long long)from, (unsigned long long)to);
  if (known_bytes) fprintf(stderr, "graft: not sent %lluB that the server had\n", (unsigned long long)known_bytes);
  if (brought_bytes || fetched_bytes) {
    fprintf(stderr, "graft: mirrored memory: sent %lluB, fetched %lluB\n", (unsigned long long)brought_bytes,
            (unsigned long long)fetched_bytes);
  }
  for (int i = 0; i < GRAFT_FUNCTIONS; i++) {
    if (calls[i]) {
      fprintf(stderr, "graft:   %-40s %10llu calls %8llu waits %12.3fms\n", graft_function_names[i], (unsigned long long)calls[i],
              (unsigned long long)waits[i], (double)waited[i] / 1e6);
    }
  }
}

void graft_stats_enable(void) {
  enabled = true;
  atexit(print);
}
