#include "api/captures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "api/streams.h"
#include "graft_rpc.h"
#include "graph/node.h"
#include "session/session.h"

enum { GLOBAL, THREAD_LOCAL, RELAXED }; /* CUstreamCaptureMode */

/* A capture that has begun and not ended. */
struct capture {
  struct capture *next;
  const struct graft_object *context;
  void *stream;
  uint64_t thread;
  int mode;
  bool is_into; /* the graph was there before */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture *captures; /* guarded by lock */
static int open_captures;        /* their number; atomic */
/* Calls that begin a capture: that are sent or about to be, and those that have returned; atomic. */
static uint64_t begun_calls, returned_calls;

static _Thread_local int mode_of_thread = GLOBAL;

static uint64_t this_thread(void) {
  static uint64_t last;
  static _Thread_local uint64_t number;
  if (!number) number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  return number;
}

static const struct graft_object *context_of(const void *handle) {
  const struct graft_object *stream = graft_object(GRAFT_STREAM, handle);
  return stream ? stream->u.stream.context : graft_context_current();
}

/* Memory for a capture that is about to begin: begun() follows. */
static struct capture *begin(void) {
  struct capture *capture = malloc(sizeof *capture);
  if (capture) __atomic_add_fetch(&begun_calls, 1, __ATOMIC_SEQ_CST);
  return capture;
}

/* Enters a capture that has begun, with memory that was allocated before, or frees that. */
static int begun(int r, struct capture *capture, void *stream, int mode, bool is_into) {
  if (r) {
    free(capture);
    __atomic_add_fetch(&returned_calls, 1, __ATOMIC_SEQ_CST);
    return r;
  }
  pthread_mutex_lock(&lock);
  *capture = (struct capture){
      .next = captures, .context = context_of(stream), .stream = stream, .thread = this_thread(), .mode = mode, .is_into = is_into};
  captures = capture;
  __atomic_add_fetch(&open_captures, 1, __ATOMIC_ACQ_REL);
  __atomic_add_fetch(&returned_calls, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&lock);
  return GRAFT_OK;
}

/* The handle of a thread's default stream is the same in each thread. */
static bool captures_stream(const struct capture *capture, const void *stream) {
  return capture->stream == stream && ((uintptr_t)stream > 2 || capture->thread == this_thread());
}

/* Removes the captures of a stream, or else of a context. */
static void forget(const void *stream, const struct graft_object *context) {
  if (!graft_captures_are_open()) return;
  pthread_mutex_lock(&lock);
  for (struct capture **p = &captures; *p;) {
    struct capture *capture = *p;
    if (context ? capture->context != context : !captures_stream(capture, stream)) {
      p = &capture->next;
      continue;
    }
    *p = capture->next;
    __atomic_sub_fetch(&open_captures, 1, __ATOMIC_ACQ_REL);
    free(capture);
  }
  pthread_mutex_unlock(&lock);
}

void graft_capture_forget(const void *stream) { forget(stream, NULL); }
void graft_captures_end(const struct graft_object *context) { forget(NULL, context); }

/* Whether a stream's capture must be ended by the thread that began it, which this one is not. Tells whether its graph was there before. */
static bool is_of_another_thread(const void *stream, bool *is_into) {
  bool is = false;
  if (!graft_captures_are_open()) return false;
  pthread_mutex_lock(&lock);
  for (const struct capture *c = captures; c && !is; c = c->next) {
    is = captures_stream(c, stream) && c->mode != RELAXED && c->thread != this_thread();
    *is_into = c->is_into;
  }
  pthread_mutex_unlock(&lock);
  return is;
}

/* The rules of cuThreadExchangeStreamCaptureMode. */
static bool forbids(const struct capture *capture) {
  if (capture->mode == RELAXED) return false;
  return capture->thread == this_thread() || (capture->mode == GLOBAL && mode_of_thread == GLOBAL);
}

/* A question about a captured stream makes its capture invalid. */
static void invalidate(void *stream) {
  GRAFT_IN_CONTEXT_OF(stream);
  rpc_cuStreamQuery(stream);
}

int graft_uncaptured(void) {
  enum { MOST = 64 };
  void *streams[MOST];
  int forbidding = 0;
  if (!graft_captures_are_open() || mode_of_thread == RELAXED) return GRAFT_OK;
  pthread_mutex_lock(&lock);
  for (const struct capture *c = captures; c && forbidding < MOST; c = c->next) {
    if (forbids(c)) streams[forbidding++] = c->stream;
  }
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < forbidding; i++) invalidate(streams[i]);
  return forbidding ? GRAFT_STREAM_CAPTURE_UNSUPPORTED : GRAFT_OK;
}

int graft_uncaptured_but(void *stream) { return graft_stream_captures(stream) ? GRAFT_OK : graft_uncaptured(); }

GRAFT_EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
  struct graft_object *context;
  int r = graft_context_need_for(stream, &context);
  if (r) return r;
  if (mode < 0 || mode > 2) return GRAFT_INVALID_VALUE; /* CUstreamCaptureMode */
  struct capture *capture = begin();
  return capture ? begun(rpc_cuStreamBeginCapture_v2(stream, mode), capture, stream, mode, false) : GRAFT_OUT_OF_MEMORY;
}

GRAFT_EXPORT int cuStreamBeginCapture(void *stream) { return cuStreamBeginCapture_v2(stream, 0); }

GRAFT_EXPORT int cuStreamBeginCaptureToGraph(void *stream, void *graph, const void **dependencies, const void *edges, size_t count,
                                             int mode) {
  struct graft_object *context;
  int r = graft_context_need_for(stream, &context);
  if (r) return r;
  struct capture *capture = begin();
  if (!capture) return GRAFT_OUT_OF_MEMORY;
  return begun(rpc_cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode), capture, stream, mode, true);
}

#define DEPENDENCIES 1024

/* The dependencies of a capture's next node. CUDA returns arrays of the driver's; these are valid until the thread asks again. */
static _Thread_local struct {
  void *nodes[DEPENDENCIES];
  uint64_t edges[DEPENDENCIES];
  uint64_t count;
} last;

static int capture_info(void *stream, int *status, uint64_t *id, void **graph, bool dependencies) {
  struct graft_object *found;
  int r = graft_stream_find(stream, &found);
  if (r) return r;
  *status = 0;
  if (!graft_captures_are_open()) return 0;
  return rpc_graftStreamCaptureInfo(stream, status, id, graph, dependencies ? last.nodes : NULL, dependencies ? last.edges : NULL,
                                    dependencies ? DEPENDENCIES : 0, &last.count);
}

int graft_not_for_captures(void *stream) {
  enum { NONE, ACTIVE, INVALIDATED }; /* CUstreamCaptureStatus */
  int status = NONE;
  if (!graft_captures_are_open() || capture_info(stream, &status, NULL, NULL, false) || status == NONE) return GRAFT_OK;
  if (status == INVALIDATED) return GRAFT_STREAM_CAPTURE_INVALIDATED;
  invalidate(stream);
  return GRAFT_STREAM_CAPTURE_UNSUPPORTED;
}

bool graft_captures_none(uint64_t *begun_by_now) {
  *begun_by_now = __atomic_load_n(&begun_calls, __ATOMIC_SEQ_CST);
  return __atomic_load_n(&returned_calls, __ATOMIC_SEQ_CST) == *begun_by_now && !graft_captures_are_open();
}

bool graft_captures_are_open(void) { return __atomic_load_n(&open_captures, __ATOMIC_ACQUIRE) > 0; }

GRAFT_EXPORT int cuStreamEndCapture(void *stream, void **graph) {
  int status = 0;
  bool is_into;
  void *made = NULL;
  int r = graft_ready();
  if (r) return r;
  bool is_wrong = is_of_another_thread(stream, &is_into); /* such a call ends the capture as well */
  r = rpc_cuStreamEndCapture(stream, is_wrong ? &made : graph);
  /* These two may be the error of an earlier call: then the capture has ended. */
  bool may_go_on = r == GRAFT_INVALID_HANDLE || r == GRAFT_ILLEGAL_STATE;
  if (!may_go_on || (!capture_info(stream, &status, NULL, NULL, false) && !status)) graft_capture_forget(stream);
  if (!is_wrong) return r;
  if (made && !is_into) cuGraphDestroy(made);
  if (graph) *graph = NULL;
  return GRAFT_STREAM_CAPTURE_WRONG_THREAD;
}

struct graft_object *graft_stream_captures(void *stream) {
  int status = 0;
  void *graph = NULL;
  return !capture_info(stream, &status, NULL, &graph, false) && status == 1 ? graph : NULL;
}

GRAFT_EXPORT int cuStreamIsCapturing(void *stream, void *status) {
  if (!status) return GRAFT_INVALID_VALUE;
  return capture_info(stream, status, NULL, NULL, false);
}

static int info(void *stream, void *status, void *id, void *graph, void *dependencies, void *edges, void *count) {
  if (!status) return GRAFT_INVALID_VALUE;
  uint64_t identity = 0;
  void *captured = NULL;
  int r = capture_info(stream, status, &identity, &captured, dependencies || edges);
  if (r || !*(int *)status) return r;
  if (id) *(uint64_t *)id = identity;
  if (graph) *(void **)graph = captured;
  if (dependencies || edges) {
    if (last.count > DEPENDENCIES) return graft_not_served("a capture with so many dependencies");
    for (uint64_t i = 0; i < last.count; i++) graft_node_of(last.nodes[i], captured);
  }
  if (dependencies) *(void **)dependencies = last.nodes;
  if (edges) *(void **)edges = last.edges;
  if (count) *(size_t *)count = last.count;
  return 0;
}

GRAFT_EXPORT int cuStreamGetCaptureInfo(void *stream, void *status, void *id) {
  return info(stream, status, id, NULL, NULL, NULL, NULL);
}
GRAFT_EXPORT int cuStreamGetCaptureInfo_v2(void *stream, void *status, void *id, void *graph, void *dependencies, void *count) {
  return info(stream, status, id, graph, dependencies, NULL, count);
}
GRAFT_EXPORT int cuStreamGetCaptureInfo_v3(void *stream, void *status, void *id, void *graph, void *dependencies, void *edges,
                                           void *count) {
  return info(stream, status, id, graph, dependencies, edges, count);
}

GRAFT_EXPORT int cuThreadExchangeStreamCaptureMode(void *mode) {
  if (!mode) return GRAFT_INVALID_VALUE;
  int before = mode_of_thread;
  mode_of_thread = *(int *)mode;
  *(int *)mode = before;
  return 0;
}
