#include "api/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/contexts.h"
#include "api/rpc.h"
#include "api/trace_file.h"
#include "api/work.h"
#include "base/system.h"
#include "graft_rpc.h"

#define GPU_ROWS (UINT64_C(1) << 23) /* more than the highest id of a process */

bool graft_tracing;

static const char *const categories[] = {"kernel", "memcpy", "memset", "graph"};
static size_t unknown; /* pieces of work whose times are not known */

static struct graft_trace_row row_of_thread(void) {
  return (struct graft_trace_row){(uint64_t)getpid(), (uint64_t)syscall(SYS_gettid)};
}

static struct graft_trace_row row_of_stream(int device, uint64_t stream) {
  return (struct graft_trace_row){(uint64_t)getpid() + GPU_ROWS * (uint64_t)(device + 1), stream};
}

/* ---- Calls ---- */

/* What the program called, where the client's records have names of their own. */
static const char *name_of(int function) {
  static const char *const names[GRAFT_FUNCTIONS] = {
      [FN_graftSnapshot] = "cuInit",
      [FN_graftPrimaryContextRetain] = "cuDevicePrimaryCtxRetain",
      [FN_graftPrimaryContextRelease] = "cuDevicePrimaryCtxRelease",
      [FN_graftContextCreate] = "cuCtxCreate",
      [FN_graftContextDestroy] = "cuCtxDestroy",
      [FN_graftContextSynchronize] = "cuCtxSynchronize",
      [FN_graftContextDrain] = "wait: memory is to be freed",
      [FN_graftModuleLoad] = "cuModuleLoadData",
      [FN_graftModuleGetFunction_v2] = "cuModuleGetFunction",
      [FN_graftLibraryLoad] = "cuLibraryLoadData",
      [FN_graftLibraryGetKernel_v2] = "cuLibraryGetKernel",
      [FN_graftFunctionAttributes] = "cuFuncGetAttribute",
      [FN_graftFunctionGetAttribute] = "cuFuncGetAttribute",
      [FN_graftLaunch] = "cuLaunchKernel",
      [FN_graftLaunchEx] = "cuLaunchKernelEx",
      [FN_graftWrite] = "copy: bytes to the server",
      [FN_graftWriteKnown] = "copy: bytes that the server has",
      [FN_graftRead] = "copy: bytes from the server",
      [FN_graftReadAsync] = "copy: bytes from the server",
      [FN_graftCopyFromRegion] = "copy: shared memory to the device",
      [FN_graftCopyToRegion] = "copy: the device to shared memory",
  };
  return names[function] ? names[function] : graft_function_names[function];
}

static void name_thread(void) {
  static _Thread_local bool is_named;
  char name[64] = "thread", path[64];
  if (is_named) return;
  is_named = true;
  snprintf(path, sizeof path, "/proc/self/task/%ld/comm", (long)syscall(SYS_gettid));
  FILE *file = fopen(path, "re");
  if (file) {
    if (fgets(name, sizeof name, file)) name[strcspn(name, "\n")] = 0;
    fclose(file);
  }
  graft_trace_file_name(row_of_thread(), "thread_name", name);
}

void graft_trace_call(int function, uint64_t began, bool waits, size_t bytes) {
  char more[40] = "";
  if (graft_work_is_own_call() || !began) return;
  name_thread();
  if (bytes) snprintf(more, sizeof more, "\"bytes\":%zu", bytes);
  graft_trace_file_span(row_of_thread(), waits ? "wait" : "call", name_of(function), began, graft_now(), more);
}

/* ---- The GPU's work: one thread at a time reports it ---- */

static void name_gpu(const struct graft_work *work) {
  static uint64_t named; /* a bit for each device */
  char name[100];
  if (named & UINT64_C(1) << (work->device & 63)) return;
  named |= UINT64_C(1) << (work->device & 63);
  snprintf(name, sizeof name, "GPU %d of %s (times within %llu us)", work->device, program_invocation_short_name,
           (unsigned long long)(work->error / 1000 + 1));
  graft_trace_file_name(row_of_stream(work->device, 0), "process_name", name);
}

/* Viewers take a name as often as it comes, so that forgetting the oldest ones does no harm. */
static void name_stream(struct graft_trace_row row, uint64_t stream) {
  static struct graft_trace_row named[64];
  struct graft_trace_row *slot = &named[stream % 64];
  char name[60];
  if (slot->process == row.process && slot->thread == stream) return;
  *slot = row;
  snprintf(name, sizeof name, "stream %llu", (unsigned long long)stream);
  graft_trace_file_name(row, "thread_name", name);
}

static bool is_of_host(uint8_t memory) { return memory == GRAFT_WORK_PAGEABLE || memory == GRAFT_WORK_PINNED; }

/* In the words of CUDA's profilers. */
static const char *name_of_work(const struct graft_work *work) {
  static const char *const copies[2][2] = {{"memcpy DtoD", "memcpy DtoH"}, {"memcpy HtoD", "memcpy HtoH"}};
  if (work->kind == GRAFT_WORK_COPY) return copies[is_of_host(work->from)][is_of_host(work->to)];
  return work->name ? work->name : categories[work->kind];
}

static bool begins(struct graft_work *work) { return true; }

static void done(const struct graft_work *work, bool is_known) {
  char more[40] = "";
  if (!is_known) {
    unknown++;
    return;
  }
  struct graft_trace_row row = row_of_stream(work->device, work->stream_id);
  if (work->bytes) snprintf(more, sizeof more, "\"bytes\":%llu", (unsigned long long)work->bytes);
  name_gpu(work);
  name_stream(row, work->stream_id);
  graft_trace_file_span(row, categories[work->kind], name_of_work(work), work->start, work->end, more);
}

/* ---- Beginning and end ---- */

static void finish(void) {
  if (graft_in_child() || !graft_tracing) return;
  graft_tracing = false;
  graft_work_listen(GRAFT_WORK_TIMELINE, NULL);
  graft_work_flush(GRAFT_WORK_END_NANOSECONDS);
  if (unknown) graft_say("GRAFT_TRACE: the times of %zu pieces of work on the GPU are not known", unknown);
  graft_trace_file_close();
}

void graft_trace_enable(void) {
  static const struct graft_work_listener listener = {.begins = begins, .done = done};
  const char *path = getenv("GRAFT_TRACE");
  if (!path || !*path || graft_tracing) return;
  if (!graft_trace_file_open(path)) {
    graft_say("GRAFT_TRACE: cannot write %s: %s", path, strerror(errno));
    return;
  }
  struct graft_trace_row row = {(uint64_t)getpid(), 0};
  graft_trace_file_name(row, "process_name", program_invocation_short_name);
  graft_tracing = true;
  graft_work_listen(GRAFT_WORK_TIMELINE, &listener);
  atexit(finish);
}
