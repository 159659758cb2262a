/* Work for streams: copies, fills, kernels, host functions and values, each with its effect on the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* Graft refuses, with CUDA_ERROR_NOT_SUPPORTED, parts of pageable memory that overlap in one graph which writes one of them. */
#define CHECK_CAPTURED(call, pageable)                                                  \
  do {                                                                                  \
    int result = call;                                                                  \
    if (result == 801 && t->capturing && (pageable)) return (struct effect){NO_EFFECT}; \
    check(t, result, #call);                                                            \
  } while (0)

enum { MOST_FOR_KERNELS = 16 << 20 };

/* ---- Work ---- */

void run_on_host(void *data) {
  struct host_work *w = data;
  for (size_t i = 0; i < w->bytes; i++) w->at[i] = (uint8_t)(w->at[i] * 3 + w->value);
  if (w->once) free(w);
}

void apply(const struct effect *e) {
  e->to->by_host |= e->what == BY_HOST;
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

size_t a_length(struct thread *t, size_t most) {
  if (large) return of_any_size(t, most);
  size_t n = below(t, 4) ? 1 + below(t, 4096) : 1 + below(t, most);
  return n < most ? n : most;
}

/* The address by which a call names a buffer: the device's address if there is one, chosen at random, else the host's. */
static ptr name(struct thread *t, const struct buffer *b, unsigned *type) {
  bool by_device = b->device && (!b->host || below(t, 2));
  *type = by_device ? DEVICE : HOST;
  if (b->kind != PAGEABLE && (by_device || b->kind != REGISTERED) && !below(t, 3)) *type = UNIFIED;
  return by_device ? b->device : (uintptr_t)b->host;
}

static bool is_of_device(const struct buffer *b) { return b->device && !b->host; }
static handle context_of(const struct buffer *b) { return contexts[b->kind == PEER]; }

/* Graphs cannot copy between devices of two servers. */
static bool is_refused(const struct thread *t, const struct buffer *to, const struct buffer *from) {
  return apart && t->capturing && (to->kind == PEER || from->kind == PEER);
}

static struct effect copy(struct thread *t, int stream) {
  struct buffer *to = any(t), *from = any(t);
  bool both_host = to->kind == PAGEABLE && from->host, host_from = from->kind == PAGEABLE && to->host;
  if (to == from || is_array(to) || is_array(from) || both_host || host_from || is_refused(t, to, from))
    return (struct effect){NO_EFFECT};
  bool blocking = !t->capturing && !below(t, 6);
  if (!may_work(to, blocking ? 0 : stream) || !may_work(from, blocking ? 0 : stream)) return (struct effect){NO_EFFECT};
  size_t most = to->bytes < from->bytes ? to->bytes : from->bytes, n = a_length(t, most);
  size_t a = below(t, to->bytes - n + 1), b = below(t, from->bytes - n + 1);
  unsigned to_type, from_type;
  ptr target = name(t, to, &to_type) + a, source = name(t, from, &from_type) + b;
  bool pageable = to->kind == PAGEABLE || from->kind == PAGEABLE;
  handle s = t->streams[stream];
  await_source(t, from);
  use(t, to, blocking ? -1 : stream, a, a + n);
  use(t, from, blocking ? -1 : stream, b, b + n);
  say(t, "%s%zu bytes of %s at %zu to %s at %zu, stream %d", blocking ? "waits for " : "", n, names[from->kind], b, names[to->kind],
      a, stream);
  bool peers = is_of_device(to) && is_of_device(from) && below(t, 2);
  if (blocking) {
    if (peers) {
      CHECK(cuMemcpyPeer(target, context_of(to), source, context_of(from), n));
    } else if (to_type != HOST && from_type == HOST && below(t, 2)) {
      CHECK(cuMemcpyHtoD_v2(target, (void *)(uintptr_t)source, n));
    } else if (to_type == HOST && from_type != HOST && below(t, 2)) {
      CHECK(cuMemcpyDtoH_v2((void *)(uintptr_t)target, source, n));
    } else if (to_type != HOST && from_type != HOST && below(t, 2)) {
      CHECK(cuMemcpyDtoD_v2(target, source, n));
    } else {
      CHECK(cuMemcpy(target, source, n));
    }
    if (!to->host || !from->host) {
      use(t, to, 0, a, a + n); /* may still be under way if the program cannot see the memory */
      use(t, from, 0, b, b + n);
      if (to->host || from->host) wait_for(t, 0);
    }
  } else if (peers && !t->capturing) { /* natively CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED */
    CHECK(cuMemcpyPeerAsync(target, context_of(to), source, context_of(from), n, s));
  } else if (to_type != HOST && from_type == HOST && below(t, 2)) {
    CHECK_CAPTURED(cuMemcpyHtoDAsync_v2(target, (void *)(uintptr_t)source, n, s), pageable);
  } else if (to_type == HOST && from_type != HOST && below(t, 2)) {
    CHECK_CAPTURED(cuMemcpyDtoHAsync_v2((void *)(uintptr_t)target, source, n, s), pageable);
  } else if (!pageable && to_type != HOST && from_type != HOST && below(t, 2)) {
    CHECK(cuMemcpyDtoDAsync_v2(target, source, n, s));
  } else {
    CHECK_CAPTURED(cuMemcpyAsync(target, source, n, s), pageable);
  }
  /* When the call returns, the driver has read a pageable source, or written a pageable target. */
  if (pageable && !t->capturing) {
    struct buffer *p = to->kind == PAGEABLE ? to : from;
    if (p == from)
      over(p);
    else
      wait_for(t, stream);
  }
  return (struct effect){COPY, to, from, a, b, n, 0, 0, 0, 0, 0, 0, 0};
}

/* The position of a block of rows in a buffer, which is an array or pitched memory. */
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
  k->at = below(t, room - k->x + 1) + k->x; /* the base lies x bytes before */
  return true;
}

static struct effect copy_rows(struct thread *t, int stream) {
  struct buffer *to = any(t), *from = any(t);
  if (to == from || (to->kind == PAGEABLE && from->host) || (from->kind == PAGEABLE && to->host) || is_refused(t, to, from))
    return (struct effect){NO_EFFECT};
  bool blocking = !t->capturing && !below(t, 6);
  if (!may_work(to, blocking ? 0 : stream) || !may_work(from, blocking ? 0 : stream)) return (struct effect){NO_EFFECT};
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
  bool pageable = to->kind == PAGEABLE || from->kind == PAGEABLE;
  await_source(t, from);
  use(t, to, blocking ? -1 : stream, a.at, a_end);
  use(t, from, blocking ? -1 : stream, b.at, b_end);
  say(t, "%s%zu x %zu x %zu of %s at %zu to %s at %zu, stream %d", blocking ? "waits for " : "", width, rows, slices,
      names[from->kind], b.at, names[to->kind], a.at, stream);
  bool flat = slices == 1 && from->kind != CUBE && to->kind != CUBE && below(t, 2);
  struct copy2d d = {c.src_x, c.src_y,    c.src_type, c.src_host,   c.src_device, c.src_array, c.src_pitch, c.dst_x,
                     c.dst_y, c.dst_type, c.dst_host, c.dst_device, c.dst_array,  c.dst_pitch, width,       rows};
  bool peers = !to->host && !from->host && below(t, 2);
  c.dst_context = context_of(to);
  c.src_context = context_of(from);
  if (!peers) c.dst_context = c.src_context = NULL;
  if (blocking) {
    if (peers)
      CHECK(cuMemcpy3DPeer(&c));
    else if (flat)
      CHECK(cuMemcpy2D_v2(&d));
    else
      CHECK(cuMemcpy3D_v2(&c));
    use(t, to, 0, a.at, a_end);
    use(t, from, 0, b.at, b_end);
    if (to->host || from->host) wait_for(t, 0);
  } else if (peers && !t->capturing) {
    CHECK(cuMemcpy3DPeerAsync(&c, t->streams[stream]));
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
  bool blocking = !t->capturing && !below(t, 5);
  if (!b->device || b->kind == PEER || !may_work(b, blocking ? 0 : stream)) return (struct effect){NO_EFFECT};
  size_t n = a_length(t, b->bytes), at = below(t, b->bytes - n + 1);
  unsigned value = (unsigned)next(t);
  ptr to = (b->host && b->kind != REGISTERED && below(t, 2) ? (uintptr_t)b->host : b->device) + at;
  handle s = t->streams[stream];
  struct effect e = {FILL, b, NULL, at, 0, n, value & 255, 0, 0, 0, 0, 0, 0};
  say(t, "%sfills %zu bytes of %s at %zu, stream %d", blocking ? "waits for, " : "", n, names[b->kind], at, stream);
  use(t, b, blocking ? -1 : stream, at, at + n);
  if (blocking) {
    if (below(t, 2))
      CHECK(cuMemsetD8_v2(to, (unsigned char)value, n));
    else
      CHECK(cuMemsetD2D8_v2(to, n, (unsigned char)value, n, 1));
    /* A fill of memory that the program sees is over when the call returns, so the program compares at once. */
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

static bool is_for_kernels(const struct buffer *b, int stream) {
  return b->device && b->kind != COMBINED && (b->kind != PEER || kernels_reach_peer) && may_work(b, stream);
}

/* A kernel copies bytes and adds to them; it has the addresses within a structure, beside addresses that it does not use. */
static void launch_both(struct thread *t, ptr to, ptr from, size_t bytes, unsigned value, unsigned blocks, handle stream) {
  struct both both = {.to = to, .from = from, .bytes = bytes, .value = value};
  void *parameters[] = {&both};
  for (int i = 0; i < 3; i++) both.unused[below(t, 64)] = any(t)->device;
  CHECK(cuLaunchKernel(kernel_both, blocks, 1, 1, 64, 1, 1, 0, stream, parameters, NULL));
}

/* Whether a kernel has a buffer's address within a structure: always that of portable memory, and now and then that of any other. */
static bool is_within(struct thread *t, const struct buffer *b) { return b->kind == PORTABLE || !below(t, 4); }

static struct effect launch(struct thread *t, int stream) {
  struct buffer *b = any(t), *from = any(t);
  if (!is_for_kernels(b, stream)) return (struct effect){NO_EFFECT};
  /* The kernels move one byte at a time. */
  uint64_t n = a_length(t, b->bytes < MOST_FOR_KERNELS ? b->bytes : MOST_FOR_KERNELS);
  handle s = t->streams[stream];
  unsigned blocks = 1 + (unsigned)below(t, 6), value = (unsigned)below(t, 256);
  if (from != b && is_for_kernels(from, stream) && below(t, 2)) {
    if (n > from->bytes) n = from->bytes;
    size_t at = below(t, b->bytes - n + 1), at_from = below(t, from->bytes - n + 1);
    ptr q = b->device + at, p = from->device + at_from;
    void *parameters[] = {&q, &p, &n};
    use(t, b, stream, at, at + n);
    use(t, from, stream, at_from, at_from + n);
    say(t, "a kernel moves %zu bytes of %s at %zu to %s at %zu, stream %d", (size_t)n, names[from->kind], at_from, names[b->kind],
        at, stream);
    if (is_within(t, b) || is_within(t, from)) {
      launch_both(t, q, p, n, 0, blocks, s);
    } else {
      CHECK(cuLaunchKernel(kernel_move, blocks, 1, 1, 64, 1, 1, 0, s, parameters, NULL));
    }
    return (struct effect){COPY, b, from, at, at_from, n, 0, 0, 0, 0, 0, 0, 0};
  }
  size_t at = below(t, b->bytes - n + 1);
  ptr p = b->device + at;
  void *parameters[] = {&p, &n, &value};
  use(t, b, stream, at, at + n);
  say(t, "a kernel adds to %zu bytes of %s at %zu, stream %d", (size_t)n, names[b->kind], at, stream);
  if (is_within(t, b)) {
    launch_both(t, p, p, n, value, blocks, s);
  } else {
    CHECK(cuLaunchKernel(kernel_add, blocks, 1, 1, 64, 1, 1, 0, s, parameters, NULL));
  }
  return (struct effect){ADD, b, NULL, at, 0, n, value, 0, 0, 0, 0, 0, 0};
}

static struct effect host_function(struct thread *t, int stream) {
  struct buffer *b = any(t);
  if (!b->host || b->kind == COMBINED || (b->kind == MANAGED && !concurrent_managed) || !may_work(b, stream) || below(t, 3))
    return (struct effect){NO_EFFECT};
  if (b->kind == PAGEABLE && t->capturing && !strict) return (struct effect){NO_EFFECT};
  size_t n = a_length(t, b->bytes), at = below(t, b->bytes - n + 1);
  uint8_t value = (uint8_t)next(t); /* when the call returns, the function may have run and freed its data */
  struct host_work *w = malloc(sizeof *w);
  *w = (struct host_work){b->host + at, n, value, !t->capturing};
  use(t, b, stream, at, at + n);
  say(t, "a host function changes %zu bytes of %s at %zu, stream %d", n, names[b->kind], at, stream);
  CHECK(cuLaunchHostFunc(t->streams[stream], run_on_host, w));
  return (struct effect){BY_HOST, b, NULL, at, 0, n, value, 0, 0, 0, 0, 0, 0};
}

static struct effect write_value(struct thread *t, int stream) {
  struct buffer *b = any(t);
  if (!b->device || b->bytes < 8 || b->device % 4 || b->kind == MANAGED || b->kind == COMBINED || b->kind == POOL ||
      b->kind == OPENED || b->kind == PEER)
    return (struct effect){NO_EFFECT};
  size_t at = below(t, b->bytes / 4) * 4;
  unsigned value = (unsigned)next(t);
  use(t, b, stream, at, at + 4);
  say(t, "stream %d writes a value to %s at %zu", stream, names[b->kind], at);
  CHECK(cuStreamWriteValue32_v2(t->streams[stream], b->device + at, value, 0));
  return (struct effect){FILL_32, b, NULL, at, 0, 4, value, 0, 0, 0, 0, 0, 0};
}

struct effect work(struct thread *t, int stream) {
  switch (below(t, t->other >= 0 ? 14 : 12)) {
    case 12:
    case 13: return t->capturing ? (struct effect){NO_EFFECT} : by_other(t, stream);
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
