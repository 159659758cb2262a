/* When the kernels, copies, fills and graphs that the program queues run on the GPU, for those who listen: the timeline (trace.h) and libcupti (cupti/). Where
 * the server has NVIDIA's profiling library, it says when work ran (work_times.h); elsewhere each piece of work gets an event before and one behind it. */
#ifndef GRAFT_WORK_H
#define GRAFT_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_object;
struct graft_span;

enum graft_work_kind { GRAFT_WORK_KERNEL, GRAFT_WORK_COPY, GRAFT_WORK_FILL, GRAFT_WORK_GRAPH };
/* As CUpti_ActivityMemoryKind counts. */
enum graft_work_memory { GRAFT_WORK_PAGEABLE = 1, GRAFT_WORK_PINNED, GRAFT_WORK_DEVICE, GRAFT_WORK_ARRAY, GRAFT_WORK_MANAGED };

struct graft_work {
  enum graft_work_kind kind;
  const char *name;     /* of the kernel; valid during a listener's call */
  const char *function; /* of the driver, that queues the work */
  void *handle;         /* the function or the executable graph */
  void *stream;         /* the program's handle */
  uint64_t bytes;       /* copied or filled */
  uint8_t from, to;     /* of a copy; what is filled: enum graft_work_memory */
  uint32_t value;       /* of a fill */
  uint32_t grid[3], block[3], shared;
  uint16_t registers; /* of each thread of a kernel */
  uint32_t static_shared, local;

  /* What follows is filled in by graft_work_begin. */
  struct graft_object *context; /* may have ended when the work is done */
  int device;                   /* as the program counts */
  uint64_t stream_id;           /* in the program */
  uint32_t correlation;         /* numbers the pieces of work of the process, from 1 */
  uint32_t wanted;              /* for the listener's own use */
  uint64_t called, returned;    /* when the call that queued the work began and ended: graft_now */
  uint64_t start, end;          /* when the work ran: graft_now; end is not before start */
  uint64_t error;               /* of these two: they are right within so many nanoseconds */
};

/* All functions are called by threads of the program, in which calls of the driver are not listened to meanwhile. */
struct graft_work_listener {
  /* The calling thread is about to queue this work. False if the listener does not want it. */
  bool (*begins)(struct graft_work *work);
  /* The call has returned this. May be NULL. */
  void (*queued)(const struct graft_work *work, int result);
  /* The work, which was queued without an error, is over; if is_known is false, its times are not known. Called for one piece of work at a time. */
  void (*done)(const struct graft_work *work, bool is_known);
};
enum { GRAFT_WORK_TIMELINE, GRAFT_WORK_PROFILER, GRAFT_WORK_LISTENERS };

extern atomic_bool graft_work_is_heard;
/* The number that the next record of the calling thread carries to the server if it queues work, 0 for none. To be called only if somebody listens. */
uint32_t graft_work_number(void);
/* Who listens from now on; NULL ends it. Work that was queued before is still reported to who listened then. */
void graft_work_listen(int who, const struct graft_work_listener *listener);
/* Whether the calling thread makes calls to find out times. */
bool graft_work_is_own_call(void);

struct graft_span *graft_work_start(const struct graft_work *work);
/* Called before and after calls that queue one piece of work in a stream of the current context. NULL if nobody listens, and for work that becomes part of
 * a graph. */
static inline struct graft_span *graft_work_begin(const struct graft_work *work) {
  return atomic_load_explicit(&graft_work_is_heard, memory_order_relaxed) ? graft_work_start(work) : NULL;
}
/* With what the call returns. NULL is allowed. */
void graft_work_end(struct graft_span *span, int result);
/* Nothing was queued. NULL is allowed. */
void graft_work_drop(struct graft_span *span);
/* Reports the work that is over. Waits for other work for so many nanoseconds, and reports what is not over then with unknown times; with 0 that work stays. */
void graft_work_flush(uint64_t nanoseconds);
/* Called before a context ends, with which its events end. Waits for its work as the end of a context does. */
void graft_work_context_ends(struct graft_object *context);

#define GRAFT_WORK_END_NANOSECONDS UINT64_C(5000000000) /* how long an end waits for work whose times are not known */

/* What libcupti asks libcuda for by cuGetExportTable: the slots of Graft's own table of that name. */
#define GRAFT_WORK_TABLE "graft.cupti.1"
enum { GRAFT_WORK_SLOT_LISTEN = 1, GRAFT_WORK_SLOT_FLUSH, GRAFT_WORK_SLOT_DEVICE, GRAFT_WORK_SLOTS };

#endif
