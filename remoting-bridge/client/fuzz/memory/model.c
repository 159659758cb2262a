/* Random numbers, buffers of every kind, their order among streams, and what the program itself reads and writes. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const names[KINDS] = {"device",         "pool",     "variable",   "pinned",  "portable",
                                  "write-combined", "mapped",   "registered", "managed", "pageable",
                                  "array",          "3D array", "shared",     "opened",  "peer"};

uint64_t next(struct thread *t) { /* xorshift* */
  t->random ^= t->random >> 12;
  t->random ^= t->random << 25;
  t->random ^= t->random >> 27;
  return t->random * 0x2545f4914f6cdd1dull;
}
size_t below(struct thread *t, size_t n) { return n ? (size_t)(next(t) >> 11) % n : 0; }

size_t of_any_size(struct thread *t, size_t most) {
  size_t bits = 0;
  while (most >> (bits + 1)) bits++;
  size_t power = (size_t)1 << below(t, bits + 1), size = power + below(t, power);
  return size < most ? size : most;
}

void say(struct thread *t, const char *format, ...) {
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

/* Prints an error with the operations before it, and ends the program, since the contents of memory are undefined after an error. */
void check(struct thread *t, int r, const char *what) {
  if (!r) return;
  printf("  error %d of %s in round %lu of thread %d, after\n", r, what, t->rounds, t->number);
  show_log(t);
  printf("memory: %lu passed, 1 failed\n", t->rounds);
  fflush(stdout);
  _exit(1);
}

bool is_array(const struct buffer *b) { return b->kind == FLAT || b->kind == CUBE; }

/* ---- Allocating and freeing buffers ---- */

static size_t a_size(struct thread *t, size_t most) {
  if (large) return of_any_size(t, most);
  size_t size = below(t, 3) ? most / 2 + below(t, most / 2) : 1 + below(t, most);
  return size + !size;
}

/* Gives a new buffer its first contents. */
static void contents(struct thread *t, struct buffer *b) {
  size_t n = b->bytes;
  b->model = malloc(n);
  for (size_t i = 0; i < n; i++) b->model[i] = (uint8_t)(i * 7 + i / 251);
  if (b->kind == POOL) {
    memset(b->model, (int)(n % 251), n);
    CHECK(cuMemsetD8Async(b->device, (unsigned char)(n % 251), n, t->streams[b->owner]));
    return;
  }
  if (b->host && may_touch(t, b)) {
    memcpy(b->host, b->model, n);
    return;
  }
  if (is_array(b)) {
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
  use(t, b, 0, 0, n);
  if (b->host) wait_for(t, 0);
}

static void register_host(struct thread *t, struct buffer *b) {
  CHECK(cuMemHostRegister_v2(b->host, b->bytes, below(t, 2) ? 3 : 0));
  b->device = 0;
  if (below(t, 2)) CHECK(cuMemHostGetDevicePointer_v2(&b->device, b->host, 0));
}

static void unregister_host(struct thread *t, struct buffer *b) {
  CHECK(cuMemHostUnregister(b->host));
  if (memcmp(b->host, b->model, b->bytes)) differs(t, b, b->host, 0, b->bytes, "once it is unregistered");
}

void make(struct thread *t, struct buffer *b, enum kind kind) {
  memset(b, 0, sizeof *b);
  b->kind = kind;
  b->owner = -1;
  b->attached = TO_ALL;
  b->bytes = a_size(t, t->most);
  if (kind == GLOBAL) b->bytes = 65536;
  if (is_array(b)) {
    if (b->bytes < SIDE) b->bytes = SIDE;
    b->depth = kind == CUBE ? 1 + below(t, 4) : 1;
    b->height = 1 + below(t, b->bytes / SIDE / b->depth < 255 ? b->bytes / SIDE / b->depth + 1 : 255);
    b->bytes = SIDE * b->height * b->depth;
  }
  size_t n = b->bytes;
  static const unsigned flags[KINDS] = {[PORTABLE] = 1, [MAPPED] = 3, [COMBINED] = 4};
  switch (kind) {
    case DEV: CHECK(cuMemAlloc_v2(&b->device, n)); break;
    case POOL: {
      int stream = (int)below(t, STREAMS);
      CHECK(cuMemAllocAsync(&b->device, n, t->streams[stream]));
      use(t, b, stream, 0, n);
      break;
    }
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
      register_host(t, b);
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
    case SHARED:
    case OPENED: make_common(t, b, n); break;
    case PEER:
      CHECK(cuCtxSetCurrent(contexts[1]));
      CHECK(cuMemAlloc_v2(&b->device, n));
      CHECK(cuCtxSetCurrent(contexts[0]));
      break;
    default: break;
  }
  contents(t, b);
  say(t, "new %s of %zu bytes", names[kind], n);
}

void end(struct thread *t, struct buffer *b) {
  switch (b->kind) {
    case SHARED:
    case OPENED: end_common(t, b); break;
    case POOL:
      /* cuMemFree does not wait for work on memory of a pool. */
      if (b->owner >= 0)
        CHECK(cuMemFreeAsync(b->device, t->streams[b->owner]));
      else
        CHECK(cuMemFree_v2(b->device));
      break;
    case DEV:
    case PEER:
    case MANAGED: CHECK(cuMemFree_v2(b->device)); break;
    case PINNED:
    case PORTABLE:
    case COMBINED:
    case MAPPED: CHECK(cuMemFreeHost(b->host)); break;
    case REGISTERED: unregister_host(t, b); break;
    case FLAT:
    case CUBE: CHECK(cuArrayDestroy(b->array)); break;
    default: break;
  }
  free(b->base);
  free(b->model);
}

void renew(struct thread *t, struct buffer *b) {
  if (b->kind == REGISTERED && below(t, 2)) {
    unregister_host(t, b);
    over(b);
    memset(b->host, (int)below(t, 256), b->bytes);
    memcpy(b->model, b->host, b->bytes);
    register_host(t, b);
    return;
  }
  end(t, b);
  make(t, b, b->kind);
}

/* ---- Order ---- */

void over(struct buffer *b) {
  b->owner = -1;
  b->spans = 0;
  b->by_host = false;
}

void wait_for(struct thread *t, int stream) {
  CHECK(cuStreamSynchronize(t->streams[stream]));
  for (int i = 0; i < t->count; i++) {
    if (t->buffers[i].owner == stream) over(&t->buffers[i]);
  }
}

/* The stream 0 and blocking streams wait for each other, and the fuzzer relies on that at random instead of using an event. It does
 * not if several threads queue work: then copies of pinned memory overtook kernels natively (driver 580.159, an H200). For memory that
 * the host can access the fuzzer relies on it only with --strict. */
static bool is_implied(struct thread *t, const struct buffer *b, int before, int after) {
  if (t->has_others || (b->host && !strict)) return false;
  return ((before == 0 && after == 1) || (before == 1 && after == 0)) && below(t, 2);
}

/* Notes that work of a stream uses a part of a buffer from now on. With -1 the program itself waits for the work on the buffer. */
void use(struct thread *t, struct buffer *b, int stream, size_t from, size_t to) {
  if (t->capturing) return;
  if (b->owner >= 0 && stream < 0) wait_for(t, b->owner);
  if (stream < 0) return;
  if (b->owner >= 0 && b->owner != stream && !is_implied(t, b, b->owner, stream)) {
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

/* Waits for the work on a pageable source, since the driver may read it during the call and not when the stream reaches the copy. */
void await_source(struct thread *t, struct buffer *from) {
  if (from->kind == PAGEABLE) use(t, from, -1, 0, 0);
}

/* Whether the program may access the buffer. Without CONCURRENT_MANAGED_ACCESS it may access managed memory only while no work is
 * pending in the stream to which the memory is attached, or if that is none, in any stream of any thread. */
bool may_touch(const struct thread *t, const struct buffer *b) {
  if (b->kind != MANAGED || concurrent_managed || b->attached == TO_PROGRAM) return true;
  bool may = b->attached != TO_ALL || !t->has_others;
  for (int i = 0; i < t->count && may; i++) {
    int owner = t->buffers[i].owner;
    may = owner < 0 || (b->attached != TO_ALL && owner != b->attached);
  }
  return may;
}

bool may_work(const struct buffer *b, int stream) { return b->attached == TO_ALL || b->attached == stream; }

static bool is_idle(const struct thread *t, const struct buffer *b, size_t from, size_t to) {
  if (!may_touch(t, b)) return false;
  if (b->owner < 0) return true;
  for (int i = 0; i < b->spans; i++) {
    if (from < b->pending[i].to && b->pending[i].from < to) return false;
  }
  return true;
}

/* ---- The program's own accesses ---- */

void differs(struct thread *t, const struct buffer *b, const uint8_t *found, size_t from, size_t to, const char *when) {
  size_t first = from, count = 0;
  while (found[first] == b->model[first]) first++;
  for (size_t i = first; i < to; i++) count += found[i] != b->model[i];
  printf("  round %lu of thread %d, %s: %zu bytes of %s differ from %zu on (%02x for %02x), after\n", t->rounds, t->number, when,
         count, names[b->kind], first, found[first], b->model[first]);
  show_log(t);
  fflush(stdout);
  t->failed++;
}

void look(struct thread *t, struct buffer *b, size_t from, size_t to, const char *when) {
  if (memcmp(b->host + from, b->model + from, to - from)) {
    differs(t, b, b->host, from, to, when);
    memcpy(b->host + from, b->model + from, to - from);
  }
}

/* Writes or reads bytes that no queued work uses, even if queued work uses their neighbours. */
void touch(struct thread *t) {
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

struct buffer *any(struct thread *t) {
  struct buffer *b;
  /* Portable memory is in no graph: a client would expose it for that reason, and kernels have its address within structures alone. */
  do b = &t->buffers[below(t, (size_t)t->count)];
  while (t->capturing && b->kind == PORTABLE);
  return b;
}
