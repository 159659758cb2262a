/* GRAFT_PROFILE=FILE: writes how the program spent its time, as one JSON object at the program's end.
 *
 * To distinguish transfers from kernels the client waits between them: a copy begins when the work that was queued before it
 * is over, and the call returns when the copy is over. So a profiled run is slower if the program overlaps the two; the profile
 * shows the time of each. The time of kernels is from the first queued kernel until the program waits or copies. */
#include "api/profile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/system.h"
#include "graft_rpc.h"
#include "memory/ranges.h"

#define SIZES 40 /* classes of message sizes: at most 2^n bytes */

bool graft_profiling;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char file[512];
static pid_t owner;
static uint64_t began, kernels_since, computing, transferring;
static __thread bool transfer_runs;
static struct {
  uint64_t count, bytes, size_count[SIZES], size_bytes[SIZES];
} transfers[2][2]; /* by direction, by whether the host's memory is pinned */

static void book_kernels(void) {
  pthread_mutex_lock(&lock);
  if (kernels_since) computing += graft_now() - kernels_since;
  kernels_since = 0;
  pthread_mutex_unlock(&lock);
}

void graft_profile_call(int function) {
  switch (function) {
    case FN_graftLaunch:
    case FN_graftLaunchEx:
    case FN_cuGraphLaunch:
    case FN_cuMemcpyDtoD_v2:
    case FN_cuMemcpyDtoDAsync_v2:
      pthread_mutex_lock(&lock);
      if (!kernels_since) kernels_since = graft_now();
      pthread_mutex_unlock(&lock);
      return;
    default: return;
  }
}

void graft_profile_waited(int function) {
  if (transfer_runs) return;
  switch (function) {
    case FN_graftContextSynchronize:
    case FN_graftContextDrain:
    case FN_cuStreamSynchronize:
    case FN_cuEventSynchronize: book_kernels(); break;
    default: break;
  }
}

uint64_t graft_profile_transfer_begin(void) {
  pthread_mutex_lock(&lock);
  bool wait = kernels_since != 0;
  pthread_mutex_unlock(&lock);
  if (wait) {
    rpc_graftContextSynchronize();
    book_kernels();
  }
  transfer_runs = true;
  return graft_now();
}

void graft_profile_transfer_end(uint64_t start, bool to_device, const void *host, size_t bytes) {
  rpc_graftContextSynchronize();
  transfer_runs = false;
  struct graft_range range;
  bool pinned = graft_range_find((uintptr_t)host, &range) && range.memory != GRAFT_MEMORY_DEVICE;
  int class = 0;
  while (class < SIZES - 1 && bytes > (size_t)1 << class) class ++;
  pthread_mutex_lock(&lock);
  transferring += graft_now() - start;
  transfers[!to_device][pinned].count++;
  transfers[!to_device][pinned].bytes += bytes;
  transfers[!to_device][pinned].size_count[class]++;
  transfers[!to_device][pinned].size_bytes[class] += bytes;
  pthread_mutex_unlock(&lock);
}

static void write_transfers(FILE *out, int down, int pinned, const char *separator) {
  fprintf(out, "%s{\"direction\":\"%s\",\"memory\":\"%s\",\"count\":%llu,\"bytes\":%llu,\"sizes\":[", separator,
          down ? "d2h" : "h2d", pinned ? "pinned" : "pageable", (unsigned long long)transfers[down][pinned].count,
          (unsigned long long)transfers[down][pinned].bytes);
  const char *comma = "";
  for (int class = 0; class < SIZES; class ++) {
    if (transfers[down][pinned].size_count[class]) {
      fprintf(out, "%s{\"at_most\":%llu,\"count\":%llu,\"bytes\":%llu}", comma, 1ull << class,
              (unsigned long long)transfers[down][pinned].size_count[class],
              (unsigned long long)transfers[down][pinned].size_bytes[class]);
      comma = ",";
    }
  }
  fputs("]}", out);
}

static void finish(void) {
  if (getpid() != owner) return; /* a child that the program forked */
  book_kernels();
  double wall = (double)(graft_now() - began) / 1e6, compute = (double)computing / 1e6, moving = (double)transferring / 1e6;
  FILE *out = fopen(file, "we");
  if (!out) {
    graft_say("GRAFT_PROFILE: cannot write %s", file);
    return;
  }
  fprintf(out, "{\"wall_ms\":%.3f,\"compute_ms\":%.3f,\"transfer_ms\":%.3f,\"other_ms\":%.3f,\"transfers\":[", wall, compute,
          moving, wall > compute + moving ? wall - compute - moving : 0.0);
  write_transfers(out, 0, 0, "");
  write_transfers(out, 0, 1, ",");
  write_transfers(out, 1, 0, ",");
  write_transfers(out, 1, 1, ",");
  fputs("]}\n", out);
  fclose(out);
}

void graft_profile_enable(void) {
  const char *path = getenv("GRAFT_PROFILE");
  if (!path || !*path) return;
  snprintf(file, sizeof file, "%s", path);
  owner = getpid();
  began = graft_now();
  graft_profiling = true;
  atexit(finish);
}
