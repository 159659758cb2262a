/* Random work on memory of every kind, held against a model: copies, fills, kernels, graphs, host functions, values that streams
 * write and wait for, and the program's own reads and writes, in several streams and threads.
 *
 *   memory [--seed N] [--rounds N | --seconds N] [--bytes N] [--threads N] [--trace]
 *
 * Runs on any CUDA driver, found as libcuda.so.1 (dlopen). Ends with "memory: N passed, N failed": a round is a test.
 *
 * The model is applied when work is queued, so the work must take effect as if done one after the other. That holds since
 * whatever touches a buffer is ordered behind what touched it before: by the stream, or by an event between streams. The
 * program itself touches bytes that no queued work uses, at any time, also beside such as some does; others only when it has
 * waited for that work. That much the driver promises ("Unified Addressing", "API synchronization behavior"). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t ptr;
typedef void *handle;

/* CUDA_MEMCPY3D and what else of cuda.h is needed here. */
struct copy3d {
  size_t src_x, src_y, src_z, src_lod;
  unsigned src_type;
  const void *src_host;
  ptr src_device;
  handle src_array, reserved0;
  size_t src_pitch, src_height;
  size_t dst_x, dst_y, dst_z, dst_lod;
  unsigned dst_type;
  void *dst_host;
  ptr dst_device;
  handle dst_array, reserved1;
  size_t dst_pitch, dst_height;
  size_t width, height, depth;
};
struct copy2d {
  size_t src_x, src_y;
  unsigned src_type;
  const void *src_host;
  ptr src_device;
  handle src_array;
  size_t src_pitch;
  size_t dst_x, dst_y;
  unsigned dst_type;
  void *dst_host;
  ptr dst_device;
  handle dst_array;
  size_t dst_pitch;
  size_t width, height;
};
struct array3d {
  size_t width, height, depth;
  unsigned format, channels, flags;
};
enum { HOST = 1, DEVICE = 2, ARRAY = 3, UNIFIED = 4 };
enum { NOT_READY = 600 };

/* The functions that this needs, by the names that the driver exports. */
#define FUNCTIONS(F)                                                                                                          \
  F(cuInit, (unsigned))                                                                                                       \
  F(cuDeviceGet, (int *, int))                                                                                                \
  F(cuDeviceGetAttribute, (int *, int, int))                                                                                  \
  F(cuDevicePrimaryCtxRetain, (handle *, int))                                                                                \
  F(cuCtxSetCurrent, (handle))                                                                                                \
  F(cuCtxSynchronize, (void))                                                                                                 \
  F(cuModuleLoadData, (handle *, const void *))                                                                               \
  F(cuModuleGetFunction, (handle *, handle, const char *))                                                                    \
  F(cuModuleGetGlobal_v2, (ptr *, size_t *, handle, const char *))                                                            \
  F(cuStreamCreate, (handle *, unsigned))                                                                                     \
  F(cuStreamSynchronize, (handle))                                                                                            \
  F(cuStreamQuery, (handle))                                                                                                  \
  F(cuStreamWaitEvent, (handle, handle, unsigned))                                                                            \
  F(cuStreamBeginCapture_v2, (handle, int))                                                                                   \
  F(cuStreamEndCapture, (handle, handle *))                                                                                   \
  F(cuStreamWriteValue32_v2, (handle, ptr, unsigned, unsigned))                                                               \
  F(cuStreamWaitValue32_v2, (handle, ptr, unsigned, unsigned))                                                                \
  F(cuEventCreate, (handle *, unsigned))                                                                                      \
  F(cuEventRecord, (handle, handle))                                                                                          \
  F(cuEventSynchronize, (handle))                                                                                             \
  F(cuEventQuery, (handle))                                                                                                   \
  F(cuGraphInstantiateWithFlags, (handle *, handle, unsigned long long))                                                      \
  F(cuGraphLaunch, (handle, handle))                                                                                          \
  F(cuGraphExecDestroy, (handle))                                                                                             \
  F(cuGraphDestroy, (handle))                                                                                                 \
  F(cuLaunchKernel, (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **)) \
  F(cuLaunchHostFunc, (handle, void (*)(void *), void *))                                                                     \
  F(cuMemAlloc_v2, (ptr *, size_t))                                                                                           \
  F(cuMemAllocAsync, (ptr *, size_t, handle))                                                                                 \
  F(cuMemFree_v2, (ptr))                                                                                                      \
  F(cuMemHostAlloc, (void **, size_t, unsigned))                                                                              \
  F(cuMemFreeHost, (void *))                                                                                                  \
  F(cuMemHostRegister_v2, (void *, size_t, unsigned))                                                                         \
  F(cuMemHostUnregister, (void *))                                                                                            \
  F(cuMemHostGetDevicePointer_v2, (ptr *, void *, unsigned))                                                                  \
  F(cuMemAllocManaged, (ptr *, size_t, unsigned))                                                                             \
  F(cuMemAdvise, (ptr, size_t, int, int))                                                                                     \
  F(cuMemPrefetchAsync, (ptr, size_t, int, handle))                                                                           \
  F(cuArray3DCreate_v2, (handle *, const struct array3d *))                                                                   \
  F(cuArrayDestroy, (handle))                                                                                                 \
  F(cuMemcpy, (ptr, ptr, size_t))                                                                                             \
  F(cuMemcpyAsync, (ptr, ptr, size_t, handle))                                                                                \
  F(cuMemcpyHtoD_v2, (ptr, const void *, size_t))                                                                             \
  F(cuMemcpyHtoDAsync_v2, (ptr, const void *, size_t, handle))                                                                \
  F(cuMemcpyDtoH_v2, (void *, ptr, size_t))                                                                                   \
  F(cuMemcpyDtoHAsync_v2, (void *, ptr, size_t, handle))                                                                      \
  F(cuMemcpyDtoD_v2, (ptr, ptr, size_t))                                                                                      \
  F(cuMemcpyDtoDAsync_v2, (ptr, ptr, size_t, handle))                                                                         \
  F(cuMemcpy2D_v2, (const struct copy2d *))                                                                                   \
  F(cuMemcpy2DAsync_v2, (const struct copy2d *, handle))                                                                      \
  F(cuMemcpy3D_v2, (const struct copy3d *))                                                                                   \
  F(cuMemcpy3DAsync_v2, (const struct copy3d *, handle))                                                                      \
  F(cuMemsetD8_v2, (ptr, unsigned char, size_t))                                                                              \
  F(cuMemsetD8Async, (ptr, unsigned char, size_t, handle))                                                                    \
  F(cuMemsetD16Async, (ptr, unsigned short, size_t, handle))                                                                  \
  F(cuMemsetD32Async, (ptr, unsigned, size_t, handle))                                                                        \
  F(cuMemsetD2D8_v2, (ptr, size_t, unsigned char, size_t, size_t))                                                            \
  F(cuMemsetD2D8Async, (ptr, size_t, unsigned char, size_t, size_t, handle))
#define DECLARE(name, parameters) static int(*name) parameters;
FUNCTIONS(DECLARE)

/* add: p[i] += v for n bytes. move: q[i] = p[i] for n bytes. */
static const char *const code =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 16 .b8 variable[65536];\n"
    ".visible .entry add(.param .u64 p, .param .u64 n, .param .u32 v)\n{\n"
    ".reg .pred %q;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .b16 %h<3>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u64 %a2, [n];\nld.param.u32 %r1, [v];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmov.u32 %r5, %nctaid.x;\n"
    "mad.lo.u32 %r6, %r2, %r3, %r4;\nmul.lo.u32 %r7, %r5, %r3;\ncvt.u64.u32 %a3, %r6;\ncvt.u64.u32 %a4, %r7;\n"
    "LOOP:\nsetp.ge.u64 %q, %a3, %a2;\n@%q bra DONE;\nadd.u64 %a5, %a1, %a3;\nld.u8 %h1, [%a5];\n"
    "cvt.u16.u32 %h2, %r1;\nadd.u16 %h1, %h1, %h2;\nst.u8 [%a5], %h1;\nadd.u64 %a3, %a3, %a4;\nbra LOOP;\n"
    "DONE:\nret;\n}\n"
    ".visible .entry move(.param .u64 q, .param .u64 p, .param .u64 n)\n{\n"
    ".reg .pred %q;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n.reg .b16 %h<2>;\n"
    "ld.param.u64 %a1, [p];\nld.param.u64 %a2, [n];\nld.param.u64 %a6, [q];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmov.u32 %r5, %nctaid.x;\n"
    "mad.lo.u32 %r6, %r2, %r3, %r4;\nmul.lo.u32 %r7, %r5, %r3;\ncvt.u64.u32 %a3, %r6;\ncvt.u64.u32 %a4, %r7;\n"
    "LOOP:\nsetp.ge.u64 %q, %a3, %a2;\n@%q bra DONE;\nadd.u64 %a5, %a1, %a3;\nld.u8 %h1, [%a5];\n"
    "add.u64 %a7, %a6, %a3;\nst.u8 [%a7], %h1;\nadd.u64 %a3, %a3, %a4;\nbra LOOP;\n"
    "DONE:\nret;\n}\n";

static handle context, module, kernel_add, kernel_move;
static bool concurrent_managed, trace;

enum kind { DEV, POOL, GLOBAL, PINNED, PORTABLE, COMBINED, MAPPED, REGISTERED, MANAGED, PAGEABLE, FLAT, CUBE, KINDS };
static const char *const names[KINDS] = {"device", "pool",       "variable", "pinned",   "portable", "write-combined",
                                         "mapped", "registered", "managed",  "pageable", "array",    "3D array"};

#define STREAMS 4
#define PENDING 24
#define LOG 48
#define SIDE 64 /* the width of a row of arrays */

struct span {
  size_t from, to;
};
struct buffer {
  enum kind kind;
  size_t bytes, height, depth; /* of arrays: rows of SIDE bytes */
  uint8_t *host;               /* NULL where the program cannot look */
  uint8_t *base;               /* what was allocated */
  ptr device;                  /* 0 where kernels cannot */
  handle array;
  uint8_t *model;
  int owner;                    /* the stream with the last work that uses it, -1 when all is over */
  struct span pending[PENDING]; /* where queued work reads or writes */
  int spans;
};

struct thread {
  pthread_t id;
  int number;
  uint64_t random;
  struct buffer *buffers;
  int count;
  handle streams[STREAMS], event[STREAMS];
  size_t most;
  char log[LOG][160];
  unsigned logged;
  unsigned long rounds, failed, operations;
  bool capturing, has_others;
  uint32_t *flag; /* pinned, for streams that wait */
  uint32_t flag_value;
};

/* While one thread captures, others must not wait for the context, which has a stream that is captured. */
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

static uint64_t next(struct thread *t) { /* xorshift* */
  t->random ^= t->random >> 12;
  t->random ^= t->random << 25;
  t->random ^= t->random >> 27;
  return t->random * 0x2545f4914f6cdd1dull;
}
static size_t below(struct thread *t, size_t n) { return n ? (size_t)(next(t) >> 11) % n : 0; }

static void say(struct thread *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *line = t->log[t->logged++ % LOG];
  vsnprintf(line, sizeof t->log[0], format, arguments);
  va_end(arguments);
  t->operations++;
  if (trace) fprintf(stderr, "%d: %s\n", t->number, line);
}

static void show_log(const struct thread *t) {
  for (unsigned i = t->logged > LOG ? t->logged - LOG : 0; i < t->logged; i++) printf("    %s\n", t->log[i % LOG]);
}

/* Graft refuses, with CUDA_ERROR_NOT_SUPPORTED, parts of pageable memory that meet in one graph. */
#define CHECK_CAPTURED(call, pageable)                                                  \
  do {                                                                                  \
    int result = call;                                                                  \
    if (result == 801 && t->capturing && (pageable)) return (struct effect){NO_EFFECT}; \
    check(t, result, #call);                                                            \
  } while (0)

/* An error is told with what came before it, and ends the program: what is in memory then nobody promises. */
static void check(struct thread *t, int r, const char *what) {
  if (!r) return;
  printf("  error %d of %s in round %lu of thread %d, after\n", r, what, t->rounds, t->number);
  show_log(t);
  printf("memory: %lu passed, 1 failed\n", t->rounds);
  fflush(stdout);
  _exit(1);
}
#define CHECK(call) check(t, call, #call)

static bool is_array(const struct buffer *b) { return b->kind == FLAT || b->kind == CUBE; }

/* ---- Making and ending buffers ---- */

static size_t a_size(struct thread *t, size_t most) {
  size_t size = below(t, 3) ? most / 2 + below(t, most / 2) : 1 + below(t, most);
  return size + !size;
}

static void make(struct thread *t, struct buffer *b, enum kind kind) {
  memset(b, 0, sizeof *b);
  b->kind = kind;
  b->owner = -1;
  b->bytes = a_size(t, t->most);
  if (kind == GLOBAL) b->bytes = 65536;
  if (is_array(b)) {
    b->depth = kind == CUBE ? 1 + below(t, 4) : 1;
    b->height = 1 + below(t, b->bytes / SIDE / b->depth < 255 ? b->bytes / SIDE / b->depth + 1 : 255);
    b->bytes = SIDE * b->height * b->depth;
  }
  size_t n = b->bytes;
  static const unsigned flags[KINDS] = {[PORTABLE] = 1, [MAPPED] = 3, [COMBINED] = 4};
  switch (kind) {
    case DEV: CHECK(cuMemAlloc_v2(&b->device, n)); break;
    case POOL:
      CHECK(cuMemAllocAsync(&b->device, n, t->streams[1]));
      CHECK(cuStreamSynchronize(t->streams[1]));
      break;
    case GLOBAL: {
      size_t size;
      CHECK(cuModuleGetGlobal_v2(&b->device, &size, module, "variable"));
      break;
    }
    case PINNED:
    case PORTABLE:
    case COMBINED:
    case MAPPED:
      CHECK(cuMemHostAlloc((void **)&b->host, n, flags[kind]));
      b->device = (uintptr_t)b->host;
      if (kind == MAPPED) CHECK(cuMemHostGetDevicePointer_v2(&b->device, b->host, 0));
      break;
    case REGISTERED:
      b->base = malloc(n + 8192);
      b->host = b->base + (below(t, 2) ? (4096 - (uintptr_t)b->base % 4096) : below(t, 100));
      CHECK(cuMemHostRegister_v2(b->host, n, below(t, 2) ? 3 : 0));
      if (below(t, 2)) CHECK(cuMemHostGetDevicePointer_v2(&b->device, b->host, 0));
      break;
    case MANAGED:
      CHECK(cuMemAllocManaged(&b->device, n, 1));
      b->host = (uint8_t *)(uintptr_t)b->device;
      break;
    case PAGEABLE:
      b->base = malloc(n + 64);
      b->host = b->base + below(t, 8);
      break;
    case FLAT:
    case CUBE: {
      struct array3d d = {SIDE, b->height, kind == CUBE ? b->depth : 0, 1, 1, 0};
      CHECK(cuArray3DCreate_v2(&b->array, &d));
      break;
    }
    default: break;
  }
  b->model = malloc(n);
  for (size_t i = 0; i < n; i++) b->model[i] = (uint8_t)(i * 7 + i / 251);
  if (b->host) {
    memcpy(b->host, b->model, n);
  } else if (is_array(b)) {
    struct copy3d c = {.src_type = HOST,
                       .src_host = b->model,
                       .src_pitch = SIDE,
                       .src_height = b->height,
                       .dst_type = ARRAY,
                       .dst_array = b->array,
                       .width = SIDE,
                       .height = b->height,
                       .depth = b->depth};
    CHECK(cuMemcpy3D_v2(&c));
  } else {
    CHECK(cuMemcpyHtoD_v2(b->device, b->model, n));
  }
  CHECK(cuCtxSynchronize());
  say(t, "new %s of %zu bytes", names[kind], n);
}

static void end(struct thread *t, struct buffer *b) {
  switch (b->kind) {
    case DEV:
    case POOL:
    case MANAGED: CHECK(cuMemFree_v2(b->device)); break;
    case PINNED:
    case PORTABLE:
    case COMBINED:
    case MAPPED: CHECK(cuMemFreeHost(b->host)); break;
    case REGISTERED:
      CHECK(cuMemHostUnregister(b->host));
      if (memcmp(b->host, b->model, b->bytes)) {
        printf("  registered memory differs once it is unregistered\n");
        t->failed++;
      }
      break;
    case FLAT:
    case CUBE: CHECK(cuArrayDestroy(b->array)); break;
    default: break;
  }
  free(b->base);
  free(b->model);
}

/* ---- Order ---- */

static void over(struct buffer *b) {
  b->owner = -1;
  b->spans = 0;
}

static void wait_for(struct thread *t, int stream) {
  CHECK(cuStreamSynchronize(t->streams[stream]));
  for (int i = 0; i < t->count; i++) {
    if (t->buffers[i].owner == stream) over(&t->buffers[i]);
  }
}

/* The stream 0 and blocking streams wait for each other by themselves, now and then that is relied on. Not where several threads
 * queue work: there copies of pinned memory were seen to overtake kernels natively (driver 580.159, an H200). */
static bool is_implied(struct thread *t, int before, int after) {
  return !t->has_others && ((before == 0 && after == 1) || (before == 1 && after == 0)) && below(t, 2);
}

/* Work of a stream uses a part of a buffer from now on; -1: the program itself waits for what there is. */
static void use(struct thread *t, struct buffer *b, int stream, size_t from, size_t to) {
  if (t->capturing) return;
  if (b->owner >= 0 && stream < 0) wait_for(t, b->owner);
  if (stream < 0) return;
  if (b->owner >= 0 && b->owner != stream && !is_implied(t, b->owner, stream)) {
    CHECK(cuEventRecord(t->event[b->owner], t->streams[b->owner]));
    CHECK(cuStreamWaitEvent(t->streams[stream], t->event[b->owner], 0));
  }
  b->owner = stream;
  if (b->spans == PENDING) {
    b->pending[0] = (struct span){0, b->bytes};
    b->spans = 1;
  } else {
    b->pending[b->spans++] = (struct span){from, to};
  }
}

/* The driver may read pageable memory when it is called, not when the stream comes to the copy. */
static void await_source(struct thread *t, struct buffer *from) {
  if (from->kind == PAGEABLE) use(t, from, -1, 0, 0);
}

/* Where managed memory may not be touched while the device works on anything, there is no other thread, and all is over. */
static bool may_touch(const struct thread *t, const struct buffer *b) {
  bool may = b->kind != MANAGED || concurrent_managed || !t->has_others;
  for (int i = 0; i < t->count && may && b->kind == MANAGED && !concurrent_managed; i++) may = t->buffers[i].owner < 0;
  return may;
}

static bool is_idle(const struct thread *t, const struct buffer *b, size_t from, size_t to) {
  if (!may_touch(t, b)) return false;
  if (b->owner < 0) return true;
  for (int i = 0; i < b->spans; i++) {
    if (from < b->pending[i].to && b->pending[i].from < to) return false;
  }
  return true;
}

/* ---- What the program does itself ---- */

static void differs(struct thread *t, const struct buffer *b, const uint8_t *found, size_t from, size_t to, const char *when) {
  size_t first = from, count = 0;
  while (found[first] == b->model[first]) first++;
  for (size_t i = first; i < to; i++) count += found[i] != b->model[i];
  printf("  round %lu of thread %d, %s: %zu bytes of %s differ from %zu on (%02x for %02x), after\n", t->rounds, t->number, when,
         count, names[b->kind], first, found[first], b->model[first]);
  show_log(t);
  fflush(stdout);
  t->failed++;
}

static void look(struct thread *t, struct buffer *b, size_t from, size_t to, const char *when) {
  if (memcmp(b->host + from, b->model + from, to - from)) {
    differs(t, b, b->host, from, to, when);
    memcpy(b->host + from, b->model + from, to - from);
  }
}

/* Writes or reads bytes that no work uses, perhaps beside such as some does. */
static void touch(struct thread *t) {
  struct buffer *b = &t->buffers[below(t, (size_t)t->count)];
  if (!b->host) return;
  size_t from = below(t, b->bytes), to = from + 1 + below(t, below(t, 2) ? 64 : b->bytes - from);
  if (to > b->bytes) to = b->bytes;
  if (!is_idle(t, b, from, to)) return;
  if (below(t, 3)) {
    uint8_t value = (uint8_t)next(t);
    say(t, "the program writes %zu to %zu of %s", from, to, names[b->kind]);
    memset(b->host + from, value, to - from);
    memset(b->model + from, value, to - from);
  } else {
    look(t, b, from, to, "while work is under way");
  }
}

/* ---- Work ---- */

struct host_work {
  uint8_t *at;
  size_t bytes;
  uint8_t value;
  bool once;
};

static void run_on_host(void *data) {
  struct host_work *w = data;
  for (size_t i = 0; i < w->bytes; i++) w->at[i] = (uint8_t)(w->at[i] * 3 + w->value);
  if (w->once) free(w);
}

/* What a captured graph does to the model, once for each launch. */
struct effect {
  enum { NO_EFFECT, COPY, FILL, FILL_16, FILL_32, ADD, BY_HOST, COPY_ROWS } what;
  struct buffer *to, *from;
  size_t at, at_from, bytes;
  unsigned value;
  size_t rows, slices, pitch, pitch_from, slice, slice_from;
};

static void apply(const struct effect *e) {
  uint8_t *to = e->to->model + e->at;
  switch (e->what) {
    case COPY: memmove(to, e->from->model + e->at_from, e->bytes); break;
    case FILL: memset(to, (int)e->value, e->bytes); break;
    case FILL_16:
      for (size_t i = 0; i < e->bytes; i += 2) memcpy(to + i, &e->value, 2);
      break;
    case FILL_32:
      for (size_t i = 0; i < e->bytes; i += 4) memcpy(to + i, &e->value, 4);
      break;
    case ADD:
      for (size_t i = 0; i < e->bytes; i++) to[i] = (uint8_t)(to[i] + e->value);
      break;
    case BY_HOST:
      for (size_t i = 0; i < e->bytes; i++) to[i] = (uint8_t)(to[i] * 3 + e->value);
      break;
    case COPY_ROWS:
      for (size_t z = 0; z < e->slices; z++) {
        for (size_t y = 0; y < e->rows; y++) {
          uint8_t *row = to + z * e->slice + y * e->pitch;
          if (e->from) {
            memcpy(row, e->from->model + e->at_from + z * e->slice_from + y * e->pitch_from, e->bytes);
          } else {
            memset(row, (int)e->value, e->bytes);
          }
        }
      }
      break;
    default: break;
  }
}

static size_t a_length(struct thread *t, size_t most) {
  size_t n = below(t, 4) ? 1 + below(t, 4096) : 1 + below(t, most);
  return n < most ? n : most;
}

static struct buffer *any(struct thread *t) { return &t->buffers[below(t, (size_t)t->count)]; }

/* How the driver is given a buffer: as the device's memory where it has it and the program likes, else as the host's. */
static ptr name(struct thread *t, const struct buffer *b, unsigned *type) {
  bool by_device = b->device && (!b->host || below(t, 2));
  *type = by_device ? DEVICE : HOST;
  if (b->kind != PAGEABLE && (by_device || b->kind != REGISTERED) && !below(t, 3)) *type = UNIFIED;
  return by_device ? b->device : (uintptr_t)b->host;
}

static struct effect copy(struct thread *t, int stream) {
  struct buffer *to = any(t), *from = any(t);
  bool both_host = to->kind == PAGEABLE && from->host, host_from = from->kind == PAGEABLE && to->host;
  if (to == from || is_array(to) || is_array(from) || both_host || host_from) return (struct effect){NO_EFFECT};
  size_t most = to->bytes < from->bytes ? to->bytes : from->bytes, n = a_length(t, most);
  size_t a = below(t, to->bytes - n + 1), b = below(t, from->bytes - n + 1);
  unsigned to_type, from_type;
  ptr target = name(t, to, &to_type) + a, source = name(t, from, &from_type) + b;
  bool blocking = !t->capturing && !below(t, 6);
  bool pageable = to->kind == PAGEABLE || from->kind == PAGEABLE;
  handle s = t->streams[stream];
  await_source(t, from);
  use(t, to, blocking ? -1 : stream, a, a + n);
  use(t, from, blocking ? -1 : stream, b, b + n);
  say(t, "%s%zu bytes of %s at %zu to %s at %zu, stream %d", blocking ? "waits for " : "", n, names[from->kind], b, names[to->kind],
      a, stream);
  if (blocking) {
    if (to_type != HOST && from_type == HOST && below(t, 2)) {
      CHECK(cuMemcpyHtoD_v2(target, (void *)(uintptr_t)source, n));
    } else if (to_type == HOST && from_type != HOST && below(t, 2)) {
      CHECK(cuMemcpyDtoH_v2((void *)(uintptr_t)target, source, n));
    } else if (to_type != HOST && from_type != HOST && below(t, 2)) {
      CHECK(cuMemcpyDtoD_v2(target, source, n));
    } else {
      CHECK(cuMemcpy(target, source, n));
    }
    if (!to->host || !from->host) {
      use(t, to, 0, a, a + n); /* may still be under way where the program cannot see it */
      use(t, from, 0, b, b + n);
      if (to->host || from->host) wait_for(t, 0);
    }
  } else if (to_type != HOST && from_type == HOST && below(t, 2)) {
    CHECK_CAPTURED(cuMemcpyHtoDAsync_v2(target, (void *)(uintptr_t)source, n, s), pageable);
  } else if (to_type == HOST && from_type != HOST && below(t, 2)) {
    CHECK_CAPTURED(cuMemcpyDtoHAsync_v2((void *)(uintptr_t)target, source, n, s), pageable);
  } else if (!pageable && to_type != HOST && from_type != HOST && below(t, 2)) {
    CHECK(cuMemcpyDtoDAsync_v2(target, source, n, s));
  } else {
    CHECK_CAPTURED(cuMemcpyAsync(target, source, n, s), pageable);
  }
  /* The bytes of pageable memory are taken, or there, when the call returns. */
  if (pageable && !t->capturing) {
    struct buffer *p = to->kind == PAGEABLE ? to : from;
    if (p == from)
      over(p);
    else
      wait_for(t, stream);
  }
  return (struct effect){COPY, to, from, a, b, n, 0, 0, 0, 0, 0, 0, 0};
}

/* Where a block of rows lies in a buffer: within an array, or pitched memory. */
struct block {
  size_t at, pitch, slice, x, y, z, rows_in_slice;
};

static bool place_block(struct thread *t, const struct buffer *b, size_t width, size_t rows, size_t slices, struct block *k) {
  if (is_array(b)) {
    if (width > SIDE || rows > b->height || slices > b->depth) return false;
    *k = (struct block){.pitch = SIDE,
                        .slice = SIDE * b->height,
                        .x = below(t, SIDE - width + 1),
                        .y = below(t, b->height - rows + 1),
                        .z = below(t, b->depth - slices + 1),
                        .rows_in_slice = b->height};
    k->at = k->z * k->slice + k->y * SIDE + k->x;
    return true;
  }
  *k = (struct block){.pitch = width + below(t, 40), .rows_in_slice = rows + below(t, 3)};
  k->slice = k->pitch * k->rows_in_slice;
  size_t bytes = (slices - 1) * k->slice + (rows - 1) * k->pitch + width;
  if (bytes > b->bytes) return false;
  size_t room = b->bytes - bytes;
  k->x = below(t, k->pitch - width + 1);
  if (k->x > room) k->x = 0;
  k->at = below(t, room - k->x + 1) + k->x; /* the base is x before it */
  return true;
}

static struct effect copy_rows(struct thread *t, int stream) {
  struct buffer *to = any(t), *from = any(t);
  if (to == from || (to->kind == PAGEABLE && from->host) || (from->kind == PAGEABLE && to->host)) return (struct effect){NO_EFFECT};
  size_t width = 1 + below(t, SIDE), rows = 1 + below(t, 12), slices = below(t, 3) ? 1 : 1 + below(t, 3);
  struct block a, b;
  if (!place_block(t, to, width, rows, slices, &a) || !place_block(t, from, width, rows, slices, &b))
    return (struct effect){NO_EFFECT};
  size_t a_end = a.at + (slices - 1) * a.slice + (rows - 1) * a.pitch + width;
  size_t b_end = b.at + (slices - 1) * b.slice + (rows - 1) * b.pitch + width;
  struct copy3d c = {.width = width, .height = rows, .depth = slices};
  unsigned type;
  ptr base;
  c.src_pitch = b.pitch;
  c.src_height = b.rows_in_slice;
  c.dst_pitch = a.pitch;
  c.dst_height = a.rows_in_slice;
  c.src_x = b.x;
  c.dst_x = a.x;
  if (is_array(from)) {
    c.src_type = ARRAY;
    c.src_array = from->array;
    c.src_y = b.y;
    c.src_z = b.z;
  } else {
    base = name(t, from, &type) + b.at - b.x;
    c.src_type = type;
    if (type == HOST)
      c.src_host = (void *)(uintptr_t)base;
    else
      c.src_device = base;
  }
  if (is_array(to)) {
    c.dst_type = ARRAY;
    c.dst_array = to->array;
    c.dst_y = a.y;
    c.dst_z = a.z;
  } else {
    base = name(t, to, &type) + a.at - a.x;
    c.dst_type = type;
    if (type == HOST)
      c.dst_host = (void *)(uintptr_t)base;
    else
      c.dst_device = base;
  }
  bool blocking = !t->capturing && !below(t, 6), pageable = to->kind == PAGEABLE || from->kind == PAGEABLE;
  await_source(t, from);
  use(t, to, blocking ? -1 : stream, a.at, a_end);
  use(t, from, blocking ? -1 : stream, b.at, b_end);
  say(t, "%s%zu x %zu x %zu of %s at %zu to %s at %zu, stream %d", blocking ? "waits for " : "", width, rows, slices,
      names[from->kind], b.at, names[to->kind], a.at, stream);
  bool flat = slices == 1 && from->kind != CUBE && to->kind != CUBE && below(t, 2);
  struct copy2d d = {c.src_x, c.src_y,    c.src_type, c.src_host,   c.src_device, c.src_array, c.src_pitch, c.dst_x,
                     c.dst_y, c.dst_type, c.dst_host, c.dst_device, c.dst_array,  c.dst_pitch, width,       rows};
  if (blocking) {
    if (flat)
      CHECK(cuMemcpy2D_v2(&d));
    else
      CHECK(cuMemcpy3D_v2(&c));
    use(t, to, 0, a.at, a_end);
    use(t, from, 0, b.at, b_end);
    if (to->host || from->host) wait_for(t, 0);
  } else if (flat) {
    CHECK_CAPTURED(cuMemcpy2DAsync_v2(&d, t->streams[stream]), pageable);
  } else {
    CHECK_CAPTURED(cuMemcpy3DAsync_v2(&c, t->streams[stream]), pageable);
  }
  if (pageable && !t->capturing) wait_for(t, blocking ? 0 : stream);
  return (struct effect){COPY_ROWS, to, from, a.at, b.at, width, 0, rows, slices, a.pitch, b.pitch, a.slice, b.slice};
}

static struct effect fill(struct thread *t, int stream) {
  struct buffer *b = any(t);
  if (!b->device) return (struct effect){NO_EFFECT};
  size_t n = a_length(t, b->bytes), at = below(t, b->bytes - n + 1);
  unsigned value = (unsigned)next(t);
  ptr to = (b->host && b->kind != REGISTERED && below(t, 2) ? (uintptr_t)b->host : b->device) + at;
  handle s = t->streams[stream];
  bool blocking = !t->capturing && !below(t, 5);
  struct effect e = {FILL, b, NULL, at, 0, n, value & 255, 0, 0, 0, 0, 0, 0};
  say(t, "%sfills %zu bytes of %s at %zu, stream %d", blocking ? "waits for, " : "", n, names[b->kind], at, stream);
  use(t, b, blocking ? -1 : stream, at, at + n);
  if (blocking) {
    if (below(t, 2))
      CHECK(cuMemsetD8_v2(to, (unsigned char)value, n));
    else
      CHECK(cuMemsetD2D8_v2(to, n, (unsigned char)value, n, 1));
    /* Of memory that the program sees it is over: it looks at once. */
    if (b->host && may_touch(t, b)) {
      apply(&e);
      look(t, b, at, at + n, "after a fill that is waited for");
      return (struct effect){NO_EFFECT};
    }
    use(t, b, 0, at, at + n);
    return e;
  }
  size_t width = 1 + below(t, 64), pitch = width + below(t, 32), rows = 1 + below(t, 16);
  switch (below(t, 4)) {
    case 0:
      if (to % 2 || n < 2) break;
      CHECK(cuMemsetD16Async(to, (unsigned short)value, n / 2, s));
      e.what = FILL_16;
      e.bytes = n & ~(size_t)1;
      e.value = value & 65535;
      return e;
    case 1:
      if (to % 4 || n < 4) break;
      CHECK(cuMemsetD32Async(to, value, n / 4, s));
      e.what = FILL_32;
      e.bytes = n & ~(size_t)3;
      e.value = value;
      return e;
    case 2:
      if ((rows - 1) * pitch + width > n) break;
      CHECK(cuMemsetD2D8Async(to, pitch, (unsigned char)value, width, rows, s));
      e.what = COPY_ROWS;
      e.rows = rows;
      e.slices = 1;
      e.bytes = width;
      e.pitch = pitch;
      return e;
    default: break;
  }
  CHECK(cuMemsetD8Async(to, (unsigned char)value, n, s));
  return e;
}

static struct effect launch(struct thread *t, int stream) {
  struct buffer *b = any(t), *from = any(t);
  if (!b->device || b->kind == COMBINED) return (struct effect){NO_EFFECT};
  uint64_t n = a_length(t, b->bytes);
  handle s = t->streams[stream];
  unsigned blocks = 1 + (unsigned)below(t, 6), value = (unsigned)below(t, 256);
  if (from != b && from->device && from->kind != COMBINED && below(t, 2)) {
    if (n > from->bytes) n = from->bytes;
    size_t at = below(t, b->bytes - n + 1), at_from = below(t, from->bytes - n + 1);
    ptr q = b->device + at, p = from->device + at_from;
    void *parameters[] = {&q, &p, &n};
    use(t, b, stream, at, at + n);
    use(t, from, stream, at_from, at_from + n);
    say(t, "a kernel moves %zu bytes of %s at %zu to %s at %zu, stream %d", (size_t)n, names[from->kind], at_from, names[b->kind],
        at, stream);
    CHECK(cuLaunchKernel(kernel_move, blocks, 1, 1, 64, 1, 1, 0, s, parameters, NULL));
    return (struct effect){COPY, b, from, at, at_from, n, 0, 0, 0, 0, 0, 0, 0};
  }
  size_t at = below(t, b->bytes - n + 1);
  ptr p = b->device + at;
  void *parameters[] = {&p, &n, &value};
  use(t, b, stream, at, at + n);
  say(t, "a kernel adds to %zu bytes of %s at %zu, stream %d", (size_t)n, names[b->kind], at, stream);
  CHECK(cuLaunchKernel(kernel_add, blocks, 1, 1, 64, 1, 1, 0, s, parameters, NULL));
  return (struct effect){ADD, b, NULL, at, 0, n, value, 0, 0, 0, 0, 0, 0};
}

static struct effect host_function(struct thread *t, int stream) {
  struct buffer *b = any(t);
  if (!b->host || b->kind == COMBINED || (b->kind == MANAGED && !concurrent_managed) || below(t, 3))
    return (struct effect){NO_EFFECT};
  size_t n = a_length(t, b->bytes), at = below(t, b->bytes - n + 1);
  uint8_t value = (uint8_t)next(t); /* the function may have run, and freed what it was given, when the call returns */
  struct host_work *w = malloc(sizeof *w);
  *w = (struct host_work){b->host + at, n, value, !t->capturing};
  use(t, b, stream, at, at + n);
  say(t, "a host function changes %zu bytes of %s at %zu, stream %d", n, names[b->kind], at, stream);
  CHECK(cuLaunchHostFunc(t->streams[stream], run_on_host, w));
  return (struct effect){BY_HOST, b, NULL, at, 0, n, value, 0, 0, 0, 0, 0, 0};
}

static struct effect write_value(struct thread *t, int stream) {
  struct buffer *b = any(t);
  if (!b->device || b->bytes < 8 || b->device % 4 || b->kind == MANAGED || b->kind == COMBINED || b->kind == POOL)
    return (struct effect){NO_EFFECT};
  size_t at = below(t, b->bytes / 4) * 4;
  unsigned value = (unsigned)next(t);
  use(t, b, stream, at, at + 4);
  say(t, "stream %d writes a value to %s at %zu", stream, names[b->kind], at);
  CHECK(cuStreamWriteValue32_v2(t->streams[stream], b->device + at, value, 0));
  return (struct effect){FILL_32, b, NULL, at, 0, 4, value, 0, 0, 0, 0, 0, 0};
}

static struct effect work(struct thread *t, int stream) {
  switch (below(t, 12)) {
    case 0:
    case 1:
    case 2:
    case 3: return copy(t, stream);
    case 4:
    case 5: return copy_rows(t, stream);
    case 6:
    case 7: return fill(t, stream);
    case 8:
    case 9: return launch(t, stream);
    case 10: return host_function(t, stream);
    default: return t->capturing ? (struct effect){NO_EFFECT} : write_value(t, stream);
  }
}

/* A graph of some work, launched some times in any stream. */
static void graph(struct thread *t) {
  struct effect effects[6];
  /* No blocking stream: others may use the stream 0 meanwhile, which would belong to the capture. */
  int count = 0, from = 2 + (int)below(t, STREAMS - 2), stream = (int)below(t, STREAMS), launches = 1 + (int)below(t, 3);
  handle made, executable;
  for (int i = 0; i < STREAMS; i++) wait_for(t, i);
  say(t, "a graph");
  alone();
  CHECK(cuStreamBeginCapture_v2(t->streams[from], 1)); /* CU_STREAM_CAPTURE_MODE_THREAD_LOCAL */
  t->capturing = true;
  for (int i = 0; i < 6; i++) {
    struct effect e = work(t, from);
    if (e.what != NO_EFFECT) effects[count++] = e;
  }
  t->capturing = false;
  CHECK(cuStreamEndCapture(t->streams[from], &made));
  with_others();
  CHECK(cuGraphInstantiateWithFlags(&executable, made, 0));
  for (int k = 0; k < launches; k++) {
    say(t, "launch of the graph, stream %d", stream);
    for (int i = 0; i < count; i++) {
      use(t, effects[i].to, stream, 0, effects[i].to->bytes);
      if (effects[i].from) use(t, effects[i].from, stream, 0, effects[i].from->bytes);
      apply(&effects[i]);
    }
    CHECK(cuGraphLaunch(executable, t->streams[stream]));
    if (!below(t, 2)) touch(t);
    if (!below(t, 3)) wait_for(t, stream);
  }
  wait_for(t, stream);
  CHECK(cuGraphExecDestroy(executable));
  CHECK(cuGraphDestroy(made));
}

/* A stream waits for a value; meanwhile the program writes what a queued copy is to read. Other threads must not make calls for
 * which the driver waits until the device is idle. */
static void gate(struct thread *t) {
  struct buffer *from = any(t), *to = any(t);
  if (!from->host || from->kind == PAGEABLE || from->kind == MANAGED || from->kind == COMBINED || to->host || is_array(to)) return;
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

static void hint(struct thread *t) {
  struct buffer *b = any(t);
  if (b->kind != MANAGED) return;
  static const int advice[] = {1, 2, 3, 4, 5, 6};
  CHECK(cuMemAdvise(b->device, b->bytes, advice[below(t, 6)], 0));
  if (b->owner < 0 || concurrent_managed) {
    use(t, b, 1, 0, b->bytes);
    CHECK(cuMemPrefetchAsync(b->device, b->bytes, below(t, 2) ? 0 : -1, t->streams[1]));
  }
}

static void one_round(struct thread *t) {
  for (size_t i = below(t, 3); i; i--) touch(t);
  for (size_t i = 1 + below(t, 12); i; i--) {
    struct effect e = work(t, (int)below(t, STREAMS));
    if (e.what != NO_EFFECT) apply(&e);
    if (!below(t, 3)) touch(t);
    if (!below(t, 12)) wait_somehow(t);
  }
  if (!below(t, 6)) graph(t);
  if (!below(t, 10)) gate(t);
  if (!below(t, 8) && concurrent_managed) hint(t);
  wait_somehow(t);
  for (int i = 0; i < t->count; i++) compare(t, &t->buffers[i]);
  if (!below(t, 12)) {
    struct buffer *b = any(t);
    if (b->kind == GLOBAL) return;
    enum kind kind = b->kind;
    use(t, b, -1, 0, 0);
    CHECK(cuCtxSynchronize());
    for (int i = 0; i < t->count; i++) over(&t->buffers[i]);
    end(t, b);
    make(t, b, kind);
  }
}

static void *run(void *argument) {
  static const enum kind kinds[] = {DEV,    DEV,        POOL,       GLOBAL,  PINNED,  PINNED,   PORTABLE, COMBINED, MAPPED,
                                    MAPPED, REGISTERED, REGISTERED, MANAGED, MANAGED, PAGEABLE, PAGEABLE, FLAT,     CUBE};
  struct thread *t = argument;
  CHECK(cuCtxSetCurrent(context));
  pthread_rwlock_rdlock(&turns);
  for (int i = 1; i < STREAMS; i++) CHECK(cuStreamCreate(&t->streams[i], i == 1 ? 0 : 1));
  for (int i = 0; i < STREAMS; i++) CHECK(cuEventCreate(&t->event[i], 2));
  CHECK(cuMemHostAlloc((void **)&t->flag, 64, 3));
  *t->flag = 0;
  t->buffers = calloc(sizeof kinds / sizeof *kinds, sizeof *t->buffers);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i] == GLOBAL && t->number) continue; /* there is one variable */
    make(t, &t->buffers[t->count], kinds[i]);
    t->count++;
  }
  while (until > 0 ? seconds() < until : t->rounds < rounds_wanted) {
    unsigned long failed = t->failed;
    one_round(t);
    t->failed = failed + (t->failed > failed);
    t->rounds++;
    if (t->failed > 5) break;
    with_others(); /* a moment for those who have to be alone */
  }
  CHECK(cuCtxSynchronize());
  for (int i = 0; i < t->count; i++) {
    over(&t->buffers[i]);
    compare(t, &t->buffers[i]);
    end(t, &t->buffers[i]);
  }
  pthread_rwlock_unlock(&turns);
  return NULL;
}

int main(int argc, char **argv) {
  uint64_t seed = (uint64_t)time(NULL) * 1000003u ^ (uint64_t)clock();
  size_t most = 65536;
  int count = 1;
  rounds_wanted = 200;
  for (int i = 1; i < argc; i++) {
    char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--trace")) {
      trace = true;
      continue;
    }
    if (!strcmp(argv[i], "--seed"))
      seed = strtoull(value, NULL, 0);
    else if (!strcmp(argv[i], "--rounds"))
      rounds_wanted = strtoul(value, NULL, 0);
    else if (!strcmp(argv[i], "--seconds"))
      until = seconds() + atof(value);
    else if (!strcmp(argv[i], "--bytes"))
      most = strtoull(value, NULL, 0);
    else if (!strcmp(argv[i], "--threads"))
      count = atoi(value);
    else {
      fprintf(stderr, "usage: %s [--seed N] [--rounds N | --seconds N] [--bytes N] [--threads N] [--trace]\n", argv[0]);
      return 2;
    }
    i++;
  }
  if (count < 1 || count > 64 || most < 64) {
    fprintf(stderr, "%s: 1 to 64 threads, 64 bytes at least\n", argv[0]);
    return 2;
  }
  printf("seed %llu, %d threads, up to %zu bytes\n", (unsigned long long)seed, count, most);
  fflush(stdout);
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
#define FIND(name, parameters)                        \
  name = (int(*) parameters)dlsym(library, #name);    \
  if (!name) {                                        \
    fprintf(stderr, "the driver has no " #name "\n"); \
    return 2;                                         \
  }
  FUNCTIONS(FIND)
  struct thread first = {0}, *t = &first;
  int device, attribute = 0;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuDeviceGetAttribute(&attribute, 89, device)); /* CONCURRENT_MANAGED_ACCESS */
  concurrent_managed = attribute;
  CHECK(cuModuleLoadData(&module, code));
  CHECK(cuModuleGetFunction(&kernel_add, module, "add"));
  CHECK(cuModuleGetFunction(&kernel_move, module, "move"));
  struct thread *threads = calloc((size_t)count, sizeof *threads);
  unsigned long rounds = 0, failed = 0, operations = 0;
  for (int i = 0; i < count; i++) {
    threads[i].number = i;
    threads[i].random = (seed + (uint64_t)i) * 0x9e3779b97f4a7c15ull | 1;
    threads[i].most = most;
    threads[i].has_others = count > 1;
    if (pthread_create(&threads[i].id, NULL, run, &threads[i])) return 2;
  }
  for (int i = 0; i < count; i++) {
    pthread_join(threads[i].id, NULL);
    rounds += threads[i].rounds;
    failed += threads[i].failed;
    operations += threads[i].operations;
  }
  printf("%lu operations\nmemory: %lu passed, %lu failed\n", operations, rounds > failed ? rounds - failed : 0, failed);
  return failed != 0;
}
