/* Random work on memory of every kind, compared with a model: copies, fills, kernels, graphs, host functions, values that streams
 * write and wait for, and the program's own reads and writes, in several streams and threads.
 *
 *   memory [--seed N] [--seeds N] [--rounds N | --seconds N] [--bytes N] [--large] [--threads N] [--share] [--apart] [--unwaited]
 *          [--busy] [--strict] [--trace]
 *
 * With --seeds one process does the work of several seeds, one after another: --seed is the first, and each has --rounds rounds.
 * Buffers have up to --bytes (65536), two thirds of them more than half of it. With --large they have from 1 byte to --bytes (1 GiB),
 * and as many are small as large, as are the parts on which work is done. With --share each thread has another process, and both
 * work on memory of either by the calls cuIpc..., in an order that shared events make. A second device, if there is one, takes part; with
 * --apart it is that of another server, between which graphs cannot copy. With --unwaited graphs are captured, launched and destroyed
 * while other work, and the graphs themselves, are under way. Memory is freed or unregistered, and made anew, while other work is
 * pending. The work on that memory is over by then or, for a pool's memory, before it in its stream (cuMemFreeAsync). With --busy it
 * may be pending: cuMemFree, cuMemFreeHost and cuMemHostUnregister wait for it, as programs expect, although CUDA's documentation
 * promises no wait (cuMemFree "may perform implicit synchronization", and never does for a pool's memory). Streams are destroyed with
 * work in them, and others take their places. With --strict the fuzzer also relies on two orders that CUDA's documentation promises and
 * NVIDIA's driver does not always keep (580.159 on an H200: 10 of 97,411 native rounds had a difference). In one thread a copy from host
 * memory to the device follows work on that memory, one of them in the legacy stream and the other in a blocking stream. And in a graph
 * a copy of pageable memory follows a host function that writes it.
 *
 * Runs on any CUDA driver, found as libcuda.so.1 (dlopen). Prints "memory: N passed, N failed" at the end; each round is a test.
 *
 * The model is updated when work is queued, so the work must take effect as if it ran in the order in which it was queued. This
 * holds because all work on a buffer is ordered after the earlier work on that buffer, by the stream or by an event between
 * streams. The program itself accesses bytes that no queued work uses at any time, even if queued work uses their neighbours.
 * Other bytes it accesses only after it has waited for the work. The driver guarantees the result of both ("Unified
 * Addressing", "API synchronization behavior"). */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/common.h"
#include "model.h"

FUNCTIONS(DEFINE)

/* add: p[i] += v for n bytes. move: q[i] = p[i] for n bytes. both: q[i] = p[i] + v, of a large structure (model.h). */
static const char *const code =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 16 .b8 variable[65536];\n" ADD_KERNEL
    ".visible .entry move(.param .u64 q, .param .u64 p, .param .u64 n)\n{\n"
    ".reg .pred %q;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .b16 %h<2>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u64 %a2, [n];\nld.param.u64 %a6, [q];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmov.u32 %r5, %nctaid.x;\n"
    "mad.lo.u32 %r6, %r2, %r3, %r4;\nmul.lo.u32 %r7, %r5, %r3;\ncvt.u64.u32 %a3, %r6;\ncvt.u64.u32 %a4, %r7;\n"
    "LOOP:\nsetp.ge.u64 %q, %a3, %a2;\n@%q bra DONE;\nadd.u64 %a5, %a1, %a3;\nld.u8 %h1, [%a5];\n"
    "add.u64 %a7, %a6, %a3;\nst.u8 [%a7], %h1;\nadd.u64 %a3, %a3, %a4;\nbra LOOP;\n"
    "DONE:\nret;\n}\n"
    ".visible .entry both(.param .align 8 .b8 s[544])\n{\n"
    ".reg .pred %q;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .b16 %h<3>;\n"
    "ld.param.u64 %a6, [s+512];\nld.param.u64 %a1, [s+520];\nld.param.u64 %a2, [s+528];\nld.param.u32 %r1, [s+536];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmov.u32 %r5, %nctaid.x;\n"
    "mad.lo.u32 %r6, %r2, %r3, %r4;\nmul.lo.u32 %r7, %r5, %r3;\ncvt.u64.u32 %a3, %r6;\ncvt.u64.u32 %a4, %r7;\n"
    "LOOP:\nsetp.ge.u64 %q, %a3, %a2;\n@%q bra DONE;\nadd.u64 %a5, %a1, %a3;\nld.u8 %h1, [%a5];\n"
    "cvt.u16.u32 %h2, %r1;\nadd.u16 %h1, %h1, %h2;\nadd.u64 %a7, %a6, %a3;\nst.u8 [%a7], %h1;\nadd.u64 %a3, %a3, %a4;\n"
    "bra LOOP;\nDONE:\nret;\n}\n";

handle module, kernel_add, kernel_move, kernel_both, contexts[2];
bool unwaited, busy, apart, strict, concurrent_managed, kernels_reach_peer, large, trace;

/* While one thread captures a stream, other threads must not wait for the context of that stream. */
static pthread_rwlock_t turns = PTHREAD_RWLOCK_INITIALIZER;

static void alone(void) {
  pthread_rwlock_unlock(&turns);
  pthread_rwlock_wrlock(&turns);
}
static void with_others(void) {
  pthread_rwlock_unlock(&turns);
  pthread_rwlock_rdlock(&turns);
}

static double until;
static unsigned long rounds_wanted;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void drop(struct thread *t, struct kept_graph *g) {
  if (g->executable) CHECK(cuGraphExecDestroy(g->executable));
  *g = (struct kept_graph){0};
}

static bool is_in(const struct kept_graph *g, const struct buffer *b) {
  bool is = false;
  for (int i = 0; i < g->count; i++) is = is || g->effects[i].to == b || g->effects[i].from == b;
  return is;
}

/* Whether the driver waits for pending work before it frees or unregisters memory of this kind. */
static bool is_awaited(const struct buffer *b) {
  switch (b->kind) {
    case DEV:
    case PINNED:
    case PORTABLE:
    case COMBINED:
    case MAPPED:
    case REGISTERED:
    case MANAGED: return !b->by_host;
    default: return false;
  }
}

static void take_a_while(void *unused) {
  (void)unused;
  nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Queues work behind a host function that takes a while. Returns memory that the work uses. */
static struct buffer *in_use(struct thread *t, int stream) {
  struct buffer *b = any(t);
  say(t, "a host function takes a while, stream %d", stream);
  CHECK(cuLaunchHostFunc(t->streams[stream], take_a_while, NULL));
  for (int i = 0; i < 4; i++) {
    struct effect e = work(t, stream);
    if (e.what == NO_EFFECT) continue;
    apply(&e);
    b = e.from && below(t, 2) ? e.from : e.to;
  }
  return b;
}

/* Frees or unregisters memory, and makes it anew, while other work is pending. */
static void make_anew(struct thread *t) {
  struct buffer *b = below(t, busy ? 6 : 2) ? in_use(t, (int)below(t, STREAMS)) : any(t);
  if (b->kind == GLOBAL) return;
  bool waits = !below(t, busy ? 4 : 2) || !(b->kind == POOL || (busy && is_awaited(b)));
  if (waits) use(t, b, -1, 0, 0);
  say(t, "ends %s%s", names[b->kind], b->owner < 0 ? "" : " in use");
  for (int i = 0; i < KEPT_GRAPHS; i++) {
    if (is_in(&t->graphs[i], b)) drop(t, &t->graphs[i]);
  }
  renew(t, b);
}

/* Captures a graph of random work. */
static void capture(struct thread *t, struct kept_graph *g) {
  /* Not a blocking stream: other threads may use the stream 0 during the capture, which would then become part of it. */
  int stream = 2 + (int)below(t, STREAMS - 2);
  handle made;
  say(t, "a graph");
  alone();
  CHECK(cuStreamBeginCapture_v2(t->streams[stream], 1)); /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */
  t->capturing = true;
  for (int i = 0; i < MOST_EFFECTS; i++) {
    struct effect e = work(t, stream);
    if (e.what != NO_EFFECT) g->effects[g->count++] = e;
  }
  t->capturing = false;
  CHECK(cuStreamEndCapture(t->streams[stream], &made));
  with_others();
  CHECK(cuGraphInstantiateWithFlags(&g->executable, made, 0));
  CHECK(cuGraphDestroy(made));
}

static bool may_launch(const struct kept_graph *g, int stream) {
  bool may = true;
  for (int i = 0; i < g->count; i++) {
    may = may && may_work(g->effects[i].to, stream) && (!g->effects[i].from || may_work(g->effects[i].from, stream));
  }
  return may;
}

/* Launches a new graph or an earlier one, one or more times in a random stream. */
static void graph(struct thread *t) {
  struct kept_graph *g = &t->graphs[below(t, KEPT_GRAPHS)];
  int stream = (int)below(t, STREAMS), launches = 1 + (int)below(t, 3);
  bool is_earlier = g->executable && below(t, 2), waits = !unwaited || below(t, 2);
  for (int i = 0; i < STREAMS && waits; i++) wait_for(t, i);
  if (!is_earlier) {
    drop(t, g);
    capture(t, g);
  }
  if (!may_launch(g, stream)) return;
  for (int k = 0; k < launches; k++) {
    say(t, "launch of the graph %d%s, stream %d", (int)(g - t->graphs), is_earlier ? " again" : "", stream);
    for (int i = 0; i < g->count; i++) {
      use(t, g->effects[i].to, stream, 0, g->effects[i].to->bytes);
      if (g->effects[i].from) use(t, g->effects[i].from, stream, 0, g->effects[i].from->bytes);
      apply(&g->effects[i]);
    }
    CHECK(cuGraphLaunch(g->executable, t->streams[stream]));
    if (!below(t, 2)) touch(t);
    if (!below(t, 3)) wait_for(t, stream);
  }
  if (!unwaited) wait_for(t, stream);
}

/* Makes a stream wait for a value. The program then writes the source of a queued copy, before it writes the value. During this time
 * other threads must not make calls for which the driver waits until the device is idle. The source is never managed memory: the
 * driver's call for such a copy may return only when the stream has reached it (580.159, an H100), and the stream waits for the program. */
static void gate(struct thread *t) {
  struct buffer *from = any(t), *to = any(t);
  if (!from->host || from->kind == PAGEABLE || from->kind == MANAGED || from->kind == COMBINED || !may_work(from, 2) ||
      to->kind == PEER || to->host || is_array(to))
    return;
  size_t n = a_length(t, from->bytes < to->bytes ? from->bytes : to->bytes);
  ptr at;
  CHECK(cuMemHostGetDevicePointer_v2(&at, t->flag, 0));
  use(t, from, -1, 0, 0);
  use(t, to, -1, 0, 0);
  alone();
  say(t, "%zu bytes of %s to %s, written while the stream waits", n, names[from->kind], names[to->kind]);
  CHECK(cuStreamWaitValue32_v2(t->streams[2], at, ++t->flag_value, 0));
  CHECK(cuMemcpyAsync(to->device, from->device ? from->device : (uintptr_t)from->host, n, t->streams[2]));
  memset(from->host, (int)t->flag_value, n);
  memset(from->model, (int)t->flag_value, n);
  memcpy(to->model, from->model, n);
  __atomic_store_n(t->flag, t->flag_value, __ATOMIC_RELEASE);
  wait_for(t, 2);
  with_others();
}

static void wait_somehow(struct thread *t) {
  int stream = (int)below(t, STREAMS), r = NOT_READY;
  switch (below(t, 5)) {
    case 0: break;
    case 1:
      CHECK(cuEventRecord(t->event[stream], t->streams[stream]));
      CHECK(cuEventSynchronize(t->event[stream]));
      break;
    case 2:
      CHECK(cuEventRecord(t->event[stream], t->streams[stream]));
      while (r == NOT_READY) r = cuEventQuery(t->event[stream]);
      CHECK(r);
      break;
    case 3:
      while (r == NOT_READY) r = cuStreamQuery(t->streams[stream]);
      CHECK(r);
      break;
    default:
      CHECK(cuCtxSynchronize());
      for (int i = 0; i < t->count; i++) over(&t->buffers[i]);
      say(t, "waits for all");
      return;
  }
  if (r == NOT_READY) wait_for(t, stream);
  for (int i = 0; i < t->count; i++) {
    if (t->buffers[i].owner == stream) over(&t->buffers[i]);
  }
  say(t, "waits for stream %d", stream);
}

/* Destroys a stream that may have work, which goes on, and makes another one, which waits for that work after it may have been waited for itself. */
static void replace_stream(struct thread *t) {
  int stream = 1 + (int)below(t, STREAMS - 1);
  for (int i = 0; i < t->count; i++) {
    if (t->buffers[i].attached == stream) return;
  }
  if (below(t, 2)) in_use(t, stream);
  say(t, "another stream for %d", stream);
  CHECK(cuEventRecord(t->event[stream], t->streams[stream]));
  CHECK(cuStreamDestroy_v2(t->streams[stream]));
  CHECK(cuStreamCreate(&t->streams[stream], stream == 1 ? 0 : 1));
  if (below(t, 2)) CHECK(cuStreamSynchronize(t->streams[stream]));
  CHECK(cuStreamWaitEvent(t->streams[stream], t->event[stream], 0));
}

static void compare(struct thread *t, struct buffer *b) {
  if (b->owner >= 0) return;
  if (b->host && may_touch(t, b)) {
    look(t, b, 0, b->bytes, "at its end");
    return;
  }
  uint8_t *found = malloc(b->bytes);
  if (is_array(b)) {
    struct copy3d c = {.src_type = ARRAY,
                       .src_array = b->array,
                       .dst_type = HOST,
                       .dst_host = found,
                       .dst_pitch = SIDE,
                       .dst_height = b->height,
                       .width = SIDE,
                       .height = b->height,
                       .depth = b->depth};
    CHECK(cuMemcpy3D_v2(&c));
  } else {
    CHECK(cuMemcpyDtoH_v2(found, b->device, b->bytes));
  }
  if (memcmp(found, b->model, b->bytes)) {
    differs(t, b, found, 0, b->bytes, "at its end");
    memcpy(b->model, found, b->bytes);
  }
  free(found);
}

static void one_round(struct thread *t) {
  for (size_t i = below(t, 3); i; i--) touch(t);
  for (size_t i = 1 + below(t, 12); i; i--) {
    struct effect e = work(t, (int)below(t, STREAMS));
    if (e.what != NO_EFFECT) apply(&e);
    if (!below(t, 3)) touch(t);
    if (!below(t, 12)) wait_somehow(t);
    if (!below(t, busy ? 6 : 25)) make_anew(t);
    if (!below(t, 25)) replace_stream(t);
  }
  for (size_t i = below(t, 4) ? 0 : 1 + below(t, 2); i; i--) graph(t);
  if (!below(t, 10)) gate(t);
  if (!below(t, 4)) hint(t);
  wait_somehow(t);
  for (int i = 0; i < t->count; i++) compare(t, &t->buffers[i]);
  if (!below(t, 12)) {
    CHECK(cuCtxSynchronize());
    for (int i = 0; i < t->count; i++) over(&t->buffers[i]);
    make_anew(t);
  }
}

static void *run(void *argument) {
  static const enum kind kinds[] = {DEV,      DEV,      POOL,   GLOBAL,     PINNED,     PINNED,  PORTABLE,
                                    COMBINED, MAPPED,   MAPPED, REGISTERED, REGISTERED, MANAGED, MANAGED,
                                    PAGEABLE, PAGEABLE, FLAT,   CUBE,       SHARED,     OPENED,  PEER};
  struct thread *t = argument;
  CHECK(cuCtxSetCurrent(contexts[0]));
  pthread_rwlock_rdlock(&turns);
  for (int i = 1; i < STREAMS; i++) CHECK(cuStreamCreate(&t->streams[i], i == 1 ? 0 : 1));
  for (int i = 0; i < STREAMS; i++) CHECK(cuEventCreate(&t->event[i], 2));
  CHECK(cuMemHostAlloc((void **)&t->flag, 64, 3));
  *t->flag = 0;
  if (t->other >= 0) meet_other(t);
  t->buffers = calloc(sizeof kinds / sizeof *kinds, sizeof *t->buffers);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i] == GLOBAL && t->number) continue; /* only one thread may use the module's variable */
    if ((kinds[i] == SHARED || kinds[i] == OPENED) && t->other < 0) continue;
    if (kinds[i] == PEER && !contexts[1]) continue;
    make(t, &t->buffers[t->count], kinds[i]);
    t->count++;
  }
  while (!t->rounds || (until > 0 ? seconds() < until : t->rounds < rounds_wanted)) {
    unsigned long failed = t->failed;
    one_round(t);
    t->failed = failed + (t->failed > failed);
    t->rounds++;
    if (t->failed > 5) break;
    with_others(); /* lets a thread run that needs to be alone */
  }
  CHECK(cuCtxSynchronize());
  for (int i = 0; i < KEPT_GRAPHS; i++) drop(t, &t->graphs[i]);
  for (int i = 0; i < t->count; i++) {
    over(&t->buffers[i]);
    compare(t, &t->buffers[i]);
    end(t, &t->buffers[i]);
  }
  if (t->other >= 0) leave_other(t);
  for (int i = 1; i < STREAMS; i++) CHECK(cuStreamDestroy_v2(t->streams[i]));
  for (int i = 0; i < STREAMS; i++) CHECK(cuEventDestroy_v2(t->event[i]));
  CHECK(cuMemFreeHost(t->flag));
  free(t->buffers);
  pthread_rwlock_unlock(&turns);
  return NULL;
}

void start_cuda(void) {
  void *library = open_driver();
  FUNCTIONS(FIND)
  struct thread first = {0}, *t = &first;
  int devices, attribute = 0, there = 0, back = 0;
  CHECK(cuInit(0));
  CHECK(cuDeviceGetCount(&devices));
  for (int i = 0; i < 2 && i < devices; i++) CHECK(cuDevicePrimaryCtxRetain(&contexts[i], i));
  if (contexts[1]) CHECK(cuDeviceCanAccessPeer(&there, 0, 1));
  if (contexts[1]) CHECK(cuDeviceCanAccessPeer(&back, 1, 0));
  kernels_reach_peer = there && back;
  CHECK(cuCtxSetCurrent(contexts[0]));
  if (kernels_reach_peer) CHECK(cuCtxEnablePeerAccess(contexts[1], 0));
  CHECK(cuDeviceGetAttribute(&attribute, 89, 0)); /* CONCURRENT_MANAGED_ACCESS */
  concurrent_managed = attribute;
  CHECK(cuModuleLoadData(&module, code));
  CHECK(cuModuleGetFunction(&kernel_add, module, "add"));
  CHECK(cuModuleGetFunction(&kernel_move, module, "move"));
  CHECK(cuModuleGetFunction(&kernel_both, module, "both"));
}

int main(int argc, char **argv) {
  uint64_t seed = (uint64_t)time(NULL) * 1000003u ^ (uint64_t)clock();
  size_t most = 0;
  unsigned long seeds = 1;
  int count = 1;
  bool share = false;
  rounds_wanted = 200;
  for (int i = 1; i < argc; i++) {
    char *value = i + 1 < argc ? argv[i + 1] : "";
    bool *flag = !strcmp(argv[i], "--trace")      ? &trace
                 : !strcmp(argv[i], "--large")    ? &large
                 : !strcmp(argv[i], "--share")    ? &share
                 : !strcmp(argv[i], "--apart")    ? &apart
                 : !strcmp(argv[i], "--unwaited") ? &unwaited
                 : !strcmp(argv[i], "--busy")     ? &busy
                 : !strcmp(argv[i], "--strict")   ? &strict
                                                  : NULL;
    if (flag) {
      *flag = true;
      continue;
    }
    if (!strcmp(argv[i], "--seed"))
      seed = strtoull(value, NULL, 0);
    else if (!strcmp(argv[i], "--seeds"))
      seeds = strtoul(value, NULL, 0);
    else if (!strcmp(argv[i], "--rounds"))
      rounds_wanted = strtoul(value, NULL, 0);
    else if (!strcmp(argv[i], "--seconds"))
      until = seconds() + atof(value);
    else if (!strcmp(argv[i], "--bytes"))
      most = strtoull(value, NULL, 0);
    else if (!strcmp(argv[i], "--threads"))
      count = atoi(value);
    else {
      fprintf(stderr,
              "usage: %s [--seed N] [--seeds N] [--rounds N | --seconds N] [--bytes N] [--large] [--threads N] [--share] [--apart] "
              "[--unwaited] [--busy] [--trace]\n",
              argv[0]);
      return 2;
    }
    i++;
  }
  if (!most) most = large ? 1u << 30 : 65536;
  if (count < 1 || count > 64 || most < 64) {
    fprintf(stderr, "%s: 1 to 64 threads, 64 bytes at least\n", argv[0]);
    return 2;
  }
  int *sockets = malloc((size_t)count * sizeof *sockets);
  for (int i = 0; i < count; i++) sockets[i] = share ? start_other() : -1;
  unsigned long rounds = 0, failed = 0, operations = 0;
  for (unsigned long k = 0; k < seeds && failed <= 5; k++, seed++) {
    printf("seed %llu, %d threads, up to %zu bytes\n", (unsigned long long)seed, count, most);
    fflush(stdout);
    if (!k) start_cuda();
    struct thread *threads = calloc((size_t)count, sizeof *threads);
    for (int i = 0; i < count; i++) {
      threads[i].number = i;
      threads[i].random = (seed + (uint64_t)i) * 0x9e3779b97f4a7c15ull | 1;
      threads[i].most = most;
      threads[i].has_others = count > 1;
      threads[i].other = sockets[i];
      if (pthread_create(&threads[i].id, NULL, run, &threads[i])) return 2;
    }
    for (int i = 0; i < count; i++) {
      pthread_join(threads[i].id, NULL);
      rounds += threads[i].rounds;
      failed += threads[i].failed;
      operations += threads[i].operations;
    }
    free(threads);
  }
  printf("%lu operations\nmemory: %lu passed, %lu failed\n", operations, rounds > failed ? rounds - failed : 0, failed);
  return failed != 0;
}
