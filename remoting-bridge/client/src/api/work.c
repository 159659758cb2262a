#include "api/work.h"
#include "api/captures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "api/work_times.h"
#include "base/system.h"
#include "graft_rpc.h"

#define READ_AFTER 2048 /* so many pieces of work are under way, or over and not read, before the client reads their times */
#define READ_FIRST 16   /* and so many at first, then twice as many each time */
/* cuEventElapsedTime returns milliseconds as a float: within some seconds the client takes a new point in time to measure from. */
#define CLOCK_NANOSECONDS UINT64_C(4000000000)
#define CLOCK_TRIES 5
#define MOST_MILLISECONDS 1e9f /* no work of a program lies so far from a clock; what a server says beyond is no time */

atomic_bool graft_work_is_heard;

static _Thread_local bool is_own;

/* The work that the calling thread is queueing, for the server's profiling library. */
static _Thread_local struct {
  uint32_t number;
  bool is_sent;
} queueing;

/* A moment that is known in the time of the program and in that of a context's events. */
struct clock {
  struct clock *next;
  struct graft_object *context;
  void *event;
  uint64_t time, error;
  bool has_library; /* the context's server has a profiling library, which has a clock of its own */
  bool is_recorded; /* that library records the context's work */
  bool has_told;    /* it has told of work. Until then work has events as well, and is not lost if the library tells nothing */
  struct graft_work_moment moment;
  uint64_t read; /* the pass that has read the library's records last */
};

struct graft_span {
  struct graft_span *next;
  struct clock *clock;
  void *start, *end; /* events, NULL if there are none */
  bool is_numbered;  /* the server's profiling library tells when the work runs */
  bool is_over;      /* by its events, when an earlier pass asked */
  size_t pieces;     /* of a graph, that the last pass knew of */
  const struct graft_work_listener *listeners[GRAFT_WORK_LISTENERS];
  struct graft_work work;
};

static _Atomic(const struct graft_work_listener *) listening[GRAFT_WORK_LISTENERS];
static atomic_uint last_correlation;

/* Guards all that follows, and is held while times are read. No call of the program's is made with it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clock *clocks; /* the newest of each context comes first */
static struct graft_span *first, **last = &first;
static size_t under_way; /* work that is being queued: not in the list yet, but the server's library may have told of it */
static size_t count, read_after = READ_FIRST, read_at = READ_FIRST;

bool graft_work_is_own_call(void) { return is_own; }

uint32_t graft_work_number(void) {
  if (is_own || !queueing.number) return 0;
  queueing.is_sent = true;
  return queueing.number;
}

void graft_work_listen(int who, const struct graft_work_listener *listener) {
  bool is_heard = false;
  pthread_mutex_lock(&lock);
  listening[who] = listener;
  for (int i = 0; i < GRAFT_WORK_LISTENERS; i++) is_heard |= listening[i] != NULL;
  graft_work_is_heard = is_heard;
  pthread_mutex_unlock(&lock);
}

/* ---- Clocks ---- */

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

static uint64_t after(const struct clock *clock, float milliseconds) {
  double nanoseconds = (double)clock->time + (double)milliseconds * 1e6;
  return nanoseconds > 0 ? (uint64_t)nanoseconds : 0;
}

static bool is_time(float milliseconds) { return milliseconds > -MOST_MILLISECONDS && milliseconds < MOST_MILLISECONDS; }

/*
 * The time of a new clock by the one before it, as far as the two times that were measured allow it: work that was timed by the one
 * and follows work that was timed by the other would else begin before that ends.
 */
static void follow(struct clock *clock, const struct clock *before) {
  float milliseconds;
  if (rpc_cuEventElapsedTime(&milliseconds, before->event, clock->event) || !is_time(milliseconds)) return;
  uint64_t time = after(before, milliseconds), least = clock->time - clock->error, most = clock->time + clock->error;
  clock->time = time < least ? least : time > most ? most : time;
}

/* The clock of a context, which is new enough. NULL if there is none to be had. */
static struct clock *clock_of(struct graft_object *context) {
  struct clock *found = clocks;
  while (found && found->context != context) found = found->next;
  if (found && graft_now() - found->time < CLOCK_NANOSECONDS) {
    if (found->has_library && !found->is_recorded) found->is_recorded = graft_work_times_begin(&found->moment);
    return found;
  }
  struct clock *made = calloc(1, sizeof *made);
  void *stream = NULL;
  bool is_set = made && !rpc_cuStreamCreate(&stream, 1); /* CU_STREAM_NON_BLOCKING */
  if (is_set) {
    made->context = context;
    is_set = set(made, stream);
    if (is_set && found) follow(made, found);
    if (is_set) made->has_library = made->is_recorded = graft_work_times_begin(&made->moment);
    made->has_told = found && found->has_told;
    rpc_cuStreamDestroy_v2(stream);
  }
  if (!is_set) {
    free(made);
    return found;
  }
  made->next = clocks;
  return clocks = made;
}

/* ---- Queueing ---- */

static void forget(struct graft_span *span) {
  if (span->start) rpc_cuEventDestroy_v2(span->start);
  if (span->end) rpc_cuEventDestroy_v2(span->end);
  free((char *)span->work.name);
  free(span);
}

static bool make_events(struct graft_span *span) {
  return !rpc_cuEventCreate(&span->start, 0) && !rpc_cuEventCreate(&span->end, 0) &&
         !rpc_cuEventRecord(span->start, span->work.stream);
}

/* Of a graph the server's library may tell nothing, and a copy may be made in several ways, some of them without a number: these have events in any case. */
static bool needs_events(const struct graft_span *span) {
  return !span->clock->is_recorded || !span->clock->has_told || span->work.kind == GRAFT_WORK_COPY ||
         span->work.kind == GRAFT_WORK_GRAPH;
}

/* Events are recorded in streams of their own context. In another one the recording would fail, and the program would get the error. */
static bool is_of_context(void *stream, const struct graft_object *context) {
  const struct graft_object *object = graft_object(GRAFT_STREAM, stream);
  return !object || object->u.stream.context == context;
}

/* Whether anybody wants the work. */
static bool ask_listeners(struct graft_span *span) {
  bool is_wanted = false;
  for (int i = 0; i < GRAFT_WORK_LISTENERS; i++) {
    const struct graft_work_listener *listener = listening[i];
    if (!listener || !listener->begins(&span->work)) continue;
    span->listeners[i] = listener;
    is_wanted = true;
  }
  return is_wanted;
}

struct graft_span *graft_work_start(const struct graft_work *work) {
  struct graft_object *context = is_own ? NULL : graft_context_current();
  if (!context || context->u.context.destroyed || !is_of_context(work->stream, context) || graft_stream_captures(work->stream)) {
    return NULL;
  }
  struct graft_span *span = calloc(1, sizeof *span);
  if (!span) return NULL;
  is_own = true;
  span->work = *work;
  span->work.context = context;
  span->work.device = context->u.context.device;
  cuStreamGetId(work->stream, &span->work.stream_id);
  span->work.correlation = ++last_correlation;
  span->work.called = graft_now();
  if (!ask_listeners(span)) {
    forget(span);
    is_own = false;
    return NULL;
  }
  span->work.name = work->name ? strdup(work->name) : NULL;
  pthread_mutex_lock(&lock);
  span->clock = clock_of(context);
  under_way++;
  pthread_mutex_unlock(&lock);
  if (span->clock && needs_events(span) && !make_events(span)) span->clock = NULL;
  is_own = false;
  queueing.number = span->clock && span->clock->is_recorded ? span->work.correlation : 0;
  queueing.is_sent = false;
  return span;
}

void graft_work_drop(struct graft_span *span) {
  if (!span) return;
  queueing.number = 0;
  is_own = true;
  pthread_mutex_lock(&lock);
  under_way--;
  pthread_mutex_unlock(&lock);
  forget(span);
  is_own = false;
}

/* ---- Reading ---- */

static void report(const struct graft_span *span, bool is_known) {
  for (int i = 0; i < GRAFT_WORK_LISTENERS; i++) {
    if (span->listeners[i]) span->listeners[i]->done(&span->work, is_known);
  }
}

enum answer { TOLD, NOT_OVER, NOT_TOLD };

/* When the work ran by its events. */
static enum answer ask_events(struct graft_span *span, bool *is_known) {
  float start, end;
  int r = rpc_cuEventElapsedTime(&end, span->clock->event, span->end);
  if (!r) r = rpc_cuEventElapsedTime(&start, span->clock->event, span->start);
  if (r == GRAFT_NOT_READY) return NOT_OVER;
  *is_known = !r && is_time(start) && is_time(end);
  if (*is_known) {
    span->work.start = after(span->clock, start);
    span->work.end = after(span->clock, end > start ? end : start);
    span->work.error = span->clock->error;
  }
  return TOLD;
}

/* Reports each piece of a graph that the server's library tells of. */
static void report_pieces(const struct graft_span *span, const struct graft_time *times) {
  struct graft_span piece = *span;
  for (const struct graft_time *time = times; time; time = time->next) {
    graft_work_piece(time, &span->clock->moment, &piece.work);
    report(&piece, true);
  }
}

/* Takes over what the server's library tells of work that is no graph. False if that is not the work: parts of a copy may have no number. */
static bool take_times(struct graft_span *span, const struct graft_time *times) {
  static const enum graft_time_kind kinds[] = {
      [GRAFT_WORK_KERNEL] = GRAFT_TIME_KERNEL, [GRAFT_WORK_COPY] = GRAFT_TIME_COPY, [GRAFT_WORK_FILL] = GRAFT_TIME_FILL};
  struct graft_work *work = &span->work;
  uint64_t bytes = 0, start = UINT64_MAX, end = 0;
  for (const struct graft_time *time = times; time; time = time->next) {
    if (time->kind != kinds[work->kind]) continue;
    bytes += time->bytes;
    if (time->start < start) start = time->start;
    if (time->end > end) end = time->end;
  }
  if (!end || (work->kind == GRAFT_WORK_COPY && bytes != work->bytes)) return false;
  work->start = graft_work_time(&span->clock->moment, start);
  work->end = graft_work_time(&span->clock->moment, end);
  work->error = span->clock->moment.error;
  return true;
}

static void note_told(const struct graft_object *context) {
  for (struct clock *clock = clocks; clock; clock = clock->next) clock->has_told |= clock->context == context;
}

/* Reports when a piece of work ran, if that is known. */
static enum answer report_span(struct graft_span *span, uint64_t pass, bool is_asked) {
  bool is_known = false, is_graph = span->work.kind == GRAFT_WORK_GRAPH;
  /* The library may have told of the work after it was last read. So the events, once they are over, speak for the work only if the library was read since. */
  bool is_read_since = span->is_over || span->clock->read != pass;
  enum answer answer = span->start ? ask_events(span, &is_known) : NOT_TOLD;
  span->is_over = answer == TOLD;
  if (answer == NOT_OVER || !span->is_numbered) {
    if (answer == TOLD) report(span, is_known);
    return answer;
  }
  if (span->clock->read != pass) {
    graft_work_times_read();
    span->clock->read = pass;
  }
  /* The library may give a graph's pieces one after the other; two passes that know the same ones know them all. */
  size_t pieces = graft_work_times_count(span->work.correlation);
  if (is_graph && !is_asked && (!pieces || pieces != span->pieces)) {
    span->pieces = pieces;
    return NOT_TOLD;
  }
  struct graft_time *times = graft_work_times_take(span->work.correlation);
  bool is_told = is_graph ? times != NULL : take_times(span, times);
  if (is_told && !span->clock->has_told) note_told(span->work.context);
  if (is_told && is_graph) {
    report_pieces(span, times);
  } else if (is_told || (span->start && is_read_since)) {
    report(span, is_told || is_known);
    is_told = true;
  }
  if (!is_told) {
    graft_work_times_give_back(times); /* they may be a part */
    return NOT_TOLD;
  }
  graft_work_times_free(times);
  return TOLD;
}

/* The streams whose work was not over when this pass asked. A stream's work ends in its order, so that what follows in it is not asked for. */
struct busy {
  struct {
    const struct graft_object *context;
    uint64_t stream;
  } streams[64];
  size_t count;
};

static bool is_busy(const struct busy *busy, const struct graft_work *work) {
  for (size_t i = 0; i < busy->count; i++) {
    if (busy->streams[i].context == work->context && busy->streams[i].stream == work->stream_id) return true;
  }
  return false;
}

static void note_busy(struct busy *busy, const struct graft_work *work) {
  if (busy->count == sizeof busy->streams / sizeof *busy->streams) return;
  busy->streams[busy->count].context = work->context;
  busy->streams[busy->count++].stream = work->stream_id;
}

/* One pass of read_times over the list. */
static void read_pass(const struct graft_object *context, uint64_t deadline, bool is_asked) {
  static uint64_t pass;
  struct busy busy = {.count = 0};
  pass++;
  for (struct graft_span **at = &first; *at;) {
    struct graft_span *span = *at;
    if ((context && span->work.context != context) || is_busy(&busy, &span->work)) {
      at = &span->next;
      continue;
    }
    bool current = !graft_context_push(span->work.context);
    enum answer answer = current ? report_span(span, pass, is_asked) : TOLD;
    while (answer != TOLD && graft_now() < deadline) {
      usleep(1000);
      answer = report_span(span, ++pass, is_asked);
    }
    if (answer != TOLD && !deadline) {
      if (answer == NOT_OVER) note_busy(&busy, &span->work);
      at = &span->next;
    } else {
      if (!current || answer != TOLD) report(span, false);
      *at = span->next;
      count--;
      forget(span);
    }
    void *popped;
    if (current) cuCtxPopCurrent_v2(&popped);
  }
  last = &first;
  while (*last) last = &(*last)->next;
}

/* Reads the times of work that is over, of one context or, if that is NULL, of all; until the deadline it waits for work that is not. If somebody has asked, what
 * is over is reported now. The caller holds the lock. */
static void read_times(const struct graft_object *context, uint64_t deadline, bool is_asked) {
  if (is_asked) read_pass(context, 0, false); /* what this pass finds to be over, the next one reports */
  read_pass(context, deadline, is_asked);
  if (!first && !under_way) graft_work_times_forget();
}

/* Ends what servers record for nobody. The caller holds the lock. */
static void end_recording(void) {
  if (graft_work_is_heard || first) return;
  for (struct clock *clock = clocks; clock; clock = clock->next) {
    void *popped;
    if (!clock->is_recorded || graft_context_push(clock->context)) continue;
    graft_work_times_end();
    clock->is_recorded = false;
    cuCtxPopCurrent_v2(&popped);
  }
}

void graft_work_end(struct graft_span *span, int result) {
  if (!span) return;
  span->is_numbered = queueing.number == span->work.correlation && queueing.is_sent;
  queueing.number = 0;
  is_own = true;
  bool is_timed = !result && span->clock && (span->start ? !rpc_cuEventRecord(span->end, span->work.stream) : span->is_numbered);
  span->work.returned = graft_now();
  for (int i = 0; i < GRAFT_WORK_LISTENERS; i++) {
    if (span->listeners[i] && span->listeners[i]->queued) span->listeners[i]->queued(&span->work, result);
  }
  pthread_mutex_lock(&lock);
  under_way--;
  if (!is_timed) {
    if (!result) report(span, false);
    forget(span);
  } else {
    *last = span;
    last = &span->next;
    if (++count >= read_at) {
      read_times(NULL, 0, false);
      read_after = read_after * 2 < READ_AFTER ? read_after * 2 : READ_AFTER;
      read_at = count + read_after;
    }
  }
  pthread_mutex_unlock(&lock);
  is_own = false;
}

void graft_work_flush(uint64_t nanoseconds) {
  if (is_own) return;
  is_own = true;
  pthread_mutex_lock(&lock);
  read_times(NULL, nanoseconds ? graft_now() + nanoseconds : 0, true);
  end_recording();
  pthread_mutex_unlock(&lock);
  is_own = false;
}

void graft_work_context_ends(struct graft_object *context) {
  if (is_own) return;
  is_own = true;
  pthread_mutex_lock(&lock);
  if (first) read_times(context, graft_now() + GRAFT_WORK_END_NANOSECONDS, true);
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
