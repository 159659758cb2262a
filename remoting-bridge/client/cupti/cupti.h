/* libcupti for programs whose GPU is a server's: what profilers of programs (PyTorch's, Triton's proton) ask of NVIDIA's libcupti, answered from what libcuda.so.1
 * measures (api/work.h). NVIDIA's library reads private tables of the driver and buffers of the GPU, which no remote program has.
 *
 * Structures and numbers: CUPTI's API reference, 13.0. Records of a later version begin with those of the earlier, so that programs built for an
 * earlier CUDA read the same ones. */
#ifndef GRAFT_CUPTI_H
#define GRAFT_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/work.h"

#define EXPORT __attribute__((visibility("default")))

enum result {
  SUCCESS = 0,
  INVALID_PARAMETER = 1,
  INVALID_CONTEXT = 3,
  INVALID_OPERATION = 7,
  OUT_OF_MEMORY = 8,
  MAX_LIMIT_REACHED = 12,
  NOT_INITIALIZED = 15,
  QUEUE_EMPTY = 18,
  INVALID_KIND = 21,
  NOT_SUPPORTED = 27,
  MULTIPLE_SUBSCRIBERS = 39
};

/* Kinds of records: CUpti_ActivityKind. */
enum kind {
  KIND_MEMCPY = 1,
  KIND_MEMSET = 2,
  KIND_KERNEL = 3,
  KIND_DRIVER = 4,
  KIND_RUNTIME = 5,
  KIND_CONCURRENT_KERNEL = 10,
  KIND_OVERHEAD = 17,
  KIND_EXTERNAL_CORRELATION = 39,
  KINDS = 64
};

struct kernel_record { /* CUpti_ActivityKernel10 */
  uint32_t kind;
  uint8_t cache, bank_width;
  uint16_t registers;
  uint32_t partitioned[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared, dynamic_shared;
  uint32_t local_per_thread, local;
  uint32_t correlation;
  int64_t grid_id;
  const char *name;
  void *reserved;
  uint64_t queued, submitted;
  uint8_t launch_type, carveout_asked, carveout, padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  uint32_t shared_limit, graph;
  void *access_policy;
  uint32_t channel, channel_type;
  uint32_t cluster[3], cluster_policy;
  uint64_t local_total;
  uint32_t largest_cluster, active_clusters;
  uint8_t device_launched, padding_too[7];
};
_Static_assert(offsetof(struct kernel_record, start) == 16 && offsetof(struct kernel_record, device) == 40 &&
                   offsetof(struct kernel_record, correlation) == 92 && offsetof(struct kernel_record, name) == 104 &&
                   offsetof(struct kernel_record, graph) == 156 && offsetof(struct kernel_record, channel) == 168 &&
                   offsetof(struct kernel_record, local_total) == 192 && sizeof(struct kernel_record) == 216,
               "as in cupti_activity.h");

struct memcpy_record { /* CUpti_ActivityMemcpy6 */
  uint32_t kind;
  uint8_t copy_kind, from, to, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, padding;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph, channel, channel_type;
  uint8_t device_launched, padding_too[3];
  uint64_t count;
};
_Static_assert(offsetof(struct memcpy_record, bytes) == 8 && offsetof(struct memcpy_record, correlation) == 44 &&
                   offsetof(struct memcpy_record, graph) == 72 && sizeof(struct memcpy_record) == 96,
               "as in cupti_activity.h");

struct memset_record { /* CUpti_ActivityMemset4 */
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory;
  uint32_t padding;
  void *reserved;
  uint64_t graph_node;
  uint32_t graph, channel, channel_type;
  uint8_t device_launched, padding_too[3];
};
_Static_assert(offsetof(struct memset_record, correlation) == 44 && offsetof(struct memset_record, memory) == 50 &&
                   offsetof(struct memset_record, graph) == 72 && sizeof(struct memset_record) == 88,
               "as in cupti_activity.h");

struct api_record { /* CUpti_ActivityAPI */
  uint32_t kind, function;
  uint64_t start, end;
  uint32_t process, thread, correlation, result;
};
_Static_assert(offsetof(struct api_record, correlation) == 32 && sizeof(struct api_record) == 40, "as in cupti_activity.h");

struct external_record { /* CUpti_ActivityExternalCorrelation */
  uint32_t kind, external_kind;
  uint64_t external;
  uint32_t correlation, reserved;
};
_Static_assert(sizeof(struct external_record) == 24, "as in cupti_activity.h");

/* ---- library.c ---- */

/* What libcuda.so.1 has for this library; NULL if it is not Graft's. */
const struct driver *driver(void);
struct driver {
  size_t bytes;
  void (*listen)(int who, const struct graft_work_listener *listener);
  void (*flush)(uint64_t nanoseconds);
  int (*device)(void *context); /* -1 if it is no context */
};
/* Numbers a context, from 1. 0 if the process has had too many. */
uint32_t context_id(const void *context);
/* The number of a function in CUPTI's list (CUpti_driver_api_trace_cbid), 0 if it is not known here. */
uint32_t function_id(const char *name);
/* Listens to libcuda, or no longer, as activities and callbacks want. NOT_SUPPORTED if libcuda.so.1 is not Graft's. */
int update_listening(void);

/* ---- clock.c ---- */

/* Now, in the time that records have: the program's own clock if it gave one, else nanoseconds since 1970. */
uint64_t profiler_now(void);
struct profiler_span {
  uint64_t start, end;
};
/* The profiler's times of two times of graft_now. They are found by one reading of the clocks, whose error therefore does not lengthen what lies between them. */
struct profiler_span profiler_span(uint64_t start, uint64_t end);

/* ---- buffers.c ---- */

/* Appends a record of a size that divides by 8 to the program's buffer. */
void append(const void *record, size_t bytes);
/* Has the program give a first buffer, since some profilers flush only if there is one. */
void want_buffer(void);
/* Gives the program the buffer that is being filled. */
void complete_buffer(void);

/* ---- correlation.c ---- */

/* Writes which of the program's own numbers the calling thread's call belongs to. */
void append_external(uint32_t correlation);

/* ---- activity.c, callbacks.c ---- */

bool are_activities_wanted(void);
bool is_kind_wanted(enum kind kind);
void report_queued(const struct graft_work *work, int result);
void report_done(const struct graft_work *work, bool is_known);

/* Whether the program wants to be called for this function. */
bool is_callback_wanted(uint32_t function);
bool are_callbacks_wanted(void);
void call_back(const struct graft_work *work, bool is_end, int result);

#endif
