/* Records of what the program queued and of what ran. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cupti.h"

static _Atomic uint64_t enabled; /* a bit for each kind */

bool is_kind_wanted(enum kind kind) { return enabled >> kind & 1; }
bool are_activities_wanted(void) { return enabled & ~(UINT64_C(1) << KIND_RUNTIME | UINT64_C(1) << KIND_OVERHEAD); }

/* The kinds that exist here. The runtime's calls are seen as the driver's, and there is no overhead to tell: profilers enable both, and get none of these records. */
static bool is_served(uint32_t kind) {
  switch (kind) {
    case KIND_MEMCPY:
    case KIND_MEMSET:
    case KIND_KERNEL:
    case KIND_DRIVER:
    case KIND_RUNTIME:
    case KIND_CONCURRENT_KERNEL:
    case KIND_OVERHEAD:
    case KIND_EXTERNAL_CORRELATION: return true;
    default: return false;
  }
}

EXPORT int cuptiActivityEnable(uint32_t kind) {
  if (kind >= KINDS) return INVALID_KIND;
  if (!is_served(kind)) return NOT_SUPPORTED;
  enabled |= UINT64_C(1) << kind;
  int r = update_listening();
  if (r) enabled &= ~(UINT64_C(1) << kind);
  return r;
}

EXPORT int cuptiActivityDisable(uint32_t kind) {
  if (kind >= KINDS) return INVALID_KIND;
  enabled &= ~(UINT64_C(1) << kind);
  return update_listening();
}

/* Which functions of the driver have records is not chosen: those that queue work have one. */
EXPORT int cuptiActivityEnableDriverApi(uint32_t function, uint8_t enable) { return SUCCESS; }
EXPORT int cuptiActivityEnableRuntimeApi(uint32_t function, uint8_t enable) { return SUCCESS; }
/* Sizes of buffers of the GPU and the like, which do not exist here. */
EXPORT int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value) {
  return bytes && value ? SUCCESS : INVALID_PARAMETER;
}
EXPORT int cuptiActivityFlushPeriod(uint32_t milliseconds) { return SUCCESS; }

EXPORT int cuptiActivityFlushAll(uint32_t is_forced) {
  const struct driver *d = driver();
  if (d) d->flush(is_forced ? GRAFT_WORK_END_NANOSECONDS : 0);
  complete_buffer();
  return SUCCESS;
}
EXPORT int cuptiActivityFlush(void *context, uint32_t stream, uint32_t is_forced) { return cuptiActivityFlushAll(is_forced); }
EXPORT int cuptiFinalize(void) {
  enabled = 0;
  update_listening();
  return cuptiActivityFlushAll(0);
}

/* ---- Records ---- */

void report_queued(const struct graft_work *work, int result) {
  if (!are_activities_wanted()) return;
  want_buffer();
  if (is_kind_wanted(KIND_EXTERNAL_CORRELATION)) append_external(work->correlation);
  if (!is_kind_wanted(KIND_DRIVER) || !function_id(work->function)) return;
  struct profiler_span call = profiler_span(work->called, work->returned);
  struct api_record record = {.kind = KIND_DRIVER,
                              .function = function_id(work->function),
                              .start = call.start,
                              .end = call.end,
                              .process = (uint32_t)getpid(),
                              .thread = (uint32_t)syscall(SYS_gettid),
                              .correlation = work->correlation,
                              .result = (uint32_t)result};
  append(&record, sizeof record);
}

/* A copy of a name that stays, since records point to it. One thread at a time reports work. */
static const char *kept(const char *name) {
  enum { BUCKETS = 1024 };
  static struct name {
    struct name *next;
    char text[];
  } * names[BUCKETS];
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (const char *at = name; *at; at++) hash = (hash ^ (uint8_t)*at) * 16777619u;
  struct name **bucket = &names[hash % BUCKETS], *found = *bucket;
  while (found && strcmp(found->text, name)) found = found->next;
  if (found) return found->text;
  size_t bytes = strlen(name) + 1;
  found = malloc(sizeof *found + bytes);
  if (!found) return "(no memory for the name)";
  memcpy(found->text, name, bytes);
  found->next = *bucket;
  *bucket = found;
  return found->text;
}

static void append_kernel(const struct graft_work *work) {
  struct profiler_span ran = profiler_span(work->start, work->end);
  struct kernel_record record = {
      .kind = is_kind_wanted(KIND_KERNEL) ? KIND_KERNEL : KIND_CONCURRENT_KERNEL,
      .start = ran.start,
      .end = ran.end,
      .device = (uint32_t)work->device,
      .context = context_id(work->context),
      .stream = (uint32_t)work->stream_id,
      .registers = work->registers,
      .static_shared = (int32_t)work->static_shared,
      .dynamic_shared = (int32_t)work->shared,
      .local_per_thread = work->local,
      .correlation = work->correlation,
      .grid_id = work->correlation,
      /* The kernels of a graph have one time in all. */
      .name = work->kind == GRAFT_WORK_GRAPH ? "CUDA graph" : kept(work->name ? work->name : "kernel"),
  };
  for (int i = 0; i < 3; i++) {
    record.grid[i] = work->kind == GRAFT_WORK_GRAPH ? 1 : (int32_t)work->grid[i];
    record.block[i] = work->kind == GRAFT_WORK_GRAPH ? 1 : (int32_t)work->block[i];
  }
  append(&record, sizeof record);
}

/* CUpti_ActivityMemcpyKind. */
static uint8_t copy_kind(uint8_t from, uint8_t to) {
  static const uint8_t kinds[3][3] = {/* from, to: host, device, array */
                                      {9, 1, 3},
                                      {2, 8, 7},
                                      {4, 6, 5}};
  static const uint8_t place[] = {0, 0, 0, 1, 2, 1};
  if (from >= sizeof place || to >= sizeof place) return 0;
  return kinds[place[from]][place[to]];
}

static void append_copy(const struct graft_work *work) {
  struct profiler_span ran = profiler_span(work->start, work->end);
  struct memcpy_record record = {.kind = KIND_MEMCPY,
                                 .copy_kind = copy_kind(work->from, work->to),
                                 .from = work->from,
                                 .to = work->to,
                                 .bytes = work->bytes,
                                 .start = ran.start,
                                 .end = ran.end,
                                 .device = (uint32_t)work->device,
                                 .context = context_id(work->context),
                                 .stream = (uint32_t)work->stream_id,
                                 .correlation = work->correlation,
                                 .count = 1};
  append(&record, sizeof record);
}

static void append_fill(const struct graft_work *work) {
  struct profiler_span ran = profiler_span(work->start, work->end);
  struct memset_record record = {.kind = KIND_MEMSET,
                                 .value = work->value,
                                 .bytes = work->bytes,
                                 .start = ran.start,
                                 .end = ran.end,
                                 .device = (uint32_t)work->device,
                                 .context = context_id(work->context),
                                 .stream = (uint32_t)work->stream_id,
                                 .correlation = work->correlation,
                                 .memory = work->to};
  append(&record, sizeof record);
}

void report_done(const struct graft_work *work, bool is_known) {
  if (!work->wanted || !is_known) return;
  switch (work->kind) {
    case GRAFT_WORK_KERNEL:
    case GRAFT_WORK_GRAPH: append_kernel(work); break;
    case GRAFT_WORK_COPY: append_copy(work); break;
    case GRAFT_WORK_FILL: append_fill(work); break;
  }
}
