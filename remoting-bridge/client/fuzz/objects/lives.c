/* What lives and dies: contexts, and what they own. */
#include <string.h>

#include "objects.h"

static void forget(struct thread *t, enum kind kind, handle gone) {
  if (gone) t->gone[t->gone_count++ % GONE] = (struct gone){kind, gone};
}

/* ---- Contexts ---- */

void enter(struct thread *t, struct context *c) {
  if (t->in == c && below(t, 4)) return;
  MUST(cuCtxSetCurrent(c->handle));
  t->in = c;
}

void begin_context(struct thread *t, struct context *c, bool is_primary) {
  *c = (struct context){.is_primary = is_primary, .handle = is_primary ? t->primary : NULL, .has_stream = {true}};
  if (!is_primary) MUST(cuCtxCreate_v2(&c->handle, 0, 0));
  t->in = is_primary ? NULL : c;
}

/* All that it owns goes with it, but for memory of a pool. */
static void end_context(struct thread *t, struct context *c) {
  for (int i = 1; i < STREAMS; i++) {
    if (c->has_stream[i]) forget(t, STREAM, c->streams[i]);
  }
  for (int i = 0; i < EVENTS; i++) forget(t, EVENT, c->events[i]);
  forget(t, MODULE, c->module);
  forget(t, KERNEL, c->kernel);
  forget(t, CONTEXT, c->handle);
  MUST(cuCtxDestroy_v2(c->handle));
  t->in = NULL;
  enter(t, &t->contexts[0]);
  for (int i = 0; i < PIECES; i++) {
    struct piece *p = &c->pieces[i];
    if (p->at && p->is_pooled) MUST(cuMemFree_v2(p->at));
  }
  /* The context's executable graphs are not used any more: they would write memory that another piece may have by now. */
  *c = (struct context){0};
}

static bool is_used_by_graph(const struct context *c, int piece) {
  for (int i = 0; i < GRAPHS; i++) {
    for (int k = 0; c->graphs[i].exec && k < c->graphs[i].count; k++) {
      const struct effect *e = &c->graphs[i].effects[k];
      if (e->piece == piece || e->from == piece) return true;
    }
  }
  return false;
}

/* ---- What lives and dies ---- */

void change_stream(struct thread *t, struct context *c) {
  int i = 1 + below(t, STREAMS - 1);
  enter(t, c);
  if (!c->has_stream[i]) {
    c->has_stream[i] = !MUST(cuStreamCreate(&c->streams[i], below(t, 2) ? NON_BLOCKING : 0));
    return;
  }
  for (int k = 0; k < GRAPHS; k++) {
    if (c->graphs[k].exec && c->graphs[k].stream == i) return;
  }
  forget(t, STREAM, c->streams[i]);
  MUST(cuStreamDestroy_v2(c->streams[i]));
  c->has_stream[i] = false;
  bool has_pieces = false;
  for (int k = 0; k < PIECES; k++) has_pieces |= c->pieces[k].at && c->pieces[k].stream == i;
  if (has_pieces) MUST(cuCtxSynchronize());
  for (int k = 0; k < PIECES; k++) {
    if (c->pieces[k].stream == i) c->pieces[k].stream = 0;
  }
}

void change_event(struct thread *t, struct context *c) {
  handle *e = &c->events[below(t, EVENTS)];
  int stream = below(t, STREAMS);
  enter(t, c);
  if (!*e) {
    MUST(cuEventCreate(e, below(t, 2) ? 2 : 0)); /* CU_EVENT_DISABLE_TIMING */
  } else if (below(t, 5) == 0) {
    forget(t, EVENT, *e);
    MUST(cuEventDestroy_v2(*e));
    *e = NULL;
  } else if (below(t, 2) && c->has_stream[stream]) {
    MUST(cuEventRecord(*e, c->streams[stream]));
  } else if (below(t, 2) && c->has_stream[stream]) {
    MUST(cuStreamWaitEvent(c->streams[stream], *e, 0));
  } else if (below(t, 2)) {
    MUST(cuEventSynchronize(*e));
  } else {
    float milliseconds;
    NOTE(cuEventQuery(*e));
    MUST(cuEventSynchronize(*e));
    NOTE(cuEventElapsedTime(&milliseconds, *e, *e));
  }
}

void change_piece(struct thread *t, struct context *c) {
  int i = below(t, PIECES), stream = below(t, STREAMS);
  struct piece *p = &c->pieces[i];
  enter(t, c);
  if (!p->at) {
    if (!c->has_stream[stream]) return;
    *p =
        (struct piece){.bytes = 1 + (size_t)below(t, below(t, 3) ? 5000 : MOST_BYTES), .stream = stream, .is_pooled = !below(t, 3)};
    handle s = c->streams[stream];
    int r = p->is_pooled ? MUST(cuMemAllocAsync(&p->at, p->bytes, s)) : MUST(cuMemAlloc_v2(&p->at, p->bytes));
    if (!r) MUST(cuMemsetD8Async(p->at, p->value, p->bytes, s));
  } else if (!is_used_by_graph(c, i)) {
    bool in_order = p->is_pooled && below(t, 2);
    /* cuMemFree does not wait for work on memory of a pool. */
    if (p->is_pooled ? !in_order : below(t, 2)) MUST(cuStreamSynchronize(c->streams[p->stream]));
    if (in_order)
      MUST(cuMemFreeAsync(p->at, c->streams[p->stream]));
    else
      MUST(cuMemFree_v2(p->at));
    p->at = 0;
  }
}

void change_graph(struct thread *t, struct context *c) {
  struct graph *g = &c->graphs[below(t, GRAPHS)];
  enter(t, c);
  if (g->exec && below(t, 3)) {
    MUST(cuGraphLaunch(g->exec, c->streams[g->stream]));
    for (int i = 0; i < g->count; i++) apply(c, &g->effects[i]);
  } else if (g->exec) {
    forget(t, EXEC, g->exec);
    MUST(cuGraphExecDestroy(g->exec));
    g->exec = NULL;
  } else {
    handle graph;
    *g = (struct graph){.stream = 1 + below(t, STREAMS - 1)};
    if (!c->has_stream[g->stream]) return;
    load(t, c);
    handle s = c->streams[g->stream];
    MUST(cuStreamBeginCapture_v2(s, RELAXED));
    for (int i = below(t, EFFECTS); i > 0; i--) {
      struct effect *e = &g->effects[g->count];
      int other, found = find_piece(t, c, g->stream, &other);
      if (found < 0) break;
      *e = (struct effect){.what = below(t, 2) ? FILL : ADD, .piece = found, .from = -1, .value = (unsigned char)draw(t)};
      queue(t, c, s, e);
      g->count++;
    }
    if (MUST(cuStreamEndCapture(s, &graph))) return;
    if (MUST(cuGraphInstantiateWithFlags(&g->exec, graph, 0))) g->exec = NULL;
    MUST(cuGraphDestroy(graph));
  }
}

void change_module(struct thread *t, struct context *c) {
  enter(t, c);
  if (!c->module) {
    load(t, c);
    return;
  }
  for (int i = 0; i < GRAPHS; i++) {
    if (c->graphs[i].exec) return;
  }
  if (below(t, 2)) MUST(cuCtxSynchronize());
  forget(t, MODULE, c->module);
  forget(t, KERNEL, c->kernel);
  MUST(cuModuleUnload(c->module));
  c->module = c->kernel = NULL;
}

void change_pinned(struct thread *t, struct context *c) {
  enter(t, c);
  if (!c->pinned) {
    MUST(cuMemHostAlloc((void **)&c->pinned, MOST_BYTES, 0));
  } else {
    MUST(cuMemFreeHost(c->pinned));
    c->pinned = NULL;
  }
}

void change_context(struct thread *t) {
  struct context *c = &t->contexts[1 + below(t, CONTEXTS - 1)];
  handle popped;
  switch (below(t, 5)) {
    case 0:
      if (c->handle)
        end_context(t, c);
      else
        begin_context(t, c, false);
      break;
    case 1:
      if (!c->handle) begin_context(t, c, false);
      break;
    case 2:
      if (!c->handle) break;
      MUST(cuCtxPushCurrent_v2(c->handle));
      MUST(cuCtxPopCurrent_v2(&popped));
      break;
    case 3:
      MUST(cuCtxSetCurrent(NULL));
      t->in = NULL;
      break;
    case 4: MUST(cuCtxGetCurrent(&popped)); break;
  }
}

/* Another graph may have the handle of one that is gone. */
static bool is_live_exec(const struct thread *t, handle exec) {
  for (int i = 0; i < CONTEXTS; i++) {
    for (int k = 0; k < GRAPHS; k++) {
      if (t->contexts[i].graphs[k].exec == exec) return true;
    }
  }
  return false;
}

void use_gone(struct thread *t) {
  struct gone *g = &t->gone[below(t, GONE)];
  handle h = g->handle, made = NULL;
  float milliseconds;
  uint64_t bytes = 0;
  unsigned value = 0;
  if (!h) return;
  switch (g->kind) {
    case STREAM:
      switch (below(t, 6)) {
        case 0: cuStreamSynchronize(h); break;
        case 1: cuStreamQuery(h); break;
        case 2: cuLaunchHostFunc(h, on_host, NULL); break;
        case 3: cuEventRecord(t->contexts[0].events[0], h); break;
        case 4: cuMemcpyDtoHAsync_v2(t->bytes, t->contexts[0].pieces[0].at, 1, h); break;
        case 5:
          if (!cuStreamBeginCapture_v2(h, RELAXED)) cuStreamEndCapture(h, &made);
          if (made) cuGraphDestroy(made);
          break;
      }
      break;
    case EVENT:
      switch (below(t, 4)) {
        case 0: cuEventQuery(h); break;
        case 1: cuEventSynchronize(h); break;
        case 2: cuEventElapsedTime(&milliseconds, h, h); break;
        case 3: cuEventRecord(h, NULL); break;
      }
      break;
    case MODULE: cuModuleGetFunction(&made, h, "add"); break;
    case KERNEL: {
      void *parameters[] = {&t->contexts[0].pieces[0].at, &bytes, &value};
      if (t->contexts[0].pieces[0].at) cuLaunchKernel(h, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
      break;
    }
    case CONTEXT:
      if (!cuCtxPushCurrent_v2(h)) cuCtxPopCurrent_v2(&made);
      break;
    case EXEC:
      if (!is_live_exec(t, h)) cuGraphLaunch(h, t->contexts[0].streams[1]);
      break;
  }
}

void end(struct thread *t) {
  for (int i = 1; i < CONTEXTS; i++) {
    if (t->contexts[i].handle) end_context(t, &t->contexts[i]);
  }
  struct context *c = &t->contexts[0];
  enter(t, c);
  MUST(cuCtxSynchronize());
  for (int i = 0; i < GRAPHS; i++) {
    if (c->graphs[i].exec) MUST(cuGraphExecDestroy(c->graphs[i].exec));
  }
  for (int i = 0; i < EVENTS; i++) {
    if (c->events[i]) MUST(cuEventDestroy_v2(c->events[i]));
  }
  for (int i = 0; i < PIECES; i++) {
    if (c->pieces[i].at) MUST(cuMemFree_v2(c->pieces[i].at));
  }
  for (int i = 1; i < STREAMS; i++) {
    if (c->has_stream[i]) MUST(cuStreamDestroy_v2(c->streams[i]));
  }
  if (c->module) MUST(cuModuleUnload(c->module));
  if (c->pinned) MUST(cuMemFreeHost(c->pinned));
  if (!c->is_primary) MUST(cuCtxDestroy_v2(c->handle));
}
