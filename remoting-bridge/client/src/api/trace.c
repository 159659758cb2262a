#include "api/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "api/trace_file.h"
#include "base/system.h"
#include "graft_rpc.h"

#define READ_AFTER 2048 /* so many pieces of work are under way, or over and not read, before the client reads their times */
/* cuEventElapsedTime returns milliseconds as a float: within some seconds the client takes a new point in time to measure from. */
#define CLOCK_NANOSECONDS UINT64_C(4000000000)
#define CLOCK_TRIES 5
#define END_NANOSECONDS UINT64_C(5000000000) /* how long the program's end waits for work whose times are not known */
#define GPU_ROWS (UINT64_C(1) << 23)         /* more than the highest id of a process */

bool graft_tracing;

static const char *const categories[] = {"kernel", "memcpy", "memset", "graph"};
static _Thread_local bool is_own; /* the thread makes calls for the trace, which do not belong in it */

/* A moment that is known in the time of the program and in that of a context's events. */
struct clock {
  struct clock *next;
  struct graft_object *context;
  void *event;
  uint64_t time, error;
};

struct graft_span {
  struct graft_span *next;
  struct clock *clock;
  void *start, *end;
  void *queued_in;
  uint64_t stream; /* its id in the program */
  enum graft_trace_work work;
  size_t bytes;
  char *name;
};

/* Guards all that follows, and is held while times are read. No call of the program's is made with it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clock *clocks; /* the newest of each context comes first */
static struct graft_span *first, **last = &first;
static size_t count, read_at = READ_AFTER, unknown;

static struct graft_trace_row row_of_thread(void) {
  return (struct graft_trace_row){(uint64_t)getpid(), (uint64_t)syscall(SYS_gettid)};
}

static struct graft_trace_row row_of_stream(const struct graft_object *context, uint64_t stream) {
  return (struct graft_trace_row){(uint64_t)getpid() + GPU_ROWS * (uint64_t)(context->u.context.device + 1), stream};
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
      [FN_graftModuleLoad] = "cuModuleLoadData",
      [FN_graftModuleGetFunction] = "cuModuleGetFunction",
      [FN_graftLibraryLoad] = "cuLibraryLoadData",
      [FN_graftLibraryGetKernel] = "cuLibraryGetKernel",
      [FN_graftLaunch] = "cuLaunchKernel",
      [FN_graftLaunchEx] = "cuLaunchKernelEx",
      [FN_graftWrite] = "copy: bytes to the server",
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
  if (is_own || !began) return;
  name_thread();
  if (bytes) snprintf(more, sizeof more, "\"bytes\":%zu", bytes);
  graft_trace_file_span(row_of_thread(), waits ? "wait" : "call", name_of(function), began, graft_now(), more);
}

/* ---- The GPU's times ---- */

static void forget_span(struct graft_span *span) {
  rpc_cuEventDestroy_v2(span->start);
  rpc_cuEventDestroy_v2(span->end);
  free(span->name);
  free(span);
}

/* An event in an idle stream lies between two times of the program; the closest of a few tries counts. */
static bool set(struct clock *clock, void *stream) {
  clock->error = UINT64_MAX;
  for (int i = 0; i < CLOCK_TRIES; i++) {
    void *event = NULL;
    uint64_t before = graft_now();
    if (rpc_cuEventCreate(&event, 0)) break;
    bool recorded = !rpc_cuEventRecord(event, stream) && !rpc_cuEventSynchronize(event);
    uint64_t after = graft_now();
    if (!recorded || (after - before) / 2 >= clock->error) {
      rpc_cuEventDestroy_v2(event);
      continue;
    }
    if (clock->event) rpc_cuEventDestroy_v2(clock->event);
    clock->event = event;
    clock->error = (after - before) / 2;
    clock->time = before + clock->error;
  }
  return clock->event;
}

static void name_gpu(const struct clock *clock) {
  char name[100];
  int device = clock->context->u.context.device;
  snprintf(name, sizeof name, "GPU %d of %s (times within %llu us)", device, program_invocation_short_name,
           (unsigned long long)(clock->error / 1000 + 1));
  graft_trace_file_name(row_of_stream(clock->context, 0), "process_name", name);
}

/* The clock of a context, which is new enough. NULL if there is none to be had. */
static struct clock *clock_of(struct graft_object *context) {
  struct clock *found = clocks;
  while (found && found->context != context) found = found->next;
  if (found && graft_now() - found->time < CLOCK_NANOSECONDS) return found;
  struct clock *made = calloc(1, sizeof *made);
  void *stream = NULL;
  bool is_set = made && !rpc_cuStreamCreate(&stream, 1); /* CU_STREAM_NON_BLOCKING */
  if (is_set) {
    made->context = context;
    is_set = set(made, stream);
    rpc_cuStreamDestroy_v2(stream);
  }
  if (!is_set) {
    free(made);
    return found;
  }
  if (!found) name_gpu(made);
  made->next = clocks;
  return clocks = made;
}

static uint64_t serial_of(void *stream) {
  uint64_t id = 0;
  cuStreamGetId(stream, &id);
  return id;
}

static bool make_events(struct graft_span *span, void *stream) {
  if (rpc_cuEventCreate(&span->start, 0)) return false;
  if (!rpc_cuEventCreate(&span->end, 0)) {
    if (!rpc_cuEventRecord(span->start, stream)) return true;
    rpc_cuEventDestroy_v2(span->end);
  }
  rpc_cuEventDestroy_v2(span->start);
  return false;
}

/* Events are recorded in streams of their own context. In another one the recording would fail, and the program would get the error. */
static bool is_of_context(void *stream, const struct graft_object *context) {
  const struct graft_object *object = graft_object(GRAFT_STREAM, stream);
  return !object || object->u.stream.context == context;
}

struct graft_span *graft_trace_begin(void *stream) {
  struct graft_object *context = graft_tracing && !is_own ? graft_context_current() : NULL;
  if (!context || context->u.context.destroyed || !is_of_context(stream, context) || graft_stream_captures(stream)) return NULL;
  struct graft_span *span = calloc(1, sizeof *span);
  if (!span) return NULL;
  is_own = true;
  pthread_mutex_lock(&lock);
  span->clock = clock_of(context);
  pthread_mutex_unlock(&lock);
  span->queued_in = stream;
  span->stream = serial_of(stream);
  bool made = span->clock && make_events(span, stream);
  is_own = false;
  if (made) return span;
  free(span);
  return NULL;
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

static uint64_t after(const struct clock *clock, float milliseconds) {
  double nanoseconds = (double)clock->time + (double)milliseconds * 1e6;
  return nanoseconds > 0 ? (uint64_t)nanoseconds : 0;
}

/* Writes when a piece of work ran. CUDA_ERROR_NOT_READY if it is not over. */
static int write_span(const struct graft_span *span) {
  float start, end;
  int r = rpc_cuEventElapsedTime(&end, span->clock->event, span->end);
  if (!r) r = rpc_cuEventElapsedTime(&start, span->clock->event, span->start);
  if (r == GRAFT_NOT_READY) return r;
  if (r) {
    unknown++;
    return 0;
  }
  struct graft_trace_row row = row_of_stream(span->clock->context, span->stream);
  char more[40] = "";
  if (span->bytes) snprintf(more, sizeof more, "\"bytes\":%zu", span->bytes);
  name_stream(row, span->stream);
  graft_trace_file_span(row, categories[span->work], span->name, after(span->clock, start), after(span->clock, end), more);
  return 0;
}

/* The streams whose work was not over when this pass asked. A stream's work ends in its order, so that what follows in it is not asked for. */
struct busy {
  struct graft_trace_row streams[64];
  size_t count;
};

static bool is_busy(const struct busy *busy, struct graft_trace_row row) {
  for (size_t i = 0; i < busy->count; i++) {
    if (busy->streams[i].process == row.process && busy->streams[i].thread == row.thread) return true;
  }
  return false;
}

static void note_busy(struct busy *busy, struct graft_trace_row row) {
  if (busy->count < sizeof busy->streams / sizeof *busy->streams) busy->streams[busy->count++] = row;
}

/* Reads the times of work that is over, of one context or, if that is NULL, of all; until the deadline it waits for work that is not. The caller holds the lock. */
static void read_times(const struct graft_object *context, uint64_t deadline) {
  struct busy busy = {.count = 0};
  for (struct graft_span **at = &first; *at;) {
    struct graft_span *span = *at;
    struct graft_trace_row row = row_of_stream(span->clock->context, span->stream);
    if ((context && span->clock->context != context) || is_busy(&busy, row)) {
      at = &span->next;
      continue;
    }
    bool current = !cuCtxPushCurrent_v2(span->clock->context);
    int r = current ? write_span(span) : 0;
    while (r == GRAFT_NOT_READY && graft_now() < deadline) {
      usleep(1000);
      r = write_span(span);
    }
    if (r == GRAFT_NOT_READY && !deadline) {
      note_busy(&busy, row);
      at = &span->next;
    } else {
      if (!current || r) unknown++;
      *at = span->next;
      count--;
      forget_span(span);
    }
    void *popped;
    if (current) cuCtxPopCurrent_v2(&popped);
  }
  last = &first;
  while (*last) last = &(*last)->next;
}

void graft_trace_drop(struct graft_span *span) {
  if (!span) return;
  is_own = true;
  forget_span(span);
  is_own = false;
}

void graft_trace_end(struct graft_span *span, enum graft_trace_work work, const char *name, size_t bytes, int result) {
  if (!span) return;
  is_own = true;
  span->work = work;
  span->bytes = bytes;
  span->name = strdup(name ? name : categories[work]);
  if (result || !span->name || rpc_cuEventRecord(span->end, span->queued_in)) {
    forget_span(span);
  } else {
    pthread_mutex_lock(&lock);
    *last = span;
    last = &span->next;
    if (++count >= read_at) {
      read_times(NULL, 0);
      read_at = count + READ_AFTER;
    }
    pthread_mutex_unlock(&lock);
  }
  is_own = false;
}

const char *graft_trace_copy_name(bool from_host, bool to_host) {
  static const char *const names[2][2] = {{"memcpy DtoD", "memcpy DtoH"}, {"memcpy HtoD", "memcpy HtoH"}};
  return names[from_host][to_host];
}

void graft_trace_context_ends(struct graft_object *context) {
  if (!graft_tracing || is_own) return;
  is_own = true;
  pthread_mutex_lock(&lock);
  read_times(context, graft_now() + END_NANOSECONDS);
  for (struct clock **at = &clocks; *at;) {
    struct clock *clock = *at;
    if (clock->context != context) {
      at = &clock->next;
      continue;
    }
    *at = clock->next;
    rpc_cuEventDestroy_v2(clock->event);
    free(clock);
  }
  pthread_mutex_unlock(&lock);
  is_own = false;
}

/* ---- Beginning and end ---- */

static void finish(void) {
  if (graft_in_child() || !graft_tracing) return;
  is_own = true;
  pthread_mutex_lock(&lock);
  graft_tracing = false;
  read_times(NULL, graft_now() + END_NANOSECONDS);
  if (unknown) graft_say("GRAFT_TRACE: the times of %zu pieces of work on the GPU are not known", unknown);
  pthread_mutex_unlock(&lock);
  graft_trace_file_close();
}

void graft_trace_enable(void) {
  const char *path = getenv("GRAFT_TRACE");
  if (!path || !*path || graft_tracing) return;
  if (!graft_trace_file_open(path)) {
    graft_say("GRAFT_TRACE: cannot write %s: %s", path, strerror(errno));
    return;
  }
  struct graft_trace_row row = {(uint64_t)getpid(), 0};
  graft_trace_file_name(row, "process_name", program_invocation_short_name);
  graft_tracing = true;
  atexit(finish);
}
